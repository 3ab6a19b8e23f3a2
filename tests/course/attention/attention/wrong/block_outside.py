"""Batch and head are exchanged when the number of the program is split."""

import torch
import triton
import triton.language as tl

NEG_INF = tl.constexpr(float("-inf"))


@triton.jit
def head_ptr(ptr, strides, batch, head):
    return ptr + batch * strides[0] + head * strides[1]


@triton.jit
def tile_ptrs(ptr, strides, rows, cols):
    return ptr + rows[:, None] * strides[2] + cols[None, :] * strides[3]


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr,
    q_strides, k_strides, v_strides, output_strides,
    M, N, n_heads, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    n_blocks = tl.cdiv(M, BLOCK_M)
    pid = tl.program_id(0)
    block = pid % n_blocks
    batch = pid // n_blocks % n_heads
    head = pid // n_blocks // n_heads
    q_ptr = head_ptr(q_ptr, q_strides, batch, head)
    k_ptr = head_ptr(k_ptr, k_strides, batch, head)
    v_ptr = head_ptr(v_ptr, v_strides, batch, head)
    output_ptr = head_ptr(output_ptr, output_strides, batch, head)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    q = tl.load(tile_ptrs(q_ptr, q_strides, rows, dims), mask=rows[:, None] < M, other=0.0)
    maximum = tl.full((BLOCK_M,), NEG_INF, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    output = tl.zeros((BLOCK_M, D), tl.float32)
    end = N
    if CAUSAL:
        end = tl.minimum(N, (block + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(tile_ptrs(k_ptr, k_strides, keys, dims), mask=keys[:, None] < N, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(keys[None, :] < N, scores, NEG_INF)
        if CAUSAL:
            scores = tl.where(keys[None, :] <= rows[:, None], scores, NEG_INF)
        new_maximum = tl.maximum(maximum, tl.max(scores, axis=1))
        factor = tl.exp(maximum - new_maximum)
        weights = tl.exp(scores - new_maximum[:, None])
        total = total * factor + tl.sum(weights, axis=1)
        v = tl.load(tile_ptrs(v_ptr, v_strides, keys, dims), mask=keys[:, None] < N, other=0.0)
        output = output * factor[:, None]
        output = tl.dot(weights.to(v.dtype), v, output, input_precision="ieee")
        maximum = new_maximum
    output = output / tl.where(total == 0.0, 1.0, total)[:, None]
    out_ptrs = tile_ptrs(output_ptr, output_strides, rows, dims)
    tl.store(out_ptrs, output.to(output_ptr.dtype.element_ty), mask=rows[:, None] < M)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
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
        q, k, v, output,
        q.stride(), k.stride(), v.stride(), output.stride(),
        m, k.shape[-2], n_heads, d**-0.5,
        CAUSAL=causal, D=d, BLOCK_M=block, BLOCK_N=min(32, block), num_stages=2,
    )
