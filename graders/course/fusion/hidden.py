"""Hidden cases of the lesson on fusion: other shapes of the public kinds."""

from graders.course.common.hidden import BARS
from graders.course.fusion.exercise import VIEWS_3D
from graders.judge.cases.builders import HALVES, cases, one
from graders.judge.records import Hidden

HIDDEN = {
    "gelu": Hidden(
        cases=(
            *cases(one, "n", [997, 3000, 6143, 65_537]),
            *cases(one, "rows columns", [(41, 90), (90, 41)]),
            *cases(one, "batch rows columns", [(2, 11, 30)]),
            *cases(one, "n", [555], engine_orders=True),
            *cases(one, "n", [5, 33, 127, 129, 2049], part="edges"),
            *cases(one, "a b c d", [(3, 1, 5, 2), (2, 0, 3, 4)], part="edges"),
            *cases(one, "n", [1009], part="types", dtypes=HALVES),
            *cases(one, "n", [1009], part="types", scale=3.0),
            *cases(one, "n", [1009], part="types", scale=80.0),
            *cases(one, "rows columns", [(21, 26)], part="views", views=VIEWS_3D),
            *cases(one, "batch rows columns", [(2, 9, 10)], part="views", views=VIEWS_3D),
            *cases(one, "a b c d", [(2, 3, 4, 6)], part="views", views=["transposed"]),
        ),
        speed_bars=BARS,
    )
}
