"""Every program adds up all the parts, also those that nobody has stored yet."""

import torch
import triton
import triton.language as tl


@triton.jit
def _last(a_ptr, b_ptr, w_ptr, count_ptr, c_ptr, m, n, k, splits, sam, sak, sbk, sbn,
          BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    s = tl.program_id(1)
    tn = tl.cdiv(n, BN)
    rm = (tile // tn) * BM + tl.arange(0, BM)
    rn = (tile % tn) * BN + tl.arange(0, BN)
    ok = (rm[:, None] < m) & (rn[None, :] < n)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(s * BK, k, splits * BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    here = rm[:, None] * n + rn[None, :]
    tl.store(w_ptr + s * m * n + here, acc, mask=ok)
    tl.debug_barrier()
    arrived = tl.atomic_add(count_ptr + tile, 1, sem="acq_rel")
    if arrived >= 0:
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for j in range(splits):
            total += tl.load(w_ptr + j * m * n + here, mask=ok, other=0.0)
        tl.store(c_ptr + here, total.to(c_ptr.dtype.element_ty), mask=ok)


def split_k_matmul(a, b, splits):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n == 0:
        return c
    tiles = triton.cdiv(m, 16) * triton.cdiv(n, 16)
    w = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    count = torch.zeros((tiles,), dtype=torch.int32, device=a.device)
    _last[(tiles, splits)](a, b, w, count, c, m, n, k, splits, *a.stride(), *b.stride(), BM=16, BN=16, BK=32)
    return c
