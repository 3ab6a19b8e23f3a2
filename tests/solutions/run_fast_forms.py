"""Compare fast forms with float64 arithmetic of torch, in the course's interpreter.

`TRITON_INTERPRET=1 python tests/solutions/run_fast_forms.py [--only TEXT]` prints a line for each
case: the largest error, as a multiple of what its dtype allows, and its name. What a fast form
leaves to the plain one on a CPU is called by the name of what would be launched on a Hopper GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.workloads import data
from benchmarks.workloads.attentions import decode_attention
from benchmarks.workloads.elementwise import random_of
from benchmarks.workloads.products import quantized_matmul
from solutions.fast import (
    atomics_and_scans,
    autograd,
    autotuning,
    decoding,
    experts,
    few_tiles,
    low_precision,
    persistent,
    randomness,
    reductions,
    strides,
)
from tests.solutions.run_solution_cases import tune_without_a_gpu
from triton_util.interpreter import interpret

HALF, BF16, SINGLE = torch.float16, torch.bfloat16, torch.float32
Case = tuple[str, Callable[[], torch.Tensor], torch.Tensor, torch.Tensor]
PROCESSORS = 3  # of the GPU that is pretended: so few that programs take several tiles


def products() -> Iterator[Case]:
    """Products of halves, of bytes and of experts: name, what to run, result, magnitude."""
    for m, n, k in ((64, 72, 80), (130, 264, 200), (1, 8, 8)):
        a, b = torch.randn(m, k).to(HALF), torch.randn(k, n).to(HALF)
        exact, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        name = f"{m}x{n}x{k}"
        kernel = persistent.described_matmul_kernel
        yield f"persistent {name}", partial(persistent.launch, kernel, a, b), exact, size
        for splits in (1, 2, 3):
            run = partial(few_tiles.split_product, a, b, splits, (64, 64, 32))
            yield f"split in {splits} {name}", run, exact, size
    x, w = torch.randn(50, 40).to(BF16), torch.randn(5, 40, 24).to(BF16)
    for ends in ((0, 7, 7, 40, 41, 50), (0, 0, 0, 0, 0, 50), (0, 50, 50, 50, 50, 50)):
        offsets = torch.tensor(ends, dtype=torch.int32)
        of = torch.bucketize(torch.arange(50), offsets[1:], right=True)
        exact = torch.einsum("tk,tkn->tn", x.double(), w.double()[of])
        size = torch.einsum("tk,tkn->tn", x.double().abs(), w.double().abs()[of])
        run = partial(experts.launch, x, w, offsets, (16, 16, 16))
        yield f"experts {ends}", run, exact, size


def low() -> Iterator[Case]:
    """Products of 4 bits."""
    for m, k in ((1, 1024), (5, 4096), (16, 2048)):
        args = quantized_matmul(m, 64, k).make_inputs(m)[:4]
        assert low_precision.is_for_few_rows(*args)
        a, packed, scales, zeros = (x.double() if x.is_floating_point() else x for x in args)
        q = torch.stack([(packed >> (4 * j)) & 15 for j in range(8)], 1).flatten(0, 1)
        scale, zero = (x.repeat_interleave(128, 0) for x in (scales, zeros))
        b = (q - zero.to(torch.int32)) * scale
        run = partial(low_precision.quantized_matmul, *args)
        yield f"4 bits {m}", run, a @ b, a.abs() @ b.abs()


def rows() -> Iterator[Case]:
    """Gradients of softmax, running sums, losses."""
    for dtype in (SINGLE, HALF):
        for m, n in ((1, 1), (5, 64), (3, 70), (2, 4096), (2, 5000)):
            y = torch.softmax(torch.randn(m, n), 1).to(dtype)
            dy = torch.randn(m, n).to(dtype)
            p, g = y.double(), dy.double()
            exact = p * (g - (g * p).sum(1, keepdim=True))
            size = p * (g.abs() + (g * p).abs().sum(1, keepdim=True))
            run = partial(autograd.softmax_backward, y, dy)
            yield f"gradient {m}x{n} {dtype}", run, exact, size
        for m, n in ((1, 1), (3, 70), (2, 1024), (2, 20000)):
            x = torch.randn(m, n).to(dtype)
            exact, size = x.double().cumsum(1), x.double().abs().cumsum(1)
            whole, tiles = atomics_and_scans.cumsum, atomics_and_scans.scan_tiles
            yield f"sums {m}x{n} {dtype}", partial(whole, x), exact, size
            yield f"sums by tiles {m}x{n} {dtype}", partial(tiles, x, 64), exact, size


def odd_rows() -> Iterator[Case]:
    """Softmax of rows that start in the middle of a vector."""
    for dtype, n in ((HALF, 16387), (HALF, 16393), (SINGLE, 16385), (HALF, 20481), (HALF, 36873)):
        x = torch.randn(8, n).to(dtype)
        exact = torch.softmax(x.double(), 1)
        yield f"odd rows {n} {dtype}", partial(reductions.softmax, x), exact, exact


def losses() -> Iterator[Case]:
    """The loss, where this checkout has the exercise."""
    if importlib.util.find_spec("solutions.capstone") is None:
        return
    from solutions.fast import capstone

    for n, dtype in ((70, HALF), (20000, HALF), (20008, SINGLE)):
        x, targets = torch.randn(4, n).to(dtype), torch.tensor([0, n - 1, -100, 7])
        x[0, 5:60] = float("-inf")
        exact = F.cross_entropy(x.double(), targets, reduction="none")
        run = partial(capstone.launch, x, targets)
        yield f"loss {n} {dtype}", run, exact, exact.abs() + 10


def others() -> Iterator[Case]:
    """Decoding, dropout, histogram, bytes turned, rows with gaps."""
    args = decode_attention(3, 8, 2, 96, 16).make_inputs(1)
    args[4][:] = torch.tensor([96, 0, 33])
    q, table = args[0], args[3]
    keys, values = (pages[table].flatten(1, 2).double() for pages in args[1:3])
    exact = torch.zeros(q.shape, dtype=torch.float64)
    for s, length in enumerate(args[4].tolist()):
        k, v = (x[s, :length].repeat_interleave(4, 1) for x in (keys, values))
        scores = torch.einsum("hd,nhd->hn", q[s].double(), k) / 4
        exact[s] = torch.einsum("hn,nhd->hd", torch.softmax(scores, 1), v)
    for block_n, programs in ((16, 6), (64, 6), (16, 24)):
        run = partial(decoding.launch, *args, block_n, 2, programs)
        # The weights are rounded to halves before they are multiplied with the values.
        yield f"decoding {block_n} {programs}", run, exact, 500 * (exact.abs() + 1)
    for p, seed in ((0.0, 1), (0.1, 2**40 + 7), (0.999, -5)):
        x, residual = torch.randn(3, 700), torch.randn(3, 700)
        kept = random_of(seed, torch.arange(2100)).view(3, 700) >= p
        exact = residual.double() + torch.where(kept, x.double() / (1 - p), 0.0)
        run = partial(randomness.dropout_residual, x, residual, p, seed)
        yield f"dropout {p}", run, exact, exact.abs() + 1 / (1 - p)
    x = torch.randint(-3, 40, (9000,), dtype=torch.int32)
    for bins in (1, 30, 256):
        counts = torch.bincount(x[(x >= 0) & (x < bins)], minlength=bins).double()
        run = partial(atomics_and_scans.histogram, x, bins)
        yield f"histogram {bins}", run, counts, counts * 0
    small = torch.randint(-128, 128, (70, 150)).to(torch.int8)
    yield "bytes turned", lambda: strides.transpose(small), small.T.double(), small.T * 0.0
    odd = torch.randn(67, 35)
    gapped = autotuning.with_gaps
    yield "gaps", lambda: autotuning.copied(odd, gapped(67, 35, odd)), odd.double(), odd * 0.0


def error(actual: torch.Tensor, exact: torch.Tensor, size: torch.Tensor) -> float:
    """The largest error, as a multiple of what rounding allows; inf for another form."""
    if actual.shape != exact.shape:
        return float("inf")
    eps = torch.finfo(actual.dtype).eps if actual.is_floating_point() else 0.0
    room = eps * exact.abs() + 2e-6 * size.double() + 1e-7
    return torch.nan_to_num((actual.double() - exact).abs() / room, nan=torch.inf).max().item()


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    only = parser.parse_args().only
    data.DEVICE = "cpu"
    for module in (experts, persistent, low_precision):
        module.processors_of = lambda x: PROCESSORS
    tune_without_a_gpu()
    torch.manual_seed(0)
    with interpret():
        for make in (products, low, rows, odd_rows, losses, others):
            for name, run, exact, size in make():
                if only in name:
                    print(f"{error(run(), exact, size):.3f} {name}", flush=True)


if __name__ == "__main__":
    main()
