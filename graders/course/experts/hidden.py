"""Hidden cases of the lesson on experts: other groups and sizes of the public kinds."""

from graders.course.experts.exercise import VIEWS, VIEWS_OF_W, mixed
from graders.judge.cases.builders import FLOATS, HALVES
from graders.judge.records import Hidden

HIDDEN = {
    "grouped_gemm": Hidden(
        cases=(
            *mixed((90, 3, 0, 57), (70, 45)),
            *mixed((2, 150, 31, 64), (48, 96)),
            *mixed((0, 0, 77, 12, 0), (21, 34)),
            *mixed((9, 8, 7, 6, 5, 4, 3, 2, 1), (40, 32)),
            *mixed((17, 0, 11), (30, 25), engine_orders=True),
            *mixed((1, 1, 1), (1, 1), part="edges"),
            *mixed((127, 129, 1), (33, 65), part="edges"),
            *mixed((1, 0), (20, 18), times=30, part="edges"),
            *mixed((60, 6000, 2500), (8, 16), part="edges"),
            *mixed((4, 0), (0, 5), part="edges"),
            *mixed((0, 21, 40), (45, 52), part="types", dtypes=HALVES),
            *mixed((11, 22), (192, 24), part="types", fills=["cancelling"], dtypes=FLOATS),
            *mixed((14, 0, 29), (32, 44), part="views", views=VIEWS),
            *mixed(
                (14, 29), (32, 44), part="views", x="contiguous", views=VIEWS_OF_W, also=", w alone"
            ),
        ),
    ),
}
