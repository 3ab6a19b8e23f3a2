"""Raw scores; the scale, times log2(e), comes within exp2; causal programs stop early."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, M, N, sm_scale, CAUSAL: tl.constexpr, D: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr):
    tile, head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows = tile * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q_at = head * M * D + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + q_at, mask=rows[:, None] < M, other=0.0)
    qk_scale = sm_scale * LOG2E
    top = tl.full([BM], -float("inf"), dtype=tl.float32)
    norm = tl.zeros([BM], dtype=tl.float32)
    out = tl.zeros([BM, D], dtype=tl.float32)
    end = tl.minimum(N, (tile + 1) * BM) if CAUSAL else N
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        inside = cols < N
        k = tl.load(k_ptr + head * N * D + cols[None, :] * D + dims[:, None], mask=inside[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee")
        if CAUSAL:
            inside = inside[None, :] & (cols[None, :] <= rows[:, None])
        else:
            inside = inside[None, :] & (rows[:, None] >= 0)
        s = tl.where(inside, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s * qk_scale - (new * qk_scale)[:, None])
        fade = tl.exp2((top - new) * qk_scale)
        norm = norm * fade + tl.sum(p, 1)
        v = tl.load(v_ptr + head * N * D + cols[:, None] * D + dims[None, :], mask=(cols < N)[:, None], other=0.0)
        out = tl.dot(p.to(v.dtype), v, out * fade[:, None], input_precision="ieee")
        top = new
    tl.store(o_ptr + q_at, (out / norm[:, None]).to(o_ptr.dtype.element_ty), mask=rows[:, None] < M)
    tl.store(lse_ptr + head * M + rows, (top * qk_scale + tl.log2(norm)) * LN2, mask=rows < M)


def attention_lse(q, k, v, causal=False):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    M, D = q.shape[-2:]
    N = k.shape[-2]
    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    kernel[(triton.cdiv(M, 16), heads)](q, k, v, o, lse, M, N, D**-0.5, CAUSAL=causal, D=D, BM=16, BN=32)
    return o, lse
