"""The sum runs over axis 0, down the rows, in place of along the row."""

import torch
import triton
import triton.language as tl


@triton.jit
def whole_rows(x_ptr, y_ptr, M, N, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    mask = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(x_ptr + m[:, None] * sm + n[None, :] * sn, mask=mask, other=-float("inf")).to(
        tl.float32
    )
    top = tl.max(x, axis=1)
    top = tl.where(m < M, top, 0.0)
    e = tl.exp(x - top[:, None])
    p = e / tl.sum(e, axis=0)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], p, mask=mask)


def softmax(x):
    M, N = x.shape
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    whole_rows[(triton.cdiv(M, 4),)](
        x, y, M, N, x.stride(0), x.stride(1), BM=4, BN=triton.next_power_of_2(N)
    )
    return y
