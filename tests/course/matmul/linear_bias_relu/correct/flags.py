"""A kernel for several activations, chosen by a constexpr; checks and messages around it."""

import torch
import triton
import triton.language as tl
from torch import Tensor

DEBUG = False


@triton.jit
def linear_kernel(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, xm, xk, wn, wk, sb,
                  HAS_BIAS: tl.constexpr, ACTIVATION: tl.constexpr,
                  BLOCK_M: tl.constexpr = 32, BLOCK_N: tl.constexpr = 32, BLOCK_K: tl.constexpr = 64):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
    acc = tl.full((BLOCK_M, BLOCK_N), 0.0, dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K).to(tl.int64)
        x = tl.load(x_ptr + offs_m[:, None] * xm + offs_k[None, :] * xk, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0)
        w = tl.load(w_ptr + offs_k[:, None] * wk + offs_n[None, :] * wn, mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if HAS_BIAS:
        acc += tl.load(b_ptr + offs_n * sb, mask=offs_n < N, other=0)[None, :]
    if ACTIVATION == "relu":
        acc = tl.maximum(acc, 0)
    tl.store(y_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(y_ptr.dtype.element_ty), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def linear_bias_relu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """relu(x @ w.T + b)"""
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x has {x.shape[1]} features, w expects {w.shape[1]}")
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(M, 32), triton.cdiv(N, 32))
    if DEBUG:
        print(f"{M=} {N=} {K=}")
    linear_kernel[grid](x, w, b, y, M, N, K, *x.stride(), *w.stride(), b.stride(0), HAS_BIAS=True, ACTIVATION="relu")
    return y
