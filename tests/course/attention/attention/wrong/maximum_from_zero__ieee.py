"""The maximum of nothing is taken to be 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_fwd(
    Q, K, V, Out,
    stride_qz, stride_qm, stride_qd,
    stride_kz, stride_kn, stride_kd,
    stride_vz, stride_vn, stride_vd,
    M_CTX, N_CTX, qk_scale,
    HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(1)
    off_z = tl.program_id(0).to(tl.int64)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM).to(tl.int64)
    Q += off_z * stride_qz
    K += off_z * stride_kz
    V += off_z * stride_vz
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    q = tl.load(Q + offs_m.to(tl.int64)[:, None] * stride_qm + offs_d[None, :] * stride_qd,
                mask=offs_m[:, None] < M_CTX, other=0.0)
    hi = N_CTX
    if CAUSAL:
        hi = tl.minimum(N_CTX, (start_m + 1) * BLOCK_M)
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        n64 = offs_n.to(tl.int64)
        # -- compute qk ----
        k = tl.load(K + n64[None, :] * stride_kn + offs_d[:, None] * stride_kd,
                    mask=offs_n[None, :] < N_CTX, other=0.0)
        qk = tl.dot(q, k, input_precision="ieee") * qk_scale
        qk = tl.where(offs_n[None, :] < N_CTX, qk, float("-inf"))
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= offs_n[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp2(qk - m_ij[:, None])
        alpha = tl.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        # -- update acc --
        v = tl.load(V + n64[:, None] * stride_vn + offs_d[None, :] * stride_vd,
                    mask=offs_n[:, None] < N_CTX, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m_i = m_ij
    # epilogue
    acc = acc / l_i[:, None]
    o_ptrs = Out + (off_z * M_CTX + offs_m[:, None]) * HEAD_DIM + offs_d[None, :]
    tl.store(o_ptrs, acc.to(Out.type.element_ty), mask=offs_m[:, None] < M_CTX)


def attention(q, k, v, causal):
    shape = q.shape
    HEAD_DIM = shape[-1]
    M_CTX, N_CTX = q.shape[-2], k.shape[-2]
    o = torch.empty(shape, dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    if N_CTX == 0:
        return o.zero_()
    Z = o.numel() // (M_CTX * HEAD_DIM)
    q, k, v = q.reshape(Z, M_CTX, HEAD_DIM), k.reshape(Z, N_CTX, HEAD_DIM), v.reshape(Z, N_CTX, HEAD_DIM)
    BLOCK_M, BLOCK_N = (32, 32) if HEAD_DIM <= 128 else (16, 16)
    grid = (Z, triton.cdiv(M_CTX, BLOCK_M))
    _attn_fwd[grid](
        q, k, v, o, *q.stride(), *k.stride(), *v.stride(), M_CTX, N_CTX,
        HEAD_DIM ** -0.5 * 1.44269504089,  # 1/log(2), for exp2
        HEAD_DIM=HEAD_DIM, CAUSAL=causal, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=4,
    )
    return o
