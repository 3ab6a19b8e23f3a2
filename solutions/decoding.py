"""Model solution of the lesson on decoding: one query for each head, keys and values in pages.

Several programs split the keys of a sequence. Each computes the attention to its part and the
log-sum-exp of the part; a second kernel merges the parts.
"""

import torch
import triton
import triton.language as tl

# %% decode_attention
NEG_INF = tl.constexpr(float("-inf"))  # the score of a key that does not exist


@triton.jit
def slot_ptrs(ptr, strides, pages, slots, kv_head, offs_d):
    """Return pointers to a row of D numbers for each key: head `kv_head` of slot `slots[i]` of page
    `pages[i]`, in a tensor of shape (n_pages, page_size, n_kv_heads, D).
    """
    rows = pages * strides[0] + slots * strides[1] + kv_head * strides[2]
    return ptr + rows[:, None] + offs_d[None, :] * strides[3]


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, lse_ptr,
    q_strides, k_strides, v_strides, table_strides,
    page_size, group, part_size, scale,
    D: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Attend to one part of the keys of one sequence, for the query heads that share a key head.

    The grid is (sequences, key heads, parts). A part has `part_size` keys. parts is contiguous,
    (sequences, query heads, parts, D), and lse (sequences, query heads, parts), both float32.
    Strides are tuples with one number for each axis.
    """
    # 1. Which sequence, which key head, which part? Load the length; return if the part is empty.
    # 2. Load the queries of the group, BLOCK_H rows of which `group` exist.
    # 3. Loop over the keys of the part, BLOCK_N at a time, up to the length.
    #    a. Key i is in slot i % page_size of the page in column i // page_size of the table.
    #    b. Scores, maximum, rescaling, sum and output, as in lesson 13.
    # 4. Store the output of the part, divided by its sum, and maximum + log(sum).
    ### BEGIN SOLUTION
    # In 64 bits, because a cache may have more than 2**31 elements.
    sequence, kv_head = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    part, n_parts = tl.program_id(2), tl.num_programs(2)
    length = tl.load(lengths_ptr + sequence)
    start = part * part_size
    if start >= length:
        return
    end = tl.minimum(start + part_size, length)
    offs_h, offs_d = tl.arange(0, BLOCK_H), tl.arange(0, D).to(tl.int64)
    heads, mask_h = kv_head * group + offs_h, offs_h < group
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
    places = (sequence * tl.num_programs(1) * group + heads) * n_parts + part
    part_ptrs = parts_ptr + places[:, None] * D + offs_d[None, :]
    tl.store(part_ptrs, accumulator / row_sum[:, None], mask=mask_h[:, None])
    tl.store(lse_ptr + places, row_max + tl.log(row_sum), mask=mask_h)
    ### END SOLUTION


@triton.jit
def merge_kernel(
    parts_ptr, lse_ptr, lengths_ptr, output_ptr, n_heads, n_parts, part_size,
    D: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    """Merge the parts of one query head of one sequence: their average, weighted by exp(lse).

    The grid is (sequences * n_heads,), and BLOCK_P is n_parts or more. All tensors are contiguous.
    """
    # 1. Which parts have keys? Load their lse, and -inf for the others.
    # 2. Compute the weights of the parts: exp(lse - the largest lse).
    # 3. Load the parts, add them up with their weights, divide by the sum of the weights.
    # 4. Store. What should a sequence without any key get?
    ### BEGIN SOLUTION
    row = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths_ptr + row // n_heads)
    offs_p, offs_d = tl.arange(0, BLOCK_P), tl.arange(0, D)
    has_keys = offs_p * part_size < length
    lse = tl.load(lse_ptr + row * n_parts + offs_p, mask=has_keys, other=NEG_INF)
    # Without any key every lse is -inf. Then subtract 0: all weights are 0, and so is the result.
    weights = tl.exp(lse - tl.where(length > 0, tl.max(lse, axis=0), 0.0))
    part_ptrs = parts_ptr + (row * n_parts + offs_p)[:, None] * D + offs_d[None, :]
    parts = tl.load(part_ptrs, mask=has_keys[:, None], other=0.0)
    output = tl.sum(parts * weights[:, None], axis=0)
    output = output / tl.where(length > 0, tl.sum(weights, axis=0), 1.0)
    tl.store(output_ptr + row * D + offs_d, output.to(output_ptr.dtype.element_ty))
    ### END SOLUTION


def decode_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v of one query for each head of each sequence.

    q: (b, hq, d). k_pages, v_pages: (p, page_size, hkv, d), of the dtype of q (float32, float16 or
    bfloat16); hq is a multiple of hkv, and d a power of two, 16 or more. block_table: (b,
    most_pages), int32. All four may have any strides. lengths: (b,), int32, contiguous. Query head
    h belongs to key head h // (hq // hkv), and key i of sequence s is in slot i % page_size of
    page block_table[s, i // page_size]. The result is a new contiguous tensor with the shape and
    dtype of q; 0 where a length is 0.
    """
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    n_sequences, n_heads, d = q.shape
    page_size, n_kv_heads = k_pages.shape[1], k_pages.shape[2]
    if output.numel() == 0:
        return output
    group = n_heads // n_kv_heads
    block_n = 32
    # The lengths are in GPU memory; the shape of the table bounds them.
    most_keys = block_table.shape[1] * page_size
    wanted = min(64, triton.cdiv(512, n_sequences * n_kv_heads))
    part_size = max(64, triton.cdiv(triton.cdiv(most_keys, wanted), block_n) * block_n)
    n_parts = max(1, triton.cdiv(most_keys, part_size))
    parts = torch.empty((n_sequences, n_heads, n_parts, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((n_sequences, n_heads, n_parts), dtype=torch.float32, device=q.device)
    part_kernel[(n_sequences, n_kv_heads, n_parts)](
        q, k_pages, v_pages, block_table, lengths, parts, lse,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, group, part_size, d**-0.5,
        D=d, BLOCK_H=max(16, triton.next_power_of_2(group)), BLOCK_N=block_n,
    )  # fmt: skip
    merge_kernel[(n_sequences * n_heads,)](
        parts, lse, lengths, output, n_heads, n_parts, part_size,
        D=d, BLOCK_P=triton.next_power_of_2(n_parts),
    )  # fmt: skip
    return output
