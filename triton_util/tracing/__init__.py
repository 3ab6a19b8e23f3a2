"""Watch a kernel at work: `trace(kernel)[grid](...)` runs it and returns what it touched.

The kernel runs for real, in the checked interpreter, one program after another in launch
order. The record shows which program touches which elements, step by step; the bytes that each
argument costs; the kernel's place on the roofline; and what a cache makes of the launch order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_util.tracing.record import Record

__all__ = ["Record", "trace"]


class Tracer:
    """What `trace` returns: launch it as the kernel itself, or call it as the launcher."""

    def __init__(self, traced: Any) -> None:
        self._traced = traced

    def __getitem__(self, grid: Any) -> Callable[..., Record]:
        """Launch the kernel on `grid`; the record of that launch."""
        return lambda *args, **named: _record(lambda: self._traced[grid](*args, **named))

    def __call__(self, *args: Any, **named: Any) -> Record:
        """Call the launcher; the record of its last launch, the result in `.result`."""
        return _record(lambda: self._traced(*args, **named))


def trace(kernel: Any) -> Tracer:
    """Trace a @triton.jit kernel, `trace(add_kernel)[grid](x, y, output, n, BLOCK_SIZE=4)`, or
    all of a launcher, `trace(vector_add)(x, y)`.

    Needs TRITON_INTERPRET=1 before triton is imported; raises EngineUnavailable otherwise, and
    KernelFault where the kernel touches what it must not. Use small inputs: every access of
    every program is kept.
    """
    return Tracer(kernel)


def _record(run: Callable[[], Any]) -> Record:
    from triton_util.tracing.watching import watch

    return watch(run)
