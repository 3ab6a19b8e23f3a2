"""Model solution of the lesson on attention: softmax(q @ k.T / sqrt(d)) @ v in one kernel.

The matrix of scores is never written to memory: each program keeps a block of queries, loops
over the keys, and rescales its running sums when the maximum grows.
"""

import torch
import triton
import triton.language as tl

# %% attention
NEG_INF = tl.constexpr(float("-inf"))  # the score of a hidden key


@triton.jit
def head_ptr(ptr, strides, batch, head):
    """Return `ptr` moved to one head of a tensor of shape (batches, n_heads, rows, D)."""
    return ptr + batch * strides[0] + head * strides[1]


@triton.jit
def tile_ptrs(ptr, strides, rows, cols):
    """Return the pointers of a tile: `ptr` moved by each of `rows` and each of `cols`."""
    return ptr + rows[:, None] * strides[2] + cols[None, :] * strides[3]


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr,
    q_strides, k_strides, v_strides, output_strides,
    M, N, n_heads, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Compute BLOCK_M rows of the output of one head of one batch.

    q and the output have shape (batches, n_heads, M, D), k and v (batches, n_heads, N, D).
    The strides are tuples of four, counted in elements. With CAUSAL, query i sees the keys
    0 ... i only.
    """
    # 1. Find the program's block of queries, head and batch. Move the four pointers there.
    # 2. Load the queries once. Start with the maximum -inf, the sum 0 and the output 0.
    # 3. Loop over the blocks of keys; with CAUSAL only as far as the last query can see.
    #    a. scores = q @ k.T * scale; -inf where a key does not exist or may not be seen.
    #    b. The new maximum; rescale sum and output by exp(old maximum - new maximum).
    #    c. Add the new weights to the sum, and weights @ v to the output.
    # 4. Divide the output by the sum and store it under a mask.
    ### BEGIN SOLUTION
    n_blocks = tl.cdiv(M, BLOCK_M)
    block = tl.program_id(axis=0) % n_blocks
    # In 64 bits, because an address can be more than 2**31 elements away.
    batch_and_head = (tl.program_id(axis=0) // n_blocks).to(tl.int64)
    batch, head = batch_and_head // n_heads, batch_and_head % n_heads
    q_ptr = head_ptr(q_ptr, q_strides, batch, head)
    k_ptr = head_ptr(k_ptr, k_strides, batch, head)
    v_ptr = head_ptr(v_ptr, v_strides, batch, head)
    output_ptr = head_ptr(output_ptr, output_strides, batch, head)
    offs_m = block.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D).to(tl.int64)
    mask_m = offs_m[:, None] < M
    q = tl.load(tile_ptrs(q_ptr, q_strides, offs_m, offs_d), mask=mask_m, other=0.0)
    row_max = tl.full((BLOCK_M,), NEG_INF, dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    n_visible = tl.minimum(N, (block + 1) * BLOCK_M) if CAUSAL else N
    for start in tl.range(0, n_visible, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_n = offs_n[:, None] < N
        k = tl.load(tile_ptrs(k_ptr, k_strides, offs_n, offs_d), mask=mask_n, other=0.0)
        scores = tl.dot(q, k.T, input_precision="ieee") * scale
        visible = offs_n[None, :] < N
        if CAUSAL:
            visible = visible & (offs_n[None, :] <= offs_m[:, None])
        scores = tl.where(visible, scores, NEG_INF)
        # Every query sees key 0, so after the first block the maximum is a number.
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_max[:, None])
        rescale = tl.exp(row_max - new_max)
        row_sum = row_sum * rescale + tl.sum(weights, axis=1)
        v = tl.load(tile_ptrs(v_ptr, v_strides, offs_n, offs_d), mask=mask_n, other=0.0)
        accumulator = accumulator * rescale[:, None]
        accumulator = tl.dot(weights.to(v.dtype), v, accumulator, input_precision="ieee")
        row_max = new_max
    # Without a single key the sum is 0, and so is the output.
    accumulator = accumulator / tl.where(row_sum == 0.0, 1.0, row_sum)[:, None]
    output_ptrs = tile_ptrs(output_ptr, output_strides, offs_m, offs_d)
    tl.store(output_ptrs, accumulator.to(output_ptr.dtype.element_ty), mask=mask_m)
    ### END SOLUTION


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v, for each head of each batch.

    q: (..., m, d), k and v: (..., n, d), any strides, of the same dtype (float32, float16 or
    bfloat16); d is a power of two, 16 or more. With `causal`, which needs m = n, query i
    sees only the keys 0 ... i. The result is a new contiguous tensor with the shape and
    dtype of q.
    """
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    launch_attention(q, k, v, output, causal)
    return output


