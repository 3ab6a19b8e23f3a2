"""Hidden cases of the lesson on 2D tiles: other shapes of the public kinds."""

from graders.course.common.hidden import BARS
from graders.course.tiles_2d.exercise import (
    BYTES,
    PICTURE_VIEWS,
    bias_arguments,
    picture,
    two_vectors,
    viewed_bias,
)
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, cases
from graders.judge.records import Hidden

PICTURE_AXES = "height width"
BIAS_AXES = "m n"
SUM_AXES = "m n"

HIDDEN = {
    "outer_sum": Hidden(
        cases=(
            *cases(two_vectors, SUM_AXES, [(65, 65), (41, 90), (203, 111)]),
            *cases(two_vectors, SUM_AXES, [(1, 333), (444, 1), (0, 1)], part="edges"),
            *cases(two_vectors, SUM_AXES, [(13, 79)], part="types", dtypes=HALVES),
        )
    ),
    "rgb2grey": Hidden(
        cases=(
            *cases(picture, PICTURE_AXES, [(65, 65), (41, 90), (256, 24), (203, 111)]),
            *cases(picture, PICTURE_AXES, [(45, 62)], dtypes=BYTES),
            *cases(picture, PICTURE_AXES, [(30, 37)], engine_orders=True),
            *cases(picture, PICTURE_AXES, [(1, 2), (1, 333), (33, 31), (0, 1)], part="edges"),
            *cases(picture, PICTURE_AXES, [(13, 29)], part="types", dtypes=HALVES),
            *cases(picture, PICTURE_AXES, [(17, 19)], part="types", fills=["specials"]),
            *cases(picture, PICTURE_AXES, [(21, 26)], part="views", views=PICTURE_VIEWS),
            *cases(picture, PICTURE_AXES, [(21, 26)], part="views", views=["sliced"], dtypes=BYTES),
        )
    ),
    "bias_relu": Hidden(
        cases=(
            *cases(bias_arguments, BIAS_AXES, [(65, 65), (41, 90), (256, 24), (203, 111)]),
            *cases(bias_arguments, BIAS_AXES, [(30, 37)], engine_orders=True),
            *cases(bias_arguments, BIAS_AXES, [(1, 2), (1, 333), (33, 31), (0, 1)], part="edges"),
            *cases(bias_arguments, BIAS_AXES, [(13, 29)], part="types", dtypes=FLOATS),
            *cases(bias_arguments, BIAS_AXES, [(21, 26)], part="views", views=ALL_VIEWS),
            *cases(
                viewed_bias,
                BIAS_AXES,
                [(11, 26)],
                part="views",
                views=["stepped_columns"],
                label="bias",
            ),
        ),
        speed_bars=BARS,
    ),
}
