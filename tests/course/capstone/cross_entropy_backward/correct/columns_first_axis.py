"""A tile with the columns along its first axis."""

import torch
import triton
import triton.language as tl


@triton.jit
def turned(x_ptr, t_ptr, g_ptr, o_ptr, M, N, sm, sn, sg, BN: tl.constexpr, BM: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)[None, :]
    c = tl.arange(0, BN)[:, None].to(tl.int64)
    inside = (r < M) & (c < N)
    t = tl.load(t_ptr + r, mask=r < M, other=-100)
    x = tl.load(x_ptr + c * sn + r * sm, mask=inside, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)[None, :]
    e = tl.exp(x - tl.where(top == -float("inf"), 0.0, top))
    p = e / tl.sum(e, axis=0)[None, :]
    g = tl.load(g_ptr + r * sg, mask=t >= 0, other=0.0)
    d = tl.where(t >= 0, (p - (c == t).to(tl.float32)) * g, 0.0)
    tl.store(o_ptr + r * N + c, d, mask=inside)


def cross_entropy_backward(logits, targets, dloss):
    m, n = logits.shape
    out = torch.empty((m, n), dtype=logits.dtype, device=logits.device)
    turned[(triton.cdiv(m, 2),)](
        logits, targets, dloss, out, m, n, *logits.stride(), dloss.stride(0), BN=triton.next_power_of_2(max(n, 1)), BM=2
    )
    return out
