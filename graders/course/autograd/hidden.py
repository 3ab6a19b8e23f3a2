"""Hidden cases of the lesson on gradients: other sizes of the public kinds."""

from graders.course.autograd.exercise import DENSE, OF_A_SUM, ROWS, SIZES, gradient_viewed, layer
from graders.judge.cases.builders import HALVES, cases, two
from graders.judge.records import Hidden

HIDDEN = {
    "softmax_backward": Hidden(
        cases=(
            *cases(two, ROWS, [(50, 70), (3, 4500), (90, 31)]),
            *cases(gradient_viewed, ROWS, [(30, 45)], views=["expanded_rows"], label="dy"),
            *cases(two, ROWS, [(7, 90)], engine_orders=True),
            *cases(two, ROWS, [(1, 2), (2, 255), (2, 257), (200, 3)], part="edges"),
            *cases(two, ROWS, [(2, 17_000)], part="edges"),
            *cases(two, ROWS, [(10, 90), (3, 2500)], part="types", dtypes=HALVES),
            *cases(two, ROWS, [(10, 60)], part="types", scale=50.0),
            *cases(two, ROWS, [(13, 41)], part="views", views=["transposed", "overlapping"]),
            *cases(gradient_viewed, ROWS, [(19, 28)], part="views", views=["stepped_columns"]),
        ),
    ),
    "linear_bias_relu_backward": Hidden(
        cases=(
            *cases(DENSE, SIZES, [(60, 50, 70), (100, 33, 20), (20, 90, 35)]),
            *cases(DENSE, SIZES, [(50, 28, 28)]),
            *cases(OF_A_SUM, SIZES, [(35, 40, 45)], label="dout"),
            *cases(DENSE, SIZES, [(66, 20, 36)], engine_orders=True),
            *cases(DENSE, SIZES, [(2, 2, 2), (64, 1, 1), (127, 3, 4)], part="edges"),
            *cases(DENSE, SIZES, [(40, 50, 20)], part="types", dtypes=HALVES),
            *cases(DENSE, SIZES, [(90, 20, 24)], part="types", fills=["cancelling"]),
            *cases(DENSE, SIZES, [(25, 30, 35)], part="views", views=["transposed"]),
            *cases(
                layer("sliced", "transposed", "contiguous", "expanded_columns"),
                SIZES,
                [(26, 38, 22)],
                part="views",
                label="each its own",
            ),
        ),
    ),
}
