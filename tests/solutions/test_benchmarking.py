"""The model solutions of the lesson on benchmarking, which launch nothing."""

import pytest
import torch

from solutions.benchmarking import fair_ms, throughput
from triton_util.bench import simulated


@pytest.mark.parametrize("seed", range(40))
def test_the_fair_stopwatch_is_right_on_every_gpu(seed: int) -> None:
    for model in simulated.models(seed):
        tried = simulated.attempt(fair_ms, model, seed)
        assert tried.holds, tried


@pytest.mark.parametrize(
    ("kind", "shape", "dtype", "gigabytes", "teraflop"),
    [
        ("copy", (2**28,), torch.float32, 2 * 2**30 * 1e-9, 0.0),
        ("vector_add", (1000, 1000), torch.float16, 6e-3, 1e-6),
        ("softmax", (1000, 500), torch.bfloat16, 2e-3, 2.5e-6),
        ("layernorm", (1000, 500), torch.float32, 4.004e-3, 4e-6),
        ("transpose", (1000, 500), torch.uint8, 1e-3, 0.0),
        ("matmul", (4096, 4096, 4096), torch.float16, 3 * 4096**2 * 2e-9, 2 * 4096**3 * 1e-12),
        ("matmul", (10, 20, 30), torch.float32, (200 + 600 + 300) * 4e-9, 12_000e-12),
    ],
)
def test_throughput_counts_the_least_work(
    kind: str, shape: tuple[int, ...], dtype: torch.dtype, gigabytes: float, teraflop: float
) -> None:
    """In one second the figures are the gigabytes and the 10**12 operations themselves."""
    assert throughput(kind, shape, dtype, 1000.0) == pytest.approx((gigabytes, teraflop))
    assert throughput(kind, shape, dtype, 500.0) == pytest.approx((2 * gigabytes, 2 * teraflop))
