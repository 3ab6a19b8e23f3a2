"""The accumulator that starts as the bias is not set back for the next row tile, so that rows
from 16 on also contain the results of earlier rows.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def strip_kernel(
    x_ptr, bias_ptr, out_ptr, n_rows, n_cols, sr, sc, sb, BM: tl.constexpr, BN: tl.constexpr
):
    cols = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    bias = tl.load(bias_ptr + cols * sb, mask=cols < n_cols, other=0.0).to(tl.float32)
    acc = tl.zeros((BM, BN), dtype=tl.float32) + bias[None, :]
    for start in range(0, n_rows, BM):
        rows = (start + tl.arange(0, BM)).to(tl.int64)
        mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
        x = tl.load(x_ptr + rows[:, None] * sr + cols[None, :] * sc, mask=mask, other=0.0)
        acc = tl.maximum(acc + x.to(tl.float32), 0.0)
        out = out_ptr + rows[:, None] * n_cols + cols[None, :]
        tl.store(out, acc.to(out_ptr.dtype.element_ty), mask=mask)


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    strip_kernel[(triton.cdiv(n_cols, 64),)](
        x, bias, out, n_rows, n_cols, *x.stride(), *bias.stride(), BM=16, BN=64
    )
    return out
