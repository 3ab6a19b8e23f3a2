import torch
import triton
import triton.language as tl


@triton.jit
def partial(a, b, w, m, n, k, am, ak, bk, bn, each, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn, ps = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rm = (pm * BM + tl.arange(0, BM)) % m
    rn = (pn * BN + tl.arange(0, BN)) % n
    acc = tl.zeros((BM, BN), tl.float32)
    for t in range(0, each):
        rk = (ps * each + t) * BK + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * am + rk[None, :] * ak, mask=rk[None, :] < k, other=0.0)
        y = tl.load(b + rk[:, None] * bk + rn[None, :] * bn, mask=rk[:, None] < k, other=0.0)
        acc += tl.dot(x, y, input_precision="ieee")
    om, on = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    where = w + ps * m * n + om[:, None] * n + on[None, :]
    tl.store(where, acc, (om[:, None] < m) & (on[None, :] < n))


@triton.jit
def halve(w, n_elements, half, count, B: tl.constexpr):
    """Plane i gets plane i + half, where there is one."""
    i, o = tl.program_id(1), tl.program_id(0) * B + tl.arange(0, B)
    ok = (o < n_elements) & (i + half < count)
    upper = tl.load(w + (i + half) * n_elements + o, mask=ok, other=0.0)
    lower = tl.load(w + i * n_elements + o, mask=ok, other=0.0)
    tl.store(w + i * n_elements + o, lower + upper, mask=ok)


@triton.jit
def finish(w, c, n_elements, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(w + o, mask=o < n_elements, other=0.0)
    tl.store(c + o, v.to(c.dtype.element_ty), mask=o < n_elements)


def split_k_matmul(a, b, splits):
    """The planes of scratch memory are added in pairs, a launch for each round."""
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m == 0 or n == 0:
        return c
    w = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    each = triton.cdiv(triton.cdiv(k, 32), splits)
    partial[(triton.cdiv(m, 32), triton.cdiv(n, 32), splits)](
        a, b, w, m, n, k, *a.stride(), *b.stride(), each, BM=32, BN=32, BK=32
    )
    blocks, count = triton.cdiv(m * n, 512), splits
    while count > 1:
        half = (count + 1) // 2
        halve[(blocks, count - half)](w, m * n, half, count, B=512)
        count = half
    finish[(blocks,)](w, c, m * n, B=512)
    return c
