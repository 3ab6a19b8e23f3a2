"""Hidden cases of the capstone: other sizes of the public kinds."""

from graders.course.capstone.exercise import (
    AXES,
    BATCH,
    BEHIND,
    GARBAGE,
    GIVEN,
    GIVEN_BEHIND,
    GIVEN_IGNORING,
    IGNORING,
    OF_A_SUM,
)
from graders.judge.cases.builders import HALVES, Maker, cases
from graders.judge.records import Case, Hidden


def _shared(make: Maker, ignoring: Maker, behind: Maker) -> tuple[Case, ...]:
    return (
        *cases(make, AXES, [(50, 70), (3, 4500), (90, 31)]),
        *cases(ignoring, AXES, [(25, 60), (5, 3100)], label="some ignored"),
        *cases(ignoring, AXES, [(7, 90)], label="some ignored", engine_orders=True),
        *cases(make, AXES, [(1, 2), (2, 255), (2, 257), (200, 3)], part="edges"),
        *cases(make, AXES, [(2, 17_000)], part="edges"),
        *cases(make, AXES, [(10, 90), (3, 2500)], part="types", dtypes=HALVES),
        *cases(make, AXES, [(10, 60)], part="types", scale=50.0),
        *cases(behind, AXES, [(5, 1300)], part="types", fills=["neg_inf_head"]),
        *cases(make, AXES, [(13, 41)], part="views", views=["transposed", "overlapping"]),
        *cases(ignoring, AXES, [(19, 28)], part="views", views=["stepped_columns"]),
    )


HIDDEN = {
    "cross_entropy": Hidden(cases=_shared(BATCH, IGNORING, BEHIND)),
    "cross_entropy_backward": Hidden(
        cases=(
            *_shared(GIVEN, GIVEN_IGNORING, GIVEN_BEHIND),
            *cases(OF_A_SUM, AXES, [(30, 45)], label="dloss expanded"),
            *cases(GARBAGE, AXES, [(10, 25)], label="garbage where ignored"),
        ),
    ),
}
