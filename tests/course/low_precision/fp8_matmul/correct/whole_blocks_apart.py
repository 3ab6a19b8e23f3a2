"""A heuristic says whether k is a multiple of the block; masks along k only where it is not."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def kernel(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    # The last row and column again, instead of lanes outside.
    safe_m, safe_n = tl.minimum(offs_m, M - 1), tl.minimum(offs_n, N - 1)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        a_ptrs = a_ptr + safe_m[:, None] * sam + offs_k[None, :] * sak
        b_ptrs = b_ptr + offs_k[:, None] * sbk + safe_n[None, :] * sbn
        if EVEN_K:
            a, b = tl.load(a_ptrs), tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc)
    scale = tl.load(sa_ptr + safe_m)[:, None] * tl.load(sb_ptr + safe_n)[None, :]
    out = tl.cast(acc * scale, tl.bfloat16)
    keep = (offs_m < M)[:, None] & (offs_n < N)[None, :]
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], out, mask=keep)


def fp8_matmul(a, b, scale_a, scale_b):
    (M, K), (_, N) = a.shape, b.shape
    c = torch.empty(M, N, dtype=torch.bfloat16, device=a.device)
    kernel[triton.cdiv(M, 16), triton.cdiv(N, 16)](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(),
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=32,
    )  # fmt: skip
    return c
