"""Parts of a row by different programs, which a second kernel merges."""

import torch
import triton
import triton.language as tl


@triton.jit
def parts(x_ptr, m_ptr, s_ptr, N, sr, sc, n_parts, BLOCK: tl.constexpr):
    i, p = tl.program_id(0).to(tl.int64), tl.program_id(1)
    j = p.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * sr + j * sc, mask=j < N, other=-float("inf")).to(tl.float32)
    m = tl.max(x, 0)
    s = tl.sum(tl.exp(x - tl.where(m == -float("inf"), 0.0, m)), 0)
    tl.store(m_ptr + i * n_parts + p, m)
    tl.store(s_ptr + i * n_parts + p, s)


@triton.jit
def merge(x_ptr, t_ptr, m_ptr, s_ptr, out_ptr, sr, sc, n_parts, PARTS: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, PARTS)
    m = tl.load(m_ptr + i * n_parts + k, mask=k < n_parts, other=-float("inf"))
    s = tl.load(s_ptr + i * n_parts + k, mask=k < n_parts, other=0.0)
    top = tl.max(m, 0)
    total = tl.sum(s * tl.exp(m - top), 0)
    t = tl.load(t_ptr + i)
    mine = tl.load(x_ptr + i * sr + t * sc, mask=t >= 0, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, tl.where(t >= 0, top + tl.log(total) - mine, 0.0))


def cross_entropy(logits, targets):
    rows, cols = logits.shape
    n_parts = max(1, triton.cdiv(cols, 512))
    m = torch.empty((rows, n_parts), dtype=torch.float32, device=logits.device)
    s = torch.empty_like(m)
    out = torch.empty(rows, dtype=torch.float32, device=logits.device)
    parts[(rows, n_parts)](logits, m, s, cols, *logits.stride(), n_parts, BLOCK=512)
    merge[(rows,)](logits, targets, m, s, out, *logits.stride(), n_parts, PARTS=triton.next_power_of_2(n_parts))
    return out
