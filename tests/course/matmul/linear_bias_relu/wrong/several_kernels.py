"""Product, bias and ReLU are three kernels, with float32 scratch in between."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(x_ptr, w_ptr, s_ptr, M, N, K, xm, xk, wn, wk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        x = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + k[:, None] * wk + n[None, :] * wn, mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    tl.store(s_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def bias_kernel(s_ptr, b_ptr, t_ptr, n_elements, N, sb, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    bias = tl.load(b_ptr + offsets % N * sb, mask=mask, other=0.0).to(tl.float32)
    tl.store(t_ptr + offsets, tl.load(s_ptr + offsets, mask=mask, other=0.0) + bias, mask=mask)


@triton.jit
def relu_kernel(t_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    value = tl.load(t_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, tl.maximum(value, 0.0).to(out_ptr.dtype.element_ty), mask=mask)


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    product = torch.empty((M, N), dtype=torch.float32, device=x.device)
    biased = torch.empty((M, N), dtype=torch.float32, device=x.device)
    product_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, w, product, M, N, K, *x.stride(), *w.stride(), BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    flat = (triton.cdiv(M * N, 1024),)
    bias_kernel[flat](product, b, biased, M * N, N, b.stride(0), BLOCK=1024)
    relu_kernel[flat](biased, out, M * N, BLOCK=1024)
    return out
