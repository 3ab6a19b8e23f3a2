# ruff: noqa: SIM201
"""Kernels of many styles, each with a launcher that returns its outputs.

A case is a function without arguments: it makes its inputs from a fixed seed, launches, and returns
a tuple of tensors.  None of the kernels has a race, so every order of programs gives the same.
"""

import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as stock

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def randint(low, high, *shape, dtype=torch.int32):
    generator = torch.Generator().manual_seed(sum(shape) + high)
    return torch.randint(low, high, shape, generator=generator).to(dtype)


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add(x, y, block=64):
    output = torch.empty_like(x)
    n = x.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](
        x, y, output, n, BLOCK_SIZE=block
    )
    return (output,)


@case
def vector_add():
    return add(randn(1000), randn(1000) * 3)


@case
def vector_add_fp16():
    return add(randn(777, dtype=torch.float16), randn(777, dtype=torch.float16))


@case
def vector_add_int32():
    return add(randint(-(2**31), 2**31 - 1, 300), randint(-(2**31), 2**31 - 1, 300))


@case
def vector_add_int8():
    return add(randint(-128, 127, 300, dtype=torch.int8), randint(-128, 127, 300, dtype=torch.int8))


@case
def vector_add_uint8():
    return add(randint(0, 255, 300, dtype=torch.uint8), randint(0, 255, 300, dtype=torch.uint8))


@case
def vector_add_int64():
    return add(randint(0, 2**40, 300, dtype=torch.int64), randint(0, 2**40, 300, dtype=torch.int64))


@case
def vector_add_fp64():
    return add(randn(300).double(), randn(300).double())


@case
def vector_add_empty():
    return add(torch.empty(0), torch.empty(0))


@triton.jit
def copy_2d_kernel(
    x_ptr, output_ptr, m, n, stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < m)[:, None] & (offs_n[None, :] < n)
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)
    tl.store(output_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on, x, mask=mask)


def copy_2d(x, output):
    m, n = x.shape
    grid = (triton.cdiv(n, 16), triton.cdiv(m, 8))
    copy_2d_kernel[grid](x, output, m, n, *x.stride(), *output.stride(), BLOCK_M=8, BLOCK_N=16)
    return (output,)


@case
def copy_plain():
    return copy_2d(randn(37, 53), torch.zeros(37, 53))


@case
def copy_from_transposed():
    return copy_2d(randn(53, 37).T, torch.zeros(37, 53))


@case
def copy_into_transposed():
    return copy_2d(randn(37, 53), torch.zeros(53, 37).T)


@case
def copy_from_slice():
    return copy_2d(randn(40, 80)[3:, 5:70:2], torch.zeros(37, 33))


@case
def copy_from_expanded():
    return copy_2d(randn(40, 1).expand(40, 21), torch.zeros(40, 21))


@case
def copy_from_overlapping():
    return copy_2d(torch.as_strided(randn(200), (20, 30), (3, 1)), torch.zeros(20, 30))


@case
def copy_bool():
    return copy_2d(randn(20, 20) > 0, torch.zeros(20, 20, dtype=torch.bool))


@case
def copy_bf16():
    return copy_2d(randn(20, 20, dtype=torch.bfloat16), torch.zeros(20, 20, dtype=torch.bfloat16))


