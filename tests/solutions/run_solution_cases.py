"""Solve the cases of solution_cases.py in this process and print one JSON line per case.

`python tests/solutions/run_solution_cases.py --device cpu --form plain`; for the CPU set
TRITON_INTERPRET=1 in the environment, because triton reads it when it is imported.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.solutions.solution_cases import BF16, SolvedCase, Tensors, all_cases, worst_ratio


def launcher_of(case: SolvedCase, form: str) -> Callable[..., torch.Tensor] | None:
    """The launcher in solutions/, or in solutions/fast/; None where there is no fast form."""
    package = "solutions" if form == "plain" else "solutions.fast"
    if not (Path(__file__).parents[2] / package.replace(".", "/") / f"{case.lesson}.py").exists():
        return None
    return getattr(importlib.import_module(f"{package}.{case.lesson}"), case.exercise, None)


def uses_bf16(args: Tensors) -> bool:
    """Whether a tensor among the arguments is bfloat16."""
    return any(isinstance(arg, torch.Tensor) and arg.dtype == BF16 for arg in args)


def solve(case: SolvedCase, form: str, device: str) -> dict[str, Any] | None:
    """Run one case; None where it does not apply."""
    launcher = launcher_of(case, form)
    args = case.args(torch.Generator().manual_seed(0))
    # Triton's own interpreter computes with the raw bits of bfloat16; a GPU does not.
    if launcher is None or (device == "cpu" and uses_bf16(args)):
        return None
    there = tuple(like(arg, device) if isinstance(arg, torch.Tensor) else arg for arg in args)
    record = {"exercise": case.exercise, "case": case.name, "form": form}
    try:
        actual = launcher(*there)
        if device != "cpu":
            torch.cuda.synchronize()
        return {**record, "ratio": worst_ratio(case, args, actual)}
    except Exception as error:  # one failing case must not hide the others
        return {**record, "ratio": float("inf"), "error": f"{type(error).__name__}: {error}"}


def tune_without_a_gpu() -> None:
    """Let autotuners run where there is no GPU; with one configuration, time decides nothing."""

    def no_time(self: Any) -> Callable[..., list[float]]:
        return lambda call, quantiles: [0.0, 0.0, 0.0]

    Autotuner.do_bench = property(no_time)


def like(x: torch.Tensor, device: str) -> torch.Tensor:
    """x on another device, with its strides and its place in the storage."""
    storage = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
    return storage.to(device).as_strided(x.shape, x.stride(), x.storage_offset())


def main() -> None:
    """Solve all cases of one form on one device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--form", choices=("plain", "fast"), default="plain")
    parser.add_argument("--only", default="", help="exercises whose names contain this")
    parser.add_argument("--shard", default="0/1", help="i/n: every n-th case, from the i-th on")
    options = parser.parse_args()
    if options.device == "cpu":
        tune_without_a_gpu()
    first, step = (int(part) for part in options.shard.split("/"))
    for case in list(all_cases())[first::step]:
        if options.only in case.exercise:
            record = solve(case, options.form, options.device)
            if record is not None:
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
