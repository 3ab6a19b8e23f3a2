# ruff: noqa: PT018
"""Autotuning and do_bench without a GPU: every configuration runs, the choice is modelled."""

import math

import pytest
import torch
import triton
import triton.language as tl
from triton.testing import do_bench as imported_do_bench

from triton_util.interpreter import EngineOptions, KernelFault, interpret
from triton_util.interpreter.costs import DeviceModel, ModelledMilliseconds, modelled_ms

CONFIGS = [
    triton.Config({"BLOCK_SIZE": size}, num_warps=warps)
    for size, warps in ((32, 1), (256, 4), (1024, 8))
]


def tuned(body, **options):
    return triton.autotune(configs=CONFIGS, key=["n"], **options)(triton.jit(body))


def add_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(output_ptr + offsets, x + 1.0, mask=offsets < n)


def accumulate_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.atomic_add(output_ptr + offsets, x, mask=offsets < n)


def double_kernel(x_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * 2.0, mask=offsets < n)


def unmasked_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets))


def first_block_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(output_ptr, tl.sum(x, axis=0), mask=tl.program_id(0) == 0)


def grid(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)


def codes(run):
    return [(fault.code, fault.kind) for fault in run.faults]


def test_every_configuration_runs_and_one_is_chosen_by_a_modelled_cost():
    kernel, x, output = tuned(add_kernel), torch.randn(2000), torch.zeros(2000)
    with interpret() as run:
        kernel[grid(2000)](x, output, 2000)
        kernel[grid(2000)](x, output, 2000)
    assert [launch.meta["BLOCK_SIZE"] for launch in run.launches[:3]] == [32, 256, 1024]
    assert len(run.launches) == 5
    assert all(isinstance(launch.modelled_ms, ModelledMilliseconds) for launch in run.launches[:3])
    costs = {config: times[0] for config, times in kernel.configs_timings.items()}
    assert kernel.best_config == min(costs, key=costs.get)
    assert "modelled" in str(next(iter(costs.values())))
    assert torch.equal(output, x + 1)
    assert run.faults == []


def test_a_bad_configuration_is_stopped():
    kernel, x = tuned(unmasked_kernel), torch.zeros(64)
    with interpret(), pytest.raises(KernelFault) as caught:
        kernel[grid(64)](x, torch.zeros(64), 64)
    assert caught.value.fault.code == "out-of-bounds-load"


def test_launches_that_add_up_are_found_and_not_hidden():
    kernel, x, output = tuned(accumulate_kernel), torch.rand(500) + 1, torch.zeros(500)
    with interpret() as run:
        kernel[grid(500)](x, output, 500)
    assert codes(run)[0] == ("order-dependent", "tuning-corrupts")
    assert run.faults[0].argument == "output_ptr" and "reset_to_zero" in run.faults[0].cause
    torch.testing.assert_close(output, x * 4)


def test_reset_to_zero_and_restore_value_are_honoured():
    x, output = torch.rand(500) + 1, torch.zeros(500)
    with interpret() as run:
        tuned(accumulate_kernel, reset_to_zero=["output_ptr"])[grid(500)](x, output, 500)
        torch.testing.assert_close(output, x)
        y = x.clone()
        tuned(double_kernel, restore_value=["x_ptr"])[grid(500)](y, 500)
        torch.testing.assert_close(y, x * 2)
    assert run.faults == []


def test_work_in_place_without_restore_value_is_found():
    x = torch.rand(500) + 1
    with interpret() as run:
        tuned(double_kernel)[grid(500)](x, 500)
    assert ("order-dependent", "tuning-corrupts") in codes(run)


def test_a_configuration_that_computes_something_else_is_found():
    x, output = torch.rand(2000), torch.zeros(1)
    with interpret() as run:
        tuned(first_block_kernel)[grid(2000)](x, output, 2000)
    assert ("order-dependent", "wrong-configuration") in codes(run)
    assert "BLOCK_SIZE: 256" in run.faults[0].message


def test_hooks_of_tuner_and_configurations_run():
    seen = []
    configs = [
        triton.Config({"BLOCK_SIZE": 64}, pre_hook=lambda args: seen.append(args["BLOCK_SIZE"])),
        triton.Config({"BLOCK_SIZE": 128}, pre_hook=lambda args: seen.append(args["n"])),
    ]
    kernel = triton.autotune(configs=configs, key=["n"])(triton.jit(add_kernel))
    with interpret():
        kernel[grid(300)](torch.zeros(300), torch.zeros(300), 300)
    assert seen[:2] == [64, 300] and len(seen) == 3


def test_do_bench_returns_a_modelled_time_however_it_was_imported():
    kernel, x, output = triton.jit(add_kernel), torch.zeros(4096), torch.zeros(4096)

    def launch():
        kernel[(4,)](x, output, 4096, BLOCK_SIZE=1024)

    with interpret() as run:
        one = triton.testing.do_bench(launch)
        other = imported_do_bench(launch, quantiles=[0.5, 0.2, 0.8])
        nothing = triton.testing.do_bench(lambda: None)
    assert "modelled" in repr(one) and other == [one] * 3
    assert math.isnan(nothing)
    assert len(run.launches) == 2
    assert run.launches[0].traffic.bytes == 2 * 4096 * 4


def test_more_bytes_and_fewer_programs_cost_more():
    x, output = torch.zeros(1 << 16), torch.zeros(1 << 16)
    kernel = triton.jit(add_kernel)
    with interpret(EngineOptions(traffic=True)) as run:
        for size, n in ((256, 1 << 16), (256, 1 << 12), (16384, 1 << 16)):
            kernel[(triton.cdiv(n, size),)](x, output, n, BLOCK_SIZE=size)
    costs = [modelled_ms(r.traffic, r.grid[0], r.meta) for r in run.launches]
    assert costs[0] > costs[1] and costs[2] > costs[0]
    spilled = modelled_ms(run.launches[0].traffic, 256, {}, resources={"spills": 512})
    assert spilled > costs[0]
    too_big = modelled_ms(run.launches[0].traffic, 256, {}, resources={"shared": 1 << 20})
    assert math.isinf(too_big)
    slow = DeviceModel(memory_bandwidth=1e9)
    assert modelled_ms(run.launches[0].traffic, 256, {}, device=slow) > 10 * costs[0]
