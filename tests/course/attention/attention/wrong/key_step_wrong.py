"""Moves the pointers to the keys on by BLOCK_N elements."""

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

    pid = tl.program_id(0)
    tiles = (M + BLOCK_M - 1) // BLOCK_M
    bh = pid // tiles
    start_m = (pid % tiles) * BLOCK_M
    off_b = bh // n_heads
    off_h = bh % n_heads
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    offs_n = tl.arange(0, BLOCK_N)
    mask_m = offs_m < M
    Q = tile_ptrs(head_ptr(q_ptr, q_strides, off_b, off_h), q_strides, offs_m, offs_d)
    K = tile_ptrs(head_ptr(k_ptr, k_strides, off_b, off_h), k_strides, offs_n, offs_d)
    V = tile_ptrs(head_ptr(v_ptr, v_strides, off_b, off_h), v_strides, offs_n, offs_d)
    O = tile_ptrs(
        head_ptr(output_ptr, output_strides, off_b, off_h), output_strides, offs_m, offs_d
    )
    q = tl.load(Q, mask=mask_m[:, None], other=0.0)
    l = tl.zeros((BLOCK_M,), tl.float32)
    mx = tl.full((BLOCK_M,), -1e30, tl.float32)
    o = tl.zeros((BLOCK_M, D), tl.float32)
    n = 0
    n_end = N
    if CAUSAL:
        n_end = tl.minimum(start_m + BLOCK_M, N)
    while n < n_end:
        ok = (n + offs_n) < N
        k = tl.load(K, mask=ok[:, None], other=0.0)
        v = tl.load(V, mask=ok[:, None], other=0.0)
        qk = tl.dot(q, k.trans(), input_precision="ieee") * scale
        if CAUSAL:
            qk = tl.where((offs_m[:, None] >= n + offs_n[None, :]) & ok[None, :], qk, -1e30)
        else:
            qk = tl.where(ok[None, :], qk, -1e30)
        nm = tl.maximum(mx, tl.max(qk, 1))
        p = tl.exp(qk - nm[:, None])
        corr = tl.exp(mx - nm)
        l = corr * l + tl.sum(p, 1)
        o = o * corr[:, None]
        o += tl.dot(p.to(v.dtype), v, input_precision="ieee")
        mx = nm
        K += BLOCK_N
        V += BLOCK_N * v_strides[2]
        n += BLOCK_N
    o = o / l[:, None]
    tl.store(O, o.to(output_ptr.dtype.element_ty), mask=mask_m[:, None])


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
