"""The accumulator is multiplied by the scale of each group that it has gone through."""

import torch
import triton
import triton.language as tl


@triton.jit
def _group_step(acc, a_ptr, p_ptr, m, n, M, N, k0, k1, zero, am, ak, pk, pn, BK: tl.constexpr):
    for kk in range(k0, k1, BK):
        k = kk + tl.arange(0, BK)
        k64 = k.to(tl.int64)
        a = tl.load(a_ptr + m[:, None] * am + k64[None, :] * ak, mask=(m < M)[:, None] & (k < k1)[None, :], other=0.0)
        word = tl.load(p_ptr + (k64 // 8)[:, None] * pk + n[None, :] * pn,
                       mask=(k < k1)[:, None] & (n < N)[None, :], other=0)
        q = (word >> ((k & 7) * 4)[:, None]) & 15
        acc = tl.dot(a, (q - zero[None, :]).to(a.dtype), acc)
    return acc


@triton.jit
def _kernel(a_ptr, p_ptr, s_ptr, z_ptr, c_ptr, M, N, groups, g, am, ak, pk, pn, sg, sn, zg, zn,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(groups):
        zero = tl.load(z_ptr + i * zg + n * zn, mask=n < N, other=0).to(tl.int32)
        scale = tl.load(s_ptr + i * sg + n * sn, mask=n < N, other=0.0).to(tl.float32)
        acc = _group_step(acc, a_ptr, p_ptr, m, n, M, N, i * g, (i + 1) * g, zero, am, ak, pk, pn, BK)
        acc = acc * scale[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(m < M)[:, None] & (n < N)[None, :])


def quantized_matmul(a, packed_b, scales, zeros):
    m, k = a.shape
    n = packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    groups = scales.shape[0]
    g = k // groups if groups > 0 else 16
    _kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, packed_b, scales, zeros, c, m, n, groups, g, *a.stride(), *packed_b.stride(),
        *scales.stride(), *zeros.stride(), BM=32, BN=32, BK=32)
    return c
