# ruff: noqa: F841
"""Kernels without a race.

Every kernel gets x (256 different floats), y (512 zeros), c (64 integer zeros), N = 16 lanes and a
grid of P programs.  See `race_kernels`.
"""

import triton
import triton.language as tl

from tests.triton_util.interpreter.race_kernels import clean


@clean
@triton.jit
def copies_its_block(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * N + lanes, tl.load(x + p * N + lanes))


@clean
@triton.jit
def overlaps_with_equal_values(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * (N - 4) + lanes, 1.0)


@clean
@triton.jit
def everyone_stores_the_same_number(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y, 3.0)


@clean
@triton.jit
def everyone_reads_the_same_block(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * N + lanes, tl.load(x + lanes))


@clean
@triton.jit
def works_in_place_on_its_block(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(x + p * N + lanes, tl.load(x + p * N + lanes) * 2.0)


@clean
@triton.jit
def wraps_rows_round(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes % 8, tl.load(x + lanes % 8))


@clean
@triton.jit
def adds_atomically(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, tl.sum(tl.load(x + p * N + lanes)))


@clean
@triton.jit
def adds_atomically_relaxed(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, tl.sum(tl.load(x + p * N + lanes)), sem="relaxed")


@clean
@triton.jit
def takes_the_maximum_atomically(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_max(c, p * 3 % 7)


@clean
@triton.jit
def takes_the_minimum_with_release(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_min(c, -p, sem="release")


@clean
@triton.jit
def flips_bits_with_acquire(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_xor(c + p % 4, 1 << p, sem="acquire")


@clean
@triton.jit
def counts_into_bins(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(c + (tl.load(x + p * N + lanes) * 16).to(tl.int32) % 8, 1)


@clean
@triton.jit
def counts_under_a_mask(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(c + lanes, 1, mask=lanes < p)


@clean
@triton.jit
def splits_k(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    k = tl.load(x + p * N + lanes)
    tl.atomic_add(y + lanes, k * k, sem="relaxed")


@clean
@triton.jit
def last_block_reduces(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, tl.sum(tl.load(x + p * N + lanes)))
    if tl.atomic_add(c, 1) == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@clean
@triton.jit
def last_block_reduces_a_tile(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + (1 + p) * N + lanes, tl.load(x + p * N + lanes))
    done = tl.atomic_add(c, 1, sem="acq_rel", scope="gpu")
    if done == P - 1:
        total = tl.zeros((N,), tl.float32)
        for i in range(P):
            total += tl.load(y + (1 + i) * N + lanes)
        tl.store(y + lanes, total)


@clean
@triton.jit
def last_block_of_each_pair(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 16 + p, p + 1.0)
    if tl.atomic_add(c + p // 2, 1) == 1:
        tl.store(y + p // 2, tl.load(y + 16 + p // 2 * 2) + tl.load(y + 17 + p // 2 * 2))


@clean
@triton.jit
def last_block_resets_its_counter(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, 1.0)
    if tl.atomic_add(c, 1) == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))
        tl.store(c, 0)


@clean
@triton.jit
def last_block_resets_atomically(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, 1.0)
    if tl.atomic_add(c, 1) == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))
        tl.atomic_xchg(c, 0)


@clean
@triton.jit
def last_block_overwrites_what_all_have_read(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    value = tl.sum(tl.load(x + lanes)) + p
    tl.store(y + p, value)
    if tl.atomic_add(c, 1) == P - 1:
        tl.store(x + lanes, 0.0)


@clean
@triton.jit
def last_block_reads_a_sum_of_atomics(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y + 1, tl.sum(tl.load(x + p * N + lanes)), sem="relaxed")
    if tl.atomic_add(c, 1) == P - 1:
        tl.store(y, tl.load(y + 1) * 2.0)


@clean
@triton.jit
def lock_around_a_sum(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y) + p)
    tl.atomic_xchg(c, 0)


@clean
@triton.jit
def lock_with_acquire_and_release(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    value = tl.sum(tl.load(x + p * N + lanes))
    while tl.atomic_cas(c, 0, 1, sem="acquire") == 1:
        pass
    tl.store(y, tl.load(y) + value)
    tl.atomic_xchg(c, 0, sem="release")


@clean
@triton.jit
def lock_by_exchange(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_xchg(c, 1, sem="acquire") == 1:
        pass
    tl.store(y, tl.load(y) + p)
    tl.atomic_xchg(c, 0, sem="release")


@clean
@triton.jit
def one_lock_for_each_cell(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c + p % 4, 0, 1) == 1:
        pass
    tl.store(y + p % 4, tl.load(y + p % 4) + 1.0)
    tl.atomic_xchg(c + p % 4, 0)


@clean
@triton.jit
def two_locks_in_turn(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    while tl.atomic_cas(c + 1, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y + 1) + p)
    tl.store(y + 1, tl.load(y) + p)
    tl.atomic_xchg(c + 1, 0)
    tl.atomic_xchg(c, 0)


@clean
@triton.jit
def lock_around_the_first_store(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    count = tl.load(c + 1)
    if count == 0:
        tl.store(y + lanes, p + 0.0)
    else:
        tl.store(y + lanes, tl.load(y + lanes) + p)
    tl.store(c + 1, count + 1)
    tl.atomic_xchg(c, 0)


@clean
@triton.jit
def double_buffer_by_program(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    for i in range(4):
        half = y + (2 * p + i % 2) * N
        tl.store(half + lanes, tl.load(x + lanes) + i)


@clean
@triton.jit
def reads_back_its_own_block(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + p * N + lanes, p + 0.0)
    tl.store(y + p * N + lanes, tl.load(y + p * N + lanes) + 1.0)


@clean
@triton.jit
def only_one_program_stores(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes, tl.load(x + lanes) + p, mask=p == 3)


@clean
@triton.jit
def strides_through_the_grid(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    for i in range(p, 16, P):
        tl.store(y + i * N + lanes, tl.load(x + i * N + lanes) + p)


@clean(grid=(4, 2))
@triton.jit
def tiles_of_two_axes(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    at = (p * 2 + tl.program_id(1)) * N + lanes
    tl.store(y + at, tl.load(x + at))


@clean
@triton.jit
def writes_transposed(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + lanes * P + p, tl.load(x + p * N + lanes))


@clean
@triton.jit
def takes_a_ticket(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    ticket = tl.atomic_add(c, 1)
    tl.store(y + ticket * N + lanes, tl.load(x + p * N + lanes))


@clean
@triton.jit
def takes_tiles_until_none_is_left(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tile = tl.atomic_add(c, 1, sem="relaxed")
    while tile < 12:
        tl.store(y + tile * N + lanes, tl.load(x + tile * N + lanes) + p)
        tile = tl.atomic_add(c, 1, sem="relaxed")


@clean
@triton.jit
def compacts(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    kept = tl.load(x + p * N + lanes) > 0.5
    place = tl.atomic_add(c, tl.sum(kept.to(tl.int32)), sem="relaxed")
    tl.store(y + place + tl.cumsum(kept.to(tl.int32)) - 1, tl.load(x + p * N + lanes), mask=kept)
