"""Hides the keys behind the whole block of queries."""

import torch
import triton
import triton.language as tl

NEG_INF = tl.constexpr(float("-inf"))  # the score of a key that does not count


@triton.jit
def head_ptr(ptr, strides, batch, head):
    return ptr + batch * strides[0] + head * strides[1]


@triton.jit
def tile_ptrs(ptr, strides, rows, cols):
    return ptr + rows[:, None] * strides[2] + cols[None, :] * strides[3]


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    output_ptr,
    q_strides,
    k_strides,
    v_strides,
    output_strides,
    M,
    N,
    n_heads,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):

    blocks = tl.cdiv(M, BLOCK_M)
    pid = tl.program_id(0)
    block = pid % blocks
    head = pid // blocks % n_heads
    batch = pid // blocks // n_heads
    q_ptr = head_ptr(q_ptr, q_strides, batch, head)
    k_ptr = head_ptr(k_ptr, k_strides, batch, head)
    v_ptr = head_ptr(v_ptr, v_strides, batch, head)
    output_ptr = head_ptr(output_ptr, output_strides, batch, head)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    q = tl.load(tile_ptrs(q_ptr, q_strides, rows, dims), mask=rows[:, None] < M, other=0.0)
    m_i = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    end = N
    if CAUSAL:
        end = min(N, (block + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(tile_ptrs(k_ptr, k_strides, keys, dims), mask=keys[:, None] < N, other=0.0)
        v = tl.load(tile_ptrs(v_ptr, v_strides, keys, dims), mask=keys[:, None] < N, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = keys[None, :] < N
        if CAUSAL:
            seen = seen & (keys[None, :] < (block + 1) * BLOCK_M)
        scores = tl.where(seen, scores, NEG_INF)
        m_new = tl.maximum(m_i, tl.max(scores, axis=1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(scores - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(
        tile_ptrs(output_ptr, output_strides, rows, dims),
        acc.to(output_ptr.dtype.element_ty),
        mask=rows[:, None] < M,
    )


def attention(q, k, v, causal=False):
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    launch_attention(q, k, v, output, causal)
    return output


def launch_attention(q, k, v, output, causal):
    if q.ndim > 4:
        for i in range(q.shape[0]):
            launch_attention(q[i], k[i], v[i], output[i], causal)
        return
    if q.ndim < 4:
        launch_attention(q[None], k[None], v[None], output[None], causal)
        return
    batches, n_heads, m, d = q.shape
    block = min(64, max(16, 16384 // (d * q.element_size())))
    grid = (batches * n_heads * triton.cdiv(m, block),)
    attention_kernel[grid](
        q,
        k,
        v,
        output,
        q.stride(),
        k.stride(),
        v.stride(),
        output.stride(),
        m,
        k.shape[-2],
        n_heads,
        d**-0.5,
        CAUSAL=causal,
        D=d,
        BLOCK_M=block,
        BLOCK_N=min(32, block),
        num_stages=2,
    )
