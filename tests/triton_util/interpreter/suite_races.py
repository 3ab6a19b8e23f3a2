# ruff: noqa: PT018
"""Completeness, races, uninitialised reads, and what atomics make of them."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.zoo import CASES
from triton_util.interpreter import EngineOptions, interpret, order_dependence
from triton_util.interpreter.operations.formats import differs

SCHEDULES = ("grid", "serial", "reversed", "shuffled")


@triton.jit
def fill_kernel(output_ptr, n, shift, BLOCK_SIZE: tl.constexpr, CONSTANT: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * (BLOCK_SIZE - shift) + tl.arange(0, BLOCK_SIZE)
    value = (
        tl.full((BLOCK_SIZE,), 1.0, tl.float32)
        if CONSTANT
        else tl.zeros((BLOCK_SIZE,), tl.float32) + pid
    )
    tl.store(output_ptr + offsets, value, mask=offsets < n)


@triton.jit
def lost_update_kernel(x_ptr, total_ptr, BLOCK_SIZE: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))
    tl.store(total_ptr, tl.load(total_ptr) + tl.sum(x, axis=0))


@triton.jit
def neighbour_kernel(x_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    left = tl.load(x_ptr + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0.0)
    tl.store(x_ptr + offsets, left, mask=offsets < n)


@triton.jit
def read_back_kernel(x_ptr, scratch_ptr, output_ptr, BLOCK_SIZE: tl.constexpr, WRITE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    if WRITE:
        tl.store(scratch_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)
    tl.store(output_ptr + offsets, tl.load(scratch_ptr + offsets))


@triton.jit
def halved_offsets_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr, CONSTANT: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    values = tl.load(x_ptr + (lanes // 2 if CONSTANT else lanes))
    tl.store(output_ptr + lanes // 2, values)


@triton.jit
def rows_without_stride_kernel(
    x_ptr, output_ptr, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    base = tl.program_id(0) * ROWS * COLUMNS
    values = tl.load(x_ptr + base + rows * COLUMNS + columns)
    tl.store(output_ptr + base + rows * stride + columns, values)


def codes(run):
    return sorted({fault.code for fault in run.faults})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_never_stored_names_exactly_the_missing_elements(schedule):
    output = torch.empty(100)
    with interpret(EngineOptions(schedule=schedule)) as run:
        fill_kernel[(3,)](output, 90, 0, BLOCK_SIZE=32, CONSTANT=True)
        missing = run.never_stored(output)
    assert missing.nonzero()[0].tolist() == list(range(90, 100))
    assert run.faults == []


def test_never_stored_sees_through_views_and_several_launches():
    output = torch.empty(4, 25)
    with interpret() as run:
        assert run.never_stored(output) is None
        fill_kernel[(2,)](output[:2], 50, 0, BLOCK_SIZE=32, CONSTANT=True)
        fill_kernel[(1,)](output[2:], 25, 0, BLOCK_SIZE=32, CONSTANT=True)
        missing = run.never_stored(output)
        turned = run.never_stored(output.T)
    assert missing[:3].any() == False and missing[3].all()  # noqa: E712
    assert (turned == missing.T).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_two_programs_that_store_different_values_race(schedule):
    output = torch.empty(100)
    with interpret(EngineOptions(schedule=schedule)) as run:
        fill_kernel[(4,)](output, 100, 8, BLOCK_SIZE=32, CONSTANT=False)
    assert codes(run) == ["write-race"]
    fault = run.faults[0]
    assert fault.argument == "output_ptr" and fault.source.startswith("tl.store")
    assert fault.first_offset in (*range(24, 32), *range(48, 56), *range(72, 80))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_same_value_twice_is_no_race(schedule):
    output = torch.empty(100)
    with interpret(EngineOptions(schedule=schedule)) as run:
        fill_kernel[(4,)](output, 100, 8, BLOCK_SIZE=32, CONSTANT=True)
    assert run.faults == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes_of_one_store_that_share_an_element_race(schedule):
    x, output = torch.randn(128), torch.zeros(64)
    with interpret(EngineOptions(schedule=schedule)) as run:
        halved_offsets_kernel[(4,)](x, output, BLOCK_SIZE=32, CONSTANT=False)
    assert codes(run) == ["lane-race"]
    fault = run.faults[0]
    assert fault.argument == "output_ptr" and fault.source.startswith("tl.store")
    assert fault.first_offset in (0, 16, 32, 48)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lanes_that_agree_do_not_race(schedule):
    x, output = torch.randn(128), torch.zeros(64)
    with interpret(EngineOptions(schedule=schedule)) as run:
        halved_offsets_kernel[(4,)](x, output, BLOCK_SIZE=32, CONSTANT=True)
    assert run.faults == []


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("stride", "expected"), [(8, []), (7, ["lane-race"]), (0, ["lane-race"])])
def test_rows_of_a_tile_that_overlap_race(schedule, stride, expected):
    x, output = torch.randn(64), torch.zeros(64)
    with interpret(EngineOptions(schedule=schedule)) as run:
        rows_without_stride_kernel[(2,)](x, output, stride, ROWS=4, COLUMNS=8)
    assert codes(run) == expected


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_sum_without_atomics_races(schedule):
    x, total = torch.randn(128), torch.zeros(1)
    with interpret(EngineOptions(schedule=schedule)) as run:
        lost_update_kernel[(4,)](x, total, BLOCK_SIZE=32)
    assert "read-write-race" in codes(run) and "write-race" in codes(run)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_reading_what_a_neighbour_overwrites_races(schedule):
    x = torch.randn(128)
    with interpret(EngineOptions(schedule=schedule)) as run:
        neighbour_kernel[(4,)](x, 128, BLOCK_SIZE=32)
    assert codes(run) == ["read-write-race"]
    assert "tl.load" in run.faults[0].source
    assert run.faults[0].first_offset in (31, 63, 95)


def test_one_program_may_read_what_it_wrote():
    x, scratch, output = torch.randn(64), torch.empty(64), torch.empty(64)
    with interpret() as run:
        read_back_kernel[(2,)](x, scratch, output, BLOCK_SIZE=32, WRITE=True)
    assert run.faults == []
    assert torch.equal(output, x * 2)


def test_reads_of_memory_that_nobody_wrote():
    x, output = torch.randn(64), torch.zeros(64)
    with interpret() as run:
        read_back_kernel[(2,)](x, torch.empty(64), output, BLOCK_SIZE=32, WRITE=False)
    assert codes(run) == ["uninitialised-read"]
    assert run.faults[0].argument == "scratch_ptr"


@triton.jit
def counts_kernel(counts_ptr, REPLACE: tl.constexpr):
    if REPLACE:
        tl.atomic_xchg(counts_ptr + tl.arange(0, 4), 1.0)
    tl.atomic_add(counts_ptr + tl.arange(0, 4), 1.0)


def test_an_atomic_reads_unless_it_replaces():
    with interpret() as run:
        counts_kernel[(3,)](torch.ones(4).new_empty(4), REPLACE=False)
    assert codes(run) == ["uninitialised-read"]
    assert run.faults[0].operation == "An atomic operation"
    with interpret() as run:
        for counts in (torch.zeros(4), torch.ones(4)):
            counts_kernel[(3,)](counts, REPLACE=False)
        counts_kernel[(3,)](torch.empty(4), REPLACE=True)
    assert run.faults == []


def test_torch_and_earlier_launches_initialise_memory():
    x, output = torch.randn(64), torch.zeros(64)
    with interpret() as run:
        zeroed, copied, launched = torch.empty(64), torch.empty_like(x), x.new_empty(64)
        zeroed.zero_()
        copied[:] = x
        fill_kernel[(2,)](launched, 64, 0, BLOCK_SIZE=32, CONSTANT=True)
        for scratch in (zeroed, copied, launched, torch.zeros(64), torch.randn(64)):
            read_back_kernel[(2,)](x, scratch, output, BLOCK_SIZE=32, WRITE=False)
    assert run.faults == []


@pytest.mark.parametrize("name", ["spin_lock", "last_block_reduces", "atomics", "histogram"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_correct_use_of_atomics_is_no_race(name, schedule):
    with interpret(EngineOptions(schedule=schedule)) as run:
        CASES[name]()
    assert run.faults == []


def test_tracking_can_be_switched_off():
    with interpret(EngineOptions(track=False)) as run:
        fill_kernel[(4,)](torch.empty(100), 100, 8, BLOCK_SIZE=32, CONSTANT=False)
        with pytest.raises(ValueError, match="track=True"):
            run.never_stored(torch.empty(1))
    assert run.faults == []


def test_results_that_depend_on_the_order_are_found():
    def last_wins():
        output = torch.zeros(100)
        fill_kernel[(4,)](output, 100, 8, BLOCK_SIZE=32, CONSTANT=False)
        return output

    def lost_update():
        total = torch.zeros(1)
        lost_update_kernel[(4,)](torch.arange(128.0), total, BLOCK_SIZE=32)
        return total

    faults = order_dependence(last_wins)
    assert {fault.code for fault in faults} == {"order-dependent"}
    assert any("last program first" in fault.message for fault in faults)
    # Serial order hides the lost update whichever way it runs; all at once shows it.
    assert len(order_dependence(lost_update)) == 3
    assert order_dependence(lost_update, schedules=("serial", "reversed", "shuffled")) == []


@pytest.mark.parametrize("name", ["vector_add", "atomic_floats", "attention_causal", "spin_lock"])
def test_correct_kernels_do_not_depend_on_the_order(name):
    assert order_dependence(CASES[name]) == []


@pytest.mark.parametrize(("off", "different"), [(1e-7, False), (5e-7, False), (1e-4, True)])
def test_last_bits_of_terms_that_cancel_are_no_other_value(off, different):
    """A sum of large terms that comes to nearly nothing, rounded in two orders."""
    once = np.array([1e-6, 0.0, 1.0, -3.0], np.float32)
    again = once + np.array([off, off, 0.0, 0.0], np.float32)
    found = differs(once, again, tl.float32)
    assert found.tolist() == [different, different, False, False]


def test_beside_nothing_larger_small_numbers_differ_as_ever():
    once, again = np.array([1e-6, 0.0], np.float32), np.array([2e-6, 0.0], np.float32)
    assert differs(once, again, tl.float32).tolist() == [True, False]
