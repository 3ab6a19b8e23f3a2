"""Loads both vectors as tiles, through broadcast pointers and masks."""

import torch
import triton
import triton.language as tl


@triton.jit
def outer_sum_kernel(x_ptr, y_ptr, output_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    cols = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    inside = (rows < n_rows) & (cols < n_cols)
    x = tl.load(x_ptr + rows + 0 * cols, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + cols + 0 * rows, mask=inside, other=0.0).to(tl.float32)
    tl.store(output_ptr + rows * n_cols + cols, (x + y).to(output_ptr.dtype.element_ty), mask=inside)


def outer_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty((len(x), len(y)), dtype=x.dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(len(x), meta["BLOCK"]), triton.cdiv(len(y), meta["BLOCK"]))
    outer_sum_kernel[grid](x, y, output, len(x), len(y), BLOCK=32)
    return output
