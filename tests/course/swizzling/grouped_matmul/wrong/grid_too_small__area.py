"""As many programs as tiles would fit into the area."""

import torch
import triton
import triton.language as tl

@triton.jit
def _where_am_i(t, tall, wide, G: tl.constexpr):
    return tl.swizzle2d(t // wide, t % wide, tall, wide, G)


@triton.jit
def mm(a, b, c, m, n, k, sa, sb, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    y, x = _where_am_i(tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN), G)
    rows = y * BM + tl.arange(0, BM)
    cols = x * BN + tl.arange(0, BN)
    d = tl.arange(0, BK)
    pa = a + (rows % m)[:, None] * sa[0] + d[None, :] * sa[1]
    pb = b + d[:, None] * sb[0] + (cols % n)[None, :] * sb[1]
    acc = tl.zeros((BM, BN), tl.float32)
    whole = k // BK
    for _ in range(whole):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, input_precision="ieee")
        pa += BK * sa[1]
        pb += BK * sb[0]
    if k % BK != 0:
        tail = d < k % BK
        ta = tl.load(pa, mask=tail[None, :], other=0)
        tb = tl.load(pb, mask=tail[:, None], other=0)
        acc = tl.dot(ta, tb, acc, input_precision="ieee")
    tl.store(c + rows[:, None] * n + cols[None, :], acc.to(c.dtype.element_ty),
             mask=(rows[:, None] < m) & (cols[None, :] < n))


def grouped_matmul(a, b):
    m, k = a.size()
    _, n = b.size()
    c = torch.zeros([m, n], dtype=a.dtype, device=a.device)
    if c.numel() == 0 or k == 0:
        return c
    cfg = {"BM": 32, "BN": 128, "BK": 32, "G": 4, "num_warps": 8}
    mm[lambda o: (triton.cdiv(m * n, o["BM"] * o["BN"]),)](
        a, b, c, m, n, k, a.stride(), b.stride(), **cfg
    )
    return c
