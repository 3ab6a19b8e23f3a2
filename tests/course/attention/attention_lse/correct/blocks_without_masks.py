"""Two loops, blocks of keys without masks first and the edge behind them, through a helper that
returns a tuple; one launch for each batch, heads inside it.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def absorb(
    q, k_ptr, v_ptr, k_strides, v_strides, queries, keys, dims, N, scale, top, total, mixed,
    EDGE: tl.constexpr, CAUSAL: tl.constexpr,
):
    """Take one block of keys into maximum, sum and output; EDGE says that it needs masks."""
    kt_ptrs = k_ptr + keys[None, :] * k_strides[1] + dims[:, None] * k_strides[2]
    v_ptrs = v_ptr + keys[:, None] * v_strides[1] + dims[None, :] * v_strides[2]
    if EDGE:
        kt = tl.load(kt_ptrs, mask=keys[None, :] < N, other=0.0)
        v = tl.load(v_ptrs, mask=keys[:, None] < N, other=0.0)
    else:
        kt = tl.load(kt_ptrs)
        v = tl.load(v_ptrs)
    scores = tl.dot(q, kt, input_precision="ieee") * scale
    if EDGE:
        scores = tl.where(keys[None, :] < N, scores, float("-inf"))
        if CAUSAL:
            scores = tl.where(keys[None, :] <= queries[:, None], scores, float("-inf"))
    higher = tl.maximum(top, tl.max(scores, axis=1))
    weights = tl.exp(scores - higher[:, None])
    fade = tl.exp(top - higher)
    total = total * fade + tl.sum(weights, axis=1)
    mixed = mixed * fade[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
    return higher, total, mixed


@triton.jit
def attention_lse_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, q_strides, k_strides, v_strides, M, N, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    blocks = tl.cdiv(M, BM)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    first = tl.program_id(0) % blocks * BM
    queries = first.to(tl.int64) + tl.arange(0, BM)
    dims = tl.arange(0, D).to(tl.int64)
    q_ptr += head * q_strides[0]
    k_ptr += head * k_strides[0]
    v_ptr += head * v_strides[0]
    q = tl.load(
        q_ptr + queries[:, None] * q_strides[1] + dims[None, :] * q_strides[2],
        mask=queries[:, None] < M, other=0.0,
    )
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    mixed = tl.zeros((BM, D), tl.float32)
    if CAUSAL:
        plain_end = first // BN * BN
        end = tl.minimum(first + BM, N)
    else:
        plain_end = N // BN * BN
        end = N
    for start in range(0, plain_end, BN):
        keys = start + tl.arange(0, BN).to(tl.int64)
        top, total, mixed = absorb(
            q, k_ptr, v_ptr, k_strides, v_strides, queries, keys, dims, N, scale,
            top, total, mixed, EDGE=False, CAUSAL=CAUSAL,
        )
    for start in range(plain_end, end, BN):
        keys = start + tl.arange(0, BN).to(tl.int64)
        top, total, mixed = absorb(
            q, k_ptr, v_ptr, k_strides, v_strides, queries, keys, dims, N, scale,
            top, total, mixed, EDGE=True, CAUSAL=CAUSAL,
        )
    row = head * M + queries
    tl.store(lse_ptr + row, top + tl.log(total), mask=queries < M)
    tl.store(
        o_ptr + row[:, None] * D + dims[None, :],
        (mixed / total[:, None]).to(o_ptr.dtype.element_ty), mask=queries[:, None] < M,
    )


def fill(q, k, v, output, lse, causal):
    if q.ndim == 2:
        fill(q[None], k[None], v[None], output[None], lse[None], causal)
    elif q.ndim > 3:
        for parts in zip(q.unbind(0), k.unbind(0), v.unbind(0), output.unbind(0), lse.unbind(0)):
            fill(*parts, causal)
    else:
        heads, m, d = q.shape
        block = min(64, max(16, 16384 // (d * q.element_size())))
        attention_lse_kernel[(heads * triton.cdiv(m, block),)](
            q, k, v, output, lse, q.stride(), k.stride(), v.stride(), m, k.shape[1], d**-0.5,
            CAUSAL=bool(causal), D=d, BM=block, BN=min(32, block), num_stages=2,
        )


def attention_lse(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    output = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    if output.numel():
        fill(q, k, v, output, lse, causal)
    return output, lse
