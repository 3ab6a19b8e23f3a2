"""The matrix products, against cuBLAS."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from benchmarks.workloads.baselines import CHUNK, READ_ALONE, largest_words
from benchmarks.workloads.checks import differs, equal_to, only, some_lines
from benchmarks.workloads.data import inputs, integers, normal
from benchmarks.workloads.records import Args, Bar, Workload

BF16 = torch.bfloat16


def product(exercise: str, lesson: str, size: tuple[int, int, int], factor: float) -> Workload:
    """a @ b; `size` is that of m, n and k."""
    m, n, k = size
    name = str(n) if m == n == k else f"{m}×{n}×{k}"
    return Workload(
        f"{exercise} {name}",
        exercise,
        lesson,
        inputs((m, k), (k, n)),
        torch.matmul,
        some_lines(torch.matmul, 2e-3),
        2 * (m * k + k * n),
        2 * m * n,
        2 * m * n * k,
        (Bar("torch", factor),),
        tensor_cores=True,
    )


def split_k_matmul(m: int = 512, n: int = 512, k: int = 16384, splits: int = 8) -> Workload:
    """A product of few tiles with long sums."""

    def reference(a: torch.Tensor, b: torch.Tensor, _splits: int) -> torch.Tensor:
        return a @ b

    return Workload(
        f"split_k_matmul {m}×{n}×{k}",
        "split_k_matmul",
        "atomics_and_scans",
        lambda seed: (*inputs((m, k), (k, n))(seed), splits),
        reference,
        only(lambda args: args[:2], some_lines(torch.matmul, 2e-3)),
        2 * (m * k + k * n),
        2 * m * n,
        2 * m * n * k,
        (Bar("torch", 0.9),),
        tensor_cores=True,
    )


def linear_bias_relu(m: int = 8192, n: int = 4096, k: int = 4096) -> Workload:
    """A layer."""

    def linear(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.linear(x, w, b))

    return Workload(
        f"linear_bias_relu {m}×{n}×{k}",
        "linear_bias_relu",
        "matmul",
        inputs((m, k), (n, k), (n,)),
        linear,
        some_lines(linear, 2e-3),
        2 * (m * k + n * k + n),
        2 * m * n,
        2 * m * n * k,
        (Bar("torch", 1.05),),
        tensor_cores=True,
    )


# ---------------------------------------------------------------------------- experts


def uneven(seed: int, n_rows: int, n_experts: int) -> torch.Tensor:
    """Where the rows of each expert begin, and the end: some have many rows, some none."""
    generator = torch.Generator().manual_seed(seed + 7)
    likely = torch.rand(n_experts, generator=generator) ** 2
    likely[:: max(2, n_experts // 4)] = 0.0
    drawn = torch.multinomial(likely, n_rows, replacement=True, generator=generator)
    ends = torch.bincount(drawn, minlength=n_experts).cumsum(0)
    return torch.cat([torch.zeros(1, dtype=torch.int64), ends]).to(torch.int32)


def some_of_each_expert(args: Args, actual: torch.Tensor) -> str:
    """A check of the first, the last and six random rows of each expert, in all columns."""
    x, w, _offsets, offsets = args
    if actual.shape != (x.shape[0], w.shape[2]):
        return f"shape {tuple(actual.shape)}"
    for expert, (start, end) in enumerate(itertools.pairwise(offsets)):
        if start < end:
            drawn = torch.randint(start, end, (6,)).tolist()
            rows = torch.tensor([start, end - 1, *drawn], device=x.device)
            expected = x[rows].float() @ w[expert].float()
            complaint = differs(actual[rows], expected, 1e-2)
            if complaint:
                return f"expert {expert}: {complaint}"
    return ""


def grouped_gemm(
    n_rows: int = 32768, n_experts: int = 64, k: int = 2048, n: int = 4096
) -> Workload:
    """Rows of 64 experts, times the matrix of each. The loop gets the offsets on the CPU."""

    def loop(x: torch.Tensor, w: torch.Tensor, _: torch.Tensor, offsets: list[int]) -> torch.Tensor:
        output = torch.empty((x.shape[0], w.shape[2]), dtype=x.dtype, device=x.device)
        for expert, (start, end) in enumerate(itertools.pairwise(offsets)):
            torch.mm(x[start:end], w[expert], out=output[start:end])
        return output

    def grouped(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor, _: object) -> torch.Tensor:
        return torch._grouped_mm(x, w, offs=offsets[1:])

    def make(seed: int) -> Args:
        offsets = uneven(seed, n_rows, n_experts)
        x, w = inputs((n_rows, k), (n_experts, k, n), dtype=BF16)(seed)
        return x, w, offsets.to(x.device), offsets.tolist()

    return Workload(
        f"grouped_gemm bf16, {n_experts} uneven experts, {n_rows}×{n}×{k}",
        "grouped_gemm",
        "experts",
        make,
        loop,
        some_of_each_expert,
        2 * (n_rows * k + n_experts * k * n * 7 / 8),  # some have no rows
        2 * n_rows * n,
        2 * n_rows * n * k,
        (Bar("torch", 1.0), Bar("torch._grouped_mm", 1.0)),
        {"torch._grouped_mm": grouped},
        tensor_cores=True,
        arity=3,
        compiled=False,
    )


# ---------------------------------------------------------------------------- low precision


def quantized_matmul(m: int, n: int = 4096, k: int = 4096, group: int = 128) -> Workload:
    """Few rows times 4-bit weights; torch gets the same weights in fp16.

    How long it takes to read the packed weights alone says how many times as fast one can be.
    """

    def dense(a: torch.Tensor, _p: object, _s: object, _z: object, b: torch.Tensor) -> torch.Tensor:
        return a @ b

    def make(seed: int) -> Args:
        q = integers(seed, 16, k, n, part=1)
        zeros = integers(seed, 16, k // group, n, dtype=torch.uint8, part=2)
        scales = normal(seed, k // group, n, part=3).abs() * 0.01 + 0.001
        wide = [x.repeat_interleave(group, 0) for x in (zeros.float(), scales.float())]
        b = ((q - wide[0]) * wide[1]).half()
        packed = torch.zeros(k // 8, n, dtype=torch.int32, device=q.device)
        for place in range(8):
            packed |= q[place::8] << (4 * place)
        return normal(seed, m, k), packed, scales, zeros, b

    return Workload(
        f"quantized_matmul {m}×{n}×{k}",
        "quantized_matmul",
        "low_precision",
        make,
        dense,
        only(lambda args: (args[0], args[4]), some_lines(torch.matmul, 2e-3)),
        k * n / 2 + k // group * n * 3 + 2 * m * k,
        2 * m * n,
        2 * m * n * k,
        (Bar("torch", 2.5),),
        {READ_ALONE: lambda _a, packed, *_others: largest_words(packed)},
        tensor_cores=True,
        arity=4,
        checks={READ_ALONE: equal_to(lambda _a, packed, *_others: packed.view(-1, CHUNK).amax(1))},
    )


def fp8_matmul(n: int = 8192) -> Workload:
    """A product of 8-bit numbers, its rows and columns scaled."""
    eight = torch.float8_e4m3fn

    def scaled(fast: bool) -> object:
        return lambda a, b, scale_a, scale_b: torch._scaled_mm(
            *(a, b, scale_a[:, None], scale_b[None, :]),
            out_dtype=BF16,
            use_fast_accum=fast,
        )

    def make(seed: int) -> Args:
        a, b = (x.to(eight) for x in inputs((n, n), (n, n))(seed))
        scales = (normal(seed, n, dtype=torch.float32, part=part).abs() + 0.1 for part in (2, 3))
        return a, b.t(), *scales  # b lies in columns: torch takes no other

    def exact(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return (a @ b) * s[:, None] * t[None, :]

    def check(args: Args, actual: torch.Tensor) -> str:
        a, b, scale_a, scale_b = args
        rows = torch.randint(n, (128,), device=a.device)
        wide = a.float()
        complaint = differs(
            actual[rows], exact(wide[rows], b.float(), scale_a[rows], scale_b), 8e-3
        )
        cols = torch.randint(n, (128,), device=a.device)
        by_cols = exact(wide, b.t().float()[cols].t(), scale_a, scale_b[cols])
        return complaint or differs(actual[:, cols], by_cols, 8e-3)

    return Workload(
        f"fp8_matmul {n}",
        "fp8_matmul",
        "low_precision",
        make,
        scaled(fast=False),
        check,
        2 * n * n + 8 * n,
        2 * n * n,
        2 * n**3,
        (Bar("torch", 1.0), Bar("torch, fewer bits", 1.0, wish=True)),
        {"torch, fewer bits": scaled(fast=True)},
        tensor_cores=True,
        compiled=False,
        rate=2.0,
    )


def all_here() -> Iterator[Workload]:
    """All of them."""
    grouped, tuned = ("grouped_matmul", "swizzling"), ("autotuned_matmul", "autotuning")
    for n in (4096, 8192):
        yield product(*grouped, (n, n, n), 1.0)
    for n in (4096, 8192):
        yield product(*tuned, (n, n, n), 1.0)
    for n in (4096, 8192):
        yield product("persistent_matmul", "persistent", (n, n, n), 0.95)
    yield product(*tuned, (4097, 4097, 4097), 0.9)
    yield product(*tuned, (64, 4096, 4096), 0.9)
    yield split_k_matmul()
    yield linear_bias_relu()
    yield grouped_gemm()
    for m in (1, 4, 16):
        yield quantized_matmul(m)
    yield fp8_matmul()
