"""Tuned over rows per program: for long rows the largest configuration has no room on a GPU."""

import torch
import triton
import triton.language as tl


CONFIGS = [
    triton.Config({"ROWS": 1}, num_warps=4),
    triton.Config({"ROWS": 4}, num_warps=4),
    triton.Config({"ROWS": 16}, num_warps=32),
]


@triton.autotune(configs=CONFIGS, key=["n_rows", "n_cols"])
@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_rows, n_cols, sm, sn, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * sm + cols[None, :] * sn, mask=mask, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=1)
    top = tl.where(top == -float("inf"), 0.0, top)
    e = tl.exp(x - top[:, None])
    y = e / tl.sum(e, axis=1)[:, None]
    tl.store(out_ptr + rows[:, None] * n_cols + cols[None, :], y, mask=mask)


def softmax(x):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m and n:
        softmax_kernel[lambda meta: (triton.cdiv(m, meta["ROWS"]),)](x, out, m, n, *x.stride(), BLOCK=triton.next_power_of_2(n))
    return out
