"""The sum starts from the bias and is cut off at zero in each step."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, sxm, sxk, swn, swk, sb, BLOCK: tl.constexpr
):
    m = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    x_at = x_ptr + m[:, None] * sxm + k[None, :] * sxk
    w_at = w_ptr + k[:, None] * swk + n[None, :] * swn
    bias = tl.load(b_ptr + n * sb, mask=n < N, other=0.0).to(tl.float32)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32) + bias[None, :]
    for left in range(K, 0, -BLOCK):
        x = tl.load(x_at, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        w = tl.load(w_at, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        acc = tl.maximum(acc, 0.0)
        x_at += BLOCK * sxk
        w_at += BLOCK * swk
    acc = tl.maximum(acc, 0.0)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def linear_bias_relu(x, w, b):
    m, k = x.shape
    n = w.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m and n:
        linear_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](
            x, w, b, out, m, n, k, x.stride(0), x.stride(1), w.stride(0), w.stride(1), b.stride(0), BLOCK=16
        )
    return out
