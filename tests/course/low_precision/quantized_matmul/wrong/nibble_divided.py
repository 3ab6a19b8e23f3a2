"""A nibble is cut out by division and remainder."""

import torch
import triton
import triton.language as tl


@triton.jit
def dequantized_tile(b_ptr, scales_ptr, zeros_ptr, ks, cols, k, n, g, b_strides, s_strides, z_strides, dtype: tl.constexpr):
    inside = (ks[:, None] < k) & (cols[None, :] < n)
    c = cols[None, :].to(tl.int64)
    word = tl.load(b_ptr + (ks // 8)[:, None].to(tl.int64) * b_strides[0] + c * b_strides[1], mask=inside, other=0)
    power = (tl.full(ks.shape, 1, tl.int32) << ((ks % 8) * 4))[:, None]  # 16 ** i
    q = (word // power) % 16  # lowest nibble first
    group = (ks // g)[:, None].to(tl.int64)
    scale = tl.load(scales_ptr + group * s_strides[0] + c * s_strides[1], mask=inside, other=0.0)
    zero = tl.load(zeros_ptr + group * z_strides[0] + c * z_strides[1], mask=inside, other=0)
    return ((q - zero.to(tl.int32)).to(tl.float32) * scale.to(tl.float32)).to(dtype)


@triton.jit
def quantized_matmul_kernel(
    a_ptr, b_ptr, scales_ptr, zeros_ptr, out_ptr, m, n, k, g, a_strides, b_strides, s_strides, z_strides,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None].to(tl.int64) * a_strides[0] + ks[None, :].to(tl.int64) * a_strides[1],
                    mask=(rows[:, None] < m) & (ks[None, :] < k), other=0.0)
        b = dequantized_tile(b_ptr, scales_ptr, zeros_ptr, ks, cols, k, n, g, b_strides, s_strides, z_strides, a.dtype)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + rows[:, None].to(tl.int64) * n + cols[None, :], acc.to(out_ptr.dtype.element_ty),
             mask=(rows[:, None] < m) & (cols[None, :] < n))


def quantized_matmul(a, packed_b, scales, zeros):
    m, k = a.shape
    n = packed_b.shape[1]
    out = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if m == 0 or n == 0:
        return out
    if k == 0:
        return out.zero_()
    g = k // scales.shape[0]
    BLOCK_M, BLOCK_N, BLOCK_K = 32, 32, 32
    grid = (triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N))
    quantized_matmul_kernel[grid](
        a, packed_b, scales, zeros, out, m, n, k, g,
        a.stride(), packed_b.stride(), scales.stride(), zeros.stride(),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K,
    )
    return out
