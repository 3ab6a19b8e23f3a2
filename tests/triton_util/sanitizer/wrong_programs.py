"""Launches with one mistake each. Every fault is swallowed: the record has it all the same.

The name of a kernel says the code of the finding that is expected, with `__` for a second one.
"""

import contextlib
import os
import subprocess
import sys
import threading

import torch
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh

SCALE = 3


def launch(kernel, grid, *arguments, **named):
    with contextlib.suppress(Exception):
        kernel[grid](*arguments, **named)


@triton.jit
def out_of_bounds_store(y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), 1.0)


@triton.jit
def out_of_bounds_store__in_thread(y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), 1.0)


@triton.jit
def out_of_bounds_store__in_fork(y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), 1.0)


@triton.jit
def out_of_bounds_store__in_subprocess(y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), 1.0)


@triton.jit
def never_stored__in_fork(y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, 1.0, mask=i < n)


@triton.jit
def out_of_bounds_gather(x, index, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@triton.jit
def does_not_compile__global(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, SCALE * tl.load(x + i))


@triton.jit
def does_not_compile__libdevice(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, SCALE * tanh(tl.load(x + i)))


@triton.jit
def does_not_compile__one(x, y, step, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i * step.to(tl.int64)))


@triton.jit
def does_not_compile__print(y, B: tl.constexpr):
    stored = tl.store(y + tl.arange(0, B), 1.0)
    print(stored)


@triton.jit
def does_not_compile__list(y, B: tl.constexpr):
    parts = []
    for k in range(2):
        parts.append(k + 1)
    tl.store(y + tl.arange(0, B), parts[0] + parts[1])


@triton.jit
def does_not_compile__memory(a, b, c, N: tl.constexpr, K, BK: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, BK)
    total = tl.zeros((N, N), dtype=tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + i[:, None] * K + at + k[None, :])
        total += tl.dot(left, tl.load(b + (at + k)[:, None] * N + i[None, :]))
    tl.store(c + i[:, None] * N + i[None, :], total)


@triton.jit
def waits_forever(x, flag):
    if tl.program_id(0) == tl.num_programs(0) - 1:
        tl.atomic_xchg(flag, 1)
    while tl.atomic_add(flag, 0) == 0:
        pass
    tl.store(x + tl.program_id(0), 1.0)


@triton.jit
def waits_forever__barrier(x, counter):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < tl.num_programs(0):
        pass
    tl.store(x + tl.program_id(0), 1.0)


@triton.jit
def waits_forever__load(x, flag):
    while tl.load(flag, volatile=True) == 0:
        pass
    tl.store(x + tl.program_id(0), 1.0)


@triton.jit
def unordered_lanes(x, scratch, y, N: tl.constexpr):
    r = tl.arange(0, N)
    tl.store(scratch + r[:, None] * N + r[None, :], tl.load(x + r[:, None] * N + r[None, :]))
    turned = tl.load(scratch + r[None, :] * N + r[:, None])
    tl.store(y + r[:, None] * N + r[None, :], turned)


@triton.jit
def unordered_lanes__shifted(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * 2)
    inner = tl.arange(0, B) < B - 1
    tl.store(y + i, tl.load(x + i + 1, mask=inner, other=0.0))


@triton.jit
def lost_update(x, bins, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    tl.store(bins + value, tl.load(bins + value) + 1)


@triton.jit
def undefined_conversion(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, (1.0 / tl.load(x + i, mask=i < n, other=1.0)).to(tl.int32), mask=i < n)


@triton.jit
def uninitialised_read__atomic(x, sums, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(sums + i % 4, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def out_of_bounds_load__table(table, B: tl.constexpr):
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, B)
    tl.store(p + i, 2 * tl.load(p + i))


@triton.jit
def out_of_bounds_load__gone(table, y):
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(y, tl.load(p))


def in_fork():
    child = os.fork()
    if child == 0:
        launch(out_of_bounds_store__in_fork, (1,), torch.zeros(60), B=64)
        launch(never_stored__in_fork, (1,), torch.empty(64), 60, B=64)
        os._exit(0)
    os.waitpid(child, 0)


def in_thread():
    kernel, out = out_of_bounds_store__in_thread, torch.zeros(60)
    work = threading.Thread(target=launch, args=(kernel, (1,), out), kwargs={"B": 64})
    work.start()
    work.join()


def tables():
    parts = [torch.ones(16), torch.ones(12), torch.ones(16)]
    table = torch.tensor([part.data_ptr() for part in parts])
    launch(out_of_bounds_load__table, (3,), table, B=16)
    gone = torch.tensor([torch.ones(2_000_000).mul(2).data_ptr()])
    launch(out_of_bounds_load__gone, (1,), gone, torch.empty(1))


def main():
    launch(out_of_bounds_store, (1,), torch.zeros(60, device="cuda"), B=64)
    in_thread()
    in_fork()
    subprocess.run([sys.executable, __file__, "child"], check=True)
    index = torch.tensor([0, 1, 2, 3, 4, 5, 6, 8], dtype=torch.int32)
    launch(out_of_bounds_gather, (1,), torch.arange(8.0), index, torch.empty(8), B=8)
    launch(does_not_compile__global, (1,), torch.ones(64), torch.empty(64), B=64)
    launch(does_not_compile__libdevice, (1,), torch.ones(64), torch.empty(64), B=64)
    launch(does_not_compile__one, (1,), torch.ones(64), torch.empty(64), 1, B=64)
    launch(does_not_compile__print, (1,), torch.empty(64), B=64)
    launch(does_not_compile__list, (1,), torch.empty(64), B=64)
    half = torch.ones(128, 512).half()
    square = torch.empty(128, 128)
    wide = (half, half.view(512, 128), square, 128, 512)
    launch(does_not_compile__memory, (1,), *wide, BK=128, num_stages=5)
    for kernel in (waits_forever, waits_forever__barrier, waits_forever__load):
        launch(kernel, (4,), torch.zeros(4), torch.zeros(1, dtype=torch.int32))
    tile = torch.randn(32, 32)
    launch(unordered_lanes, (1,), tile, torch.empty(32, 32), torch.empty(32, 32), N=32)
    launch(unordered_lanes__shifted, (2,), torch.ones(128), torch.empty(128), 128, B=64)
    values = torch.randint(0, 10, (64,), dtype=torch.int32)
    launch(lost_update, (1,), values, torch.zeros(10, dtype=torch.int32), B=64)
    zero = torch.tensor([1.0, 0.0, 2.0])
    launch(undefined_conversion, (1,), zero, torch.empty(3, dtype=torch.int32), 3, B=4)
    launch(uninitialised_read__atomic, (2,), torch.ones(60), torch.ones(60).new_empty(4), 60, B=64)
    tables()


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        launch(out_of_bounds_store__in_subprocess, (1,), torch.zeros(60), B=64)
    else:
        main()
