"""Loops that wait in vain, lanes of a gather outside the block, annotations: in every run."""

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret


@triton.jit
def for_the_last(flag, y):
    if tl.program_id(0) == tl.num_programs(0) - 1:
        tl.atomic_xchg(flag, 1)
    while tl.atomic_add(flag, 0) == 0:
        pass
    tl.store(y + tl.program_id(0), 1.0)


@triton.jit
def for_all(counter, y):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < tl.num_programs(0):
        pass
    tl.store(y + tl.program_id(0), 1.0)


@triton.jit
def for_nobody(flag, y):
    while True:
        if tl.load(flag, volatile=True) != 0:
            break
    tl.store(y + tl.program_id(0), 1.0)


@triton.jit
def for_the_one_before(flags, y):
    t = tl.program_id(0)
    if t > 0:
        while tl.atomic_add(flags + t - 1, 0) == 0:
            pass
    tl.store(y + t, 1.0)
    tl.atomic_xchg(flags + t, 1)


@triton.jit
def by_ticket(ticket, n, y):
    tile = tl.atomic_add(ticket, 1)
    while tile < n:
        tl.store(y + tile, 1.0)
        tile = tl.atomic_add(ticket, 1)


@triton.jit
def one_number_often(x, y, rounds):
    total = 0.0
    at = 0
    while at < rounds:
        total += tl.load(x + at % 2)
        at += 1
    tl.store(y, total)


@triton.jit
def gathered(x, index, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@triton.jit
def in_one_branch(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if tl.program_id(0) == 0:
        v = tl.gather(v, i + tl.program_id(0), 0)
    tl.store(y + tl.program_id(0) * B + i, v)


@triton.jit
def annotated(y, v: tl.float16, w: tl.bfloat16):
    tl.store(y, v)
    tl.store(y + 1, w)


def zeros(length):
    return torch.zeros(length, dtype=torch.int32)


@pytest.mark.parametrize("kernel", [for_the_last, for_all, for_nobody])
def test_a_program_that_waits_in_vain_is_named(kernel):
    with interpret(), pytest.raises(KernelFault) as caught:
        kernel[(4,)](zeros(1), torch.zeros(4))
    fault = caught.value.fault
    assert fault.code == "waits-forever"
    assert "while" in fault.source or "load" in fault.source


def test_waiting_for_a_program_that_has_run_is_right():
    with interpret() as run:
        y = torch.zeros(8)
        for_the_one_before[(8,)](zeros(8), y)
    assert y.tolist() == [1.0] * 8
    assert run.faults == []


def test_programs_that_start_together_may_meet():
    with interpret():
        y = torch.zeros(4)
        for_all[(4,)](zeros(1), y, launch_cooperative_grid=True)
    assert y.tolist() == [1.0] * 4


def test_taking_tickets_is_no_waiting():
    with interpret() as run:
        y = torch.zeros(50)
        by_ticket[(4,)](zeros(1), 50, y)
    assert y.tolist() == [1.0] * 50
    assert run.launches[-1].mode == "grid"


def test_a_long_loop_is_no_waiting():
    with interpret():
        y = torch.zeros(1)
        one_number_often[(1,)](torch.tensor([1.0, 2.0]), y, 5000)
    assert y.item() == 7500


@pytest.mark.parametrize("lane", [8, -1])
def test_a_lane_outside_the_block_of_a_gather(lane):
    index = torch.tensor([0, 1, 2, 3, 4, 5, 6, lane], dtype=torch.int32)
    with interpret(), pytest.raises(KernelFault, match=f"asks for lane {lane}") as caught:
        gathered[(1,)](torch.arange(8.0), index, torch.zeros(8), B=8)
    assert caught.value.fault.code == "out-of-bounds-gather"


def test_a_program_that_does_not_gather_asks_for_nothing():
    with interpret():
        y = torch.zeros(16)
        in_one_branch[(2,)](torch.arange(8.0), y, B=8)
    assert y.tolist() == [*range(8), *range(8)]


@pytest.mark.parametrize("number", [42.0, 65500.0, 70000.0, 0.1])
def test_annotated_numbers_are_rounded(number):
    with interpret():
        y = torch.zeros(2)
        annotated[(1,)](y, number, number)
    exact = torch.tensor(number)
    assert y.tolist() == [exact.half().item(), exact.bfloat16().item()]


@triton.jit
def read_back(x, y, SHIFT: tl.constexpr, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 2.0 * i)
    if BARRIER:
        tl.debug_barrier()
    tl.store(y + i, tl.load(x + (i + SHIFT) % B))


@pytest.mark.parametrize(
    ("shift", "barrier", "warps", "expected"),
    [
        (0, False, 4, []),
        (1, False, 4, ["unordered-lanes"]),
        (1, True, 4, []),
        (1, False, 1, []),
    ],
)
def test_lanes_that_read_what_others_store(shift, barrier, warps, expected):
    with interpret(EngineOptions(within_programs=True)) as run:
        x, y = torch.zeros(64), torch.zeros(64)
        read_back[(1,)](x, y, SHIFT=shift, BARRIER=barrier, B=64, num_warps=warps)
    assert [fault.code for fault in run.faults] == expected


@triton.jit
def added(x, y, B: tl.constexpr):
    at = tl.load(x + tl.arange(0, B))
    tl.store(y + at, tl.load(y + at) + 1.0)


@pytest.mark.parametrize(("groups", "expected"), [(64, []), (10, ["lost-update"])])
def test_lanes_that_update_one_element(groups, expected):
    with interpret(EngineOptions(within_programs=True)) as run:
        x = torch.arange(64, dtype=torch.int32) % groups
        added[(2,)](x, torch.zeros(64), B=64)
    codes = [fault.code for fault in run.faults if fault.code == "lost-update"]
    assert codes == expected


@triton.jit
def whole(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n).to(tl.int32), mask=i < n)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2.0**31, ["undefined-conversion"]),
        (-(2.0**31), []),
        (float("nan"), ["undefined-conversion"]),
        (7.9, []),
    ],
)
def test_numbers_that_an_integer_cannot_hold(number, expected):
    with interpret(EngineOptions(within_programs=True)) as run:
        y = torch.zeros(4, dtype=torch.int32)
        whole[(1,)](torch.tensor([1.0, number]), y, 2, B=4)
    assert [fault.code for fault in run.faults] == expected
