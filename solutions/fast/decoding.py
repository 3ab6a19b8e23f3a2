"""Fast form of decoding: keys and values at the speed of memory.

The plain form takes 32 keys at a time and divides by the page size for each of them. Here

- a step has BLOCK_N keys, and the next STAGES - 1 steps are on their way meanwhile (cp.async), so
  that each multiprocessor always waits for some ten thousand bytes at once;
- the page size is a constant, so that finding a key's page takes a shift;
- a part that lies in whole steps needs no masks but in its last step;
- programs that run side by side read the heads that lie side by side in memory;
- the exponentials are powers of two.

Merging the parts is the plain form's work: they are few.
"""

import math

import torch
import triton
import triton.language as tl

from solutions import decoding as plain

LOG2_E = tl.constexpr(math.log2(math.e))  # exp(x) is exp2(x * LOG2_E)
BLOCK_N = 64
STAGES = 3
PROGRAMS = 512  # wanted in a launch: two or more for each multiprocessor


@triton.jit
def step(
    q, k_ptr, v_ptr, table_ptr, table_stride, k_strides, v_strides, first, end, scale,
    row_max, row_sum, accumulator,
    PAGE_SIZE: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Attend to BLOCK_N keys from `first` on, of which those before `end` exist."""
    keys = first + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    exists = keys < end
    entries = table_ptr + keys // PAGE_SIZE * table_stride
    if MASKED:
        pages = tl.load(entries, mask=exists, other=0).to(tl.int64)
    else:
        pages = tl.load(entries).to(tl.int64)
    slots = keys % PAGE_SIZE
    k_ptrs = k_ptr + (pages * k_strides[0] + slots * k_strides[1])[:, None] + offs_d[None, :]
    v_ptrs = v_ptr + (pages * v_strides[0] + slots * v_strides[1])[:, None] + offs_d[None, :]
    if MASKED:
        k = tl.load(k_ptrs, mask=exists[:, None], other=0.0)
        v = tl.load(v_ptrs, mask=exists[:, None], other=0.0)
    else:
        k, v = tl.load(k_ptrs), tl.load(v_ptrs)
    scores = tl.dot(q, k.T) * scale
    if MASKED:
        scores = tl.where(exists[None, :], scores, float("-inf"))
    new_max = tl.maximum(row_max, tl.max(scores, axis=1))
    weights, rescale = tl.exp2(scores - new_max[:, None]), tl.exp2(row_max - new_max)
    row_sum = row_sum * rescale + tl.sum(weights, axis=1)
    accumulator = tl.dot(weights.to(v.dtype), v, accumulator * rescale[:, None])
    return new_max, row_sum, accumulator


@triton.jit
def fast_part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, lse_ptr,
    q_strides, k_strides, v_strides, table_strides, group, part_size, n_parts, scale,
    PAGE_SIZE: tl.constexpr, D: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """Attend to one part of the keys of one sequence, for the query heads of one key head.

    The grid is (key heads, parts, sequences); everything else is as in the plain form. scale is
    log2(e) / sqrt(D), and the last axis of k and v has no gaps.
    """
    kv_head, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    sequence = tl.program_id(2).to(tl.int64)
    length = tl.load(lengths_ptr + sequence)
    start = part * part_size
    if start >= length:
        return
    end = tl.minimum(start + part_size, length)
    offs_h, offs_d = tl.arange(0, BLOCK_H), tl.arange(0, D)
    heads, mask_h = kv_head * group + offs_h, offs_h < group
    q_rows = sequence * q_strides[0] + heads * q_strides[1]
    q_ptrs = q_ptr + q_rows[:, None] + offs_d[None, :] * q_strides[2]
    q = tl.load(q_ptrs, mask=mask_h[:, None], other=0.0)
    k_ptr += kv_head * k_strides[2]
    v_ptr += kv_head * v_strides[2]
    table_ptr += sequence * table_strides[0]
    row_max = tl.full((BLOCK_H,), float("-inf"), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_H,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_H, D), dtype=tl.float32)
    whole = start + (end - start) // BLOCK_N * BLOCK_N
    for first in tl.range(start, whole, BLOCK_N, num_stages=STAGES):
        row_max, row_sum, accumulator = step(
            q, k_ptr, v_ptr, table_ptr, table_strides[1], k_strides, v_strides, first, end, scale,
            row_max, row_sum, accumulator, PAGE_SIZE, D, BLOCK_N, False,
        )  # fmt: skip
    if whole < end:
        row_max, row_sum, accumulator = step(
            q, k_ptr, v_ptr, table_ptr, table_strides[1], k_strides, v_strides, whole, end, scale,
            row_max, row_sum, accumulator, PAGE_SIZE, D, BLOCK_N, True,
        )  # fmt: skip
    places = (sequence * tl.num_programs(0) * group + heads) * n_parts + part
    part_ptrs = parts_ptr + places[:, None] * D + offs_d[None, :]
    tl.store(part_ptrs, accumulator / row_sum[:, None], mask=mask_h[:, None])
    # The plain form merges with natural logarithms.
    tl.store(lse_ptr + places, (row_max + tl.log2(row_sum)) / LOG2_E, mask=mask_h)


def parts_of(most_keys: int, others: int, block_n: int, programs: int) -> tuple[int, int]:
    """The size and the number of the parts, where `others` programs share no keys anyway."""
    wanted = min(64, max(1, programs // others))
    part_size = max(256, triton.cdiv(triton.cdiv(most_keys, wanted), block_n) * block_n)
    return part_size, max(1, triton.cdiv(most_keys, part_size))


# %% decode_attention
def decode_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    """Return attention of one query for each head; the contract is that of the plain form."""
    dense = k_pages.stride(3) == 1 and v_pages.stride(3) == 1
    if q.dtype == torch.float32 or not dense or q.numel() == 0 or q.shape[2] > 256:
        return plain.decode_attention(q, k_pages, v_pages, block_table, lengths)
    return launch(q, k_pages, v_pages, block_table, lengths)


def launch(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
    block_n: int = BLOCK_N,
    stages: int = STAGES,
    programs: int = PROGRAMS,
    num_warps: int = 4,
) -> torch.Tensor:
    """Launch with these sizes."""
    n_sequences, n_heads, d = q.shape
    page_size, n_kv_heads = k_pages.shape[1], k_pages.shape[2]
    group = n_heads // n_kv_heads
    most_keys = block_table.shape[1] * page_size
    part_size, n_parts = parts_of(most_keys, n_sequences * n_kv_heads, block_n, programs)
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    parts = torch.empty((n_sequences, n_heads, n_parts, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((n_sequences, n_heads, n_parts), dtype=torch.float32, device=q.device)
    fast_part_kernel[(n_kv_heads, n_parts, n_sequences)](
        q, k_pages, v_pages, block_table, lengths, parts, lse,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        group, part_size, n_parts, d**-0.5 * LOG2_E.value,
        PAGE_SIZE=page_size, D=d, BLOCK_H=max(16, triton.next_power_of_2(group)),
        BLOCK_N=block_n, STAGES=stages, num_warps=num_warps,
    )  # fmt: skip
    plain.merge_kernel[(n_sequences * n_heads,)](
        parts, lse, lengths, output, n_heads, n_parts, part_size,
        D=d, BLOCK_P=triton.next_power_of_2(n_parts),
    )  # fmt: skip
    return output
