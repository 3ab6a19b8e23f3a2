"""Launches without a mistake, of the kinds that `wrong_programs` has wrong, and their results."""

import multiprocessing
import threading

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
WIDTH = tl.constexpr(2)


@triton.jit
def twice(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, WIDTH * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def annotated(y, v: tl.float16, w: tl.float32, u: tl.float64):
    tl.store(y + 0, v)
    tl.store(y + 1, v + w + u)


@triton.jit
def turned(x, scratch, y, N: tl.constexpr):
    r = tl.arange(0, N)
    tl.store(scratch + r[:, None] * N + r[None, :], tl.load(x + r[:, None] * N + r[None, :]))
    tl.debug_barrier()
    other = tl.load(scratch + r[None, :] * N + r[:, None])
    tl.store(y + r[:, None] * N + r[None, :], other)


@triton.jit
def normalised(x, n, B: tl.constexpr):
    row = x + tl.program_id(0) * n
    squares = tl.zeros([B], tl.float32)
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        value = tl.load(row + i, mask=i < n, other=0.0)
        squares += value * value
        tl.store(row + i, value * 2, mask=i < n)
    length = tl.sqrt(tl.sum(squares))
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        tl.store(row + i, tl.load(row + i, mask=i < n) / length, mask=i < n)


@triton.jit
def locked(lock, count):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def looked_back(x, y, ticket, sums, flags, n, B: tl.constexpr):
    t = tl.atomic_add(ticket, 1)
    i = t * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    before = 0.0
    if t > 0:
        while tl.atomic_add(flags + t - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums + t - 1)
    tl.store(sums + t, before + tl.sum(v))
    tl.atomic_xchg(flags + t, 1, sem="release")
    tl.store(y + i, before + tl.cumsum(v), mask=i < n)


@triton.jit
def met(counter, y):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < tl.num_programs(0):
        pass
    tl.store(y + tl.program_id(0), 1.0)


@triton.jit
def marked(x, seen, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    known = tl.load(seen + value)
    tl.store(seen + value, 1)
    tl.device_assert(known >= 0)


@triton.jit
def reciprocal(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, (1.0 / v).to(tl.int32), mask=i < n)


@triton.jit
def table(pointers, lengths, B: tl.constexpr):
    p = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    n = tl.load(lengths + tl.program_id(0))
    i = tl.arange(0, B)
    tl.store(p + i, 2 * tl.load(p + i, mask=i < n), mask=i < n)


@triton.jit
def boxes(pointers, widths, N: tl.constexpr):
    mine = tl.program_id(0)
    for which in range(2):
        if which == mine:
            p = tl.load(pointers + which).to(tl.pointer_type(tl.float32))
            width = tl.load(widths + which)
            box = tl.make_tensor_descriptor(p, [N, width], [width, 1], [N, N])
            box.store([0, 0], box.load([0, 0]) + 1)


def doubled(number):
    x = torch.full((70,), float(number), device="cuda")
    y = torch.empty_like(x)
    twice[(3,)](x, y, 70, B=32)
    return y.sum().item()


def threads():
    wrong = []

    def work(number):
        wrong.extend(number for _ in range(5) if doubled(number) != 140.0 * number)

    started = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    [thread.start() for thread in started]
    [thread.join() for thread in started]
    assert not wrong


def atomics():
    zeros = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    count = torch.zeros(1, device=DEVICE)
    locked[(37,)](zeros.clone(), count)
    assert count.item() == 37
    y = torch.empty(1000, device=DEVICE)
    flags = torch.zeros(8, dtype=torch.int32, device=DEVICE)
    sums = torch.zeros(8, device=DEVICE)
    looked_back[(8,)](torch.ones_like(y), y, zeros.clone(), sums, flags, 1000, B=128)
    assert torch.equal(y, torch.arange(1.0, 1001.0))
    met[(4,)](zeros.clone(), torch.empty(4, device=DEVICE), launch_cooperative_grid=True)


def main():
    assert doubled(3) == 420.0
    threads()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(doubled, [1, 2]) == [140.0, 280.0]
    y = torch.zeros(2, device=DEVICE)
    annotated[(1,)](y, 65500.0, 1, 1)
    assert y.tolist() == [65504.0, 65506.0]
    annotated[(1,)](y, 70000.0, 1, 1)
    assert y.tolist() == [float("inf")] * 2
    x = torch.randn(32, 32, device=DEVICE)
    out = torch.empty_like(x)
    turned[(1,)](x, torch.empty_like(x), out, N=32)
    assert torch.equal(out, x.T)
    rows = torch.randn(4, 100, device=DEVICE)
    wanted = 2 * rows / rows.norm(dim=1, keepdim=True)
    normalised[(4,)](rows, 100, B=32)
    torch.testing.assert_close(rows, wanted)
    atomics()
    some = torch.randint(0, 10, (64,), dtype=torch.int32, device=DEVICE)
    marked[(1,)](some, torch.zeros(10, dtype=torch.int32, device=DEVICE), B=64)
    whole = torch.empty(3, dtype=torch.int32, device=DEVICE)
    reciprocal[(1,)](torch.tensor([1.0, 0.5, 0.25], device=DEVICE), whole, 3, B=4)
    assert whole.tolist() == [1, 2, 4]
    parts = [torch.ones(n, device=DEVICE) for n in (5, 9, 3)]
    pointers = torch.tensor([part.data_ptr() for part in parts], device=DEVICE)
    lengths = torch.tensor([5, 9, 3], dtype=torch.int32, device=DEVICE)
    table[(3,)](pointers, lengths, B=16)
    assert all(torch.equal(part, torch.full_like(part, 2.0)) for part in parts)
    sheets = [torch.ones(16, width, device=DEVICE) for width in (12, 20)]
    pointers = torch.tensor([sheet.data_ptr() for sheet in sheets], device=DEVICE)
    boxes[(2,)](pointers, torch.tensor([12, 20], dtype=torch.int32, device=DEVICE), N=16)
    assert all((sheet[:, :16] == 2).all() for sheet in sheets)
    print("all right")


if __name__ == "__main__":
    main()
