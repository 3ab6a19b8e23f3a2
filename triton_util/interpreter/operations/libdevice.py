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

from triton_util.interpreter.faults import NotInterpreted
from triton_util.interpreter.operations.formats import Array

MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice")


def _by_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Array], Array]:
    """A function that numpy lacks: computed by torch, in the dtype of its argument."""

    def compute(values: Array) -> Array:
        result: Array = function(
            torch.from_numpy(np.require(values, requirements=("C", "W")))
        ).numpy()
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
    "erfcinv": _by_torch(lambda values: torch.special.erfinv(1 - values)),
    "erfcx": _by_torch(torch.special.erfcx),
    "normcdf": _by_torch(torch.special.ndtr),
    "normcdfinv": _by_torch(torch.special.ndtri),
    "cyl_bessel_i0": _by_torch(torch.special.i0),
    "cyl_bessel_i1": _by_torch(torch.special.i1),
    "j0": _by_torch(torch.special.bessel_j0),
    "j1": _by_torch(torch.special.bessel_j1),
    "rcbrt": lambda values: np.asarray(1 / np.cbrt(values), values.dtype),
    "saturatef": lambda values: np.clip(np.nan_to_num(values, nan=0.0), 0, 1),
    "sinpi": lambda values: np.sin(values * values.dtype.type(np.pi)),
    "cospi": lambda values: np.cos(values * values.dtype.type(np.pi)),
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
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "nextafter": np.nextafter,
    "rhypot": lambda x, y: np.asarray(1 / np.hypot(x, y), x.dtype),
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
FUSED = ("fma", "fma_rn")
# They return an int32 that is 1 or 0.
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


def _fused(arg0: Any, arg1: Any, arg2: Any, **_: Any) -> Any:
    """x * y + z, rounded once."""
    to_tensor = stock.interpreter_semantic.to_tensor
    return tl.fma(to_tensor(arg0), to_tensor(arg1), to_tensor(arg2))


def _unknown(name: str) -> Callable[..., Any]:
    def function(*_: Any, **__: Any) -> Any:
        raise NotInterpreted(f"libdevice.{name} is computed on a GPU only, not by the interpreter")

    return function


def _question(operation: Callable[[Array], Array]) -> Callable[..., Any]:
    ask = _unary(lambda values: operation(values).astype(values.dtype))

    def function(arg0: Any, **_: Any) -> Any:
        return ask(arg0).to(tl.int32)

    return function


def _named(meaning: Callable[..., Any], module: str, name: str) -> Callable[..., Any]:
    """The function under its own name and module, by which the compiler finds the real one."""

    def function(*positional: Any, **named: Any) -> Any:
        return meaning(*positional, **named)

    function.__module__, function.__name__, function.__qualname__ = module, name, name
    return function


def install() -> None:
    """Replace the empty functions permanently, because kernels may import them by name."""
    meanings = {
        **{name: _unary(operation) for name, operation in UNARY.items()},
        **{name: _binary(operation) for name, operation in BINARY.items()},
        **{name: _question(operation) for name, operation in QUESTIONS.items()},
        **dict.fromkeys(FUSED, _fused),
    }
    for module in map(importlib.import_module, MODULES):
        for name, member in list(vars(module).items()):
            if callable(member) and getattr(member, "__module__", "") in MODULES:
                meaning = meanings.get(name) or _unknown(name)
                setattr(module, name, _named(meaning, module.__name__, name))
