"""transpose, and strided_copy of the left half of wider rows."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks.workloads.baselines import copied
from benchmarks.workloads.checks import equal_to
from benchmarks.workloads.data import inputs, integers, normal
from benchmarks.workloads.records import Bar, Workload

SIDE = 16384


def turned(x: torch.Tensor) -> torch.Tensor:
    """The transposed matrix, in memory."""
    return x.T.contiguous()


def transpose(n: int = SIDE) -> Workload:
    """A transposition of 4-byte numbers."""
    return Workload(
        f"transpose fp32, {n}²",
        "transpose",
        "strides",
        inputs((n, n), dtype=torch.float32),
        turned,
        equal_to(turned),
        4 * n * n,
        4 * n * n,
        0,
        (Bar("copy", 0.95),),
        {"copy": copied},
    )


def transpose_bytes(n: int = SIDE) -> Workload:
    """A transposition of single bytes."""
    return Workload(
        f"transpose int8, {n}²",
        "transpose",
        "strides",
        lambda seed: ((integers(seed, 256, n, n) - 128).to(torch.int8),),
        turned,
        equal_to(turned),
        n * n,
        n * n,
        0,
        (Bar("torch.compile", 1.0),),
        {"copy": copied},
    )


def strided_copy(n: int = SIDE) -> Workload:
    """A copy of the left half of each row."""

    def cloned(x: torch.Tensor) -> torch.Tensor:
        return x.contiguous()

    return Workload(
        f"strided_copy fp32, left half of {n}×{2 * n}",
        "strided_copy",
        "strides",
        lambda seed: (normal(seed, n, 2 * n, dtype=torch.float32)[:, :n],),
        cloned,
        equal_to(cloned),
        4 * n * n,
        4 * n * n,
        0,
        (Bar("copy", 0.95),),
        {
            "copy": copied,
            "copy of a contiguous tensor": lambda x: copied(x.as_strided(x.shape, (n, 1))),
        },
    )


def all_here() -> Iterator[Workload]:
    """All of them."""
    yield transpose()
    yield transpose_bytes()
    yield strided_copy()
