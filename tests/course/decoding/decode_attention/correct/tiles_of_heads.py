"""Large groups are cut into tiles of sixteen heads, each with programs of its own."""

import torch
import triton
import triton.language as tl


NEG_INF = tl.constexpr(float("-inf"))  # the score of a key that does not count


@triton.jit
def slot_ptrs(ptr, strides, pages, slots, kv_head, offs_d):
    rows = pages * strides[0] + slots * strides[1] + kv_head * strides[2]
    return ptr + rows[:, None] + offs_d[None, :] * strides[3]


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, lse_ptr,
    q_strides, k_strides, v_strides, table_strides,
    page_size, group, n_heads, part_size, scale,
    D: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # In 64 bits, because a cache has more than 2**31 elements.
    n_tiles = tl.cdiv(group, BLOCK_H)
    sequence, kv_head = tl.program_id(0).to(tl.int64), (tl.program_id(1) // n_tiles).to(tl.int64)
    tile = tl.program_id(1) % n_tiles
    part, n_parts = tl.program_id(2), tl.num_programs(2)
    length = tl.load(lengths_ptr + sequence)
    start = part * part_size
    if start >= length:
        return
    end = tl.minimum(start + part_size, length)
    offs_h, offs_d = tl.arange(0, BLOCK_H), tl.arange(0, D).to(tl.int64)
    members = tile * BLOCK_H + offs_h
    heads, mask_h = kv_head * group + members, members < group
    q_rows = sequence * q_strides[0] + heads * q_strides[1]
    q_ptrs = q_ptr + q_rows[:, None] + offs_d[None, :] * q_strides[2]
    q = tl.load(q_ptrs, mask=mask_h[:, None], other=0.0)
    row_max = tl.full((BLOCK_H,), NEG_INF, dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_H,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_H, D), dtype=tl.float32)
    for first in tl.range(start, end, BLOCK_N):
        keys = first + tl.arange(0, BLOCK_N).to(tl.int64)
        exists = keys < end
        entries = table_ptr + sequence * table_strides[0] + keys // page_size * table_strides[1]
        pages = tl.load(entries, mask=exists, other=0).to(tl.int64)
        k_ptrs = slot_ptrs(k_ptr, k_strides, pages, keys % page_size, kv_head, offs_d)
        v_ptrs = slot_ptrs(v_ptr, v_strides, pages, keys % page_size, kv_head, offs_d)
        k = tl.load(k_ptrs, mask=exists[:, None], other=0.0)
        v = tl.load(v_ptrs, mask=exists[:, None], other=0.0)
        scores = tl.dot(q, k.T, input_precision="ieee") * scale
        scores = tl.where(exists[None, :], scores, NEG_INF)
        # The first key of a part exists, so the maximum is a number from the first step on.
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights, rescale = tl.exp(scores - new_max[:, None]), tl.exp(row_max - new_max)
        row_sum = row_sum * rescale + tl.sum(weights, axis=1)
        accumulator = accumulator * rescale[:, None]
        accumulator = tl.dot(weights.to(v.dtype), v, accumulator, input_precision="ieee")
        row_max = new_max
    places = (sequence * n_heads + heads) * n_parts + part
    part_ptrs = parts_ptr + places[:, None] * D + offs_d[None, :]
    tl.store(part_ptrs, accumulator / row_sum[:, None], mask=mask_h[:, None])
    tl.store(lse_ptr + places, row_max + tl.log(row_sum), mask=mask_h)


@triton.jit
def merge_kernel(
    parts_ptr, lse_ptr, lengths_ptr, output_ptr, n_heads, n_parts, part_size,
    D: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row // n_heads)
    offs_p, offs_d = tl.arange(0, BLOCK_P), tl.arange(0, D)
    has_keys = offs_p * part_size < length
    lse = tl.load(lse_ptr + row * n_parts + offs_p, mask=has_keys, other=NEG_INF)
    # Without any key all are -inf. Then 0 is subtracted, all weights are 0, and so is the result.
    weights = tl.exp(lse - tl.where(length > 0, tl.max(lse, axis=0), 0.0))
    part_ptrs = parts_ptr + (row * n_parts + offs_p)[:, None] * D + offs_d[None, :]
    parts = tl.load(part_ptrs, mask=has_keys[:, None], other=0.0)
    output = tl.sum(parts * weights[:, None], axis=0)
    output = output / tl.where(length > 0, tl.sum(weights, axis=0), 1.0)
    tl.store(output_ptr + row * D + offs_d, output.to(output_ptr.dtype.element_ty))


def decode_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    n_sequences, n_heads, d = q.shape
    page_size, n_kv_heads = k_pages.shape[1], k_pages.shape[2]
    if output.numel() == 0:
        return output
    group = n_heads // n_kv_heads
    block_n = 32
    # How long the sequences are is known on the GPU alone; how long they may be, by their tables.
    most_keys = block_table.shape[1] * page_size
    wanted = min(64, triton.cdiv(512, n_sequences * n_kv_heads))
    part_size = max(64, triton.cdiv(triton.cdiv(most_keys, wanted), block_n) * block_n)
    n_parts = max(1, triton.cdiv(most_keys, part_size))
    parts = torch.empty((n_sequences, n_heads, n_parts, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((n_sequences, n_heads, n_parts), dtype=torch.float32, device=q.device)
    part_kernel[(n_sequences, n_kv_heads * triton.cdiv(group, 16), n_parts)](
        q, k_pages, v_pages, block_table, lengths, parts, lse,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, group, n_heads, part_size, d**-0.5,
        D=d, BLOCK_H=16, BLOCK_N=block_n,
    )  # fmt: skip
    merge_kernel[(n_sequences * n_heads,)](
        parts, lse, lengths, output, n_heads, n_parts, part_size,
        D=d, BLOCK_P=triton.next_power_of_2(n_parts),
    )  # fmt: skip
    return output
