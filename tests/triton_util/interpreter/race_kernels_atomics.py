# ruff: noqa: F841
"""Kernels with a race in spite of their atomics.

Every kernel gets x (256 different floats), y (512 zeros), c (64 integer zeros), N = 16 lanes and a
grid of P programs.  See `race_kernels`.
"""

import triton
import triton.language as tl

from tests.triton_util.interpreter.race_kernels import racy


@racy
@triton.jit
def reads_the_total_behind_its_own_atomic(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, 1.0)
    tl.store(y + 1 + p, tl.load(y))


@racy
@triton.jit
def first_program_reads_the_total(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, 1.0)
    if p == 0:
        tl.store(y + 1, tl.load(y))


@racy
@triton.jit
def last_program_reads_the_total(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, 1.0)
    if p == P - 1:
        tl.store(y + 1, tl.load(y))


@racy
@triton.jit
def first_program_clears_the_total(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    if p == 0:
        tl.store(y, 0.0)
    tl.atomic_add(y, 1.0)


@racy
@triton.jit
def everyone_clears_the_total(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y, 0.0)
    tl.atomic_add(y, 1.0, sem="relaxed")


@racy
@triton.jit
def first_program_scales_the_total(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(y, 1.0)
    if p == 0:
        tl.store(y, 5.0)


@racy
@triton.jit
def last_block_with_a_relaxed_counter(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if tl.atomic_add(c, 1, sem="relaxed") == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_that_never_releases(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if tl.atomic_add(c, 1, sem="acquire") == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_that_never_acquires(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if tl.atomic_add(c, 1, sem="release") == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_with_a_counter_for_each_block(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if tl.atomic_add(c, 1, scope="cta") == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_stores_too_late(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    done = tl.atomic_add(c, 1)
    tl.store(y + 1 + p, p + 1.0)
    if done == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_is_everyone(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    done = tl.atomic_add(c, 1)
    tl.store(y + 64 + p, done + tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_is_the_last_but_one(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    if tl.atomic_add(c, 1) == P - 2:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_by_its_number(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    tl.atomic_add(c, 1)
    if p == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def last_block_counts_elsewhere(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.store(y + 1 + p, p + 1.0)
    tl.atomic_add(c + 1 + p, 1)
    if tl.atomic_add(c, 1, sem="acquire") == P - 1:
        tl.store(y, tl.sum(tl.load(y + 1 + lanes, mask=lanes < P, other=0.0)))


@racy
@triton.jit
def lock_is_given_back_too_early(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    value = tl.load(y)
    tl.atomic_xchg(c, 0)
    tl.store(y, value + p + 1.0)


@racy
@triton.jit
def lock_is_taken_too_late(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    value = tl.load(y)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    tl.store(y, value + p + 1.0)
    tl.atomic_xchg(c, 0)


@racy
@triton.jit
def two_locks_for_one_cell(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c + p % 2, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y) + p + 1.0)
    tl.atomic_xchg(c + p % 2, 0)


@racy
@triton.jit
def half_of_the_programs_take_no_lock(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    if p % 2 == 0:
        while tl.atomic_cas(c, 0, 1) == 1:
            pass
    tl.store(y, tl.load(y) + p + 1.0)
    if p % 2 == 0:
        tl.atomic_xchg(c, 0)


@racy
@triton.jit
def lock_that_is_relaxed(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1, sem="relaxed") == 1:
        pass
    tl.store(y, tl.load(y) + p + 1.0)
    tl.atomic_xchg(c, 0, sem="relaxed")


@racy
@triton.jit
def lock_that_is_given_back_relaxed(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y) + p + 1.0)
    tl.atomic_xchg(c, 0, sem="relaxed")


@racy
@triton.jit
def lock_that_is_given_back_by_a_store(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    while tl.atomic_cas(c, 0, 1) == 1:
        pass
    tl.store(y, tl.load(y) + p + 1.0)
    tl.store(c, 0)


@racy
@triton.jit
def counts_atomically_and_sums_plainly(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    tl.atomic_add(c, 1)
    tl.store(y, tl.load(y) + p + 1.0)


@racy
@triton.jit
def tickets_for_tiles_that_overlap(x, y, c, N: tl.constexpr, P: tl.constexpr):
    p, lanes = tl.program_id(0), tl.arange(0, N)
    ticket = tl.atomic_add(c, 1)
    tl.store(y + ticket * (N - 4) + lanes, tl.load(x + p * N + lanes))
