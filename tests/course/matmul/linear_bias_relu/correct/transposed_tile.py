"""Loads a tile of w as it lies and turns it with tl.trans."""

import torch
import triton
import triton.language as tl

@triton.jit
def relu(value):
    return tl.maximum(value, 0.0)


@triton.jit
def layer(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, xm, xk, wn, wk, sb, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM).to(tl.int64)
    features = tl.program_id(0) * BN + tl.arange(0, BN).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK).to(tl.int64)
        x = tl.load(x_ptr + rows[:, None] * xm + inner[None, :] * xk, mask=(rows < M)[:, None] & (inner < K)[None, :], other=0.0)
        w = tl.load(w_ptr + features[:, None] * wn + inner[None, :] * wk, mask=(features < N)[:, None] & (inner < K)[None, :], other=0.0)
        total += tl.dot(x, tl.trans(w), input_precision="ieee")
    bias = tl.load(b_ptr + features * sb, mask=features < N, other=0.0)
    y = relu(total + bias[None, :].to(tl.float32))
    tl.store(y_ptr + rows[:, None] * N + features[None, :], y.to(y_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (features < N)[None, :])


def linear_bias_relu(x, w, b):
    (M, K), N = x.shape, len(w)
    y = x.new_empty((M, N))
    layer[lambda meta: (triton.cdiv(N, meta["BN"]), triton.cdiv(M, meta["BM"]))](
        x, w, b, y, M, N, K, x.stride(0), x.stride(1), w.stride(0), w.stride(1), b.stride(0),
        BM=32, BN=64, BK=16, num_warps=4,
    )
    return y
