"""Hidden cases of the lesson on decoding: other lengths, pages and heads of the public kinds."""

from graders.course.decoding.exercise import VIEWS, decoded
from graders.judge.cases.builders import HALVES
from graders.judge.records import Hidden

HIDDEN = {
    "decode_attention": Hidden(
        cases=(
            *decoded([23, 58, 111], 16, [(8, 4, 32), (12, 4, 16)]),
            *decoded([97, 260, 31], 32, [(8, 2, 32)], garbage=True),
            *decoded([900, 0, 130], 16, [(6, 2, 16)], garbage=True),
            *decoded([45, 19], 24, [(4, 2, 16)], garbage=True),
            *decoded([33, 18], 16, [(4, 2, 16)], engine_orders=True),
            *decoded([1, 16, 17, 95, 96, 97], 16, part="edges", garbage=True),
            *decoded([0, 1, 0], 8, part="edges", garbage=True),
            *decoded([40, 9], 16, [(3, 1, 32), (17, 1, 16), (40, 2, 16)], part="edges"),
            *decoded([80, 80, 33], 16, of={"shared": 5}, part="edges", also=", five pages shared"),
            *decoded([130, 57], 16, garbage=True, part="types", dtypes=HALVES),
            *decoded([130, 57], 16, part="types", scale=7.0),
            *decoded([30, 55], 16, [(6, 3, 16)], part="views", views=VIEWS),
            *decoded(
                [44, 21],
                8,
                [(4, 2, 16)],
                own=("sliced", "interleaved", "transposed", "stepped_columns"),
                garbage=True,
                part="views",
                also=", each its own",
            ),
        ),
    ),
}
