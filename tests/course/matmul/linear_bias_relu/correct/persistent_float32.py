"""Four programs walk through all tiles; float32 result, converted by torch."""

import torch
import triton
import triton.language as tl

NUM_PROGRAMS = 4
TILE = 32


@triton.jit
def layer(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, xm, xk, wn, wk, sb, T: tl.constexpr, P: tl.constexpr):
    across = tl.cdiv(N, T)
    for tile in range(tl.program_id(0), tl.cdiv(M, T) * across, P):
        m = tile // across * T + tl.arange(0, T).to(tl.int64)
        n = tile % across * T + tl.arange(0, T).to(tl.int64)
        acc = tl.zeros((T, T), dtype=tl.float32)
        for s in range(0, K, T):
            k = s + tl.arange(0, T).to(tl.int64)
            x = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            w = tl.load(w_ptr + k[:, None] * wk + n[None, :] * wn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
            acc += tl.dot(x.to(tl.float32), w.to(tl.float32), input_precision="ieee")
        bias = tl.load(b_ptr + n * sb, mask=n < N, other=0.0)
        result = acc + bias.to(tl.float32)[None, :]
        tl.store(y_ptr + m[:, None] * N + n[None, :], tl.where(result < 0, 0.0, result), mask=(m[:, None] < M) & (n[None, :] < N))


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=torch.float32, device=x.device)
    layer[(NUM_PROGRAMS,)](x, w, b, y, M, N, K, *x.stride(), *w.stride(), *b.stride(), T=TILE, P=NUM_PROGRAMS)
    return y.to(x.dtype)
