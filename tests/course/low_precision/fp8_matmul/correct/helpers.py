"""Helpers load a tile and a vector of scales."""

import torch
import triton
import triton.language as tl


@triton.jit
def load_tile(base, rows, columns, height, width, strides):
    inside = (rows[:, None] < height) & (columns[None, :] < width)
    at = rows[:, None].to(tl.int64) * strides[0] + columns[None, :].to(tl.int64) * strides[1]
    return tl.load(base + at, mask=inside, other=0.0)


@triton.jit
def load_scales(base, places, count):
    return tl.load(base + places, mask=places < count, other=0.0)


@triton.jit
def block_of(axis: tl.constexpr, SIZE: tl.constexpr):
    return tl.program_id(axis) * SIZE + tl.arange(0, SIZE)


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, m, n, k, a_strides, b_strides,
    TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    rows, columns = block_of(0, TILE), block_of(1, TILE)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(k, DEPTH)):
        inner = step * DEPTH + tl.arange(0, DEPTH)
        left = load_tile(a_ptr, rows, inner, m, k, a_strides)
        right = load_tile(b_ptr, inner, columns, k, n, b_strides)
        acc += tl.dot(left, right)
    acc = acc * load_scales(scale_a_ptr, rows, m)[:, None]
    acc = acc * load_scales(scale_b_ptr, columns, n)[None, :]
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc.to(tl.bfloat16), mask=inside)


def fp8_matmul(a, b, scale_a, scale_b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    kernel[grid](a, b, scale_a, scale_b, c, m, n, k, a.stride(), b.stride(), TILE=64, DEPTH=64)
    return c
