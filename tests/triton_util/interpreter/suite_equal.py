"""Whole-grid == serial == backwards == shuffled == triton's own interpreter."""

import warnings

import pytest
import torch

from tests.triton_util.interpreter.zoo import CASES
from triton_util.interpreter import EngineOptions, interpret

# Stock sums 16-bit floats in another order, and raises or orders differently where noted.
TOLERANCE = {"matmul_fp16": 2e-3, "functions": 1e-5, "layernorm_welford": 1e-5}


def run(name, **options):
    with interpret(EngineOptions(**options)) as record:
        return CASES[name](), record


def assert_same(left, right, tolerance=0.0):
    for a, b in zip(left, right, strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_every_order_gives_what_the_stock_interpreter_gives(name):
    with warnings.catch_warnings():
        # triton 3.6 converts arrays to integers in a way that numpy has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        stock = CASES[name]()
    grid, record = run(name)
    tolerance = TOLERANCE.get(name, 2e-6)
    assert_same(grid, stock, tolerance)
    assert [fault.message for fault in record.faults] == []
    for schedule in ("serial", "reversed", "shuffled"):
        other, _ = run(name, schedule=schedule)
        assert_same(other, grid, tolerance if "atomic" in name else 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_small_batches_change_nothing(name):
    grid, _ = run(name)
    small, _ = run(name, memory_bytes=1 << 20)
    assert_same(small, grid, 1e-6)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"spin_lock"}))
def test_the_whole_grid_runs_at_once(name):
    _, record = run(name)
    assert [launch.mode for launch in record.launches if launch.fallback] == []
