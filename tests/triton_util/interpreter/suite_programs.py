"""What each program points at, as it stands before anything is checked."""

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret
from triton_util.interpreter.watchers.programs import MOST_FIRST, MOST_LAST, MOST_RUNS


@triton.jit
def copy_kernel(x_ptr, output_ptr, n, step, start, BLOCK_SIZE: tl.constexpr):
    offsets = start + tl.program_id(0) * step + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(output_ptr + offsets, x, mask=offsets < n)


@triton.jit
def rows_kernel(x_ptr, output_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offsets = rows[:, None] * N + columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def loop_kernel(output_ptr, n, BLOCK_SIZE: tl.constexpr):
    for start in range(0, n, BLOCK_SIZE):
        tl.store(output_ptr + start + tl.arange(0, BLOCK_SIZE), 1.0)


@triton.jit
def odd_kernel(output_ptr, BLOCK_SIZE: tl.constexpr):
    if tl.program_id(0) % 2 == 1:
        tl.store(output_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE), 1.0)


def stored(launch, output, **options):
    with interpret(EngineOptions(programs=True, **options)) as run:
        launch()
        return run.programs.stored_to(output.untyped_storage().data_ptr())


def copied(n, step, start=0, block=4, programs=3, **options):
    x, output = torch.ones(n), torch.empty(n)
    grid = (programs,)
    return stored(
        lambda: copy_kernel[grid](x, output, n, step, start, BLOCK_SIZE=block), output, **options
    )


@pytest.mark.parametrize("schedule", ["grid", "serial", "reversed"])
def test_offsets_mask_and_what_it_lets_through(schedule):
    seen = copied(10, 4, schedule=schedule)
    assert (seen.operation, seen.argument, seen.shape) == ("store", "output_ptr", (10,))
    assert (seen.grid, seen.block, seen.once, seen.dense) == ((3, 1, 1), (4,), True, True)
    assert (seen.firsts, seen.steps, seen.twice) == ((0, 4, 0, 0), (1,), [])
    assert [row.number for row in seen.rows] == [0, 1, 2]
    last = seen.rows[-1]
    assert (last.lanes, last.on, last.prefix) == (4, 2, True)
    assert (last.offsets, last.touched) == ([(8, 11)], [(8, 9)])


def test_programs_that_meet_are_told():
    seen = copied(10, 0)
    assert seen.firsts == (0, 0, 0, 0)
    assert seen.twice == [(0, 3)]
    assert copied(10, 2).twice == [(2, 5)]


def test_tiles_have_their_rows_and_their_axes():
    x, output = torch.ones(3, 5), torch.empty(3, 5)
    seen = stored(lambda: rows_kernel[(2, 2)](x, output, 3, 5, BLOCK_M=2, BLOCK_N=4), output)
    assert (seen.block, seen.steps, seen.firsts) == ((2, 4), (5, 1), (0, 10, 4, 0))
    assert [row.touched for row in seen.rows] == [
        [(0, 3), (5, 8)],
        [(10, 13)],
        [(4, 4), (9, 9)],
        [(14, 14)],
    ]
    assert not seen.rows[1].prefix or seen.rows[1].on == 4


def test_a_loop_is_not_one_access():
    output = torch.empty(8)
    seen = stored(lambda: loop_kernel[(1,)](output, 8, BLOCK_SIZE=4), output)
    assert not seen.once
    assert seen.rows[0].touched == [(0, 7)]


def test_a_program_that_stores_nothing_has_no_row():
    output = torch.zeros(16)
    seen = stored(lambda: odd_kernel[(4,)](output, BLOCK_SIZE=4), output)
    assert [row.number for row in seen.rows] == [1, 3]
    assert seen.firsts is None


def test_many_programs_and_scattered_lanes_are_cut_short():
    seen = copied(4000, 4, programs=1000)
    assert len(seen.rows) == MOST_FIRST + MOST_LAST
    assert seen.rows[-1].number == 999
    x, output = torch.ones(64, 3), torch.empty(64, 3)
    narrow = stored(lambda: rows_kernel[(1, 2)](x, output, 64, 3, BLOCK_M=64, BLOCK_N=2), output)
    assert len(narrow.rows[0].touched) == MOST_RUNS
    assert narrow.rows[0].touched[:2] == [(0, 1), (3, 4)]


@pytest.mark.parametrize("schedule", ["grid", "serial"])
def test_a_launch_that_is_stopped_says_at_which_access(schedule):
    x, output = torch.ones(10), torch.empty(10)
    with interpret(EngineOptions(schedule, programs=True)) as run:
        with pytest.raises(KernelFault):
            copy_kernel[(3,)](x, output, 99, 4, -4, BLOCK_SIZE=4)
        seen = run.programs.stopped()
    assert (seen.operation, seen.argument) == ("load", "x_ptr")
    assert seen.rows[0].touched == [(-4, -1)]


def test_nobody_who_did_not_ask_is_told():
    with interpret() as run:
        output = torch.empty(8)
        loop_kernel[(1,)](output, 8, BLOCK_SIZE=4)
    assert run.programs is None


def test_loads_are_told_by_argument_and_without_the_result():
    x, output = torch.ones(10), torch.zeros(10)
    with interpret(EngineOptions(programs=True)) as run:
        copy_kernel[(3,)](x, output, 10, 4, 0, BLOCK_SIZE=4)
        (loaded,) = run.programs.loaded_beside(output.untyped_storage().data_ptr())
    assert (loaded.operation, loaded.argument, loaded.once) == ("load", "x_ptr", True)
    assert [row.touched for row in loaded.rows] == [[(0, 3)], [(4, 7)], [(8, 9)]]


@triton.jit
def rounds_kernel(output_ptr, n, BLOCK_SIZE: tl.constexpr):
    step = tl.num_programs(0) * BLOCK_SIZE
    for start in range(tl.program_id(0) * BLOCK_SIZE, n, step):
        offsets = start + tl.arange(0, BLOCK_SIZE)
        tl.store(output_ptr + offsets, 1.0, mask=offsets < n)


def stored_again(launch, output, **options):
    with interpret(EngineOptions(programs=True, **options)) as run:
        launch()
        return run.programs.stored_again(output).tolist()


@pytest.mark.parametrize("schedule", ["grid", "serial", "reversed"])
def test_what_was_stored_in_later_rounds(schedule):
    output = torch.empty(2, 9)
    launch = lambda: rounds_kernel[(2,)](output, 18, BLOCK_SIZE=4)  # noqa: E731
    seen = stored_again(launch, output, schedule=schedule)
    assert seen[0] + seen[1] == [number >= 8 for number in range(18)]


def test_one_round_is_no_later_round():
    x, output = torch.ones(10), torch.empty(10)
    launch = lambda: copy_kernel[(3,)](x, output, 10, 4, 0, BLOCK_SIZE=4)  # noqa: E731
    assert not any(stored_again(launch, output))


def test_rounds_are_those_of_a_line():
    output = torch.empty(8)

    def launch():
        loop_kernel[(1,)](output, 8, BLOCK_SIZE=4)

    assert stored_again(launch, output) == [False] * 4 + [True] * 4
    assert stored_again(launch, output[4:]) == [True] * 4
