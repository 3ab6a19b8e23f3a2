"""Persistent, two walks over the keys; the launcher works out a table of where heads begin."""

import math

import torch
import triton
import triton.language as tl



@triton.jit
def scores_of(q, k_base, cols, rows, n, strides, factor, D: tl.constexpr, CAUSAL: tl.constexpr):
    """Scaled scores in units of log2, -inf where a query does not see the key."""
    feature = tl.arange(0, D)
    safe = tl.minimum(cols, n - 1)
    k_t = tl.load(k_base + feature[:, None] * strides[1] + safe[None, :] * strides[0])
    s = tl.dot(q, k_t, input_precision="ieee") * factor
    seen = tl.broadcast_to((cols < n)[None, :], s.shape)
    if CAUSAL:
        seen = seen & (rows[:, None] >= cols[None, :])
    return tl.where(seen, s, float("-inf"))


@triton.jit
def two_walks(q, k, v, out, bases, tasks, blocks, m, n, factor, qs, ks, vs,
              D: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    feature = tl.arange(0, D)
    for task in range(tl.program_id(0), tasks, tl.num_programs(0)):
        head = task // blocks
        rows = (task % blocks) * BM + tl.arange(0, BM)
        q_base = q + tl.load(bases + 3 * head)
        k_base = k + tl.load(bases + 3 * head + 1)
        v_base = v + tl.load(bases + 3 * head + 2)
        safe_rows = tl.minimum(rows, m - 1)
        q_tile = tl.load(q_base + safe_rows[:, None] * qs[0] + feature[None, :] * qs[1])

        # first walk: maximum and sum of each query
        peak = tl.full([BM], -float("inf"), tl.float32)
        norm = tl.zeros([BM], tl.float32)
        for first in range(0, n, BN):
            s = scores_of(q_tile, k_base, first + tl.arange(0, BN), rows, n, ks, factor, D, CAUSAL)
            higher = tl.maximum(peak, tl.max(s, 1))
            norm = norm * tl.exp2(peak - higher) + tl.sum(tl.exp2(s - higher[:, None]), 1)
            peak = higher

        # second walk: the weighted sum of the values
        mix = tl.zeros([BM, D], tl.float32)
        for first in range(0, n, BN):
            cols = first + tl.arange(0, BN)
            s = scores_of(q_tile, k_base, cols, rows, n, ks, factor, D, CAUSAL)
            w = tl.exp2(s - peak[:, None])
            v_tile = tl.load(v_base + tl.minimum(cols, n - 1)[:, None] * vs[0] + feature[None, :] * vs[1])
            mix = tl.dot(w.to(v_tile.dtype), v_tile, mix, input_precision="ieee")
        mix = mix / norm[:, None]
        to = out + (head.to(tl.int64) * m + rows)[:, None] * D + feature[None, :]
        tl.store(to, mix.to(out.dtype.element_ty), mask=(rows < m)[:, None])


def head_offsets(tensor):
    """Distance of each head's first element from the tensor's first one."""
    lead = tensor.shape[:-2]
    offsets = torch.zeros(1, dtype=torch.int64)
    for size, stride in zip(lead, tensor.stride()[:-2]):
        offsets = (offsets[:, None] + torch.arange(size) * stride).reshape(-1)
    return offsets


def attention(q, k, v, causal):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    out = torch.zeros(q.shape, dtype=q.dtype, device=q.device)
    if q.numel() == 0 or n == 0:
        return out
    bases = torch.stack([head_offsets(t) for t in (q, k, v)], dim=1).contiguous().to(q.device)
    bm, bn = 32, 64 if d <= 64 else 32
    blocks = triton.cdiv(m, bm)
    tasks = blocks * bases.shape[0]
    factor = math.log2(math.e) / math.sqrt(d)
    two_walks[(min(tasks, 264),)](q, k, v, out, bases, tasks, blocks, m, n, factor,
                                  q.stride()[-2:], k.stride()[-2:], v.stride()[-2:],
                                  D=d, CAUSAL=bool(causal), BM=bm, BN=bn)
    return out
