"""The roofline: known ridge points, limits, percentages, and floors below which nothing goes."""

from __future__ import annotations

import pytest

from triton_util.bench import GPUS, find_gpu, floor_of, limit_of, percentage_of_limit
from triton_util.hardware import Gpu


def gpu(name: str) -> Gpu:
    found = find_gpu(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("Tesla T4", "T4"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
    ],
)
def test_device_names_are_understood(device: str, name: str) -> None:
    assert gpu(device) is GPUS[name]


@pytest.mark.parametrize("device", ["NVIDIA L40S", "NVIDIA GeForce GTX 1080", "AMD MI300X", ""])
def test_other_devices_are_not_guessed(device: str) -> None:
    assert find_gpu(device) is None


def test_ridge_points() -> None:
    ridges = {
        name: round(gpu(name).ridge(tensor_cores=True)) for name in ("T4", "A100", "H100", "H200")
    }
    assert ridges == {"T4": 203, "A100": 153, "H100": 295, "H200": 206}


def test_a_relu_is_bound_by_memory_and_a_matmul_by_compute() -> None:
    n = 2**26
    relu = limit_of(8 * n, n, gpu("H200"), tensor_cores=False)
    assert relu.bound == "memory"
    assert relu.ms == pytest.approx(8 * n / 4.8e12 * 1e3)
    size = 8192
    matmul = limit_of(6 * size**2, 2 * size**3, gpu("H200"))
    assert matmul.bound == "compute"
    assert matmul.ms == pytest.approx(2 * size**3 / 989.4e12 * 1e3)


def test_intensity_at_the_ridge_is_bound_by_both() -> None:
    for one in GPUS.values():
        n_bytes = 1e9
        flops = one.ridge(tensor_cores=True) * n_bytes
        at_ridge = limit_of(n_bytes, flops, one).ms
        assert at_ridge == pytest.approx(n_bytes / one.gbytes_per_second / 1e6)
        assert at_ridge == pytest.approx(flops / one.fp16_tflops / 1e9)


def test_percentage() -> None:
    limit = limit_of(4.8e9, 0, gpu("H200"))
    assert limit.ms == pytest.approx(1.0)
    assert percentage_of_limit(2.0, 4.8e9, 0, gpu("H200")) == pytest.approx(50.0)


def test_the_floor_never_lies_above_the_limit_and_lets_writes_stay_in_the_cache() -> None:
    h200 = gpu("H200")
    small = 2**20
    assert floor_of(small, small, 0, h200) == pytest.approx(limit_of(small, 0, h200).ms)
    large = 2**30
    assert floor_of(large, large, 0, h200) < limit_of(2 * large, 0, h200).ms
    assert floor_of(large, large, 0, h200) > limit_of(large, 0, h200).ms


def test_the_table_is_consistent() -> None:
    for one in GPUS.values():
        assert one.fp16_tflops > one.fp32_tflops > 0
        assert 0 < one.shared_memory <= 228 * 1024
        assert one.bfloat16 == (one.capability >= 80)
