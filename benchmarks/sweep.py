"""Which sizes are best for the fast forms: one command, one GPU, one table for each workload.

    python benchmarks/sweep.py [--only TEXT ...] [--seconds 2] [--output FILE]

times each fast form with a handful of tiles, warps and stages, beside the baselines of the bars,
with the inputs and the checks of benchmarks/workloads/. The best is printed first. What came out
is then written into the fast form by hand; nothing here changes a kernel. The medians of the last
sweep, in milliseconds, are kept in results/sweep_h200.json (an H200, torch 2.11, triton 3.6,
2026-11-23, --seconds 0.4): a test holds the fast forms to them. They stand on no page.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.solutions import checks_of
from benchmarks.workloads import attentions, counting, elementwise, layouts, products, rows
from benchmarks.workloads.records import Bar, Contender, Workload
from solutions.fast import (
    atomics_and_scans,
    attention,
    autograd,
    decoding,
    experts,
    few_tiles,
    hopper_few_rows,
    hopper_fp8,
    low_precision,
    odd_rows,
    persistent,
    randomness,
    reductions,
    strides,
    two_parts,
)
from triton_util.bench import CudaClock, TimingPlan, compare

Sweep = tuple[Workload, dict[str, Contender]]


def named(
    launch: Callable[..., Any], arity: int, *choices: tuple[Any, ...]
) -> dict[str, Contender]:
    """`launch` with each choice behind the first `arity` inputs, by the choice."""

    def with_choice(choice: tuple[Any, ...]) -> Contender:
        return lambda *args: launch(*args[:arity], *choice)

    return {str(choice): with_choice(choice) for choice in choices}


def with_constants(module: ModuleType, launch: Contender, **constants: Any) -> Contender:
    """`launch` with constants of its module, which are put back after each call."""

    def run(*args: Any) -> torch.Tensor:
        before = {name: getattr(module, name) for name in constants}
        try:
            vars(module).update(constants)
            return launch(*args)
        finally:
            vars(module).update(before)

    return run


def configured(launch: Callable[..., Any], kernel: Any, arity: int) -> dict[str, Contender]:
    """`launch` with each configuration of an autotuned kernel alone."""

    def alone(config: triton.Config) -> Contender:
        tuner = triton.autotune(configs=[config], key=["M", "N", "K"])(kernel.fn)
        return lambda *args: launch(tuner, *args[:arity])

    return {str(config): alone(config) for config in kernel.configs}


def sweeps_of_rows() -> Iterator[Sweep]:
    """Softmax, layer norm, gradients, losses."""
    long, stream = reductions.softmax_of_long_rows, reductions.softmax_of_a_stream
    sizes = ((4, 8192, 32), (2, 8192, 32), (4, 4096, 16), (2, 4096, 16), (4, 2048, 8))
    odd, odd_sizes = odd_rows.softmax_of_odd_rows, (*sizes, (2, 2048, 8))
    blocks = {
        f"block {k}": v for k, v in named(reductions.softmax_of_rows, 1, (1, 16), (1, 32)).items()
    }
    streams = itertools.product((132, 264), (2, 3), (16, 32))
    yield (
        rows.softmax(4096, 32000),
        {
            **{f"long {k}": v for k, v in named(long, 1, *sizes).items()},
            **blocks,
            **{f"stream {k}": v for k, v in named(stream, 1, *streams).items()},
        },
    )
    once = odd_rows.softmax_of_an_odd_stream
    once_sizes = [(132, *size, 3) for size in ((2048, 8), (2048, 16), (1024, 8), (1024, 16))]
    yield (
        rows.softmax(2048, 50257),
        {
            **named(long, 1, *sizes),
            **{f"odd {k}": v for k, v in named(odd, 1, *odd_sizes).items()},
            **{f"odd stream {k}": v for k, v in named(once, 1, *once_sizes).items()},
        },
    )
    parts = named(two_parts.layernorm_in_parts, 4, (8, 2), (8, 4), (8, 8), (8, 16))
    whole = named(reductions.layernorm_of_rows, 4, (1, 8))
    norms = {**{f"parts {k}": v for k, v in parts.items()}, **whole}
    yield rows.layernorm(8192, 5120), norms
    yield rows.softmax_backward(), {"as it is": autograd.softmax_backward}
    if importlib.util.find_spec("solutions.capstone"):
        from solutions.fast import capstone

        sizes = (
            (4, 4096, 16),
            (4, 8192, 32),
            (4, 2048, 8),
            (2, 4096, 16),
            (8, 2048, 8),
            (4, 1024, 4),
        )
        yield rows.cross_entropy(), named(capstone.launch, 2, *sizes)


def sweeps_of_elements() -> Iterator[Sweep]:
    """Dropout, transposition, running sums, histogram."""
    blocks = ((1024, 4), (2048, 8), (2048, 4), (512, 4), (1024, 2))
    yield elementwise.dropout_residual(), named(randomness.launch, 4, *blocks)
    tiles = ((128, 128, 8), (128, 128, 16), (64, 128, 8), (128, 64, 8), (64, 64, 4), (256, 64, 8))
    yield layouts.transpose_bytes(), named(strides.launch, 1, *tiles)
    tiles = ((8192, 8), (4096, 8), (4096, 4), (16384, 16), (2048, 4), (8192, 16))
    yield counting.cumsum(1, 2**26), named(atomics_and_scans.scan_tiles, 1, *tiles)
    rows_too = {**named(atomics_and_scans.scan_tiles, 1, (8192, 8), (4096, 8))}
    yield counting.cumsum(8192, 8192), {"rows": atomics_and_scans.cumsum, **rows_too}
    sizes = ((8192, 8, 4), (4096, 4, 8), (8192, 8, 2), (16384, 8, 4), (4096, 8, 4), (2048, 4, 16))
    yield counting.histogram(), named(atomics_and_scans.launch_histogram, 2, *sizes)


def late(choices: tuple[tuple[Any, ...], ...]) -> dict[str, Contender]:
    """Products in parts whose second kernel does not start before the first has ended."""
    found = named(few_tiles.split_product, 2, *choices)
    return {f"late {k}": with_constants(few_tiles, v, EARLY=False) for k, v in found.items()}


def sweeps_of_products() -> Iterator[Sweep]:
    """Matrix products."""
    kernel = persistent.described_matmul_kernel
    for n in (4096, 8192):
        work = products.product("persistent_matmul", "persistent", (n, n, n), 0.95)
        yield work, configured(persistent.launch, kernel, 2)
    skinny = (
        *((splits, (64, 128, 128), 4, 4) for splits in (2, 4, 8)),
        (4, (64, 128, 64), 4, 6),
        (8, (64, 256, 64), 4, 5),
        (2, (64, 64, 128), 4, 5),
        (4, (64, 64, 128), 4, 3),
    )
    work = products.product("autotuned_matmul", "autotuning", (64, 4096, 4096), 0.9)
    yield work, {**named(few_tiles.split_product, 2, *skinny), **late(skinny)}
    split = (
        (8, (128, 128, 64), 8, 4),
        (8, (128, 128, 64), 4, 6),
        (8, (128, 128, 128), 8, 3),
        (16, (128, 256, 64), 8, 4),
        (16, (256, 128, 64), 8, 4),
        (4, (128, 64, 128), 4, 4),
        (16, (128, 128, 64), 8, 3),
    )
    parts = named(few_tiles.split_product, 2, *split)
    yield products.split_k_matmul(), {**parts, **late(split)}
    grouped = (
        ((128, 256, 64), 8, 4, False),
        ((128, 256, 64), 8, 3, True),
        ((128, 128, 64), 8, 4, False),
        ((128, 128, 64), 4, 4, True),
        ((256, 128, 64), 8, 4, False),
    )
    yield products.grouped_gemm(), named(experts.launch, 3, *grouped)
    sizes = ((32, 8, 8), (32, 32, 16), (16, 16, 8), (32, 16, 8), (16, 32, 8), (16, 8, 8))
    for m in (1, 16):
        few = named(low_precision.launch_few_rows, 4, *sizes)
        hopper_sizes = ((32, 16), (32, 32), (16, 8), (16, 16), (32, 8))
        hopper = named(hopper_few_rows.hopper_few_rows, 4, *hopper_sizes)
        few |= {f"hopper {sizes}": launch for sizes, launch in hopper.items()}
        yield products.quantized_matmul(m), few
    yield products.fp8_matmul(), named(hopper_fp8.hopper_fp8_matmul, 4, (4,), (8,), (16,))


def sweeps_of_attention() -> Iterator[Sweep]:
    """Attention and decoding."""
    # groups, keys in a block, blocks and tiles of queries in shared memory, programs that stay
    long, two, three = (2, 128, 2, 2), (2, 64, 2, 1), (3, 128, 2, 2)
    deep = (3, 128, 4, 2)
    for shape, choices in (
        ((4, 32, 4096, 64), ((*long, True), (*three, True), (*deep, True), (*three, False))),
        ((8, 32, 1024, 128), ((*long, True), (*long, False), (2, 64, 4, 2, True))),
        ((4, 32, 4096, 128), ((*long, True), (*long, False), (2, 128, 2, 1, False))),
        ((4, 16, 4096, 256), ((*two, True), (*two, False))),
    ):
        for causal in (False, True):
            bar = Bar("torch cuDNN", attentions.TO_CUDNN.get(shape, 1.0))
            yield attentions.attention(shape, causal, bar), named(attention.launch, 4, *choices)
    sizes = (
        *((64, stages, programs, 4) for stages in (3, 4) for programs in (512, 1024, 2048)),
        (128, 3, 512, 8),
        (128, 3, 1024, 4),
        (32, 4, 1024, 4),
        (32, 4, 2048, 2),
        (64, 5, 1024, 4),
    )
    yield attentions.decode_attention(), named(decoding.launch, 5, *sizes)


TOPICS = (sweeps_of_products, sweeps_of_attention, sweeps_of_rows, sweeps_of_elements)


def contenders_of(work: Workload, choices: Mapping[str, Contender]) -> dict[str, Contender]:
    """The choices, and the baselines of the bars but for torch.compile, which is slow to make."""
    named_in_bars = {bar.baseline for bar in work.bars}
    references = {"torch": work.reference} if work.eager else {}
    baselines = {**references, **work.baselines}
    return {**{k: v for k, v in baselines.items() if k in named_in_bars}, **choices}


def main() -> int:
    """Time, and print the best first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="workloads with one of these texts")
    parser.add_argument("--seconds", type=float, default=2.0, help="patience per workload")
    parser.add_argument("--output", type=Path, help="where the medians go, as JSON")
    options = parser.parse_args()
    clock = CudaClock()
    plan = TimingPlan(min_rounds=10, max_rounds=60, max_seconds=options.seconds, precision=0.003)
    told: dict[str, dict[str, float | str]] = {}
    for work, choices in itertools.chain.from_iterable(topic() for topic in TOPICS):
        if not any(text in work.name for text in options.only):
            continue
        begin = time.monotonic()
        contenders = contenders_of(work, choices)
        checks = checks_of(work, contenders)
        timings = compare(contenders, work.make_inputs, check=checks, plan=plan, clock=clock)
        timings.sort(key=lambda timing: timing.median_ms if timing.samples else 1e9)
        print(f"{work.name} ({time.monotonic() - begin:.0f} s)", flush=True)
        for timing in timings:
            what = f"{timing.median_ms * 1e3:9.1f} µs" if timing.samples else "        –"
            print(f"  {what}  {timing.label}  {'; '.join(timing.problems)}"[:200], flush=True)
        told[work.name] = {
            timing.label: timing.median_ms if timing.believed else "; ".join(timing.problems)
            for timing in timings
        }
        torch.cuda.empty_cache()
        if options.output:
            options.output.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
