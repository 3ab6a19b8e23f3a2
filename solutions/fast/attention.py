"""Fast form of attention for Hopper GPUs, for half precision: about as fast as cuDNN.

(On an H200, by shape, 0.88 to 1.04 of its speed: docs/performance.md.)

Why the plain form cannot reach it: its warps wait for a tile of keys, multiply, compute
exponentials, multiply again, each step after the other. Here

- one warp does nothing but load keys and values (TMA), up to STAGES blocks ahead;
- two groups of four warps each own 64 queries. While one computes exponentials, the tensor
  cores work for the other;
- within each group the scores of block i are multiplied *while* the weights of block i - 1
  are still being multiplied with their values: two products are under way at once;
- the exponentials are powers of two, for which the GPU has an instruction, and the factor
  log2(e) / sqrt(d) is folded into one multiplication.

Blocks of keys are taken from the last to the first: only the last can hold keys that do not
exist, so the loop over all the others needs no mask. With `causal` the last block must also hold
all keys that some query of the program may not see: it must be as long as the block of queries
(see `masks_suffice`). The programs with the most keys then come first, so that none of them is
left over at the end.
"""

import math

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from solutions import attention as plain
from solutions.fast.hopper import (
    describe,
    is_hopper,
    new_barriers,
    tma_can_read,
    tma_load,
    tma_store,
)

BLOCK_M = 128
BLOCK_N = {64: 128, 128: 128, 256: 64}  # keys in a block, by D: what shared memory holds twice
STAGES = 2
LOG2_E = math.log2(math.e)  # exp(x) is exp2(x * LOG2_E)


@gluon.jit
def my_block(M, N, n_heads, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, CAUSAL: gl.constexpr):
    """Return batch, head and first query of this program, and how many blocks of keys it needs."""
    n_blocks = gl.cdiv(M, BLOCK_M)
    block = gl.program_id(0) % n_blocks
    batch_and_head = gl.program_id(0) // n_blocks
    n_key_blocks = gl.cdiv(N, BLOCK_N)
    if CAUSAL:
        block = n_blocks - 1 - block
        n_key_blocks = gl.minimum(n_key_blocks, gl.cdiv((block + 1) * BLOCK_M, BLOCK_N))
    batch, head = batch_and_head // n_heads, batch_and_head % n_heads
    return batch, head, block * BLOCK_M, n_key_blocks


@gluon.jit
def load_rows(desc, batch, head, n_heads, n_rows, row, filled, tile):
    """Load a tile of rows of one head; flat descriptors (see `is_flat`) have two dimensions."""
    if len(desc.block_type.shape) == 2:
        tma_load(desc, [(batch * n_heads + head) * n_rows + row, 0], filled, tile)
    else:
        tma_load(desc, [batch, head, row, 0], filled, tile)


