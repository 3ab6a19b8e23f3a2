import torch
import triton
import triton.language as tl

@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16}),
    ],
    key=["M", "N", "K"],
)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
    k = tl.arange(0, BLOCK_K).to(tl.int64)
    m_in = m[:, None] < M
    n_in = n[None, :] < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a_ptrs = a_ptr + m[:, None] * am + (start + k)[None, :] * ak
        b_ptrs = b_ptr + (start + k)[:, None] * bk + n[None, :] * bn
        if EVEN_K:
            a = tl.load(a_ptrs, mask=m_in, other=0.0)
            b = tl.load(b_ptrs, mask=n_in, other=0.0)
        else:
            a = tl.load(a_ptrs, mask=m_in & (start + k < K)[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=n_in & (start + k < K)[:, None], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=m_in & n_in)


def autotuned_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))](
        a, b, c, M, N, K, *a.stride(), *b.stride()
    )
    return c
