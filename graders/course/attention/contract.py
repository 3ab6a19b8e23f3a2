"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.attention.exercise import VIEWS
from graders.judge.cases.builders import FLOATS, HALVES
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Row, Tensor, Values

WORK = 2**18  # products
ANY_VIEW = ("contiguous", "interleaved", *VIEWS)
STEEP = Values("rising_rows", scale=0.5, dtypes=HALVES)  # scores that rise or fall by hundreds
QUERIES = (ORDINARY, Values(scale=6.0), Values(shift=4.0), Values(shift=53.0), Values(scale=0.01))
KEYS = (
    ORDINARY,
    Values(shift=-4.0),
    Values(shift=-53.0),
    STEEP,
    Values("falling_rows", scale=0.02),
)


def as_many_keys_if_causal(row: Row) -> Row:
    """Causal attention has as many keys as queries."""
    return {**row, "n": row["m"]} if row["causal"] else row


HEADS = Contract(
    {
        "h": Axis(sizes=(1, 2, 3), high=65_535),
        "m": Axis(),
        "n": Axis(),
        "d": Axis(sizes=(16, 32, 64, 128), high=128),
    },
    {
        "q": Tensor("h m d", ANY_VIEW, QUERIES),
        "k": Tensor("h n d", ANY_VIEW, KEYS),
        "v": Tensor("h n d", ANY_VIEW),
        "causal": "causal",
    },
    FLOATS,
    choices={"causal": (False, True)},
    adjust=as_many_keys_if_causal,
    work=WORK,
)

CONTRACTS = {"attention": HEADS, "attention_lse": HEADS}
