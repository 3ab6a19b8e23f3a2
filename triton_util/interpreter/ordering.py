"""Does the result depend on the order of the programs?  Run it in several and compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from triton_util.interpreter.faults import Fault
from triton_util.interpreter.options import EngineOptions, Schedule
from triton_util.interpreter.session import interpret

SCHEDULES: tuple[Schedule, ...] = ("grid", "serial", "reversed", "shuffled")


def order_dependence(
    launch: Callable[[], Any],
    *,
    schedules: Sequence[Schedule] = SCHEDULES,
    options: EngineOptions | None = None,
    tolerance: float = 1e-4,
) -> list[Fault]:
    """Run `launch` once per schedule and compare each result with the first.

    launch: makes its inputs, runs the kernels and returns a tensor or a tuple of tensors.
    tolerance: relative to the largest element; sums of floats by atomics may differ by rounding.
    Returns one "order-dependent" fault per schedule with a different result; raises KernelFault
    as any launch does.
    """
    base = options or EngineOptions()
    results: list[tuple[Schedule, tuple[torch.Tensor, ...], str]] = []
    for schedule in schedules:
        with interpret(replace(base, schedule=schedule)) as run:
            out = launch()
        tensors = out if isinstance(out, tuple) else (out,)
        kernel = run.launches[-1].kernel if run.launches else ""
        results.append((schedule, tensors, kernel))
    first_schedule, expected, _ = results[0]
    faults = []
    for schedule, tensors, kernel in results[1:]:
        for number, (wanted, found) in enumerate(zip(expected, tensors, strict=True)):
            count = _differing(wanted, found, tolerance)
            if count:
                faults.append(_fault(kernel, first_schedule, schedule, number, count))
                break
    return faults


def _differing(wanted: torch.Tensor, found: torch.Tensor, tolerance: float) -> int:
    if not wanted.is_floating_point():
        return int((wanted != found).sum())
    a, b = wanted.double(), found.double()
    scale = float(a.nan_to_num(0.0, 0.0, 0.0).abs().max()) if a.numel() else 0.0
    same = torch.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return int((~same).sum())


def _fault(kernel: str, first: str, other: str, number: int, count: int) -> Fault:
    words = {"grid": "all programs at once", "serial": "one program after another"}
    words |= {"reversed": "the last program first", "shuffled": "the programs in a random order"}
    return Fault(
        code="order-dependent",
        message=(
            f"Output {number} of {kernel} differs in {count} elements between {words[first]} and "
            f"{words[other]}: the result depends on the order of the programs, and a GPU promises "
            "none."
        ),
        kernel=kernel,
        cause=(
            "Usual causes: programs that read what others write, or that overwrite each other's "
            "results instead of adding with tl.atomic_add."
        ),
    )
