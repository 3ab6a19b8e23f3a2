"""Hidden cases of the lesson on reductions: other shapes of the public kinds."""

from __future__ import annotations

from graders.course.common.hidden import BARS
from graders.course.reductions.exercise import LARGE_EPS, USUAL, strided_parameters
from graders.judge.cases.builders import ALL_VIEWS, HALVES, Maker, cases, one
from graders.judge.records import Case, Hidden

AXES = "rows columns"


def other_rows(make: Maker) -> tuple[Case, ...]:
    """Return the hidden cases of an exercise that reduces rows."""
    return (
        *cases(make, AXES, [(65, 65), (41, 90), (7, 999), (100, 24)]),
        *cases(make, AXES, [(2, 9000)], why="Rows longer than most blocks."),
        *cases(make, AXES, [(11, 37)], engine_orders=True),
        *cases(make, AXES, [(1, 2), (1, 333), (77, 1), (5, 63), (5, 257), (0, 3)], part="edges"),
        *cases(make, AXES, [(3, 17_003)], part="edges", why="Rows longer than any block."),
        *cases(make, AXES, [(13, 57)], part="types", dtypes=HALVES),
        *cases(make, AXES, [(13, 57)], part="types", scale=80.0),
        *cases(make, AXES, [(21, 26)], part="views", views=ALL_VIEWS),
    )


HIDDEN = {
    "row_sum": Hidden(
        cases=(
            *cases(one, AXES, [(65, 65), (41, 90), (7, 999), (2, 9000)]),
            *cases(one, AXES, [(1, 2), (77, 1), (5, 257), (0, 3), (3, 17_003)], part="edges"),
            *cases(one, AXES, [(13, 57), (2, 4500)], part="types", dtypes=HALVES),
            *cases(one, AXES, [(21, 26)], part="views", views=ALL_VIEWS),
        )
    ),
    "softmax": Hidden(
        cases=(
            *other_rows(one),
            *cases(one, AXES, [(9, 45)], part="types", shift=-200.0),
            *cases(one, AXES, [(9, 45), (4, 1100)], part="types", fills=["neg_inf"]),
            *cases(one, AXES, [(3, 1300)], part="types", fills=["neg_inf_head"]),
            *cases(one, AXES, [(3, 1300)], part="types", scale=100.0),
        ),
        speed_bars=BARS,
    ),
    "layernorm": Hidden(
        cases=(
            *other_rows(USUAL),
            *cases(LARGE_EPS, AXES, [(9, 45)], label="eps 0.5"),
            *cases(USUAL, AXES, [(9, 45), (4, 1100)], part="types", shift=-1e4),
            *cases(
                strided_parameters,
                AXES,
                [(5, 23)],
                part="views",
                views=["stepped_columns"],
                label="parameters",
            ),
        ),
        speed_bars=BARS,
    ),
}
