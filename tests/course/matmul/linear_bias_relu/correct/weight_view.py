"""The launcher makes the view w.t(); the kernel multiplies (m, k) by (k, n)."""

import torch
import triton
import triton.language as tl

@triton.jit
def product_bias_relu(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, am, ak, bk, bn, sbias, cm, cn,
                      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64)) % N
    k = tl.arange(0, BK).to(tl.int64)
    a_ptrs = a_ptr + m[:, None] * am + k[None, :] * ak
    b_ptrs = b_ptr + k[:, None] * bk + n[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    left = K
    while left > 0:
        a = tl.load(a_ptrs, mask=k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BK * ak
        b_ptrs += BK * bk
        left -= BK
    acc += tl.load(bias_ptr + n * sbias).to(tl.float32)[None, :]
    tl.store(c_ptr + m[:, None] * cm + n[None, :] * cn, tl.maximum(acc, 0.0).to(c_ptr.dtype.element_ty))


def linear_bias_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    wt = w.t()
    M, K = x.shape
    N = wt.shape[1]
    out = torch.empty((M, N), device=x.device, dtype=x.dtype)
    product_bias_relu[(triton.cdiv(M, 16), triton.cdiv(N, 64))](
        x, wt, b, out, M, N, K, *x.stride(), *wt.stride(), *b.stride(), *out.stride(), BM=16, BN=64, BK=32
    )
    return out
