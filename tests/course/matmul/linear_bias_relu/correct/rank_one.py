import torch
import triton
import triton.language as tl


@triton.jit
def outer_sum(x, w, b, y, M, N, K, xm, xk, wn, wk, sb, TM: tl.constexpr, TN: tl.constexpr):
    i = (tl.program_id(1) * TM + tl.arange(0, TM)).to(tl.int64)
    j = (tl.program_id(0) * TN + tl.arange(0, TN)).to(tl.int64)
    s = tl.zeros((TM, TN), tl.float32)
    xp = x + i * xm
    wp = w + j * wn
    for _ in range(K):
        s = tl.fma(
            tl.load(xp, mask=i < M, other=0.0).to(tl.float32)[:, None]
            + tl.zeros((TM, TN), tl.float32),
            tl.load(wp, mask=j < N, other=0.0).to(tl.float32)[None, :]
            + tl.zeros((TM, TN), tl.float32),
            s,
        )
        xp += xk
        wp += wk
    s += tl.load(b + j * sb, mask=j < N, other=0.0).to(tl.float32)[None, :]
    tl.store(
        y + i[:, None] * N + j[None, :],
        tl.clamp(s, 0.0, float("inf")),
        mask=(i < M)[:, None] & (j < N)[None, :],
    )


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty(M, N, dtype=x.dtype, device=x.device)
    outer_sum[(triton.cdiv(N, 64), triton.cdiv(M, 64))](
        x,
        w,
        b,
        y,
        M,
        N,
        K,
        x.stride(0),
        x.stride(1),
        w.stride(0),
        w.stride(1),
        b.stride(0),
        TM=64,
        TN=64,
    )
    return y
