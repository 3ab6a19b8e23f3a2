"""Two walks through the keys (first the maxima, then sums without any rescaling), one launch for
each leading index with the heads on one axis.
"""

import itertools

import torch
import triton
import triton.language as tl


@triton.jit
def scores_of(q, k_ptr, keys, rows, k_row, k_col, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr):
    """The scaled scores of a block of keys, -inf where a key may not be seen."""
    d = tl.arange(0, D)
    k = tl.load(
        k_ptr + keys[:, None].to(tl.int64) * k_row + d[None, :].to(tl.int64) * k_col,
        mask=(keys < N)[:, None], other=0.0,
    )
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    seen = (keys < N)[None, :]
    if CAUSAL:
        seen = seen & (keys[None, :] <= rows[:, None])
    return tl.where(seen, s, float("-inf"))


@triton.jit
def two_walks(
    q_ptr, k_ptr, v_ptr, o_ptr, q_st, k_st, v_st, M, N, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    # The first walk through the keys finds the maxima, the second one sums: nothing is rescaled.
    head = tl.program_id(0).to(tl.int64)
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    d = tl.arange(0, D).to(tl.int64)
    q = tl.load(
        q_ptr + head * q_st[0] + rows[:, None].to(tl.int64) * q_st[1] + d[None, :] * q_st[2],
        mask=(rows < M)[:, None], other=0.0,
    )
    k_ptr += head * k_st[0]
    v_ptr += head * v_st[0]
    end = N
    if CAUSAL:
        end = tl.minimum((tl.program_id(1) + 1) * BM, N)

    highest = tl.full((BM,), float("-inf"), dtype=tl.float32)
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN)
        s = scores_of(q, k_ptr, keys, rows, k_st[1], k_st[2], N, scale, CAUSAL, D)
        highest = tl.maximum(highest, tl.max(s, axis=1))

    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN)
        s = scores_of(q, k_ptr, keys, rows, k_st[1], k_st[2], N, scale, CAUSAL, D)
        weights = tl.exp(s - highest[:, None])
        total += tl.sum(weights, axis=1)
        v = tl.load(
            v_ptr + keys[:, None].to(tl.int64) * v_st[1] + d[None, :] * v_st[2],
            mask=(keys < N)[:, None], other=0.0,
        )
        acc = tl.dot(weights.to(v.dtype), v, acc, input_precision="ieee")
    acc = acc / tl.where(total > 0.0, total, 1.0)[:, None]
    place = (head * M + rows)[:, None] * D + d[None, :]
    tl.store(o_ptr + place, acc.to(o_ptr.dtype.element_ty), mask=(rows < M)[:, None])


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    m, d = q.shape[-2:]
    n = k.shape[-2]
    bm = min(64, max(16, 16384 // (d * q.element_size())))
    bn = min(32, bm)
    for index in itertools.product(*(range(size) for size in q.shape[:-3])):
        qi, ki, vi, oi = q[index], k[index], v[index], o[index]
        if qi.ndim == 2:
            qi, ki, vi, oi = qi[None], ki[None], vi[None], oi[None]
        two_walks[(qi.shape[0], triton.cdiv(m, bm))](
            qi, ki, vi, oi, qi.stride(), ki.stride(), vi.stride(), m, n, d**-0.5,
            CAUSAL=bool(causal), D=d, BM=bm, BN=bn, num_stages=2,
        )
    return o
