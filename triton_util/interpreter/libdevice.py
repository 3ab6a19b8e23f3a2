"""`triton.language.extra.libdevice` in the interpreter: the same names, computed by numpy.

On a GPU these functions are calls into NVIDIA's library of device functions. Triton's
interpreter leaves them empty (they return None), although `libdevice.tanh` is the usual way to
write a tanh. The names are those of the CUDA documentation, without the prefix `__nv_`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as stock

from .formats import Array

MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice")


def _by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Array], Array]:
    """A function that numpy has not: computed by torch, in the dtype of its argument."""

    def compute(values: Array) -> Array:
        result: Array = function(torch.from_numpy(np.ascontiguousarray(values))).numpy()
        return result

    return compute


def _rsqrt(values: Array) -> Array:
    return np.asarray(1 / np.sqrt(values), values.dtype)


def _round_half_away(values: Array) -> Array:
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


UNARY: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "sqrt", "cbrt", "sin", "cos", "tan")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "tanh", "floor", "ceil", "trunc")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asinh", "acosh", "atanh")},
    "abs": np.abs,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": _round_half_away,
    "rsqrt": _rsqrt,
    "rsqrt_rn": _rsqrt,
    "rcp_rn": np.reciprocal,
    "sqrt_rn": np.sqrt,
    "exp10": lambda values: np.power(values.dtype.type(10), values),
    "erf": _by_torch(torch.special.erf),
    "erfc": _by_torch(torch.special.erfc),
    "erfinv": _by_torch(torch.special.erfinv),
    "lgamma": _by_torch(torch.lgamma),
    "normcdf": _by_torch(torch.special.ndtr),
    "fast_expf": np.exp,
    "fast_exp10f": lambda values: np.power(values.dtype.type(10), values),
    "fast_logf": np.log,
    "fast_log2f": np.log2,
    "fast_log10f": np.log10,
    "fast_sinf": np.sin,
    "fast_cosf": np.cos,
    "fast_tanf": np.tan,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "add_rn": np.add,
    "sub_rn": np.subtract,
    "mul_rn": np.multiply,
    "div_rn": np.divide,
    "fast_dividef": np.divide,
    "fast_powf": np.power,
}
# They answer with an int32 that is 1 or 0.
QUESTIONS: dict[str, Callable[[Array], Array]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finitef": np.isfinite,
    "isfinited": np.isfinite,
    "signbit": np.signbit,
}


def _unary(operation: Callable[[Array], Array]) -> Callable[..., Any]:
    def function(arg0: Any, **_: Any) -> Any:
        x = stock.interpreter_semantic.to_tensor(arg0)
        return tl.core.tensor(stock.interpreter_builder.unary_op(x.handle, operation), x.type)

    return function


def _binary(operation: Callable[[Array, Array], Array]) -> Callable[..., Any]:
    def function(arg0: Any, arg1: Any, **_: Any) -> Any:
        semantic = stock.interpreter_semantic
        x, y = semantic.binary_op_type_checking_impl(
            semantic.to_tensor(arg0), semantic.to_tensor(arg1)
        )
        handle = stock.interpreter_builder.binary_op(x.handle, y.handle, operation)
        return tl.core.tensor(handle, x.type)

    return function


def _question(operation: Callable[[Array], Array]) -> Callable[..., Any]:
    ask = _unary(lambda values: operation(values).astype(values.dtype))

    def function(arg0: Any, **_: Any) -> Any:
        return ask(arg0).to(tl.int32)

    return function


def install() -> None:
    """Fill the empty functions, for good: kernels may have imported them by name."""
    meanings = {
        **{name: _unary(operation) for name, operation in UNARY.items()},
        **{name: _binary(operation) for name, operation in BINARY.items()},
        **{name: _question(operation) for name, operation in QUESTIONS.items()},
    }
    for module in map(importlib.import_module, MODULES):
        for name, meaning in meanings.items():
            if hasattr(module, name):
                meaning.__name__ = name
                setattr(module, name, meaning)
