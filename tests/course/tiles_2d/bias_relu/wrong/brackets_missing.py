"""Compares with the size of M and a mask that is there already."""

import torch
import triton
import triton.language as tl


@triton.jit
def strip_kernel(x, bias, out, M, N, sm, sn, sb, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    n_ok = n < N
    b = tl.load(bias + n * sb, mask=n_ok, other=0.0).to(tl.float32)[None, :]
    for m0 in range(0, M, BM):
        m = m0 + tl.arange(0, BM)
        ok = m[:, None] < M & n_ok[None, :]
        t = tl.load(x + m[:, None] * sm + n[None, :] * sn, mask=ok, other=0.0)
        t = t.to(tl.float32) + b
        t = t * (t > 0).to(tl.float32)
        tl.store(out + m[:, None] * N + n[None, :], t.to(out.dtype.element_ty), mask=ok)


def bias_relu(x, bias):
    M, N = x.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    strip_kernel[(triton.cdiv(N, 32),)](
        x, bias, out, M, N, x.stride(0), x.stride(1), bias.stride(0), BM=32, BN=32
    )
    return out
