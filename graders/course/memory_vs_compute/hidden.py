"""Hidden cases of the lesson on memory and compute: other shapes of the public kinds."""

from graders.course.common.hidden import BARS
from graders.judge.cases.builders import FLOATS, HALVES, cases, one
from graders.judge.records import Hidden

AXES = "rows columns"

HIDDEN = {
    "relu2d": Hidden(
        cases=(
            *cases(one, AXES, [(65, 65), (41, 90), (256, 24), (203, 211), (3, 9000), (2, 33_000)]),
            *cases(one, AXES, [(30, 37)], draws=2, engine_orders=True),
            *cases(
                one, AXES, [(1, 2), (1, 777), (777, 1), (33, 31), (0, 1), (2050, 2)], part="edges"
            ),
            *cases(one, AXES, [(13, 29)], part="types", dtypes=HALVES),
            *cases(one, AXES, [(17, 19)], part="types", fills=["specials"], dtypes=FLOATS),
            *cases(one, AXES, [(17, 19)], part="types", scale=3e30),
        ),
        speed_bars=BARS,
    )
}
