"""Scores in memory, softmax in place of a second buffer, then the product: slow but right."""

import torch
import triton
import triton.language as tl

@triton.jit
def score_kernel(q_ptr, k_ptr, s_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(2)
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + m[:, None]) * D + d[None, :], mask=m[:, None] < M, other=0.0)
    k = tl.load(k_ptr + (head * N + n[None, :]) * D + d[:, None], mask=n[None, :] < N, other=0.0)
    s = tl.dot(q, k, input_precision="ieee") * scale
    if CAUSAL:
        s = tl.where(n[None, :] <= m[:, None], s, -float("inf"))
    tl.store(s_ptr + (head * M + m[:, None]) * N + n[None, :], s, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def weight_kernel(s_ptr, p_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + row * N + n, mask=n < N, other=-float("inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(p_ptr + row * N + n, e / tl.sum(e, axis=0), mask=n < N)


@triton.jit
def value_kernel(p_ptr, v_ptr, o_ptr, M, N, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    m = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    acc = tl.zeros((B, D), dtype=tl.float32)
    for start in range(0, N, B):
        n = start + tl.arange(0, B)
        p = tl.load(p_ptr + (head * M + m[:, None]) * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
        v = tl.load(v_ptr + (head * N + n[:, None]) * D + d[None, :], mask=n[:, None] < N, other=0.0)
        acc += tl.dot(p, v.to(tl.float32), input_precision="ieee")
    tl.store(o_ptr + (head * M + m[:, None]) * D + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=m[:, None] < M)


def attention(q, k, v, causal):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    M, D = q.shape[-2:]
    N = k.shape[-2]
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    scores = torch.empty((heads, M, N), dtype=torch.float32, device=q.device)
    weights = torch.empty((heads, M, N), dtype=torch.float32, device=q.device)
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    score_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16), heads)](q, k, scores, M, N, D**-0.5, CAUSAL=causal, D=D, B=16)
    weight_kernel[(heads * M,)](scores, weights, N, BLOCK=triton.next_power_of_2(N))
    value_kernel[(triton.cdiv(M, 16), heads)](weights, v, o, M, N, D=D, B=16)
    return o
