# ruff: noqa: PT018
"""Bytes, sectors, operations and cache use against closed forms."""

import pytest
import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.zoo import CASES, matmul
from triton_util.interpreter import EngineOptions, interpret


def traffic_of(launch, **options):
    with interpret(EngineOptions(traffic=True, **options)) as run:
        launch()
    assert run.faults == []
    return run.launches[-1].traffic


@triton.jit
def relu_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(output_ptr + offsets, tl.maximum(x, 0.0), mask=offsets < n)


@triton.jit
def strided_kernel(x_ptr, output_ptr, stride, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets * stride))


@pytest.mark.parametrize("schedule", ["grid", "serial"])
@pytest.mark.parametrize("n", [1024, 1000, 37])
def test_relu_moves_eight_bytes_per_operation(schedule, n):
    x, output = torch.randn(n), torch.empty(n)
    grid = (triton.cdiv(n, 128),)
    traffic = traffic_of(lambda: relu_kernel[grid](x, output, n, BLOCK_SIZE=128), schedule=schedule)
    source, target = traffic.arguments["x_ptr"], traffic.arguments["output_ptr"]
    assert (source.loaded, source.distinct_loaded, source.stored) == (4 * n, 4 * n, 0)
    assert (target.stored, target.distinct_stored, target.loaded) == (4 * n, 4 * n, 0)
    assert source.masked_ratio == pytest.approx(1 - n / (grid[0] * 128))
    assert traffic.flops == {"arithmetic": grid[0] * 128}
    if n == 1024:
        assert traffic.intensity == 0.125
        assert source.sectors == 128 and source.requests == 32 and source.coalescing == 1.0


@pytest.mark.parametrize(
    ("dtype", "stride", "sectors"),
    [
        (torch.float32, 1, 32),
        (torch.float32, 2, 64),
        (torch.float32, 4, 128),
        (torch.float32, 8, 256),
        (torch.float32, 33, 256),
        (torch.float16, 1, 16),
        (torch.float16, 3, 48),
        (torch.uint8, 1, 8),
    ],
)
def test_sectors_of_strided_loads(dtype, stride, sectors):
    x, output = torch.zeros(256 * stride, dtype=dtype), torch.empty(256, dtype=dtype)
    traffic = traffic_of(lambda: strided_kernel[(1,)](x, output, stride, BLOCK_SIZE=256))
    assert traffic.arguments["x_ptr"].sectors == pytest.approx(sectors, rel=0.02)
    assert traffic.arguments["x_ptr"].requests == 8
    assert traffic.arguments["output_ptr"].coalescing == 1.0


def test_a_load_that_starts_off_a_sector_touches_one_more_per_request():
    x, output = torch.zeros(257), torch.empty(256)
    traffic = traffic_of(lambda: strided_kernel[(1,)](x[1:], output, 1, BLOCK_SIZE=256))
    assert traffic.arguments["x_ptr"].sectors == 8 * 5


@pytest.mark.parametrize("schedule", ["grid", "serial"])
def test_a_256_matmul_in_tiles_of_32_reads_everything_eight_times(schedule):
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    traffic = traffic_of(lambda: matmul(a, b, block=(32, 32, 32), group=1), schedule=schedule)
    for name in ("a_ptr", "b_ptr"):
        row = traffic.arguments[name]
        assert row.distinct_loaded == 256 * 256 * 4
        assert row.reread == 8.0
        assert row.masked_ratio == 0.0
    assert traffic.arguments["c_ptr"].stored == 256 * 256 * 4
    assert traffic.flops["dot"] == 2 * 256**3


@pytest.mark.parametrize(("group", "blocks"), [(1, 90), (3, 54)])
def test_nine_programs_of_a_nine_by_nine_grid_read_90_or_54_blocks(group, blocks):
    a, b = torch.randn(144, 144), torch.randn(144, 144)
    traffic = traffic_of(lambda: matmul(a, b, block=(16, 16, 16), group=group))
    assert traffic.distinct_blocks(9) == blocks
    assert traffic.distinct_blocks(81) == 162


def test_the_l2_model_hits_more_often_when_tiles_are_grouped():
    a, b = torch.randn(144, 144), torch.randn(144, 144)
    rates = {}
    for group in (1, 3):
        traffic = traffic_of(lambda group=group: matmul(a, b, block=(16, 16, 16), group=group))
        rates[group] = traffic.l2(capacity_bytes=32 * 1024, concurrency=9)
        everything = traffic.l2(capacity_bytes=1 << 30)
        assert everything.misses == 162
        assert everything.hits == 2 * 9 * 81 - 162
        assert traffic.l2(capacity_bytes=0).hits == 0
    assert rates[3].misses < rates[1].misses
    assert rates[3].hit_rate > rates[1].hit_rate


@pytest.mark.parametrize("name", sorted(set(CASES) - {"spin_lock", "random_numbers"}))
def test_the_counts_do_not_depend_on_how_the_programs_were_run(name):
    whole, single = (
        [launch.traffic.to_dict() for launch in traced(name, schedule)]
        for schedule in ("grid", "serial")
    )
    for one, other in zip(whole, single, strict=True):
        for argument, row in one["arguments"].items():
            expected = dict(other["arguments"][argument])
            for approximate in ("sectors", "requests", "coalescing"):
                row.pop(approximate), expected.pop(approximate)
            assert row == expected, argument


def traced(name, schedule):
    with interpret(EngineOptions(schedule=schedule, traffic=True)) as run:
        CASES[name]()
    return run.launches


def test_the_table_names_every_argument():
    a, b = torch.randn(64, 64), torch.randn(64, 64)
    text = traffic_of(lambda: matmul(a, b)).table()
    assert "a_ptr" in text and "per byte" in text
