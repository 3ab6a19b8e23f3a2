"""One output feature of one row per program, summed in blocks of k."""

import torch
import triton
import triton.language as tl

@triton.jit
def one_feature(x_ptr, w_ptr, b_ptr, y_ptr, N, K, xm, xk, wn, wk, sb, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    row, feature = pid // N, pid % N
    products = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * xm + k * xk, mask=k < K, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + feature * wn + k * wk, mask=k < K, other=0.0).to(tl.float32)
        products += x * w
    total = tl.sum(products, axis=0) + tl.load(b_ptr + feature * sb).to(tl.float32)
    tl.store(y_ptr + row * N + feature, tl.maximum(total, 0.0))


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    one_feature[(M * N,)](x, w, b, y, N, K, *x.stride(), *w.stride(), *b.stride(), BLOCK=64)
    return y
