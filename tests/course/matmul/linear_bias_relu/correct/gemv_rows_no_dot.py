import torch
import triton
import triton.language as tl


@triton.jit
def row_layer(
    x_ptr, w_ptr, b_ptr, y_ptr, N, K, xm, xk, wn, wk, sb, BN: tl.constexpr, BK: tl.constexpr
):
    n_blocks = tl.cdiv(N, BN)
    row = (tl.program_id(0) // n_blocks).to(tl.int64)
    n = (tl.program_id(0) % n_blocks * BN + tl.arange(0, BN)).to(tl.int64)
    acc = tl.zeros((BN, BK), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = (k0 + tl.arange(0, BK)).to(tl.int64)
        xs = tl.load(x_ptr + row * xm + k * xk, mask=k < K, other=0.0).to(tl.float32)
        ws = tl.load(
            w_ptr + n[:, None] * wn + k[None, :] * wk,
            mask=(n[:, None] < N) & (k[None, :] < K),
            other=0.0,
        ).to(tl.float32)
        acc += ws * xs[None, :]
    y = tl.sum(acc, axis=1) + tl.load(b_ptr + n * sb, mask=n < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * N + n, tl.maximum(y, tl.zeros_like(y)), mask=n < N)


def linear_bias_relu(x, w, b):
    m, k = x.shape
    n = w.shape[0]
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    row_layer[(triton.cdiv(n, 64) * m,)](
        x, w, b, y, n, k, *x.stride(), *w.stride(), b.stride(0), BN=64, BK=32
    )
    return y
