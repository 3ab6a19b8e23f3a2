import torch
import triton
import triton.language as tl

@triton.jit
def layer(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, xm, xk, wn, wk, sb, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T).to(tl.int64)
    j = tl.program_id(1) * T + tl.arange(0, T).to(tl.int64)
    total = tl.zeros((T, T), dtype=tl.float32)
    for start in range(0, K, T):
        p = start + tl.arange(0, T).to(tl.int64)
        x = tl.load(x_ptr + i[:, None] * xm + p[None, :] * xk, mask=(i[:, None] < M) & (p[None, :] < K), other=0.0).to(tl.float32)
        w = tl.load(w_ptr + j[:, None] * wn + p[None, :] * wk, mask=(j[:, None] < N) & (p[None, :] < K), other=0.0).to(tl.float32)
        total += tl.sum(x[:, None, :] * w[None, :, :], axis=2)
    total += tl.load(b_ptr + j * sb, mask=j < N, other=0.0).to(tl.float32)[None, :]
    tl.store(y_ptr + i[:, None] * N + j[None, :], tl.maximum(total, 0.0).to(y_ptr.dtype.element_ty), mask=(i[:, None] < M) & (j[None, :] < N))


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    layer[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, w, b, y, M, N, K, *x.stride(), *w.stride(), *b.stride(), T=16)
    return y
