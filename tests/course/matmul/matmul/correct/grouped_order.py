import torch
import triton
import triton.language as tl

@triton.jit
def tile_of(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows = tl.cdiv(M, BM)
    cols = tl.cdiv(N, BN)
    group = pid // (GROUP * cols)
    first = group * GROUP
    size = min(rows - first, GROUP)
    return first + (pid % (GROUP * cols)) % size, (pid % (GROUP * cols)) // size


@triton.jit
def masked(ptr, rows, cols, n_rows, n_cols, stride_r, stride_c):
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    return tl.load(ptr + rows[:, None] * stride_r + cols[None, :] * stride_c, mask=mask, other=0.0)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, cn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid_m, pid_n = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    rows = pid_m * BM + tl.arange(0, BM).to(tl.int64)
    cols = pid_n * BN + tl.arange(0, BN).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK).to(tl.int64)
        acc = tl.dot(masked(a_ptr, rows, ks, M, K, am, ak), masked(b_ptr, ks, cols, K, N, bk, bn), acc=acc, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * cm + cols[None, :] * cn, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)
    matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=32, BK=32, GROUP=3)
    return c
