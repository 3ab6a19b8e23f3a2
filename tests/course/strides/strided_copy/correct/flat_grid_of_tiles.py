import torch
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, y_ptr, M, N, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    pid = tl.program_id(0)
    m = (pid // tiles_n).to(tl.int64) * BM + tl.arange(0, BM)[:, None]
    n = (pid % tiles_n).to(tl.int64) * BN + tl.arange(0, BN)[None, :]
    keep = (m < M) & (n < N)
    tl.store(y_ptr + m * N + n, tl.load(x_ptr + m * sm + n * sn, keep), keep)


def strided_copy(x):
    M, N = x.size()
    y = torch.empty(x.size(), dtype=x.dtype, device=x.device)
    copy_kernel[(triton.cdiv(M, 64) * triton.cdiv(N, 16),)](x, y, M, N, x.stride(0), x.stride(1), BM=64, BN=16)
    return y
