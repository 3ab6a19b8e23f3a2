"""First the log-sum-exp of every query; a second kernel recomputes the weights as exp(score - lse)."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_scores(q, k_ptr, rows, cols, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr):
    d = tl.arange(0, D)
    kt = tl.load(k_ptr + cols[None, :] * D + d[:, None], mask=(cols < N)[None, :], other=0.0)
    s = tl.dot(q, kt, input_precision="ieee") * scale
    gone = cols[None, :] >= N
    if CAUSAL:
        gone = gone | (cols[None, :] > rows[:, None])
    return tl.where(gone, -float("inf"), s)


@triton.jit
def lse_kernel(q_ptr, k_ptr, lse_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + rows)[:, None] * D + d[None, :], mask=(rows < M)[:, None], other=0.0)
    top = tl.full((B,), -float("inf"), dtype=tl.float32)
    for start in range(0, N, B):
        s = masked_scores(q, k_ptr + head * N * D, rows, start + tl.arange(0, B), N, scale, CAUSAL, D)
        top = tl.maximum(top, tl.max(s, axis=1))
    total = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, N, B):
        s = masked_scores(q, k_ptr + head * N * D, rows, start + tl.arange(0, B), N, scale, CAUSAL, D)
        total += tl.sum(tl.exp(s - top[:, None]), axis=1)
    tl.store(lse_ptr + head * M + rows, tl.log(total) + top, mask=rows < M)


@triton.jit
def output_kernel(q_ptr, k_ptr, v_ptr, lse_ptr, o_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + rows)[:, None] * D + d[None, :], mask=(rows < M)[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * M + rows, mask=rows < M, other=0.0)
    out = tl.zeros((B, D), dtype=tl.float32)
    for start in range(0, N, B):
        cols = start + tl.arange(0, B)
        s = masked_scores(q, k_ptr + head * N * D, rows, cols, N, scale, CAUSAL, D)
        v = tl.load(v_ptr + (head * N + cols)[:, None] * D + d[None, :], mask=(cols < N)[:, None], other=0.0)
        out += tl.dot(tl.exp(s - lse[:, None]).to(v.dtype), v, input_precision="ieee")
    tl.store(o_ptr + (head * M + rows)[:, None] * D + d[None, :], out.to(o_ptr.dtype.element_ty), mask=(rows < M)[:, None])


def attention_lse(q, k, v, causal):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    M, D = q.shape[-2], q.shape[-1]
    N = k.shape[-2]
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out, lse
    grid = (triton.cdiv(M, 16), lse.numel() // M)
    lse_kernel[grid](q, k, lse, M, N, D**-0.5, CAUSAL=causal, D=D, B=16)
    output_kernel[grid](q, k, v, lse, out, M, N, D**-0.5, CAUSAL=causal, D=D, B=16)
    return out, lse
