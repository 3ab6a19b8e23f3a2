"""Fast forms take the sizes that a GPU was fastest with, and none that they get wrong."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from solutions.fast import (
    atomics_and_scans,
    attention,
    autotuning,
    capstone,
    decoding,
    experts,
    low_precision,
    randomness,
    reductions,
    strides,
)

SWEPT = Path(__file__).parents[2] / "benchmarks" / "results" / "sweep_h200.json"
HALF = torch.float16
NEAR = 1.01  # what is slower by one percent may also be chosen, if it is simpler


class LaunchedError(Exception):
    """In place of a launch: what would have been launched."""


def empty(*shape: int, dtype: torch.dtype = HALF) -> torch.Tensor:
    """A tensor without memory."""
    return torch.empty(shape, dtype=dtype, device="meta")


Case = tuple[str, ModuleType, str, int, Callable[[], Any]]


def cases() -> Iterator[Case]:
    """Workload (and what its labels begin with), module, launcher, inputs of it, and the call."""
    square = empty(4096, 4096)
    split = partial(autotuning.autotuned_matmul, empty(64, 4096), square)
    yield "autotuned_matmul 64×4096×4096", autotuning, "split_product", 2, split
    a, b = empty(512, 16384), empty(16384, 512)
    split = partial(atomics_and_scans.split_k_matmul, a, b, 8)
    yield "split_k_matmul 512×512×16384", atomics_and_scans, "split_product", 2, split
    name = "grouped_gemm bf16, 64 uneven experts, 32768×4096×2048"
    x, w = empty(32768, 2048), empty(64, 2048, 4096)
    ends = empty(65, dtype=torch.int32)
    yield name, experts, "launch", 3, partial(experts.grouped_gemm, x, w, ends)
    words, zeros = empty(512, 4096, dtype=torch.int32), empty(32, 4096, dtype=torch.uint8)
    scales = empty(32, 4096)
    few = low_precision.quantized_matmul
    for m in (1, 16):
        name = f"quantized_matmul {m}×4096×4096"
        run = partial(few, empty(m, 4096), words, scales, zeros)
        yield name, low_precision, "hopper_few_rows", 4, run
    name = "decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128"
    pages, table = empty(32768, 16, 8, 128), empty(64, 512, dtype=torch.int32)
    lengths = empty(64, dtype=torch.int32)
    decode = partial(decoding.decode_attention, empty(64, 32, 128), pages, pages, table, lengths)
    yield name, decoding, "launch", 5, decode
    yield from cases_of_rows()


def cases_of_rows() -> Iterator[Case]:
    """What works row by row, or number by number."""
    softmax, rows = reductions.softmax, empty(65536, 4096)
    stream, odd = empty(4096, 32000), empty(2048, 50257)
    yield "softmax 4096×32000", reductions, "softmax_of_a_stream", 1, partial(softmax, stream)
    yield "softmax 2048×50257", reductions, "softmax_of_an_odd_stream", 1, partial(softmax, odd)
    x, w = empty(8192, 5120), empty(5120)
    norm = reductions.layernorm
    yield "layernorm 8192×5120", reductions, "layernorm_in_parts", 4, partial(norm, x, w, w)
    logits, targets = empty(8192, 128256), empty(8192, dtype=torch.int64)
    loss = partial(capstone.cross_entropy, logits, targets)
    yield "cross_entropy 8192×128256", capstone, "launch", 2, loss
    drop = partial(randomness.dropout_residual, rows, rows, 0.1, 1)
    yield "dropout_residual 65536×4096", randomness, "launch", 4, drop
    small = empty(16384, 16384, dtype=torch.int8)
    yield "transpose int8, 16384²", strides, "launch", 1, partial(strides.transpose, small)
    long = empty(1, 2**26, dtype=torch.float32)
    sums = partial(atomics_and_scans.cumsum, long)
    yield "cumsum fp32, 1×67108864", atomics_and_scans, "scan_tiles", 1, sums
    numbers = empty(2**26, dtype=torch.int32)
    counts = partial(atomics_and_scans.histogram, numbers, 256)
    name = "histogram int32, 67108864 numbers in 256 bins"
    yield name, atomics_and_scans, "launch_histogram", 2, counts


def on_a_pretended_h200(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Let the module believe that its tensors lie on a Hopper GPU with 132 multiprocessors."""
    answers = (("is_hopper", True), ("can_split", True), ("processors_of", 132))
    for name, answer in answers:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda *_, answer=answer: answer)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_the_best_measured_sizes_are_taken(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    name, module, launcher, n_inputs, run = case
    on_a_pretended_h200(monkeypatch, module)
    signature = inspect.signature(getattr(module, launcher))

    def launch(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        raise LaunchedError(tuple(bound.arguments.values())[n_inputs:])

    monkeypatch.setattr(module, launcher, launch)
    with pytest.raises(LaunchedError) as caught:
        run()
    (chosen,) = caught.value.args
    kinds = {"odd_stream": "odd stream ", "stream": "stream ", "in_parts": "parts "}
    kinds["hopper_few_rows"] = "hopper "
    kind = next((kind for end, kind in kinds.items() if launcher.endswith(end)), "")
    measured = json.loads(SWEPT.read_text())[name]
    sizes = {label: ms for label, ms in measured.items() if "(" in label and isinstance(ms, float)}
    assert sizes[f"{kind}{chosen}"] <= NEAR * min(sizes.values())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "shape", [(4, 32, 4096, 64), (4, 32, 4096, 128), (8, 32, 1024, 128), (4, 16, 4096, 256)]
)
def test_attention_has_the_best_sizes(shape: tuple[int, ...], causal: bool) -> None:
    batch, heads, length, d = shape
    kind = "causal" if causal else "full"
    measured = json.loads(SWEPT.read_text())[f"attention B{batch} H{heads} S{length} D{d} {kind}"]
    sizes = {label: ms for label, ms in measured.items() if label.startswith("(")}
    assert min(sizes, key=sizes.__getitem__) == str(attention.sizes_of(d, length, causal))


@pytest.mark.parametrize("d", [64, 128, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_takes_pairs_of_tiles_where_these_differ(
    d: int, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[tuple[object, int]] = []

    class Kernel:
        def __getitem__(self, grid: object) -> Callable[..., None]:
            return lambda *_args, EACH, **_kwargs: went.append((grid, EACH))

    q = torch.empty(2, 200, 256, d, dtype=HALF)
    on_a_pretended_h200(monkeypatch, attention)
    monkeypatch.setattr(attention, "hopper_attention_kernel", Kernel())
    attention.attention(q, q, q, causal)
    attention.attention(q[:, :1], q, q, causal)
    assert went[0] == ((132,), 2 if causal else 1)
    assert went[1][1] == 1


def test_parts_of_k_have_whole_groups() -> None:
    for n_rows in (1, 8, 9, 16):
        for n_groups in (8, 16, 24, 32, 40, 64):
            assert n_groups % low_precision.size_for(n_rows, n_groups)[1] == 0
