"""Launchers for the tests of `explain`; never executed, only compiled."""

import torch
import triton
import triton.language as tl

EXTRA = tl.constexpr(2)


@triton.jit
def doubled(v):
    return v * EXTRA


@triton.jit
def double_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, doubled(x), mask=mask)


def double(x, block_size=1024):
    out = torch.empty_like(x)
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, block_size),)
    double_kernel[grid](x, out, n_elements, BLOCK_SIZE=block_size)
    return out


@triton.jit
def square_kernel(
    a_ptr, b_ptr, c_ptr, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.arange(0, BLOCK_M)[:, None]
    n = tl.arange(0, BLOCK_N)[None, :]
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m * K + k[None, :] + start)
        b = tl.load(b_ptr + (k[:, None] + start) * BLOCK_N + n)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m * BLOCK_N + n, total)


def square(x, block=64, stages=3, warps=4):
    out = torch.empty((block, block), dtype=torch.float32)
    square_kernel[(1,)](x, x, out, x.shape[0], block, block, 32, num_stages=stages, num_warps=warps)
    return out


@triton.jit
def broken_kernel(x_ptr):
    tl.store(x_ptr, nothing_here)  # noqa: F821


def broken(x):
    broken_kernel[(1,)](x)
    return x


def idle(x):
    return x
