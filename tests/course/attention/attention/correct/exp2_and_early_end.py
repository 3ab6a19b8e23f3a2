"""exp2 with the scale folded in; a causal program stops at its last visible key."""

import torch
import triton
import triton.language as tl

LOG2_E = 1.4426950408889634


@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, M, N, sq, sk, so, log2_scale, CAUSAL: tl.constexpr, D: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    rows = tile * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + head * sq + rows[:, None] * D + dims[None, :], mask=rows[:, None] < M, other=0.0)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    out = tl.zeros((BM, D), dtype=tl.float32)
    end = N
    if CAUSAL:
        end = tl.minimum(N, (tile + 1) * BM)
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        inside = cols < N
        k = tl.load(k_ptr + head * sk + cols[None, :] * D + dims[:, None], mask=inside[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * log2_scale
        s = tl.where(inside[None, :], s, -float("inf"))
        if CAUSAL:
            s = tl.where(cols[None, :] <= rows[:, None], s, -float("inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        weight = tl.exp2(s - new_top[:, None])
        fade = tl.exp2(top - new_top)
        norm = norm * fade + tl.sum(weight, 1)
        v = tl.load(v_ptr + head * sk + cols[:, None] * D + dims[None, :], mask=inside[:, None], other=0.0)
        out = tl.dot(weight.to(v.dtype), v, out * fade[:, None], input_precision="ieee")
        top = new_top
    out = out / norm[:, None]
    tl.store(o_ptr + head * so + rows[:, None] * D + dims[None, :], out.to(o_ptr.dtype.element_ty), mask=rows[:, None] < M)


def attention(q, k, v, causal):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    M, D = q.shape[-2:]
    N = k.shape[-2]
    o = torch.empty_like(q)
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    kernel[(triton.cdiv(M, 16), heads)](
        q, k, v, o, M, N, M * D, N * D, M * D, D**-0.5 * LOG2_E, CAUSAL=causal, D=D, BM=16, BN=32
    )
    return o
