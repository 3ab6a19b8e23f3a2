"""The memory layouts of the cases' arguments as plain data: all that a launcher may know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graders.judge.cases import tensors
from graders.judge.records import Case, Plain, TensorSpec


def layouts(cases: Sequence[Case]) -> list[list[dict[str, Any]]]:
    """For every argument of every case its value, or shape, strides, offset, length and dtype.

    Strides, offset and the length of the storage are in elements.
    """
    return [[_layout(arg) for arg in case.args] for case in cases]


def _layout(arg: Plain) -> dict[str, Any]:
    if not isinstance(arg, TensorSpec):
        return {"value": arg}
    strides, offset, length = tensors.layout(arg)
    return {
        "shape": list(arg.shape),
        "strides": list(strides),
        "offset": offset,
        "length": length,
        "dtype": str(arg.dtype).removeprefix("torch."),
    }
