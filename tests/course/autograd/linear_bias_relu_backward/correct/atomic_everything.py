"""Programs own tiles of g: each adds its part to dx, dw and db by atomics on float32 zeros."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter(x_ptr, w_ptr, out_ptr, dout_ptr, dx_ptr, dw_ptr, db_ptr, M, N, K, xm, xk, wn, wk, om, on, gm, gn, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    j = tl.program_id(1).to(tl.int64) * B + tl.arange(0, B)
    here = (i[:, None] < M) & (j[None, :] < N)
    o = tl.load(out_ptr + i[:, None] * om + j[None, :] * on, mask=here, other=0.0)
    g = tl.load(dout_ptr + i[:, None] * gm + j[None, :] * gn, mask=here, other=0.0)
    g = tl.where(o > 0, g, 0.0).to(tl.float32)
    tl.atomic_add(db_ptr + j, tl.sum(g, axis=0), mask=j < N)
    for c0 in range(0, K, B):
        c = c0 + tl.arange(0, B).to(tl.int64)
        w = tl.load(w_ptr + j[:, None] * wn + c[None, :] * wk, mask=(j[:, None] < N) & (c[None, :] < K), other=0.0)
        x = tl.load(x_ptr + i[:, None] * xm + c[None, :] * xk, mask=(i[:, None] < M) & (c[None, :] < K), other=0.0)
        tl.atomic_add(dx_ptr + i[:, None] * K + c[None, :], tl.dot(g, w.to(tl.float32), input_precision="ieee"),
                      mask=(i[:, None] < M) & (c[None, :] < K))
        tl.atomic_add(dw_ptr + j[:, None] * K + c[None, :], tl.dot(tl.trans(g), x.to(tl.float32), input_precision="ieee"),
                      mask=(j[:, None] < N) & (c[None, :] < K))


def linear_bias_relu_backward(x, w, out, dout):
    M, K = x.shape
    N = w.shape[0]
    dx, dw, db = (torch.zeros(shape, dtype=torch.float32, device=x.device) for shape in ((M, K), (N, K), (N,)))
    scatter[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        x, w, out, dout, dx, dw, db, M, N, K, *x.stride(), *w.stride(), *out.stride(), *dout.stride(), B=32
    )
    return dx.to(x.dtype), dw.to(w.dtype), db.to(w.dtype)
