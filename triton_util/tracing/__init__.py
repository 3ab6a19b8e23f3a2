"""Watch a kernel at work: `trace(kernel)[grid](...)` runs it and returns what it touched.

The kernel runs in the checked interpreter, one program after another in launch order. The record
shows which program touches which elements, step by step; the bytes moved for each argument; the
kernel's position on the roofline; and how a cache would perform with this launch order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_util.tracing.record import Record

__all__ = ["Record", "trace"]


class Tracer:
    """What `trace` returns: launch it like the kernel, or call it like the launcher."""

    def __init__(self, traced: Any) -> None:
        self._traced = traced

    def __getitem__(self, grid: Any) -> Callable[..., Record]:
        """A function that launches the kernel on `grid` and returns the record of that launch."""
        return lambda *args, **named: _record(lambda: self._traced[grid](*args, **named))

    def __call__(self, *args: Any, **named: Any) -> Record:
        """Call the launcher; the record of its last launch, the result in `.result`."""
        return _record(lambda: self._traced(*args, **named))


def trace(kernel: Any) -> Tracer:
    """Trace a @triton.jit kernel, `trace(add_kernel)[grid](x, y, output, n, BLOCK_SIZE=4)`, or
    a whole launcher, `trace(vector_add)(x, y)`.

    Needs TRITON_INTERPRET=1 before triton is imported; raises EngineUnavailable otherwise, and
    KernelFault if the kernel makes an illegal access. Use small inputs: every access of every
    program is recorded.
    """
    return Tracer(kernel)


def _record(run: Callable[[], Any]) -> Record:
    from triton_util.tracing.watching import watch

    return watch(run)
