"""Autotuned; as many programs as a GPU has multiprocessors, each of which takes several tiles."""

import torch
import triton
import triton.language as tl

configs = [
    triton.Config({"BLOCK_M": bm, "BLOCK_N": bn}, num_warps=4, num_stages=2) for bm in (16, 32) for bn in (16, 32)
]


@triton.autotune(configs=configs, key=["M", "N", "CAUSAL"])
@triton.jit
def persistent_kernel(q_ptr, k_ptr, v_ptr, o_ptr, M, N, n_heads, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    n_tiles = tl.cdiv(M, BLOCK_M)
    dims = tl.arange(0, D)
    for tile in range(tl.program_id(0), n_tiles * n_heads, tl.num_programs(0)):
        head = (tile // n_tiles).to(tl.int64)
        # The longest walks first, so that the short ones fill the end.
        block = n_tiles - 1 - tile % n_tiles
        rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + (head * M + rows)[:, None] * D + dims[None, :], mask=rows[:, None] < M, other=0.0)
        row_max = tl.full([BLOCK_M], float("-inf"), tl.float32)
        row_sum = tl.full([BLOCK_M], 0.0, tl.float32)
        acc = tl.zeros([BLOCK_M, D], tl.float32)
        stop = tl.minimum((block + 1) * BLOCK_M, N) if CAUSAL else N
        for start in range(0, stop, BLOCK_N):
            start = tl.multiple_of(start, BLOCK_N)
            cols = start + tl.arange(0, BLOCK_N)
            kv = (head * N + cols)[:, None] * D + dims[None, :]
            k = tl.load(k_ptr + kv, mask=cols[:, None] < N, other=0.0)
            bias = tl.where(cols < N, 0.0, float("-inf"))[None, :]
            if CAUSAL:
                bias += tl.where(rows[:, None] >= cols[None, :], 0.0, float("-inf"))
            s = tl.dot(q, k.T, input_precision="ieee") * scale + bias
            m = tl.maximum(row_max, tl.max(s, 1))
            p = tl.exp(s - m[:, None])
            alpha = tl.exp(row_max - m)
            row_sum = row_sum * alpha + tl.sum(p, 1)
            v = tl.load(v_ptr + kv, mask=cols[:, None] < N, other=0.0)
            acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
            row_max = m
        tl.store(o_ptr + (head * M + rows)[:, None] * D + dims[None, :],
                 (acc / row_sum[:, None]).to(o_ptr.dtype.element_ty), mask=rows[:, None] < M)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> torch.Tensor:
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    m, d = q.shape[-2:]
    n_heads = q.numel() // (m * d)

    def grid(meta):
        return (min(132, n_heads * triton.cdiv(m, meta["BLOCK_M"])),)

    persistent_kernel[grid](
        q.contiguous(), k.contiguous(), v.contiguous(), o, m, k.shape[-2], n_heads, d**-0.5, CAUSAL=causal, D=d
    )
    return o
