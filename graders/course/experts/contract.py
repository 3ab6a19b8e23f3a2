"""What the launchers of this lesson must accept."""

from __future__ import annotations

from dataclasses import replace

from graders.course.experts.exercise import VIEWS, VIEWS_OF_W, routed
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import Axis, Contract, Row, Tensor
from graders.judge.records import Plain, TensorSpec

LENGTHS = ((20, 0, 37), (1,), (0, 0, 5), (64, 64), (129, 1, 0, 33), (7,) * 9)


def for_experts(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """Rows in the order of their experts, one matrix for each expert, and the offsets."""
    x, w, offsets = routed(row["lengths"])(
        (row["k"], row["n"]), dtype=row["dtype"], view="contiguous"
    )
    assert isinstance(x, TensorSpec)
    assert isinstance(w, TensorSpec)
    return replace(x, view=row["x.view"]), replace(w, view=row["w.view"]), offsets


CONTRACTS = {
    "grouped_gemm": Contract(
        {"k": Axis(high=4096), "n": Axis(high=20_000)},
        {
            "x": Tensor("k n", ("contiguous", *VIEWS)),
            "w": Tensor("k n", ("contiguous", *VIEWS, *VIEWS_OF_W)),
        },
        FLOATS,
        choices={"lengths": LENGTHS},
        make=for_experts,
        work=2**12,
    )
}
