"""Methods of the builder that differ only in a dtype or a comparison, made from tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations import arithmetic, mathematics
from triton_util.interpreter.operations.blocks import Block

_COMPARISONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOATS = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def add_tables(builder: type) -> None:
    """Give a builder class its comparisons and its constants."""
    _add_comparisons(builder)
    _add_constants(builder)


def _add_comparisons(builder: type) -> None:
    """icmpSLT, icmpULT, fcmpOLT and so on; signedness and ordering follow from the data."""

    def comparison(operation: Any) -> Any:
        def create(_: Any, left: Block, right: Block) -> Block:
            return arithmetic.compare(left, right, operation)

        return create

    for name, operation in _COMPARISONS.items():
        for prefix in ("icmp", "icmpS", "icmpU", "fcmpO", "fcmpU"):
            setattr(builder, f"create_{prefix}{name}", comparison(operation))


def _add_constants(builder: type) -> None:
    """get_int32, get_fp16 and so on: one number on which all programs agree."""

    def constant(dtype: tl.dtype) -> Any:
        def get(_: Any, value: Any) -> Block:
            return mathematics.constant(value, dtype)

        return get

    for name in _INTEGERS:
        setattr(builder, f"get_{name}", constant(getattr(tl, name)))
    for short, name in _FLOATS.items():
        setattr(builder, f"get_{short}", constant(getattr(tl, name)))
