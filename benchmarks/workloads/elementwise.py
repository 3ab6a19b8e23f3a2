"""vector_add, gelu and dropout_residual."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from benchmarks.workloads.baselines import AS_MANY, as_many_bytes, copied
from benchmarks.workloads.checks import differs, equal_to, whole
from benchmarks.workloads.data import HALF, inputs
from benchmarks.workloads.records import Args, Bar, Workload

WORD = 2**32 - 1
WINDOWS, WINDOW = 32, 2**17  # what of the output of dropout is checked


def vector_add(n: int = 2**28) -> Workload:
    """The sum of two vectors."""
    return Workload(
        "vector_add fp32, 2^28",
        "vector_add",
        "vector_add",
        inputs((n,), (n,), dtype=torch.float32),
        torch.add,
        equal_to(torch.add),
        8 * n,
        4 * n,
        n,
        (Bar("torch", 0.99),),
    )


def gelu(m: int = 65536, n: int = 4096) -> Workload:
    """GELU in its tanh form."""

    def reference(x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x, approximate="tanh")

    return Workload(
        f"gelu {m}×{n}",
        "gelu",
        "fusion",
        inputs((m, n)),
        reference,
        whole(reference, 1e-3),
        2 * m * n,
        2 * m * n,
        10 * m * n,
        (Bar("copy", 0.97), Bar("torch", 1.15)),
        {"copy": copied},
    )


def times(x: torch.Tensor, factor: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower 32 bits of x * factor, of 32-bit numbers held in int64."""
    upper, lower = x >> 16, x & 0xFFFF
    return (factor * upper + (factor * lower >> 16)) >> 16, (x * factor) & WORD


def random_of(seed: int, elements: torch.Tensor) -> torch.Tensor:
    """What `tl.rand(seed, elements)` returns, by torch: Philox with ten rounds, as published."""
    c0, c1 = elements & WORD, elements >> 32
    c2, c3 = torch.zeros_like(c0), torch.zeros_like(c0)
    k0, k1 = seed & WORD, seed >> 32 & WORD
    for _ in range(10):
        (high_b, low_b), (high_a, low_a) = times(c2, 0xCD9E8D57), times(c0, 0xD2511F53)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    folded = torch.where(c0 >= 2**31, WORD - c0, c0)
    return folded.to(torch.float32) * 4.6566127342e-10


def some_places(args: Args, actual: torch.Tensor) -> str:
    """A check of dropout at the first, the last and some random windows of the output."""
    x, residual, p, seed = args
    if actual.shape != x.shape:
        return f"shape {tuple(actual.shape)} instead of {tuple(x.shape)}"
    x, residual, actual = (tensor.flatten() for tensor in (x, residual, actual))
    width = min(WINDOW, x.numel())
    last = x.numel() - width
    for start in (0, last, *torch.randint(last + 1, (WINDOWS,)).tolist()):
        part = slice(start, start + width)
        elements = torch.arange(start, start + width, device=x.device)
        kept = random_of(seed, elements) >= p
        expected = residual[part].float() + torch.where(kept, x[part].float() / (1 - p), 0.0)
        complaint = differs(actual[part], expected, 1e-3)
        if complaint:
            return complaint
    return ""


def some_share(args: Args, actual: torch.Tensor) -> str:
    """A check of a dropout with random numbers of its own: how many elements it drops."""
    _x, residual, p, _seed = args
    share = (actual == residual).float().mean()
    return "" if abs(share - p) < 0.01 else f"{float(share):.3f} dropped instead of {p}"


def dropout_residual(m: int = 65536, n: int = 4096, dtype: torch.dtype = HALF) -> Workload:
    """residual + dropout(x), with the mask that the seed says."""

    def reference(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        return residual + F.dropout(x, p)  # torch has no dropout whose mask a seed says

    size = m * n * dtype.itemsize
    return Workload(
        f"dropout_residual{' fp32' if dtype == torch.float32 else ''} {m}×{n}",
        "dropout_residual",
        "randomness",
        lambda seed: (*inputs((m, n), (m, n), dtype=dtype)(seed), 0.1, 12345 + seed),
        reference,
        some_places,
        2 * size,
        size,
        2 * m * n,
        (Bar(AS_MANY, 0.95),),
        as_many_bytes(3 * size),
        checks={"torch": some_share, "torch.compile": some_share},
    )


def all_here() -> Iterator[Workload]:
    """All of them."""
    yield vector_add()
    yield gelu()
    yield dropout_residual()
    yield dropout_residual(32768, dtype=torch.float32)