@gluon.jit
def load_blocks(
    q_desc,
    k_desc,
    v_desc,
    q_upper,
    q_lower,
    k_blocks,
    v_blocks,
    q_ready,
    k_ready,
    v_ready,
    k_empty,
    v_empty,
    M,
    N,
    n_heads,
    D: gl.constexpr,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr,
    CAUSAL: gl.constexpr,
):
    """Load the queries once, and the blocks of keys and values from the last to the first."""
    batch, head, first_query, n_blocks = my_block(M, N, n_heads, BLOCK_M, BLOCK_N, CAUSAL)
    mbarrier.expect(q_ready.index(0), BLOCK_M * D * 2)
    filled = q_ready.index(0)
    load_rows(q_desc, batch, head, n_heads, M, first_query, filled, q_upper)
    load_rows(q_desc, batch, head, n_heads, M, first_query + BLOCK_M // 2, filled, q_lower)
    for i in range(n_blocks):
        stage = i % STAGES
        # A new barrier counts as open for the phase before the first: nothing to wait for.
        phase = ((i // STAGES) & 1) ^ 1
        first_key = (n_blocks - 1 - i) * BLOCK_N
        mbarrier.wait(k_empty.index(stage), phase)
        filled = k_ready.index(stage)
        mbarrier.expect(filled, BLOCK_N * D * 2)
        load_rows(k_desc, batch, head, n_heads, N, first_key, filled, k_blocks.index(stage))
        mbarrier.wait(v_empty.index(stage), phase)
        filled = v_ready.index(stage)
        mbarrier.expect(filled, BLOCK_N * D * 2)
        load_rows(v_desc, batch, head, n_heads, N, first_key, filled, v_blocks.index(stage))


@gluon.jit
def hide(scores, first_query, first_key, N, layout: gl.constexpr, CAUSAL: gl.constexpr):
    """Return the scores with -inf where a key does not exist or may not be seen."""
    rows: gl.constexpr = scores.shape[0]
    columns: gl.constexpr = scores.shape[1]
    keys = first_key + gl.arange(0, columns, gl.SliceLayout(0, layout))
    keys = gl.expand_dims(keys, 0)
    scores = gl.where(keys < N, scores, float("-inf"))
    if CAUSAL:
        queries = first_query + gl.arange(0, rows, gl.SliceLayout(1, layout))
        scores = gl.where(keys <= gl.expand_dims(queries, 1), scores, float("-inf"))
    return scores


@gluon.jit
def attend(
    o_desc, q_tile, k_blocks, v_blocks, q_ready, k_ready, v_ready, k_empty, v_empty,
    M, N, n_heads, scale, FIRST_ROW: gl.constexpr, D: gl.constexpr, BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Compute the BLOCK_M / 2 rows of the output that begin at row FIRST_ROW of the block."""
    ROWS: gl.constexpr = BLOCK_M // 2
    dtype: gl.constexpr = o_desc.dtype
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    w_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    o_rows: gl.constexpr = gl.SliceLayout(1, o_layout)
    batch, head, first_query, n_blocks = my_block(M, N, n_heads, BLOCK_M, BLOCK_N, CAUSAL)
    first_query += FIRST_ROW
    nothing = gl.zeros((ROWS, BLOCK_N), gl.float32, s_layout)
    q = q_tile.reshape([ROWS, D])

    # The last block of keys: the only one that needs masks.
    mbarrier.wait(q_ready.index(0), 0)
    mbarrier.wait(k_ready.index(0), 0)
    k = k_blocks.index(0).reshape([BLOCK_N, D]).permute((1, 0))
    running = warpgroup_mma(q, k, nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=(running,))
    mbarrier.arrive(k_empty.index(0), count=1)
    scores = hide(scores, first_query, (n_blocks - 1) * BLOCK_N, N, s_layout, CAUSAL)
    # A row that sees nothing of this block has the maximum -inf; -inf - -inf would be NaN.
    row_max = gl.maximum(gl.max(scores, 1) * scale, -1e30)
    weights = gl.exp2(scores * scale - gl.expand_dims(row_max, 1))
    row_sum = gl.sum(weights, 1)
    accumulator = gl.zeros((ROWS, D), gl.float32, o_layout)
    w = gl.convert_layout(weights.to(dtype), w_layout)

    # All the others: the scores of block i are under way together with the values of i - 1.
    for i in range(1, n_blocks):
        mbarrier.wait(k_ready.index(i % STAGES), (i // STAGES) & 1)
        k = k_blocks.index(i % STAGES).reshape([BLOCK_N, D]).permute((1, 0))
        scores_running = warpgroup_mma(q, k, nothing, use_acc=False, is_async=True)
        before = (i - 1) % STAGES
        mbarrier.wait(v_ready.index(before), ((i - 1) // STAGES) & 1)
        v = v_blocks.index(before).reshape([BLOCK_N, D])
        output_running = warpgroup_mma(w, v, accumulator, is_async=True)
        scores = warpgroup_mma_wait(1, deps=(scores_running,))
        mbarrier.arrive(k_empty.index(i % STAGES), count=1)
        new_max = gl.maximum(row_max, gl.max(scores, 1) * scale)
        rescale = gl.exp2(row_max - new_max)
        weights = gl.exp2(scores * scale - gl.expand_dims(new_max, 1))
        row_sum = row_sum * rescale + gl.sum(weights, 1)
        row_max = new_max
        accumulator, w = warpgroup_mma_wait(0, deps=(output_running, w))
        mbarrier.arrive(v_empty.index(before), count=1)
        accumulator = accumulator * gl.expand_dims(gl.convert_layout(rescale, o_rows), 1)
        w = gl.convert_layout(weights.to(dtype), w_layout)

    last = (n_blocks - 1) % STAGES
    mbarrier.wait(v_ready.index(last), ((n_blocks - 1) // STAGES) & 1)
    v = v_blocks.index(last).reshape([BLOCK_N, D])
    accumulator = warpgroup_mma_wait(0, deps=(warpgroup_mma(w, v, accumulator, is_async=True),))
    accumulator = accumulator / gl.expand_dims(gl.convert_layout(row_sum, o_rows), 1)
    store_rows(o_desc, batch, head, n_heads, M, first_query, q_tile, accumulator.to(dtype))


@gluon.jit
def store_rows(desc, batch, head, n_heads, n_rows, row, tile, values):
    """Store rows of one head by way of `tile`, where the queries were, which are done with."""
    tile.reshape([values.shape[0], values.shape[1]]).store(values)
    fence_async_shared()
    if len(desc.block_type.shape) == 2:
        tma_store(desc, [(batch * n_heads + head) * n_rows + row, 0], tile)
    else:
        tma_store(desc, [batch, head, row, 0], tile)
    tma.store_wait(0)


@gluon.jit
def hopper_attention_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_desc,
    M,
    N,
    n_heads,
    scale,
    D: gl.constexpr,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr,
    CAUSAL: gl.constexpr,
):
    """Compute BLOCK_M rows of one head, with 4 + 4 warps that compute and 1 that loads.

    All four tensors have shape (batches, n_heads, M or N, D), or, flat, (rows, D). scale is
    log2(e) / sqrt(D).
    """
    dtype: gl.constexpr = q_desc.dtype
    # (Gluon reads no starred lists.)
    kv_shape: gl.constexpr = [STAGES] + k_desc.block_type.shape  # noqa: RUF005
    q_upper = gl.allocate_shared_memory(dtype, q_desc.block_type.shape, q_desc.layout)
    q_lower = gl.allocate_shared_memory(dtype, q_desc.block_type.shape, q_desc.layout)
    k_blocks = gl.allocate_shared_memory(dtype, kv_shape, k_desc.layout)
    v_blocks = gl.allocate_shared_memory(dtype, kv_shape, v_desc.layout)
    q_ready = new_barriers(1, 1)
    k_ready = new_barriers(STAGES, 1)
    v_ready = new_barriers(STAGES, 1)
    k_empty = new_barriers(STAGES, 2)
    v_empty = new_barriers(STAGES, 2)
    fence_async_shared()
    # fmt: off
    gl.warp_specialize(
        [
            (attend,
             (o_desc, q_upper, k_blocks, v_blocks, q_ready, k_ready, v_ready, k_empty, v_empty,
              M, N, n_heads, scale, 0, D, BLOCK_M, BLOCK_N, STAGES, CAUSAL)),
            (attend,
             (o_desc, q_lower, k_blocks, v_blocks, q_ready, k_ready, v_ready, k_empty, v_empty,
              M, N, n_heads, scale, BLOCK_M // 2, D, BLOCK_M, BLOCK_N, STAGES, CAUSAL)),
            (load_blocks,
             (q_desc, k_desc, v_desc, q_upper, q_lower, k_blocks, v_blocks, q_ready, k_ready,
              v_ready, k_empty, v_empty, M, N, n_heads, D, BLOCK_M, BLOCK_N, STAGES, CAUSAL)),
        ],
        [4, 1],  # warps of the second and third part; the first has the kernel's own four
        [240, 24],  # and their registers: computing takes many, loading few
    )
    # fmt: on


def is_flat(x: torch.Tensor, block: int) -> bool:
    """Whether the heads of x, (..., rows, d), can be described as one long matrix of rows.

    No block may then reach into the next head. The TMA unit takes two dimensions faster than
    four: it makes one percent.
    """
    return x.is_contiguous() and x.shape[-2] % block == 0


def masks_suffice(d: int, causal: bool) -> bool:
    """Whether the mask of the last block of keys hides all keys that may not be seen.

    Blocks of 64 keys (d = 256) put the diagonal of 128 queries into the last two blocks, of which
    the kernel masks one: on an H200 its output was wrong. So such sizes go to the plain form.
    """
    return not causal or BLOCK_N[d] >= BLOCK_M


# %% attention
def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v; the contract is that of the plain form."""
    fits = is_hopper(q) and q.ndim <= 4 and q.shape[-1] in BLOCK_N
    fits = fits and masks_suffice(q.shape[-1], causal)
    if not (fits and all(tma_can_read(x) for x in (q, k, v))):
        return plain.attention(q, k, v, causal)
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    batches, heads = (1, 1, *q.shape[:-2])[-2:]
    m, d = q.shape[-2:]
    block_n = BLOCK_N[d]
    flat = is_flat(q, BLOCK_M) and is_flat(k, block_n) and is_flat(v, block_n)
    grid = (batches * heads * triton.cdiv(m, BLOCK_M),)
    hopper_attention_kernel[grid](
        describe_rows(q, BLOCK_M // 2, flat),
        describe_rows(k, block_n, flat),
        describe_rows(v, block_n, flat),
        describe_rows(output, BLOCK_M // 2, flat),
        m,
        k.shape[-2],
        heads,
        d**-0.5 * LOG2_E,
        D=d,
        BLOCK_M=BLOCK_M,
        BLOCK_N=block_n,
        STAGES=STAGES,
        CAUSAL=causal,
        num_warps=4,
        maxnreg=168,
    )
    return output


def describe_rows(x: torch.Tensor, n_rows: int, flat: bool) -> TensorDescriptor:
    """Describe x, (..., rows, d), in tiles of n_rows whole rows, in two or in four dimensions."""
    d = x.shape[-1]
    if flat:
        return describe(x.view(-1, d), [n_rows, d])
    return describe(x[(None,) * (4 - x.ndim)], [1, 1, n_rows, d])
