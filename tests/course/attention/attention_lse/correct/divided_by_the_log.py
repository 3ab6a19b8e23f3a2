"""No running sum of the output: the log of the sum comes first, then weights that are complete.

Two loops in one kernel, the log is kept for both, and the float32 output is converted by torch.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    per_head = (M + BM - 1) // BM
    head = pid // per_head
    rows = (pid - head * per_head) * BM + tl.arange(0, BM)
    real = rows < M
    cols = tl.arange(0, BN)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + rows)[:, None] * D + dims[None, :], mask=real[:, None], other=0.0).to(tl.float32)
    top = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for start in range(0, N, BN):
        n = start + cols
        k = tl.load(k_ptr + (head * N + n)[:, None] * D + dims[None, :], mask=(n < N)[:, None], other=0.0).to(tl.float32)
        seen = (n < N)[None, :] & ((n[None, :] <= rows[:, None]) | (not CAUSAL))
        s = tl.where(seen, tl.dot(q, k.T, input_precision="ieee") * scale, -1e30)
        higher = tl.maximum(top, tl.max(s, axis=1))
        total = total * tl.exp(top - higher) + tl.sum(tl.where(seen, tl.exp(s - higher[:, None]), 0.0), axis=1)
        top = higher
    lse = top + tl.log(total)
    tl.store(lse_ptr + head * M + rows, lse, mask=real)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        n = start + cols
        k = tl.load(k_ptr + (head * N + n)[:, None] * D + dims[None, :], mask=(n < N)[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + (head * N + n)[:, None] * D + dims[None, :], mask=(n < N)[:, None], other=0.0).to(tl.float32)
        seen = (n < N)[None, :] & ((n[None, :] <= rows[:, None]) | (not CAUSAL))
        s = tl.dot(q, k.T, input_precision="ieee") * scale
        out += tl.dot(tl.where(seen, tl.exp(s - lse[:, None]), 0.0), v, input_precision="ieee")
    tl.store(o_ptr + (head * M + rows)[:, None] * D + dims[None, :], out, mask=real[:, None])


def attention_lse(q, k, v, causal):
    M, D = q.shape[-2:]
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    kernel[(heads * triton.cdiv(M, 16),)](q.contiguous(), k.contiguous(), v.contiguous(), o, lse, M, k.shape[-2], D**-0.5,
                                          CAUSAL=causal, D=D, BM=16, BN=32)
    return o.to(q.dtype), lse
