"""A second kernel adds bias and ReLU."""

import torch
import triton
import triton.language as tl

@triton.jit
def linear_bias_relu_kernel(
    x_ptr, w_ptr, b_ptr, output_ptr, M, N, K,
    stride_xm, stride_xk, stride_wn, stride_wk, stride_b, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = rows < M
    mask_n = cols < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        mask_k = ks < K
        x = tl.load(
            x_ptr + rows[:, None] * stride_xm + ks[None, :] * stride_xk,
            mask=mask_m[:, None] & mask_k[None, :], other=0.0,
        )
        w = tl.load(
            w_ptr + ks[:, None] * stride_wk + cols[None, :] * stride_wn,
            mask=mask_k[:, None] & mask_n[None, :], other=0.0,
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
    out_ptrs = output_ptr + rows[:, None] * stride_om + cols[None, :] * stride_on
    tl.store(out_ptrs, acc.to(output_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])


@triton.jit
def bias_relu_kernel(p_ptr, b_ptr, output_ptr, total, n, stride_b, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < total
    bias = tl.load(b_ptr + offs % n * stride_b, mask=mask, other=0.0).to(tl.float32)
    value = tl.maximum(tl.load(p_ptr + offs, mask=mask) + bias, 0.0)
    tl.store(output_ptr + offs, value.to(output_ptr.dtype.element_ty), mask=mask)


def linear_bias_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = x.shape
    n = w.shape[0]
    product = torch.empty((m, n), dtype=torch.float32, device=x.device)
    output = torch.empty((m, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 64, 64, 32
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    linear_bias_relu_kernel[grid](
        x, w, b, product, m, n, k,
        *x.stride(), *w.stride(), *b.stride(), *output.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )
    bias_relu_kernel[(triton.cdiv(m * n, 1024),)](product, b, output, m * n, n, b.stride(0), BLOCK=1024)
    return output
