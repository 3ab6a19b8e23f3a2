"""Predictions of what is measured or modelled: the records say what the course's tools say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

from graders.authoring.lesson import read_lesson
from graders.judge.predictions import predictions
from triton_util import explore
from triton_util.bench import simulated
from triton_util.explore.budget import budget

LESSONS = Path(__file__).parents[2] / "lessons"


def said(name: str) -> Any:
    """The answer on record, as pytest compares floats."""
    return pytest.approx(predictions()[name].answer, rel=1e-3, nan_ok=True)


def ran(lesson: str, *starts: str) -> dict[str, Any]:
    """What the cells of a lesson define whose text begins so; its set-up has run before."""
    (path,) = LESSONS.rglob(f"[0-9][0-9]_{lesson}.py")
    cells = [cell.source for cell in read_lesson(path).cells if cell.kind in ("setup", "code")]
    scope: dict[str, Any] = {"torch": torch, "triton": triton}
    setup, *others = cells
    exec(setup, scope)
    for start in starts:
        (source,) = (cell for cell in others if cell.startswith(start))
        exec(source, scope)
    return scope


MEASURE = """
import json
import torch
from solutions.attention import attention
from solutions.fusion import gelu
from solutions.matmul import matmul
from solutions.reductions import softmax
from solutions.swizzling import grouped_matmul
from triton_util.explore import measure

a, q = torch.ones(256, 256), torch.ones(256, 16)
grouped = measure(grouped_matmul, torch.ones(1024, 256), torch.ones(256, 1024))
print(json.dumps({
    "bytes_fused": measure(gelu, torch.linspace(-3, 3, 10_000)).total,
    "bytes_short": measure(softmax, torch.ones(8, 500)).total / (8 * 500),
    "bytes_long": measure(softmax, torch.ones(2, 20_000)).total / (2 * 20_000),
    "bytes_of_a": measure(matmul, a, a).loaded["a_ptr"],
    "percent_of_hits_of_a_kernel": 100 * grouped.l2_hit_rate(64 * 64 * 32 * 4, 16),
    "k_read_full": measure(attention, q, q, q, False).loaded["k_ptr"] / q.nbytes,
    "k_read_causal": measure(attention, q, q, q, True).loaded["k_ptr"] / q.nbytes,
}))
"""


def test_the_chain_of_gelu() -> None:
    count = ran("fusion", "def eager_gelu", "class CountKernels")["count"]
    assert count.kernels == said("gelu_kernels")
    assert count.arrays == said("gelu_arrays")
    assert count.arrays * 10_000 * 4 == said("bytes_eager")


def test_arithmetic_that_ends_badly() -> None:
    power = torch.exp(2 * torch.tensor(50.0))
    assert ((power - 1) / (power + 1)).item() == said("tanh_of_50")
    powers = torch.exp(torch.tensor([100.0, 100.0]))
    assert (powers / powers.sum())[0].item() == said("share_of_100")
    x = torch.tensor([9999.0, 10001.0])
    assert ((x * x).mean() - x.mean() ** 2).item() == said("variance_in_one_walk")
    total = torch.zeros((), dtype=torch.float16)
    for _ in range(4096):
        total += 1
    assert total.item() == said("sum_of_4096_ones")


def test_bytes_of_the_model_solutions() -> None:
    """In a process of its own, whose kernels are interpreted."""
    paths = os.pathsep.join([str(LESSONS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        env={**os.environ, "PYTHONPATH": paths, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured == {name: said(name) for name in measured}


def test_orders_of_tiles() -> None:
    row_major, grouped = explore.row_major, explore.grouped
    assert explore.blocks_needed(row_major(9, 9)[:9], n_inner=9) == said("blocks_row_major")
    assert explore.blocks_needed(grouped(9, 9, 3)[:9], n_inner=9) == said("blocks_square")
    row, col = grouped(5, 4, 3)[14]
    assert (row, col) == (said("row_of_14"), said("col_of_14"))
    size = {"n_inner": 16, "concurrent": 16, "capacity": 64}
    in_a_row, in_groups = (
        explore.hit_rate(order, **size) for order in (row_major(16, 16), grouped(16, 16, 4))
    )
    assert 100 * in_a_row == said("percent_of_hits_row_major")
    assert 100 * in_groups == said("percent_of_hits_grouped")


def test_budgets_of_tiles() -> None:
    assert budget(256, 256, 64, 4, 3).accumulator == said("accumulator_registers")
    candidates = ran("autotuning", "candidates = [")["candidates"]
    fitting = sum(budget(*config).fits("L4") for config in candidates)
    assert fitting == said("how_many_fit_an_l4")


def test_masks_and_shares_of_attention() -> None:
    rows = explore.tile_kinds(256, 256, 64, 32, causal=True)
    kinds = [kind for row in rows for kind in row]
    masked = kinds.count("diagonal")
    assert masked == said("tiles_with_a_mask")
    assert masked + kinds.count("full") == said("tiles_computed")
    shares = torch.softmax(torch.tensor([-2.0, -2.0, -2.0, 0.0]), dim=0)
    assert 100 * shares[3].item() == said("percent_for_nobody")
    assert torch.empty(2, 10, 3, 16).transpose(1, 2).stride(2) == said("stride_between_rows")
    noticed = list(ran("attention", "def reference")["off_by_one"].values()).count(False)
    assert noticed == said("properties_that_notice")


def test_simulated_gpus() -> None:
    scope = ran("benchmarking", "def launch_only", "def loop", "def events_only")
    models = simulated.models()
    seen = simulated.attempt(scope["launch_only"], models[0]).factor
    assert seen == said("share_that_is_seen")
    right = sum(simulated.attempt(scope["loop"], model).holds for model in models)
    assert right == said("gpus_where_the_loop_is_right")
    assert simulated.attempt(scope["events_only"], models[-1]).factor == said("times_too_large")