def launch_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor, causal: bool
) -> None:
    """Fill the contiguous `output`; up to two leading dimensions go into one launch."""
    if q.ndim > 4:  # the kernel handles batches and heads: slice any further dimensions
        for i in range(q.shape[0]):
            launch_attention(q[i], k[i], v[i], output[i], causal)
        return
    if q.ndim < 4:  # one batch, one head
        launch_attention(q[None], k[None], v[None], output[None], causal)
        return
    batches, n_heads, m, d = q.shape
    # Fewer rows fit into registers and shared memory when they are wide.
    block = min(64, max(16, 16384 // (d * q.element_size())))
    grid = (batches * n_heads * triton.cdiv(m, block),)
    attention_kernel[grid](
        q, k, v, output,
        q.stride(), k.stride(), v.stride(), output.stride(),
        m, k.shape[-2], n_heads, d**-0.5,
        CAUSAL=causal, D=d, BLOCK_M=block, BLOCK_N=min(32, block), num_stages=2,
    )  # fmt: skip


# %% attention_lse
HIDDEN = tl.constexpr(float("-inf"))  # the score of a hidden key


@triton.jit
def ptr_of_head(ptr, strides, batch, head):
    """Return `ptr` moved to one head of a tensor of shape (batches, n_heads, rows, D)."""
    return ptr + batch * strides[0] + head * strides[1]


@triton.jit
def ptrs_of_tile(ptr, strides, rows, cols):
    """Return the pointers of a tile: `ptr` moved by each of `rows` and each of `cols`."""
    return ptr + rows[:, None] * strides[2] + cols[None, :] * strides[3]


@triton.jit
def attention_lse_kernel(
    q_ptr, k_ptr, v_ptr, output_ptr, lse_ptr,
    q_strides, k_strides, v_strides, output_strides,
    M, N, n_heads, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Compute BLOCK_M rows of the output of one head of one batch.

    q and the output have shape (batches, n_heads, M, D), k and v (batches, n_heads, N, D).
    The strides are tuples of four, counted in elements. lse is contiguous, (batches, n_heads,
    M), float32: the log of the sum of exp(scores). With CAUSAL, query i sees the keys 0 ... i.
    """
    # 1. Find the program's block of queries, head and batch. Move the four pointers there.
    # 2. Load the queries once. Start with the maximum -inf, the sum 0 and the output 0.
    # 3. Loop over the blocks of keys; with CAUSAL only as far as the last query can see.
    #    a. scores = q @ k.T * scale; -inf where a key does not exist or may not be seen.
    #    b. The new maximum; rescale sum and output by exp(old maximum - new maximum).
    #    c. Add the new weights to the sum, and weights @ v to the output.
    # 4. Divide the output by the sum; store it, and maximum + log(sum), each under its mask.
    ### BEGIN SOLUTION
    n_blocks = tl.cdiv(M, BLOCK_M)
    block = tl.program_id(axis=0) % n_blocks
    # In 64 bits, because an address can be more than 2**31 elements away.
    batch_and_head = (tl.program_id(axis=0) // n_blocks).to(tl.int64)
    batch, head = batch_and_head // n_heads, batch_and_head % n_heads
    q_ptr = ptr_of_head(q_ptr, q_strides, batch, head)
    k_ptr = ptr_of_head(k_ptr, k_strides, batch, head)
    v_ptr = ptr_of_head(v_ptr, v_strides, batch, head)
    output_ptr = ptr_of_head(output_ptr, output_strides, batch, head)
    offs_m = block.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D).to(tl.int64)
    mask_m = offs_m[:, None] < M
    q = tl.load(ptrs_of_tile(q_ptr, q_strides, offs_m, offs_d), mask=mask_m, other=0.0)
    row_max = tl.full((BLOCK_M,), HIDDEN, dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    n_visible = tl.minimum(N, (block + 1) * BLOCK_M) if CAUSAL else N
    for start in tl.range(0, n_visible, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_n = offs_n[:, None] < N
        k = tl.load(ptrs_of_tile(k_ptr, k_strides, offs_n, offs_d), mask=mask_n, other=0.0)
        scores = tl.dot(q, k.T, input_precision="ieee") * scale
        visible = offs_n[None, :] < N
        if CAUSAL:
            visible = visible & (offs_n[None, :] <= offs_m[:, None])
        scores = tl.where(visible, scores, HIDDEN)
        # Every query sees key 0, so after the first block the maximum is a number.
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_max[:, None])
        rescale = tl.exp(row_max - new_max)
        row_sum = row_sum * rescale + tl.sum(weights, axis=1)
        v = tl.load(ptrs_of_tile(v_ptr, v_strides, offs_n, offs_d), mask=mask_n, other=0.0)
        accumulator = accumulator * rescale[:, None]
        accumulator = tl.dot(weights.to(v.dtype), v, accumulator, input_precision="ieee")
        row_max = new_max
    # Without a single key the sum and the output are 0, and lse is -inf + log(0), which is -inf.
    accumulator = accumulator / tl.where(row_sum == 0.0, 1.0, row_sum)[:, None]
    output_ptrs = ptrs_of_tile(output_ptr, output_strides, offs_m, offs_d)
    tl.store(output_ptrs, accumulator.to(output_ptr.dtype.element_ty), mask=mask_m)
    lse_ptr += batch_and_head * M
    tl.store(lse_ptr + offs_m, row_max + tl.log(row_sum), mask=offs_m < M)
    ### END SOLUTION


def attention_lse(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(s) @ v and log(sum(exp(s))), where s = q @ k.T / sqrt(d), for each head.

    The contract is that of `attention`. The second result is float32, of shape (..., m): the
    log-sum-exp of the scores that a query sees. With it the weights can be recomputed, and
    attentions to different keys can be merged.
    """
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    launch_attention_lse(q, k, v, output, lse, causal)
    return output, lse


def launch_attention_lse(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    output: torch.Tensor,
    lse: torch.Tensor,
    causal: bool,
) -> None:
    """Fill the contiguous `output` and `lse`; two leading dimensions go into one launch."""
    if q.ndim > 4:  # the kernel handles batches and heads: slice any further dimensions
        for i in range(q.shape[0]):
            launch_attention_lse(q[i], k[i], v[i], output[i], lse[i], causal)
        return
    if q.ndim < 4:  # one batch, one head
        launch_attention_lse(q[None], k[None], v[None], output[None], lse[None], causal)
        return
    batches, n_heads, m, d = q.shape
    # Fewer rows fit into registers and shared memory when they are wide.
    block = min(64, max(16, 16384 // (d * q.element_size())))
    grid = (batches * n_heads * triton.cdiv(m, block),)
    attention_lse_kernel[grid](
        q, k, v, output, lse,
        q.stride(), k.stride(), v.stride(), output.stride(),
        m, k.shape[-2], n_heads, d**-0.5,
        CAUSAL=causal, D=d, BLOCK_M=block, BLOCK_N=min(32, block), num_stages=2,
    )  # fmt: skip
