"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.capstone.exercise import VIEWS, targets
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Row, Tensor, Values
from graders.judge.records import Plain

AXES = {"rows": Axis(high=2**17), "classes": Axis()}  # a target is drawn for each row
LOGITS = Tensor(
    "rows classes",
    ("contiguous", *VIEWS),
    (
        ORDINARY,
        Values(scale=100.0),
        Values(shift=-300.0),
        Values("rising"),
        Values("falling"),
        Values("rising_rows"),
        Values("falling_rows"),
    ),
)
WORK = 2**17  # logits
IGNORED = (0, 3, 1)  # none, each third row, all


def with_targets(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """The logits, their targets, and what else the call takes."""
    return args[0], targets(row["rows"], row["classes"], row["ignored"]), *args[1:]


CONTRACTS = {
    "cross_entropy": Contract(
        AXES,
        {"logits": LOGITS},
        FLOATS,
        choices={"ignored": IGNORED},
        sums=("classes",),
        make=with_targets,
        work=WORK,
    ),
    "cross_entropy_backward": Contract(
        AXES,
        {
            "logits": LOGITS,
            "dloss": Tensor("rows", ("contiguous", "stepped_columns", "expanded_columns")),
        },
        FLOATS,
        choices={"ignored": IGNORED},
        sums=("classes",),
        make=with_targets,
        work=WORK,
    ),
}
