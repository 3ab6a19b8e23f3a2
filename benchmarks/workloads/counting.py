"""cumsum and histogram: results to which many elements contribute."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks.workloads.baselines import as_many_bytes, copied
from benchmarks.workloads.checks import equal_to
from benchmarks.workloads.data import inputs, integers
from benchmarks.workloads.records import Args, Bar, Workload


def running_sums(args: Args, actual: torch.Tensor) -> str:
    """A check of every running sum; rounding may grow with what has been added up."""
    (x,) = args
    if actual.shape != x.shape:
        return f"shape {tuple(actual.shape)} instead of {tuple(x.shape)}"
    n_rows = max(1, 2**26 // x.shape[1])
    for start in range(0, x.shape[0], n_rows):
        part = x[start : start + n_rows].double()
        room = 2e-7 * part.abs().cumsum(1) + 1e-6
        excess = ((actual[start : start + n_rows].double() - part.cumsum(1)).abs() - room).max()
        if not excess <= 0:  # NaN: off
            return f"off by {float(excess):.3g} more than allowed"
    return ""


def cumsum(m: int, n: int) -> Workload:
    """Running sums of each row."""

    def reference(x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, 1)

    return Workload(
        f"cumsum fp32, {m}×{n}",
        "cumsum",
        "atomics_and_scans",
        inputs((m, n), dtype=torch.float32),
        reference,
        running_sums,
        4 * m * n,
        4 * m * n,
        m * n,
        (Bar("torch", 1.0),),
        {"copy": copied},
    )


def histogram(n: int = 2**26, n_bins: int = 256) -> Workload:
    """How often each of 256 numbers stands in a vector."""

    def reference(x: torch.Tensor, n_bins: int) -> torch.Tensor:
        return torch.bincount(x, minlength=n_bins).to(torch.int32)

    return Workload(
        f"histogram int32, {n} numbers in {n_bins} bins",
        "histogram",
        "atomics_and_scans",
        lambda seed: (integers(seed, n_bins, n), n_bins),
        reference,
        equal_to(reference),
        4 * n,
        4 * n_bins,
        n,
        (Bar("torch", 1.0), Bar("torch.histc", 1.0)),
        {
            "torch.histc": lambda x, bins: torch.histc(x, bins, 0, bins).to(torch.int32),
            **as_many_bytes(4 * n + 4 * n_bins),
        },
        compiled=False,
    )


def all_here() -> Iterator[Workload]:
    """All of them: 2^26 numbers each."""
    yield cumsum(8192, 8192)
    yield cumsum(1, 2**26)
    yield histogram()
