"""The record of one traced launch: what it touched, shown in words and pictures."""

from __future__ import annotations

from typing import Any

from triton_util.tracing.text import record_text, steps_text
from triton_util.tracing.traced import Traced


class Record(Traced):
    """A traced launch. Display it in a notebook, `print` it, or call a method for one part."""

    def __str__(self) -> str:
        return record_text(self)

    __repr__ = __str__

    def steps_text(self, program: int = 0) -> str:
        """Every access of one program, one line each."""
        return steps_text(self, program)

    def explore(self) -> Any:
        """Sliders for the program and the step, and below them what they touch."""
        from triton_util.tracing.explorer import explorer

        return explorer(self)

    def touch_map(self, program: int = 0, step: int = 0) -> Any:
        """What one program touches at one of its steps, without controls."""
        from triton_util.tracing.maps import touch_map

        return touch_map(self, program, step)

    def order(self, capacity_bytes: int | None = None, concurrency: int = 1) -> Any:
        """The launch order over the tiles of the output, with the hits of a modelled cache."""
        from triton_util.tracing.maps import order_map

        return order_map(self, capacity_bytes, concurrency)

    def roofline(self, tensor_cores: bool = False) -> Any:
        """The most that this kernel could reach on four GPUs, by its operations per byte.

        A kernel without floating-point operations has no position on it: only the roofs are
        drawn.
        """
        from triton_util.figures.roofline import roofline

        points = {self.kernel: self.traffic.intensity} if self.operations else {}
        return roofline(points, tensor_cores)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from triton_util.tracing.explorer import bundle

        return bundle(self)