@triton.jit
def tile_product(a_ptr, b_ptr, rows, columns, k, stride_ak, stride_bk, BLOCK_K: tl.constexpr):
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((rows.shape[0], columns.shape[0]), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = start + offs_k < k
        a = tl.load(
            a_ptr + rows[:, None] + (start + offs_k)[None, :] * stride_ak,
            mask=inside[None, :],
            other=0.0,
        )
        b = tl.load(
            b_ptr + (start + offs_k)[:, None] * stride_bk + columns[None, :],
            mask=inside[:, None],
            other=0.0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    return acc


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    in_group = GROUP * tiles_n
    first_m = (pid // in_group) * GROUP
    rows_in_group = min(tiles_m - first_m, GROUP)
    pid_m = first_m + (pid % in_group) % rows_in_group
    pid_n = (pid % in_group) // rows_in_group
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tile_product(
        a_ptr,
        b_ptr,
        (offs_m % m) * stride_am,
        (offs_n % n) * stride_bn,
        k,
        stride_ak,
        stride_bk,
        BLOCK_K,
    )
    mask = (offs_m[:, None] < m) & (offs_n[None, :] < n)
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def matmul(a, b, block=(16, 32, 16), group=3):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype)
    grid = (triton.cdiv(m, block[0]) * triton.cdiv(n, block[1]),)
    matmul_kernel[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), *block, GROUP=group
    )
    return (c,)


@case
def matmul_grouped():
    return matmul(randn(100, 70), randn(70, 90))


@case
def matmul_transposed_inputs():
    return matmul(randn(70, 100).T, randn(90, 70).T)


@case
def matmul_fp16():
    return matmul(randn(64, 64, dtype=torch.float16), randn(64, 64, dtype=torch.float16))


@triton.jit
def softmax_kernel(x_ptr, output_ptr, stride_x, stride_o, n_columns, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * stride_x + columns, mask=columns < n_columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(output_ptr + row * stride_o + columns, e / tl.sum(e, axis=0), mask=columns < n_columns)


@case
def softmax():
    x, output = randn(33, 100), torch.empty(33, 100)
    softmax_kernel[(33,)](x, output, 100, 100, 100, BLOCK_SIZE=128)
    return (output,)


@triton.jit
def persistent_softmax_kernel(x_ptr, output_ptr, n_rows, n_columns, BLOCK_SIZE: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        columns = tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf"))
        tl.store(output_ptr + row * n_columns + columns, tl.softmax(x), mask=mask)


@case
def persistent_softmax():
    x, output = randn(45, 60), torch.empty(45, 60)
    persistent_softmax_kernel[(7,)](x, output, 45, 60, BLOCK_SIZE=64)
    return (output,)


@triton.jit
def welford_combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def layernorm_kernel(x_ptr, w_ptr, b_ptr, output_ptr, n, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), mask.to(tl.float32)), 0, welford_combine)
    y = (x - mean) / tl.sqrt(m2 / count + eps)
    w = tl.load(w_ptr + columns, mask=mask, other=0.0)
    b = tl.load(b_ptr + columns, mask=mask, other=0.0)
    tl.store(output_ptr + row * n + columns, y * w + b, mask=mask)


@case
def layernorm_welford():
    x, w, b, output = randn(9, 50), randn(50), randn(50), torch.empty(9, 50)
    layernorm_kernel[(9,)](x, w, b, output, 50, 1e-5, BLOCK_SIZE=64)
    return (output,)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr, length, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start_m, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    base = head * length * D
    offs_m, offs_d = start_m + tl.arange(0, BLOCK_M), tl.arange(0, D)
    rows = base + offs_m[:, None] * D + offs_d[None, :]
    q = tl.load(q_ptr + rows, mask=offs_m[:, None] < length, other=0.0)
    best = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    norm = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(start_m + BLOCK_M, length)
    for start in range(0, end, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        cells = base + offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(k_ptr + cells, mask=offs_n[:, None] < length, other=0.0)
        v = tl.load(v_ptr + cells, mask=offs_n[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = offs_n[None, :] < length
        if CAUSAL:
            seen = seen & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(seen, s, -1e30)
        new = tl.maximum(best, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(best - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        best = new
    tl.store(output_ptr + rows, acc / norm[:, None], mask=offs_m[:, None] < length)


def attention(causal, heads=2, length=90, d=16):
    q, k, v = (randn(heads, length + i, d)[:, :length].contiguous() for i in range(3))
    output = torch.empty_like(q)
    attention_kernel[(triton.cdiv(length, 32), heads)](
        q, k, v, output, length, d**-0.5, D=d, BLOCK_M=32, BLOCK_N=16, CAUSAL=causal
    )
    return (output,)


@case
def attention_full():
    return attention(False)


@case
def attention_causal():
    return attention(True)


@triton.jit
def branches_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    if pid % 3 == 0:
        x = x * 2.0
        if pid > 4:
            x = x + 100.0
    elif pid % 3 == 1:
        x = -x
    else:
        total = tl.sum(x, axis=0)
        x = x - total
    tl.store(output_ptr + offsets, x, mask=offsets < n)


@case
def branches():
    x, output = randn(500), torch.empty(500)
    branches_kernel[(triton.cdiv(500, 32),)](x, output, 500, BLOCK_SIZE=32)
    return (output,)


@triton.jit
def early_return_kernel(x_ptr, output_ptr, n, limit, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= limit:
        return
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(
        output_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1.0, mask=offsets < n
    )


@case
def early_return():
    x, output = randn(320), torch.zeros(320)
    early_return_kernel[(10,)](x, output, 320, 6, BLOCK_SIZE=32)
    return (output,)


@triton.jit
def sign_of(value):
    if value > 0:
        return 1.0
    if value < 0:
        return -1.0
    return 0.0


@triton.jit
def helper_returns_kernel(x_ptr, output_ptr):
    pid = tl.program_id(0)
    tl.store(output_ptr + pid, sign_of(tl.load(x_ptr + pid)))


@case
def helper_returns():
    x, output = torch.tensor([1.5, -2.0, 0.0, 7.0, -0.1]), torch.zeros(5)
    helper_returns_kernel[(5,)](x, output)
    return (output,)


@triton.jit
def collatz_kernel(x_ptr, output_ptr):
    pid = tl.program_id(0)
    value = tl.load(x_ptr + pid)
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    tl.store(output_ptr + pid, steps)


@case
def collatz():
    x, output = torch.arange(1, 40, dtype=torch.int32), torch.zeros(39, dtype=torch.int32)
    collatz_kernel[(39,)](x, output)
    return (output,)


@triton.jit
def triangle_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BLOCK_SIZE,), tl.float32)
    for i in range(pid, -1, -1):
        for j in range(i % 3):
            acc += tl.load(x_ptr + i * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)) * (j + 1)
    tl.store(output_ptr + pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE), acc)


@case
def triangle():
    x, output = randn(12 * 16), torch.empty(12 * 16)
    triangle_kernel[(12,)](x, output, BLOCK_SIZE=16)
    return (output,)


@triton.jit
def grid_3d_kernel(output_ptr, nx, ny, nz):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(
        output_ptr + (x * ny + y) * nz + z, x * 10000 + y * 100 + z + tl.num_programs(2) * 1000000
    )


@case
def grid_3d():
    output = torch.zeros(3, 4, 5, dtype=torch.int32)
    grid_3d_kernel[(3, 4, 5)](output, 3, 4, 5)
    return (output,)


@triton.jit
def reductions_kernel(x_ptr, big_ptr, index_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    tl.store(big_ptr + row * 6 + 0, tl.max(x, axis=0))
    tl.store(big_ptr + row * 6 + 1, tl.min(x, axis=0))
    tl.store(big_ptr + row * 6 + 2, tl.sum(x, axis=0))
    tl.store(big_ptr + row * 6 + 3, tl.sum(tl.where(x > 0, x, 0.0)))
    best, at = tl.max(x, axis=0, return_indices=True)
    tl.store(big_ptr + row * 6 + 4, best)
    tl.store(big_ptr + row * 6 + 5, tl.min(tl.abs(x), axis=0))
    tl.store(index_ptr + row * 2, at)
    tl.store(index_ptr + row * 2 + 1, tl.argmin(x, axis=0))


@case
def reductions():
    x, big, index = randn(11, 32), torch.zeros(11, 6), torch.zeros(11, 2, dtype=torch.int32)
    reductions_kernel[(11,)](x, big, index, N=32)
    return big, index


@triton.jit
def reductions_2d_kernel(x_ptr, rows_ptr, columns_ptr, all_ptr, M: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    cells = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + pid * M * N + cells)
    tl.store(rows_ptr + pid * M + tl.arange(0, M), tl.sum(x, axis=1))
    tl.store(columns_ptr + pid * N + tl.arange(0, N), tl.max(x, axis=0))
    kept = tl.sum(x, axis=0, keep_dims=True)
    tl.store(all_ptr + pid, tl.sum(kept) + tl.max(x))
    tl.store(
        rows_ptr + pid * M + tl.arange(0, M),
        tl.argmax(x, axis=1).to(tl.float32),
        mask=(tl.arange(0, M) + pid) < 4,
    )


@case
def reductions_2d():
    x = randn(5, 8, 16)
    rows, columns, total = torch.zeros(5, 8), torch.zeros(5, 16), torch.zeros(5)
    reductions_2d_kernel[(5,)](x, rows, columns, total, M=8, N=16)
    return rows, columns, total


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def scans_kernel(x_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    out = output_ptr + row * 4 * N + tl.arange(0, N)
    tl.store(out, tl.cumsum(x, axis=0))
    tl.store(out + N, tl.cumprod(x, axis=0))
    tl.store(out + 2 * N, tl.cumsum(x, axis=0, reverse=True))
    tl.store(out + 3 * N, tl.associative_scan(tl.where(x > 0, x, 0.0), 0, last_nonzero))


@case
def scans():
    x, output = randn(6, 16), torch.zeros(6, 4, 16)
    scans_kernel[(6,)](x, output, N=16)
    return (output,)


@triton.jit
def sort_kernel(x_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    tl.store(output_ptr + row * N + tl.arange(0, N), tl.sort(x))
    tl.store(output_ptr + (row + 3) * N + tl.arange(0, N), tl.flip(x, 0))


@case
def sorting():
    x, output = randn(3, 16), torch.zeros(6, 16)
    sort_kernel[(3,)](x, output, N=16)
    return (output,)


@triton.jit
def histogram_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=BINS - 1)
    tl.atomic_add(output_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))


@case
def histogram():
    x, output = randint(0, 8, 200), torch.zeros(8, dtype=torch.int32)
    histogram_kernel[(4,)](x, output, 200, BLOCK_SIZE=64, BINS=8)
    return (output,)


@triton.jit
def atomics_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(output_ptr + x % 4, x, mask=mask)
    tl.atomic_max(output_ptr + 4, tl.max(x, axis=0))
    tl.atomic_min(output_ptr + 5 + x * 0, x, mask=mask)
    tl.atomic_or(output_ptr + 6, tl.max(x, axis=0))
    tl.atomic_xor(output_ptr + 7 + x * 0, x, mask=mask)


@case
def atomics():
    x, output = randint(0, 100, 150), torch.zeros(8, dtype=torch.int32)
    atomics_kernel[(5,)](x, output, 150, BLOCK_SIZE=32)
    return (output,)


@triton.jit
def atomic_float_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))
    tl.atomic_add(output_ptr, tl.sum(x, axis=0))
    tl.atomic_max(output_ptr + 1, tl.max(x, axis=0))
    tl.atomic_min(output_ptr + 2, tl.min(x, axis=0))


@case
def atomic_floats():
    x, output = randint(-50, 50, 160).float(), torch.zeros(3)
    atomic_float_kernel[(5,)](x, output, BLOCK_SIZE=32)
    return (output,)


@triton.jit
def lock_kernel(lock_ptr, total_ptr, x_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, tl.load(total_ptr) + tl.load(x_ptr + tl.program_id(0)))
    tl.atomic_xchg(lock_ptr, 0)


@case
def spin_lock():
    lock, total, x = torch.zeros(1, dtype=torch.int32), torch.zeros(1), randint(0, 9, 12).float()
    lock_kernel[(12,)](lock, total, x)
    return lock, total


@triton.jit
def two_pointers_kernel(x_ptr, y_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    even = offsets % 2 == 0
    mixed = tl.where(even, x_ptr + offsets, y_ptr + offsets * 2)
    tl.store(output_ptr + offsets, tl.load(mixed))
    base = tl.where(tl.program_id(0) == 0, x_ptr, y_ptr)
    tl.store(output_ptr + BLOCK_SIZE * (1 + tl.program_id(0)) + offsets, tl.load(base + offsets))


@case
def where_of_pointers():
    x, y, output = randn(16), randn(32), torch.zeros(3, 16)
    two_pointers_kernel[(2,)](x, y, output, BLOCK_SIZE=16)
    return (output,)


@triton.jit
def shapes_kernel(x_ptr, output_ptr, M: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid * M * N + tl.arange(0, M * N))
    grid = tl.reshape(x, (M, N))
    turned = tl.trans(grid)
    left, right = tl.split(tl.reshape(turned, (N, M // 2, 2)))
    joined = tl.join(right, left)
    flat = tl.ravel(joined)
    tl.store(output_ptr + pid * M * N + tl.arange(0, M * N), flat + tl.ravel(grid.T) * 10.0)


@case
def shapes():
    x, output = randn(4, 32), torch.zeros(4, 32)
    shapes_kernel[(4,)](x, output, M=4, N=8)
    return (output,)


@triton.jit
def gather_kernel(x_ptr, index_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    index = tl.load(index_ptr + row * N + tl.arange(0, N))
    tl.store(output_ptr + row * N + tl.arange(0, N), tl.gather(x, index, 0))


@case
def gather():
    x, index, output = randn(4, 16), randint(0, 16, 4, 16), torch.zeros(4, 16)
    gather_kernel[(4,)](x, index, output, N=16)
    return (output,)


@triton.jit
def swizzle_kernel(output_ptr, rows, columns, GROUP: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    new_i, new_j = tl.swizzle2d(i, j, rows, columns, GROUP)
    tl.store(output_ptr + new_i * columns + new_j, i * columns + j)


@case
def swizzle():
    output = torch.zeros(5, 4, dtype=torch.int32)
    swizzle_kernel[(5, 4)](output, 5, 4, GROUP=3)
    return (output,)


@triton.jit
def integers_kernel(x_ptr, y_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    y = tl.load(y_ptr + row * N + tl.arange(0, N))
    out = output_ptr + row * 9 * N + tl.arange(0, N)
    tl.store(out, x // y)
    tl.store(out + N, x % y)
    tl.store(out + 2 * N, x * y)
    tl.store(out + 3 * N, (x << 3) ^ (y >> 1))
    tl.store(out + 4 * N, (x & y) | 5)
    tl.store(out + 5 * N, tl.where((x > y) | (x == 3), x, -y))
    tl.store(out + 6 * N, tl.maximum(x, y) - tl.minimum(x, y))
    tl.store(out + 7 * N, tl.cdiv(x, 4) + tl.abs(y))
    tl.store(out + 8 * N, ~x)


@case
def integers():
    x, output = randint(-1000, 1000, 3, 16), torch.zeros(3, 9, 16, dtype=torch.int32)
    y = randint(1, 90, 3, 16) * (1 - 2 * randint(0, 2, 3, 16))
    integers_kernel[(3,)](x, y, output, N=16)
    return (output,)


@case
def integers_int64():
    x, output = (
        randint(-1000, 1000, 3, 16, dtype=torch.int64),
        torch.zeros(3, 9, 16, dtype=torch.int64),
    )
    y = randint(1, 90, 3, 16, dtype=torch.int64) * (1 - 2 * randint(0, 2, 3, 16, dtype=torch.int64))
    integers_kernel[(3,)](x, y, output, N=16)
    return (output,)


@triton.jit
def grey_kernel(image_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    red = tl.load(image_ptr + offsets, mask=mask, other=0)
    green = tl.load(image_ptr + n + offsets, mask=mask, other=0)
    blue = tl.load(image_ptr + 2 * n + offsets, mask=mask, other=0)
    grey = 0.2989 * red + 0.5870 * green + 0.1140 * blue
    tl.store(output_ptr + offsets, grey.to(tl.uint8), mask=mask)


@case
def grey_uint8():
    image, output = randint(0, 255, 3, 100, dtype=torch.uint8), torch.zeros(100, dtype=torch.uint8)
    grey_kernel[(4,)](image, output, 100, BLOCK_SIZE=32)
    return (output,)


@triton.jit
def unpack_kernel(packed_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    index = tl.arange(0, N)
    packed = tl.load(packed_ptr + row * (N // 8) + index // 8)
    nibble = (packed >> ((index % 8) * 4)) & 0xF
    tl.store(output_ptr + row * N + index, (nibble.to(tl.float32) - 8.0) * 0.5)


@case
def unpack_int4():
    packed, output = randint(-(2**31), 2**31 - 1, 4, 4), torch.zeros(4, 32)
    unpack_kernel[(4,)](packed, output, N=32)
    return (output,)


@triton.jit
def static_loops_kernel(x_ptr, output_ptr, TIMES: tl.constexpr, NEGATE: tl.constexpr):
    pid = tl.program_id(0)
    value = tl.load(x_ptr + pid)
    for step in tl.static_range(0, TIMES, 2):
        value += step * (2 if step % 4 == 0 else 1)
    if NEGATE:
        value = -value
    tl.store(output_ptr + pid, value)


@case
def static_loops():
    x, output = randn(8), torch.zeros(8)
    static_loops_kernel[(8,)](x, output, TIMES=7, NEGATE=True)
    return (output,)


@triton.jit
def functions_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    y = tl.exp(-x * x) + tl.log(tl.abs(x) + 1.0) + tl.sin(x) * tl.cos(x) + tl.sqrt(tl.abs(x))
    y += tl.sigmoid(x) + tl.rsqrt(tl.abs(x) + 0.5) + tl.floor(x) + tl.ceil(x) + tl.exp2(x)
    y += tl.fma(x, y, x) + tl.clamp(x, -0.5, 0.5) + tl.math.erf(x) + tl.log2(tl.abs(x) + 2.0)
    tl.store(output_ptr + offsets, y, mask=mask)


@case
def functions():
    x, output = randn(200), torch.zeros(200)
    functions_kernel[(4,)](x, output, 200, BLOCK_SIZE=64)
    return (output,)


@triton.jit
def casts_kernel(x_ptr, half_ptr, byte_ptr, wide_ptr, bits_ptr, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.store(half_ptr + offsets, x.to(tl.float16))
    tl.store(byte_ptr + offsets, x.to(tl.int32).to(tl.int8))
    tl.store(wide_ptr + offsets, x.to(tl.int64) + 2147483648)
    tl.store(bits_ptr + offsets, x.to(tl.int32, bitcast=True) & 0x7FFFFFFF)


@case
def casts():
    x = randn(64) * 100
    outputs = [
        torch.zeros(64, dtype=d) for d in (torch.float16, torch.int8, torch.int64, torch.int32)
    ]
    casts_kernel[(4,)](x, *outputs, N=16)
    return tuple(outputs)


@triton.jit
def chained_kernel(x_ptr, output_ptr, low, high, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    pid = tl.program_id(0)
    if pid > 0 and (pid < 3 or not pid == 5):
        x += 1.0
    tl.store(output_ptr + offsets, tl.where((x > low) & (x < high), x, 0.0))


@case
def boolean_operators():
    x, output = randn(96), torch.zeros(96)
    chained_kernel[(6,)](x, output, -0.5, 1.5, N=16)
    return (output,)


@triton.jit
def in_place_kernel(x_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0 + 1.0, mask=mask)


@case
def in_place():
    x = randn(300)
    in_place_kernel[(5,)](x, 300, BLOCK_SIZE=64)
    in_place_kernel[(5,)](x, 300, BLOCK_SIZE=64)
    return (x,)


@triton.jit
def partial_sums_kernel(
    x_ptr, partial_ptr, count_ptr, output_ptr, N: tl.constexpr, P: tl.constexpr
):
    pid = tl.program_id(0)
    tl.store(partial_ptr + pid, tl.sum(tl.load(x_ptr + pid * N + tl.arange(0, N)), axis=0))
    if tl.atomic_add(count_ptr, 1) == P - 1:
        tl.store(output_ptr, tl.sum(tl.load(partial_ptr + tl.arange(0, P)), axis=0))


@case
def last_block_reduces():
    x, partial, output = randint(0, 9, 8, 16).float(), torch.zeros(8), torch.zeros(1)
    partial_sums_kernel[(8,)](x, partial, torch.zeros(1, dtype=torch.int32), output, N=16, P=8)
    return (output,)


@triton.jit
def descriptor_kernel(x_ptr, output_ptr, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [BLOCK_M, BLOCK_N])
    output = tl.make_tensor_descriptor(output_ptr, [m, n], [n, 1], [BLOCK_M, BLOCK_N])
    at_m, at_n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    output.store([at_m, at_n], x.load([at_m, at_n]) * 2.0)


@case
def device_descriptors():
    x, output = randn(30, 40), torch.zeros(30, 40)
    descriptor_kernel[(4, 3)](x, output, 30, 40, BLOCK_M=8, BLOCK_N=16)
    return (output,)


@triton.jit
def host_descriptor_kernel(x_desc, output_desc, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at_m, at_n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    output_desc.store([at_m, at_n], x_desc.load([at_m, at_n]) + 1.0)


@case
def host_descriptors():
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, output = randn(20, 48), torch.zeros(20, 48)
    a, b = (TensorDescriptor.from_tensor(t, [8, 16]) for t in (x, output))
    host_descriptor_kernel[(3, 3)](a, b, BLOCK_M=8, BLOCK_N=16)
    return (output,)


if hasattr(stock.InterpreterBuilder, "create_make_block_ptr"):

    @triton.jit
    def block_pointer_kernel(
        a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
    ):
        pid_m, pid_n = tl.program_id(0), tl.program_id(1)
        a = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (pid_m * BM, 0), (BM, BK), (1, 0))
        b = tl.make_block_ptr(b_ptr, (k, n), (n, 1), (0, pid_n * BN), (BK, BN), (1, 0))
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, k, BK):
            x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
            y = tl.load(b, boundary_check=(0, 1), padding_option="zero")
            acc += tl.dot(x, y, input_precision="ieee")
            a = tl.advance(a, (0, BK))
            b = tl.advance(b, (BK, 0))
        c = tl.make_block_ptr(c_ptr, (m, n), (n, 1), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
        tl.store(c, acc, boundary_check=(0, 1))

    @case
    def block_pointers():
        a, b, c = randn(30, 40), randn(40, 25), torch.zeros(30, 25)
        block_pointer_kernel[(2, 2)](a, b, c, 30, 25, 40, BM=16, BN=16, BK=16)
        return (c,)


@triton.jit
def philox_kernel(output_ptr, seed, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(output_ptr + offsets, tl.rand(seed, offsets))


@case
def random_numbers():
    output = torch.zeros(128)
    philox_kernel[(4,)](output, 42, N=32)
    return (output,)


@triton.jit
def dropout_kernel(x_ptr, output_ptr, n, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    keep = tl.rand(seed, offsets) > p
    x = tl.load(x_ptr + offsets, mask=(offsets < n) & keep, other=0.0)
    tl.store(output_ptr + offsets, x / (1 - p), mask=offsets < n)


@case
def dropout():
    x, output = randn(250), torch.zeros(250)
    dropout_kernel[(4,)](x, output, 250, 0.3, 7, BLOCK_SIZE=64)
    return (output,)


@triton.jit
def batched_dot_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr):
    pid = tl.program_id(0)
    i, j = tl.arange(0, M)[None, :, None], tl.arange(0, M)[None, None, :]
    cells = (pid * B + tl.arange(0, B)[:, None, None]) * M * M + i * M + j
    product = tl.dot(tl.load(a_ptr + cells), tl.load(b_ptr + cells), input_precision="ieee")
    tl.store(c_ptr + cells, product)


@case
def batched_dot():
    a, b, c = randn(3, 2, 16, 16), randn(3, 2, 16, 16) * 2, torch.zeros(3, 2, 16, 16)
    batched_dot_kernel[(3,)](a, b, c, B=2, M=16)
    return (c,)


@triton.jit
def int8_dot_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr):
    cells = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    pid = tl.program_id(0) * M * M
    a, b = tl.load(a_ptr + pid + cells), tl.load(b_ptr + pid + cells)
    tl.store(c_ptr + pid + cells, tl.dot(a, b, out_dtype=tl.int32))


@case
def int8_dot():
    a, b = (
        randint(-128, 127, 3, 32 + i, 32, dtype=torch.int8)[:, :32].contiguous() for i in (0, 1)
    )
    c = torch.zeros(3, 32, 32, dtype=torch.int32)
    int8_dot_kernel[(3,)](a, b, c, M=32)
    return (c,)
