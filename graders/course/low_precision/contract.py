"""What the launchers of this lesson must accept."""

from __future__ import annotations

from typing import Any

import torch

from graders.course.low_precision.exercise import COMMON
from graders.course.low_precision.fp8_cases import with_scales
from graders.judge.cases.builders import ALL_VIEWS, HALVES
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Row, Tensor
from graders.judge.records import Plain, TensorSpec

VIEWS = ("contiguous", *ALL_VIEWS)
WORK = 2**18  # products


def _spec(tensor: Plain) -> dict[str, Any]:
    assert isinstance(tensor, TensorSpec)
    fields = ("dtype", "fill", "view", "scale", "shift")
    return {name: getattr(tensor, name) for name in fields}


def packed(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """The arguments of the product with 4-bit numbers: k is `groups` times `group`."""
    sizes = row["m"], row["groups"] * row["group"], row["n"], row["group"]
    return COMMON(sizes, **_spec(args[0]))


def scaled(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """The factors, each with its own layout, and their scales."""
    a, b = (with_scales()((row["m"], row["k"], row["n"]), **_spec(args[i]))[i] for i in (0, 1))
    return (a, b, *with_scales()((row["m"], row["k"], row["n"]), **_spec(args[0]))[2:])


CONTRACTS = {
    "quantized_matmul": Contract(
        {
            "m": Axis(),
            "n": Axis(),
            "groups": Axis(sizes=(1, 2, 3, 5)),
            "group": Axis(sizes=(16, 32, 48, 64, 128), high=128),
        },
        {"a": Tensor("m group", VIEWS)},
        HALVES,
        make=packed,
        work=WORK,
    ),
    "fp8_matmul": Contract(
        {"m": Axis(), "k": Axis(high=4096), "n": Axis()},
        {"a": Tensor("m k", VIEWS, (ORDINARY,)), "b": Tensor("k n", VIEWS)},
        (torch.float8_e4m3fn,),
        make=scaled,
        work=WORK,
    ),
}
