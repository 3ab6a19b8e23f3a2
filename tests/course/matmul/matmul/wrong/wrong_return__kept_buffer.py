"""One output for each shape, kept and overwritten by the next call."""

import torch
import triton
import triton.language as tl



@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = (pid_m * BM + tl.arange(0, BM)).to(tl.int64)
    cols = (pid_n * BN + tl.arange(0, BN)).to(tl.int64)
    row_ok = rows[:, None] < M
    col_ok = cols[None, :] < N
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = (k + tl.arange(0, BK)).to(tl.int64)
        a = tl.load(a_ptr + rows[:, None] * sam + ks[None, :] * sak, mask=row_ok & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * sbk + cols[None, :] * sbn, mask=(ks[:, None] < K) & col_ok, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * scm + cols[None, :] * scn, acc.to(c_ptr.dtype.element_ty), mask=row_ok & col_ok)


_BUFFERS = {}


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    N = b.shape[1]
    key = (M, N, a.dtype)
    if key not in _BUFFERS:
        _BUFFERS[key] = torch.empty((M, N), device=a.device, dtype=a.dtype)
    c = _BUFFERS[key]
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    gemm_kernel[grid](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                      BM=32, BN=64, BK=16)
    return c
