"""The heads of the log-sum-exp lie whole blocks apart."""

import torch
import triton
import triton.language as tl


HIDDEN = tl.constexpr(float("-inf"))


@triton.jit
def ptr_of_head(ptr, strides, batch, head):
    return ptr + batch * strides[0] + head * strides[1]


@triton.jit
def ptrs_of_tile(ptr, strides, rows, cols):
    return ptr + rows[:, None] * strides[2] + cols[None, :] * strides[3]


@triton.jit
def attention_lse_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr, lse_ptr,
    q_strides, k_strides, v_strides, output_strides,
    M, N, n_heads, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    n_blocks = tl.cdiv(M, BLOCK_M)
    start_m = pid % n_blocks * BLOCK_M
    head = (pid // n_blocks % n_heads).to(tl.int64)
    batch = (pid // n_blocks // n_heads).to(tl.int64)
    q_ptr = ptr_of_head(q_ptr, q_strides, batch, head)
    k_ptr = ptr_of_head(k_ptr, k_strides, batch, head)
    v_ptr = ptr_of_head(v_ptr, v_strides, batch, head)
    output_ptr = ptr_of_head(output_ptr, output_strides, batch, head)
    offs_m = start_m.to(tl.int64) + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D).to(tl.int64)
    q = tl.load(ptrs_of_tile(q_ptr, q_strides, offs_m, offs_d), mask=offs_m[:, None] < M, other=0.0)
    maximum = tl.full((BLOCK_M,), HIDDEN, dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    output = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    end = N
    if CAUSAL:
        end = tl.minimum(N, start_m + BLOCK_M)
    for start_n in range(0, end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N).to(tl.int64)
        exists = offs_n[:, None] < N
        k = tl.load(ptrs_of_tile(k_ptr, k_strides, offs_n, offs_d), mask=exists, other=0.0)
        v = tl.load(ptrs_of_tile(v_ptr, v_strides, offs_n, offs_d), mask=exists, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = offs_n[None, :] < N
        if CAUSAL:
            visible = visible & (offs_n[None, :] <= offs_m[:, None])
        scores = tl.where(visible, scores, HIDDEN)
        new_maximum = tl.maximum(maximum, tl.max(scores, axis=1))
        rescale = tl.exp(maximum - new_maximum)
        weights = tl.exp(scores - new_maximum[:, None])
        total = total * rescale + tl.sum(weights, axis=1)
        output = output * rescale[:, None]
        output = tl.dot(weights.to(v.dtype), v, output, input_precision="ieee")
        maximum = new_maximum
    output = output / total[:, None]
    output_ptrs = ptrs_of_tile(output_ptr, output_strides, offs_m, offs_d)
    tl.store(output_ptrs, output.to(output_ptr.dtype.element_ty), mask=offs_m[:, None] < M)
    lse_ptrs = lse_ptr + pid // n_blocks * n_blocks * BLOCK_M + offs_m
    tl.store(lse_ptrs, maximum + tl.log(total), mask=offs_m < M)


def attention_lse(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    launch_attention_lse(q, k, v, output, lse, causal)
    return output, lse


def launch_attention_lse(q, k, v, output, lse, causal) -> None:
    if q.ndim > 4:
        for i in range(q.shape[0]):
            launch_attention_lse(q[i], k[i], v[i], output[i], lse[i], causal)
        return
    if q.ndim < 4:
        launch_attention_lse(q[None], k[None], v[None], output[None], lse[None], causal)
        return
    batches, n_heads, m, d = q.shape
    block = min(64, max(16, 16384 // (d * q.element_size())))
    grid = (batches * n_heads * triton.cdiv(m, block),)
    attention_lse_kernel[grid](
        q, k, v, output, lse,
        q.stride(), k.stride(), v.stride(), output.stride(),
        m, k.shape[-2], n_heads, d**-0.5,
        CAUSAL=causal, D=d, BLOCK_M=block, BLOCK_N=min(32, block), num_stages=2,
    )
