# ruff: noqa: B007, F841
"""Kernels with a race between plain loads and stores.

Every kernel gets x (256 different floats), y (512 zeros), c (64 integer zeros), N = 16 lanes and a
grid of P programs.  See `race_kernels`.
"""

import triton
import triton.language as tl

from tests.triton_util.interpreter.race_kernels import racy


@racy
@triton.jit
def everyone_stores_its_number(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y, p + 0.0)


@racy
@triton.jit
def tiles_overlap(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * (N - 4) + lanes, tl.load(x + p * N + lanes))


@racy
@triton.jit
def tiles_overlap_by_one(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * (N - 1) + lanes, tl.load(x + p * N + lanes))


@racy
@triton.jit
def offset_ignores_the_program(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes, tl.load(x + p * N + lanes))


@racy
@triton.jit
def half_of_the_grid_on_the_other(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p % 4 * N + lanes, tl.load(x + p * N + lanes))


@racy
@triton.jit
def two_programs_to_one_tile(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p // 2 * N + lanes, tl.load(x + p * N + lanes))


@racy
@triton.jit
def rows_are_too_close(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * 8 + lanes, tl.load(x + p * N + lanes))


@racy(grid=(4, 2))
@triton.jit
def second_axis_is_ignored(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * N + lanes, tl.load(x + p * N + lanes) + tl.program_id(1))


@racy(grid=(4, 2))
@triton.jit
def axes_are_swapped(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p + tl.program_id(1) * 3
    tl.store(y + at * N + lanes, tl.load(x + (p * 2 + tl.program_id(1)) * N + lanes))


@racy
@triton.jit
def last_tile_wraps_round(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + (p * N + lanes + 4) % (P * N - 4), tl.load(x + p * N + lanes))


@racy
@triton.jit
def sum_is_stored(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y, tl.sum(tl.load(x + p * N + lanes)))


@racy
@triton.jit
def maximum_is_stored_if_larger(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    largest = tl.max(tl.load(x + p * N + lanes))
    if largest > tl.load(y):
        tl.store(y, largest)


@racy
@triton.jit
def mask_lets_the_neighbour_in(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    tl.store(y + at + 1, tl.load(x + at), mask=at < P * N)
    tl.store(y + p * N, p + 0.0)


@racy
@triton.jit
def every_second_lane_belongs_to_two(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * 2 + lanes, tl.load(x + p * N + lanes), mask=lanes % 2 == 0)


@racy
@triton.jit
def transposed_with_the_wrong_stride(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes * (P - 1) + p, tl.load(x + p * N + lanes))


@racy
@triton.jit
def stride_loop_starts_at_zero(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    for i in range(4):
        tl.store(y + i * N + lanes, tl.load(x + i * N + lanes) + p)


@racy
@triton.jit
def sum_is_read_and_stored(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y, tl.load(y) + tl.sum(tl.load(x + p * N + lanes)))


@racy
@triton.jit
def vector_is_read_and_stored(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes, tl.load(y + lanes) + tl.load(x + p * N + lanes))


@racy
@triton.jit
def shifts_to_the_left_in_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    tl.store(x + at, tl.load(x + at + 1, mask=at < P * N - 1, other=0.0))


@racy
@triton.jit
def shifts_to_the_right_in_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    tl.store(x + at, tl.load(x + at - 1, mask=at > 0, other=0.0))


@racy
@triton.jit
def reverses_in_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    tl.store(x + at, tl.load(x + P * N - 1 - at))


@racy
@triton.jit
def transposes_in_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(x + lanes * 16 + p, tl.load(x + p * 16 + lanes))


@racy
@triton.jit
def swaps_with_the_other_half(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    tl.store(x + at, tl.load(x + (at + P * N // 2) % (P * N)))


@racy
@triton.jit
def reads_the_total_of_the_one_before(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    before = tl.load(y + p - 1, mask=p > 0, other=0.0)
    tl.store(y + p, before + tl.sum(tl.load(x + p * N + lanes)))


@racy
@triton.jit
def reads_the_number_of_the_next(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 64 + p, tl.load(y + p + 1))
    tl.store(y + p, p + 1.0)


@racy
@triton.jit
def reduces_without_waiting(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    tl.store(y + 64 + p, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_program_reads_all(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if p == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def first_program_reads_all(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if p == 0:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def stencil_in_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = p * N + lanes
    left = tl.load(x + at - 1, mask=at > 0, other=0.0)
    right = tl.load(x + at + 1)
    tl.store(x + at, (left + right) / 2.0)


@racy
@triton.jit
def double_buffer_by_parity(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    half = y + p % 2 * N
    tl.store(half + lanes, tl.load(x + p * N + lanes))
    tl.store(y + 64 + p * N + lanes, tl.load(half + lanes))


@racy
@triton.jit
def double_buffer_without_the_program(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    for i in range(4):
        tl.store(y + i % 2 * N + lanes, tl.load(x + p * N + lanes) + i)


@racy
@triton.jit
def steps_of_a_ring(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    for i in range(3):
        value = tl.load(y + (p + 1) % P)
        tl.store(y + p, value + p + 1.0)


@racy
@triton.jit
def counts_into_bins_without_atomics(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = (tl.sum(tl.load(x + p * N + lanes)) * 4).to(tl.int32) % 2
    tl.store(c + at, tl.load(c + at) + 1)


@racy
@triton.jit
def splits_k_and_stores(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    k = tl.load(x + p * N + lanes)
    tl.store(y + lanes, k * k)


@racy
@triton.jit
def splits_k_and_adds(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    k = tl.load(x + p * N + lanes)
    tl.store(y + lanes, tl.load(y + lanes) + k * k)


@racy
@triton.jit
def normalises_while_others_read(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    whole = tl.sum(tl.load(x + tl.arange(0, 128)))
    tl.store(x + p * N + lanes, tl.load(x + p * N + lanes) / whole)


@racy
@triton.jit
def neighbours_lanes_meet(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * N + lanes // 2, tl.load(x + p * N + lanes))


@racy
@triton.jit
def all_lanes_to_one_place(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p + lanes * 0, tl.load(x + p * N + lanes))


@racy
@triton.jit
def rows_of_a_tile_meet(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tile = tl.arange(0, 4)[:, None] * 3 + tl.arange(0, 4)[None, :]
    tl.store(
        y + p * N + tile,
        tl.load(x + p * N + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]),
    )


@racy
@triton.jit
def lanes_scatter_by_value(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = (tl.load(x + p * N + lanes) * 8).to(tl.int32)
    tl.store(y + p * N + at, lanes + 0.0)
