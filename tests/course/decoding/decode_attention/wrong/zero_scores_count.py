"""An empty part stores a log-sum-exp of 0 instead of -inf, so it takes a share in the merge."""

import torch
import triton
import triton.language as tl


@triton.jit
def key_places(table_ptr, s, keys, inside, stb, stp, PAGE):
    page = tl.load(table_ptr + s * stb + (keys // PAGE).to(tl.int64) * stp, mask=inside, other=0)
    return page.to(tl.int64), (keys % PAGE).to(tl.int64)


@triton.jit
def parts_kernel(q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, part_ptr, lse_ptr,
                 sqb, sqh, sqd, skp, sks, skh, skd, svp, svs, svh, svd, stb, stp,
                 HQ, HKV, GROUP, PAGE, scale,
                 D: tl.constexpr, BH: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    part = pid % PARTS
    kv = ((pid // PARTS) % HKV).to(tl.int64)
    s = (pid // PARTS // HKV).to(tl.int64)
    length = tl.load(lengths_ptr + s)
    per = (length + PARTS - 1) // PARTS
    begin = part * per
    end = tl.minimum(begin + per, length)
    g = tl.arange(0, BH)
    d = tl.arange(0, D).to(tl.int64)
    heads = kv * GROUP + g
    q = tl.load(q_ptr + s * sqb + heads[:, None] * sqh + d[None, :] * sqd,
                mask=(g < GROUP)[:, None], other=0.0).to(tl.float32)
    top = tl.full((BH,), float("-inf"), tl.float32)
    total = tl.zeros((BH,), tl.float32)
    acc = tl.zeros((BH, D), tl.float32)
    for first in range(begin, end, BN):
        keys = first + tl.arange(0, BN)
        inside = keys < end
        page, slot = key_places(table_ptr, s, keys, inside, stb, stp, PAGE)
        k = tl.load(k_ptr + kv * skh + page[:, None] * skp + slot[:, None] * sks + d[None, :] * skd,
                    mask=inside[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + kv * svh + page[:, None] * svp + slot[:, None] * svs + d[None, :] * svd,
                    mask=inside[:, None], other=0.0).to(tl.float32)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(inside[None, :], scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, axis=1))
        shrink = tl.exp(top - new_top)
        p = tl.exp(scores - new_top[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        top = new_top
    some = total > 0
    safe = tl.where(some, total, 1.0)
    lse = tl.where(some, top + tl.log(safe), 0.0)
    where = (s * HQ + heads) * PARTS + part
    tl.store(lse_ptr + where, lse, mask=g < GROUP)
    tl.store(part_ptr + where[:, None] * D + d[None, :], acc / safe[:, None], mask=(g < GROUP)[:, None])


@triton.jit
def merge_kernel(part_ptr, lse_ptr, out_ptr, D: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, PARTS)
    d = tl.arange(0, D)
    lse = tl.load(lse_ptr + row * PARTS + c)
    top = tl.max(lse, axis=0)
    top = tl.where(top == float("-inf"), 0.0, top)
    weight = tl.exp(lse - top)
    total = tl.sum(weight, axis=0)
    part = tl.load(part_ptr + (row * PARTS + c)[:, None] * D + d[None, :])
    result = tl.sum(part * weight[:, None], axis=0) / tl.where(total > 0, total, 1.0)
    tl.store(out_ptr + row * D + d, result.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    page_size, hkv = k_pages.shape[1], k_pages.shape[2]
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if b * hq == 0:
        return out
    group = hq // hkv
    parts = 4
    part = torch.empty((b, hq, parts, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((b, hq, parts), dtype=torch.float32, device=q.device)
    parts_kernel[(b * hkv * parts,)](
        q, k_pages, v_pages, block_table, lengths, part, lse,
        *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        hq, hkv, group, page_size, d ** -0.5,
        D=d, BH=max(16, triton.next_power_of_2(group)), BN=16, PARTS=parts)
    merge_kernel[(b * hq,)](part, lse, out, D=d, PARTS=parts)
    return out
