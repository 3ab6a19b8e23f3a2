"""The softmax runs down the columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def scores_kernel(q_ptr, k_ptr, s_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(2)
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, D)
    q = tl.load(q_ptr + head * M * D + offs_m[:, None] * D + offs_d[None, :], mask=offs_m[:, None] < M, other=0.0)
    k = tl.load(k_ptr + head * N * D + offs_n[None, :] * D + offs_d[:, None], mask=offs_n[None, :] < N, other=0.0)
    s = tl.dot(q, k, input_precision="ieee") * scale
    if CAUSAL:
        s = tl.where(offs_m[:, None] >= offs_n[None, :], s, -float("inf"))
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(s_ptr + head * M * N + offs_m[:, None] * N + offs_n[None, :], s, mask=mask)


@triton.jit
def softmax_kernel(s_ptr, M, N, LENGTH: tl.constexpr):
    offs = tl.arange(0, LENGTH)
    pointers = s_ptr + tl.program_id(1) * M * N + tl.program_id(0) + offs * N
    s = tl.load(pointers, mask=offs < M, other=-float("inf"))
    p = tl.exp(s - tl.max(s, axis=0))
    tl.store(pointers, p / tl.sum(p, axis=0), mask=offs < M)


@triton.jit
def values_kernel(s_ptr, v_ptr, o_ptr, M, N, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1)
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_d = tl.arange(0, D)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        offs_n = start + tl.arange(0, BLOCK)
        mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
        p = tl.load(s_ptr + head * M * N + offs_m[:, None] * N + offs_n[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + head * N * D + offs_n[:, None] * D + offs_d[None, :], mask=offs_n[:, None] < N, other=0.0)
        acc = tl.dot(p, v.to(tl.float32), acc, input_precision="ieee")
    o_ptrs = o_ptr + head * M * D + offs_m[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc.to(o_ptr.dtype.element_ty), mask=offs_m[:, None] < M)


def attention(q, k, v, causal):
    M, D = q.shape[-2:]
    N = k.shape[-2]
    heads = q.numel() // (M * D) if M else 0
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    s = torch.empty((heads, M, N), dtype=torch.float32, device=q.device)
    if o.numel():
        tiles = triton.cdiv(M, 32)
        scores_kernel[(tiles, triton.cdiv(N, 32), heads)](q, k, s, M, N, D**-0.5, CAUSAL=causal, D=D, BLOCK=32)
        softmax_kernel[(N, heads)](s, M, N, LENGTH=triton.next_power_of_2(M))
        values_kernel[(tiles, heads)](s, v, o, M, N, D=D, BLOCK=32)
    return o
