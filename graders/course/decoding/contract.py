"""What the launchers of this lesson must accept."""

from __future__ import annotations

from dataclasses import replace

from graders.course.decoding.exercise import VIEWS, arguments
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Row, Tensor, Values
from graders.judge.cases.pages import Pages
from graders.judge.records import Plain, TensorSpec

ANY_VIEW = ("contiguous", *VIEWS)


def paged(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """Two lists in pages: one of `keys`, one of another length, with garbage after them."""
    pages = Pages((row["keys"], *row["others"]), row["page_size"])
    shape = row["kv_heads"] * row["group"], row["kv_heads"], row["d"]
    made = arguments(pages, garbage=True)(shape, dtype=row["dtype"])
    own = []
    for spec, like in zip(made[:3], args[:3], strict=True):
        assert isinstance(spec, TensorSpec)
        assert isinstance(like, TensorSpec)
        own.append(
            replace(spec, view=like.view, fill=like.fill, scale=like.scale, shift=like.shift)
        )
    return (*own, *made[3:])


PAGE = Tensor("keys d", ANY_VIEW, (ORDINARY, Values(shift=-4.0)))

CONTRACTS = {
    "decode_attention": Contract(
        {
            "keys": Axis(high=5000),
            "kv_heads": Axis(sizes=(1, 2, 3), high=3),
            "group": Axis(sizes=(1, 3, 4, 8), high=8),
            "d": Axis(sizes=(16, 32, 64, 128), high=128),
        },
        {
            "q": Tensor("keys d", ANY_VIEW, (ORDINARY, Values(shift=4.0), Values(scale=4.0))),
            "k": PAGE,
            "v": Tensor("keys d", ANY_VIEW),
        },
        FLOATS,
        choices={"page_size": (1, 16, 32, 48, 64), "others": ((), (0,), (1, 70), (300,))},
        make=paged,
        work=2**16,
    )
}
