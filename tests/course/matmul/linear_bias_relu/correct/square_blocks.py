"""Square tiles of the result; the bias is loaded before the loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, xm, xk, wn, wk, sb, B: tl.constexpr,
          BK: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    bias = tl.load(b_ptr + n * sb, mask=n < N, other=0.0).to(tl.float32)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for s in range(0, K, BK):
        k = s + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk,
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + k[:, None] * wk + n[None, :] * wn,
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    y = tl.maximum(acc + bias[None, :], 0.0)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    layer[grid](x, w, b, y, M, N, K, *x.stride(), *w.stride(), *b.stride(), B=32, BK=32)
    return y
