"""`guard_launches`: every launch in a notebook runs in the engine, not only those of `check`.

A kernel without a mask then raises a `KernelFault` in its cell. In triton's own interpreter it
would corrupt the heap and crash the notebook's process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.runtime import interpreter as stock

from triton_util.interpreter.session import interpret, interprets

_stock_run = stock.InterpretedFunction.run


def _guarded_run(self: Any, *positional: Any, grid: Any, warmup: bool, **named: Any) -> Any:
    with interpret():
        return self.run(*positional, grid=grid, warmup=warmup, **named)


def guard_launches() -> None:
    """From now on run launches outside `interpret` in the engine, each in a run of its own.

    Does nothing if kernels are compiled for a GPU. Calling it twice is harmless.
    """
    if interprets():
        stock.InterpretedFunction.run = _guarded_run


@contextlib.contextmanager
def unguarded_launches() -> Iterator[None]:
    """Run launches inside in triton's own interpreter, which checks no bounds: for comparisons."""
    before = stock.InterpretedFunction.run
    stock.InterpretedFunction.run = _stock_run
    try:
        yield
    finally:
        stock.InterpretedFunction.run = before
