"""The id of the rows enters no offset."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, y_ptr, M, N, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    offs = rm[:, None] * stride_m + rn[None, :] * stride_n
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    v = tl.load(x_ptr + offs, mask=mask)
    r = tl.where(v > 0, v, 0.0)
    tl.store(y_ptr + offs, r, mask=mask)


def relu2d(x):
    M, N = x.shape
    y = torch.empty_like(x)
    if x.numel() == 0:
        return y
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    relu_kernel[grid](x, y, M, N, x.stride(0), x.stride(1), BM=16, BN=32)
    return y
