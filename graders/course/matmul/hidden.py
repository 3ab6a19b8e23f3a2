"""Hidden cases of the lesson on matrix multiplication: other shapes of the public kinds."""

from __future__ import annotations

from graders.course.common.hidden import BARS
from graders.course.matmul.exercise import factors, layer
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases
from graders.judge.records import Case, Hidden

AXES = "m k n"


def other_shapes(make: Maker) -> tuple[Case, ...]:
    """Return the hidden cases of an exercise whose arguments `make` builds from m, k, n."""
    return (
        *cases(make, AXES, [(96, 96, 96), (64, 41, 64), (128, 130, 128)]),
        *cases(make, AXES, [(90, 128, 128), (128, 128, 77), (257, 60, 33), (29, 300, 61)]),
        *cases(make, AXES, [(20, 33, 17)], draws=2, engine_orders=True),
        *cases(make, AXES, [(1, 3, 1), (3, 1, 2), (16, 17, 15), (33, 32, 31)], part="edges"),
        *cases(make, AXES, [(63, 65, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)], part="edges"),
        *cases(make, AXES, [(61, 52, 43)], part="types", dtypes=HALVES),
        *cases(make, AXES, [(20, 300, 24)], part="types", fills=["cancelling"], dtypes=FLOATS),
        *cases(make, AXES, [(30, 30, 30)], part="types", scale=3e9),
        *cases(make, AXES, [(38, 26, 50)], part="views", views=ALL_VIEWS),
        *cases(make, AXES, [(28, 28, 28)], part="views", dtypes=HALVES, views=["transposed"]),
    )


HIDDEN = {
    "dot_tile": Hidden(
        cases=(
            *cases(factors, AXES, [(31, 30, 29), (24, 9, 32), (32, 9, 24), (18, 27, 18)]),
            *cases(factors, AXES, [(1, 3, 1), (3, 1, 2), (1, 0, 1), (0, 1, 1)], part="edges"),
            *cases(factors, AXES, [(22, 31, 17)], part="types", dtypes=HALVES),
        )
    ),
    "matmul": Hidden(cases=other_shapes(factors), speed_bars=BARS),
    "linear_bias_relu": Hidden(cases=other_shapes(layer), speed_bars=BARS),
}
