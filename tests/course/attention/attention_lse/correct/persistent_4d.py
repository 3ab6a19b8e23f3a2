"""At most seven programs deal out all tiles; strides of all four dimensions, no copies."""

import torch
import triton
import triton.language as tl


@triton.jit
def tiles(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr,
          qb, qh, qm, qd, kb, kh, kn, kd, vb, vh, vn, vd,
          B, H, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    per_head = tl.cdiv(M, BM)
    e = tl.arange(0, D).to(tl.int64)
    for t in range(tl.program_id(0), B * H * per_head, tl.num_programs(0)):
        bh = (t // per_head).to(tl.int64)
        b, h = bh // H, bh % H
        i = (t % per_head).to(tl.int64) * BM + tl.arange(0, BM)
        q = tl.load(q_ptr + b * qb + h * qh + i[:, None] * qm + e[None, :] * qd, mask=i[:, None] < M, other=0.0)
        best = tl.full([BM], float("-inf"), tl.float32)
        denominator = tl.full([BM], 0.0, tl.float32)
        numerator = tl.zeros([BM, D], tl.float32)
        for s0 in range(0, N, BN):
            j = s0 + tl.arange(0, BN).to(tl.int64)
            k = tl.load(k_ptr + b * kb + h * kh + j[:, None] * kn + e[None, :] * kd, mask=j[:, None] < N, other=0.0)
            v = tl.load(v_ptr + b * vb + h * vh + j[:, None] * vn + e[None, :] * vd, mask=j[:, None] < N, other=0.0)
            bias = tl.where(j < N, 0.0, float("-inf"))[None, :]
            if CAUSAL:
                bias = bias + tl.where(i[:, None] >= j[None, :], 0.0, float("-inf"))
            s = tl.dot(q, k.T, input_precision="ieee") * scale + bias
            better = tl.maximum(best, tl.max(s, 1))
            w = tl.exp(s - better[:, None])
            old = tl.exp(best - better)
            denominator = denominator * old + tl.sum(w, 1)
            numerator = numerator * old[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
            best = better
        tl.store(o_ptr + (bh * M + i)[:, None] * D + e[None, :], (numerator / denominator[:, None]).to(o_ptr.dtype.element_ty),
                 mask=i[:, None] < M)
        tl.store(lse_ptr + bh * M + i, tl.log(denominator) + best, mask=i < M)


def attention_lse(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False):
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    while q.dim() < 4:
        q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
    b, h, m, d = q.shape
    programs = max(1, min(7, b * h * triton.cdiv(m, 32)))
    tiles[(programs,)](q, k, v, out, lse, *q.stride(), *k.stride(), *v.stride(), b, h, m, k.shape[2], d**-0.5,
                       CAUSAL=causal, D=d, BM=32, BN=16)
    return [out, lse]
