"""The values are read with the strides of the keys."""

import torch
import triton
import triton.language as tl


@triton.jit
def clamped(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr,
    q_strides, k_strides, v_strides, t_strides,
    page_size, group, scale,
    D: tl.constexpr, H: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    seq = tl.program_id(0).to(tl.int64)
    kv = tl.program_id(1).to(tl.int64)
    n_heads = tl.num_programs(1) * group
    d = tl.arange(0, D).to(tl.int64)
    # Heads past the group repeat the last head of it: they compute, and store, the same numbers.
    head = kv * group + tl.minimum(tl.arange(0, H), group - 1)
    out = out_ptr + ((seq * n_heads + head) * D)[:, None] + d[None, :]
    length = tl.load(lengths_ptr + seq)
    if length <= 0:
        tl.store(out, tl.zeros((H, D), out_ptr.dtype.element_ty))
        return
    q = tl.load(q_ptr + seq * q_strides[0] + head[:, None] * q_strides[1] + d[None, :] * q_strides[2]).to(tl.float32)
    m = tl.full((H,), float("-inf"), tl.float32)
    l = tl.zeros((H,), tl.float32)
    acc = tl.zeros((H, D), tl.float32)
    for start in range(0, length, N):
        i = start + tl.arange(0, N)
        # Keys past the end read the last key instead, which is never garbage.
        c = tl.minimum(i, length - 1)
        page = tl.load(table_ptr + seq * t_strides[0] + (c // page_size).to(tl.int64) * t_strides[1]).to(tl.int64)
        slot = (c % page_size).to(tl.int64)
        k = tl.load(
            k_ptr + (page * k_strides[0] + slot * k_strides[1] + kv * k_strides[2])[:, None] + d[None, :] * k_strides[3]
        )
        v = tl.load(
            v_ptr + (page * k_strides[0] + slot * k_strides[1] + kv * k_strides[2])[:, None] + d[None, :] * k_strides[3]
        )
        s = tl.dot(q, k.to(tl.float32).T, input_precision="ieee") * scale
        s = tl.where((i < length)[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        a = tl.exp(m - m_new)
        l = l * a + tl.sum(p, 1)
        acc = acc * a[:, None] + tl.dot(p, v.to(tl.float32), input_precision="ieee")
        m = m_new
    tl.store(out, (acc / l[:, None]).to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    n_seq, n_heads, d = q.shape
    out = torch.empty((n_seq, n_heads, d), dtype=q.dtype, device=q.device)
    if n_seq * n_heads == 0:
        return out
    n_kv = k_pages.shape[2]
    group = n_heads // n_kv
    clamped[(n_seq, n_kv)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        k_pages.shape[1], group, d**-0.5,
        D=d, H=max(16, triton.next_power_of_2(group)), N=32,
    )  # fmt: skip
    return out
