"""What a learner imports: helpers for kernels, the judge's client, the tracer.

`import triton_util` costs milliseconds: each name is loaded when it is first asked for, and
neither torch nor triton is imported before that. In a notebook on a machine without a CUDA
GPU the import also sets `TRITON_INTERPRET=1` and says so, unless the variable is already set
or triton is already imported (see `triton_util.environment`). Anywhere else it sets nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from triton_util.environment import prepare_notebook

if TYPE_CHECKING:
    from triton_util.bench.side_by_side import time_beside
    from triton_util.client import (
        answer,
        catch,
        check,
        hint,
        practice,
        predict,
        progress,
        quiz,
        review,
        speed,
        validate,
    )
    from triton_util.debugging import breakpoint_if, print_if
    from triton_util.indexing import get_1d_mask, get_1d_offset, get_2d_mask, get_2d_offset
    from triton_util.launching import cdiv, check_tensors_gpu_ready
    from triton_util.notebook.subprocess_run import interpreted
    from triton_util.tracing import trace

__all__ = [
    "answer",
    "breakpoint_if",
    "catch",
    "cdiv",
    "check",
    "check_tensors_gpu_ready",
    "get_1d_mask",
    "get_1d_offset",
    "get_2d_mask",
    "get_2d_offset",
    "hint",
    "interpreted",
    "practice",
    "predict",
    "print_if",
    "progress",
    "quiz",
    "review",
    "speed",
    "time_beside",
    "trace",
    "validate",
]

_HOME = {
    "answer": "client",
    "breakpoint_if": "debugging",
    "catch": "client",
    "cdiv": "launching",
    "check": "client",
    "check_tensors_gpu_ready": "launching",
    "get_1d_mask": "indexing",
    "get_1d_offset": "indexing",
    "get_2d_mask": "indexing",
    "get_2d_offset": "indexing",
    "hint": "client",
    "interpreted": "notebook.subprocess_run",
    "practice": "client",
    "predict": "client",
    "print_if": "debugging",
    "progress": "client",
    "quiz": "client",
    "review": "client",
    "speed": "client",
    "time_beside": "bench.side_by_side",
    "trace": "tracing",
    "validate": "client",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it, once."""
    if name not in _HOME:
        raise AttributeError(f"module 'triton_util' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"triton_util.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


prepare_notebook()
