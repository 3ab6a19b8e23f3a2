"""Fast form of attention for Hopper GPUs, for half precision: about as fast as cuDNN.

(On an H200, by shape, 0.88 to 1.04 of its speed: docs/performance.md.)

Why the plain form cannot reach it: its warps wait for a tile of keys, multiply, compute
exponentials, multiply again, each step after the other. Here

- one warp does nothing but load keys and values (TMA), up to STAGES blocks ahead;
- two or three groups of four warps each own 64 queries. While one computes exponentials, the
  tensor cores work for the others;
- no more programs than there are multiprocessors stay for the whole launch and take one tile of
  queries after another. So the next queries and keys are loaded while a tile is finished;
- within each group the scores of block i are multiplied *while* the weights of block i - 1
  are still being multiplied with their values: two products are under way at once;
- the exponentials are powers of two, for which the GPU has an instruction, and the factor
  log2(e) / sqrt(d) is folded into one multiplication.

Blocks of keys are taken from the last to the first: only the last that a group needs can hold keys
that do not exist, or that some of its queries may not see, so the loop over all the others needs
no mask. With `causal` a group leaves out the blocks that only the groups after it need, and
programs take tiles in pairs, of which one has many keys and the other few: all pairs are equally
much work.
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
    processors_of,
    tma_can_read,
    tma_load,
    tma_store,
)

ROWS = gl.constexpr(64)  # queries of a group: what one wgmma multiplies
SHORT = 1024  # queries: with causal, much of the work then lies on the diagonal
MAX_REGISTERS = {2: 168, 3: 128}  # by groups: what all warps can have at the start
LOG2_E = math.log2(math.e)  # exp(x) is exp2(x * LOG2_E)


@gluon.jit
def turns_of(n_tiles, EACH: gl.constexpr):
    """Return how many tiles this program takes: EACH neighbours, and again, until all are taken."""
    in_a_round = gl.num_programs(0) * EACH
    rest = n_tiles % in_a_round - gl.program_id(0) * EACH
    return n_tiles // in_a_round * EACH + gl.minimum(gl.maximum(rest, 0), EACH)


@gluon.jit
def tile_of(
    turn, M, N, n_heads, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
    EACH: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Return batch, head and first query of a tile, and how many blocks of keys it needs."""
    n_tiles = gl.cdiv(M, BLOCK_M)
    index = (turn // EACH * gl.num_programs(0) + gl.program_id(0)) * EACH + turn % EACH
    tile = index % n_tiles
    batch, head = index // n_tiles // n_heads, index // n_tiles % n_heads
    n_blocks = gl.cdiv(N, BLOCK_N)
    if CAUSAL:
        if EACH == 2:  # the last, the first, the last but one, the second, ...
            tile = gl.where(tile % 2 == 0, n_tiles - 1 - tile // 2, tile // 2)
        else:
            tile = n_tiles - 1 - tile
        n_blocks = gl.minimum(n_blocks, gl.cdiv((tile + 1) * BLOCK_M, BLOCK_N))
    return batch, head, tile * BLOCK_M, n_blocks


@gluon.jit
def load_rows(desc, batch, head, n_heads, n_rows, row, filled, tile):
    """Load a tile of rows of one head; flat descriptors (see `is_flat`) have two dimensions."""
    if len(desc.block_type.shape) == 2:
        tma_load(desc, [(batch * n_heads + head) * n_rows + row, 0], filled, tile)
    else:
        tma_load(desc, [batch, head, row, 0], filled, tile)


@gluon.jit
def load_blocks(
    q_desc, k_desc, v_desc, q_tiles, k_blocks, v_blocks,
    q_ready, k_ready, v_ready, q_empty, k_empty, v_empty,
    M, N, n_heads, n_tiles, GROUPS: gl.constexpr, D: gl.constexpr, BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr, QUERY_STAGES: gl.constexpr, EACH: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Load, tile after tile, its queries once, and its keys and values from the last block on."""
    BLOCK_M: gl.constexpr = GROUPS * ROWS
    step = 0
    for turn in range(turns_of(n_tiles, EACH)):
        batch, head, first_query, n_blocks = tile_of(
            turn, M, N, n_heads, BLOCK_M, BLOCK_N, EACH, CAUSAL
        )
        for i in range(n_blocks):
            stage = step % STAGES
            # A new barrier counts as open for the phase before the first: nothing to wait for.
            phase = ((step // STAGES) & 1) ^ 1
            first_key = (n_blocks - 1 - i) * BLOCK_N
            mbarrier.wait(k_empty.index(stage), phase)
            filled = k_ready.index(stage)
            mbarrier.expect(filled, BLOCK_N * D * 2)
            load_rows(k_desc, batch, head, n_heads, N, first_key, filled, k_blocks.index(stage))
            if i == 0:
                q_stage = turn % QUERY_STAGES
                mbarrier.wait(q_empty.index(q_stage), ((turn // QUERY_STAGES) & 1) ^ 1)
                filled = q_ready.index(q_stage)
                mbarrier.expect(filled, BLOCK_M * D * 2)
                for group in gl.static_range(GROUPS):
                    q_tile = q_tiles.index(q_stage * GROUPS + group)
                    row = first_query + group * ROWS
                    load_rows(q_desc, batch, head, n_heads, M, row, filled, q_tile)
            mbarrier.wait(v_empty.index(stage), phase)
            filled = v_ready.index(stage)
            mbarrier.expect(filled, BLOCK_N * D * 2)
            load_rows(v_desc, batch, head, n_heads, N, first_key, filled, v_blocks.index(stage))
            step += 1


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
def leave_out(step, k_ready, v_ready, k_empty, v_empty, STAGES: gl.constexpr):
    """Give back a block that this group does not need.

    Not before it is there: until then the barriers count who is done with the block before.
    """
    stage = step % STAGES
    phase = (step // STAGES) & 1
    mbarrier.wait(k_ready.index(stage), phase)
    mbarrier.arrive(k_empty.index(stage), count=1)
    mbarrier.wait(v_ready.index(stage), phase)
    mbarrier.arrive(v_empty.index(stage), count=1)


@gluon.jit
def attend_rows(
    q, k_blocks, v_blocks, k_ready, v_ready, k_empty, v_empty, first, end, first_query,
    last_block, N, scale, dtype: gl.constexpr, D: gl.constexpr, BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Return the output of the queries q: softmax(q @ k.T) @ v.

    Blocks number `first` to `end` - 1 of all that the program loads are theirs; the first of
    them, which begins at key last_block * BLOCK_N, is the only one that needs masks.
    """
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    w_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    o_rows: gl.constexpr = gl.SliceLayout(1, o_layout)
    nothing = gl.zeros((ROWS, BLOCK_N), gl.float32, s_layout)
    mbarrier.wait(k_ready.index(first % STAGES), (first // STAGES) & 1)
    k = k_blocks.index(first % STAGES).reshape([BLOCK_N, D]).permute((1, 0))
    running = warpgroup_mma(q, k, nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=(running,))
    mbarrier.arrive(k_empty.index(first % STAGES), count=1)
    scores = hide(scores, first_query, last_block * BLOCK_N, N, s_layout, CAUSAL)
    # A row that sees nothing of this block has the maximum -inf; -inf - -inf would be NaN.
    row_max = gl.maximum(gl.max(scores, 1) * scale, -1e30)
    weights = gl.exp2(scores * scale - gl.expand_dims(row_max, 1))
    row_sum = gl.sum(weights, 1)
    accumulator = gl.zeros((ROWS, D), gl.float32, o_layout)
    w = gl.convert_layout(weights.to(dtype), w_layout)

    # All the others: the scores of block i are under way together with the values of i - 1.
    for i in range(first + 1, end):
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

    last = (end - 1) % STAGES
    mbarrier.wait(v_ready.index(last), ((end - 1) // STAGES) & 1)
    v = v_blocks.index(last).reshape([BLOCK_N, D])
    accumulator = warpgroup_mma_wait(0, deps=(warpgroup_mma(w, v, accumulator, is_async=True),))
    mbarrier.arrive(v_empty.index(last), count=1)
    return accumulator / gl.expand_dims(gl.convert_layout(row_sum, o_rows), 1)


@gluon.jit
def attend(
    o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty, v_empty,
    M, N, n_heads, n_tiles, scale, GROUPS: gl.constexpr, D: gl.constexpr, BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr, QUERY_STAGES: gl.constexpr, EACH: gl.constexpr, CAUSAL: gl.constexpr,
    GROUP: gl.constexpr,
):  # fmt: skip
    """Compute, tile after tile, the rows of the output that belong to this group."""
    dtype: gl.constexpr = o_desc.dtype
    step = 0
    for turn in range(turns_of(n_tiles, EACH)):
        batch, head, first_query, n_blocks = tile_of(
            turn, M, N, n_heads, GROUPS * ROWS, BLOCK_N, EACH, CAUSAL
        )
        first_query += GROUP * ROWS
        mine = n_blocks
        if CAUSAL:
            mine = gl.minimum(n_blocks, gl.cdiv(first_query + ROWS, BLOCK_N))
            for i in range(step, step + n_blocks - mine):
                leave_out(i, k_ready, v_ready, k_empty, v_empty, STAGES)
        end = step + n_blocks
        q_stage = turn % QUERY_STAGES
        q_tile = q_tiles.index(q_stage * GROUPS + GROUP)
        mbarrier.wait(q_ready.index(q_stage), (turn // QUERY_STAGES) & 1)
        output = attend_rows(
            q_tile.reshape([ROWS, D]), k_blocks, v_blocks, k_ready, v_ready, k_empty, v_empty,
            end - mine, end, first_query, mine - 1, N, scale, dtype, D, BLOCK_N, STAGES, CAUSAL,
        )  # fmt: skip
        store_rows(o_desc, batch, head, n_heads, M, first_query, q_tile, output.to(dtype))
        mbarrier.arrive(q_empty.index(q_stage), count=1)
        step = end


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
    q_desc, k_desc, v_desc, o_desc, M, N, n_heads, n_tiles, scale,
    GROUPS: gl.constexpr, D: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr,
    QUERY_STAGES: gl.constexpr, EACH: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    """Compute n_tiles tiles of GROUPS * 64 rows: 4 warps for each 64 rows, and 1 that loads.

    All four tensors have shape (batches, n_heads, M or N, D), or, flat, (rows, D). scale is
    log2(e) / sqrt(D). EACH: how many neighbouring tiles a program takes in turn, 1 or 2.
    """
    dtype: gl.constexpr = q_desc.dtype
    # (Gluon reads no starred lists.)
    q_shape: gl.constexpr = [QUERY_STAGES * GROUPS] + q_desc.block_type.shape  # noqa: RUF005
    kv_shape: gl.constexpr = [STAGES] + k_desc.block_type.shape  # noqa: RUF005
    q_tiles = gl.allocate_shared_memory(dtype, q_shape, q_desc.layout)
    k_blocks = gl.allocate_shared_memory(dtype, kv_shape, k_desc.layout)
    v_blocks = gl.allocate_shared_memory(dtype, kv_shape, v_desc.layout)
    q_ready, q_empty = new_barriers(QUERY_STAGES, 1), new_barriers(QUERY_STAGES, GROUPS)
    k_ready, k_empty = new_barriers(STAGES, 1), new_barriers(STAGES, GROUPS)
    v_ready, v_empty = new_barriers(STAGES, 1), new_barriers(STAGES, GROUPS)
    fence_async_shared()
    # fmt: off
    # Behind the functions: the warps of all but the first, which has the kernel's own four, and
    # their registers: computing takes many, loading few. (Gluon forgets the constants in a tuple
    # that has a name, so that all arguments are written out.)
    if GROUPS == 2:
        gl.warp_specialize([
            (attend,
             (o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty,
              v_empty, M, N, n_heads, n_tiles, scale,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL, 0)),
            (attend,
             (o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty,
              v_empty, M, N, n_heads, n_tiles, scale,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL, 1)),
            (load_blocks,
             (q_desc, k_desc, v_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready,
              q_empty, k_empty, v_empty, M, N, n_heads, n_tiles,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL)),
        ], [4, 1], [240, 24])
    else:
        gl.warp_specialize([
            (attend,
             (o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty,
              v_empty, M, N, n_heads, n_tiles, scale,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL, 0)),
            (attend,
             (o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty,
              v_empty, M, N, n_heads, n_tiles, scale,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL, 1)),
            (attend,
             (o_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready, q_empty, k_empty,
              v_empty, M, N, n_heads, n_tiles, scale,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL, 2)),
            (load_blocks,
             (q_desc, k_desc, v_desc, q_tiles, k_blocks, v_blocks, q_ready, k_ready, v_ready,
              q_empty, k_empty, v_empty, M, N, n_heads, n_tiles,
              GROUPS, D, BLOCK_N, STAGES, QUERY_STAGES, EACH, CAUSAL)),
        ], [4, 4, 1], [160, 160, 24])
    # fmt: on


def is_flat(x: torch.Tensor, block: int) -> bool:
    """Whether the heads of x, (..., rows, d), can be described as one long matrix of rows.

    No block may then reach into the next head. The TMA unit takes two dimensions faster than
    four: it makes one percent.
    """
    return x.is_contiguous() and x.shape[-2] % block == 0


# %% attention
def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v; the contract is that of the plain form."""
    fits = is_hopper(q) and q.ndim <= 4 and q.shape[-1] in (64, 128, 256)
    if not (fits and all(tma_can_read(x) for x in (q, k, v))):
        return plain.attention(q, k, v, causal)
    return launch(q, k, v, causal, *sizes_of(q.shape[-1], q.shape[-2], causal))


def sizes_of(d: int, m: int, causal: bool) -> tuple[int, int, int, int, bool]:
    """Return groups, keys in a block, blocks and tiles of queries in shared memory, and `stay`.

    The best of those that were tried on an H200 for d columns and m queries.
    """
    if d == 64:
        return 3, 128, 4 if causal else 2, 2, True
    if d == 256:
        return 2, 64, 2, 1, True
    if causal and m <= SHORT:
        return 2, 64, 4, 2, True
    return 2, 128, 2, 2, True


def launch(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool,
    groups: int, block_n: int, stages: int, query_stages: int, stay: bool,
) -> torch.Tensor:  # fmt: skip
    """Launch with these sizes, and with programs that stay or that take one tile each."""
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    batches, heads = (1, 1, *q.shape[:-2])[-2:]
    m, d = q.shape[-2:]
    rows = ROWS.value
    n_tiles = batches * heads * triton.cdiv(m, groups * rows)
    programs = min(n_tiles, processors_of(q)) if stay else n_tiles
    flat = is_flat(q, groups * rows)
    keys_flat = is_flat(k, block_n) and is_flat(v, block_n)
    hopper_attention_kernel[(programs,)](
        describe_rows(q, rows, flat), describe_rows(k, block_n, keys_flat),
        describe_rows(v, block_n, keys_flat), describe_rows(output, rows, flat),
        m, k.shape[-2], heads, n_tiles, d**-0.5 * LOG2_E, GROUPS=groups, D=d, BLOCK_N=block_n,
        STAGES=stages, QUERY_STAGES=query_stages,
        EACH=2 if causal and n_tiles >= 2 * programs else 1, CAUSAL=causal,
        num_warps=4, maxnreg=MAX_REGISTERS[groups],
    )  # fmt: skip
    return output


def describe_rows(x: torch.Tensor, n_rows: int, flat: bool) -> TensorDescriptor:
    """Describe x, (..., rows, d), in tiles of n_rows whole rows, in two or in four dimensions."""
    d = x.shape[-1]
    if flat:
        return describe(x.view(-1, d), [n_rows, d])
    return describe(x[(None,) * (4 - x.ndim)], [1, 1, n_rows, d])
