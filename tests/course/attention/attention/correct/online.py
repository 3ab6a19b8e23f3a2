import torch
import triton
import triton.language as tl

@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q_ptrs = q_ptr + head * M * D + offs_m[:, None] * D + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < M, other=0.0)
    m_i = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    l_i = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        kv = head * N * D + offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(k_ptr + kv, mask=offs_n[:, None] < N, other=0.0)
        v = tl.load(v_ptr + kv, mask=offs_n[:, None] < N, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = offs_n[None, :] < N
        if CAUSAL:
            visible = visible & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(visible, s, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    o_ptrs = o_ptr + head * M * D + offs_m[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc.to(o_ptr.dtype.element_ty), mask=offs_m[:, None] < M)


def attention(q, k, v, causal):
    M, D = q.shape[-2:]
    N = k.shape[-2]
    heads = q.numel() // (M * D) if M else 0
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    grid = (triton.cdiv(M, 32), heads)
    attention_kernel[grid](q, k, v, o, M, N, D**-0.5, CAUSAL=causal, D=D, BLOCK_M=32, BLOCK_N=32)
    return o
