"""One query per program, without tl.dot; the log-sum-exp is a scalar."""

import torch
import triton
import triton.language as tl

@triton.jit
def one_query(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + i) * D + d).to(tl.float32) * scale
    limit = i + 1 if CAUSAL else N
    top = -float("inf")
    total = 0.0
    result = tl.zeros((D,), dtype=tl.float32)
    for start in range(0, limit, BLOCK):
        n = start + tl.arange(0, BLOCK)
        at = (head * N + n)[:, None] * D + d[None, :]
        k = tl.load(k_ptr + at, mask=n[:, None] < limit, other=0.0).to(tl.float32)
        s = tl.where(n < limit, tl.sum(k * q[None, :], axis=1), -float("inf"))
        new_top = tl.maximum(top, tl.max(s, axis=0))
        shrink = tl.exp(top - new_top)
        p = tl.exp(s - new_top)
        v = tl.load(v_ptr + at, mask=n[:, None] < limit, other=0.0).to(tl.float32)
        total = total * shrink + tl.sum(p, axis=0)
        result = result * shrink + tl.sum(p[:, None] * v, axis=0)
        top = new_top
    tl.store(o_ptr + (head * M + i) * D + d, (result / total).to(o_ptr.dtype.element_ty))
    tl.store(lse_ptr + head * M + i, top + tl.log(total))


def attention_lse(q, k, v, causal):
    *lead, M, D = q.shape
    N = k.shape[-2]
    heads = 1
    for size in lead:
        heads = heads * size
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.zeros((*lead, M), dtype=torch.float32, device=q.device)
    one_query[(M, heads)](q.contiguous(), k.contiguous(), v.contiguous(), o, lse, M, N, 1.0 / D**0.5, CAUSAL=causal, D=D, BLOCK=32)
    return o, lse
