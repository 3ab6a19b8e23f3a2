"""The bias starts the sum and is added again at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_bias_relu_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    output_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    stride_b,
    stride_om,
    stride_on,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    bias = tl.load(b_ptr + n * stride_b, mask=n < N, other=0.0).to(tl.float32)
    acc = tl.broadcast_to(bias[None, :], (BLOCK_M, BLOCK_N))
    k0 = 0
    while k0 < K:
        k = (k0 + tl.arange(0, BLOCK_K)).to(tl.int64)
        x = tl.load(
            x_ptr + m[:, None] * stride_xm + k[None, :] * stride_xk,
            mask=(m[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        w = tl.load(
            w_ptr + k[:, None] * stride_wk + n[None, :] * stride_wn,
            mask=(k[:, None] < K) & (n[None, :] < N),
            other=0.0,
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")
        k0 += BLOCK_K
    tl.store(
        output_ptr + m[:, None] * stride_om + n[None, :] * stride_on,
        tl.maximum(acc + bias[None, :], 0.0),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


def linear_bias_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = x.shape
    n = w.shape[0]
    output = torch.empty((m, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 32, 128, 16
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    linear_bias_relu_kernel[grid](
        x,
        w,
        b,
        output,
        m,
        n,
        k,
        *x.stride(),
        *w.stride(),
        *b.stride(),
        *output.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return output
