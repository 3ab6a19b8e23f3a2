"""The keys in four parts, each with its own log-sum-exp; a second kernel merges outputs and logs."""

import torch
import triton
import triton.language as tl

PARTS = tl.constexpr(4)


@triton.jit
def part_kernel(q_ptr, k_ptr, v_ptr, part_ptr, part_lse_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
                BM: tl.constexpr, BN: tl.constexpr):
    part, head = tl.program_id(1), tl.program_id(2)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    first = part * tl.cdiv(N, PARTS)
    last = tl.minimum(N, first + tl.cdiv(N, PARTS))
    q = tl.load(q_ptr + (head * M + rows)[:, None] * D + dims[None, :], mask=(rows < M)[:, None], other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(first, last, BN):
        cols = start + tl.arange(0, BN)
        inside = cols < last
        k = tl.load(k_ptr + (head * N + cols)[None, :] * D + dims[:, None], mask=inside[None, :], other=0.0)
        v = tl.load(v_ptr + (head * N + cols)[:, None] * D + dims[None, :], mask=inside[:, None], other=0.0)
        seen = inside[None, :]
        if CAUSAL:
            seen &= cols[None, :] <= rows[:, None]
        s = tl.where(seen, tl.dot(q, k, input_precision="ieee") * scale, float("-inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        base = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - base[:, None])
        fade = tl.exp(top - base)
        norm = norm * fade + tl.sum(p, axis=1)
        out = tl.dot(p, v.to(tl.float32), out * fade[:, None], input_precision="ieee")
        top = new
    nothing = norm == 0.0
    safe = tl.where(nothing, 1.0, norm)
    place = (head * PARTS + part) * M + rows
    tl.store(part_lse_ptr + place, tl.where(nothing, float("-inf"), top + tl.log(safe)), mask=rows < M)
    tl.store(part_ptr + place[:, None] * D + dims[None, :], out / safe[:, None], mask=(rows < M)[:, None])


@triton.jit
def merge_kernel(part_ptr, part_lse_ptr, o_ptr, lse_ptr, M, D: tl.constexpr):
    row, head = tl.program_id(0), tl.program_id(1)
    place = (head * PARTS + tl.arange(0, PARTS)) * M + row
    part_lse = tl.load(part_lse_ptr + place)
    highest = tl.max(part_lse, axis=0)
    share = tl.exp(part_lse - highest)
    total = tl.sum(share, axis=0)
    dims = tl.arange(0, D)
    parts = tl.load(part_ptr + place[:, None] * D + dims[None, :])
    o = tl.sum(parts * (share / total)[:, None], axis=0)
    tl.store(o_ptr + (head * M + row) * D + dims, o.to(o_ptr.dtype.element_ty))
    tl.store(lse_ptr + head * M + row, highest + tl.log(total))


def attention_lse(q, k, v, causal):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    m, d = q.shape[-2:]
    n = k.shape[-2]
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    parts = torch.empty((heads, 4, m, d), dtype=torch.float32, device=q.device)
    part_lse = torch.empty((heads, 4, m), dtype=torch.float32, device=q.device)
    o = torch.empty_like(q)
    lse = q.new_empty(q.shape[:-1], dtype=torch.float32)
    part_kernel[(triton.cdiv(m, 16), 4, heads)](q, k, v, parts, part_lse, m, n, d**-0.5, CAUSAL=causal, D=d, BM=16, BN=16)
    merge_kernel[(m, heads)](parts, part_lse, o, lse, m, D=d)
    return o, lse
