"""The launcher passes the number of 16-byte vectors in a row; the kernel multiplies it by
VECTOR, which shows the compiler the divisibility; tiles of 2048 elements, computed in
float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows_kernel(
    x_ptr, s_ptr, output_ptr, n_rows, vectors_per_row,
    VECTOR: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
):
    # The compiler sees a product with VECTOR, and so a multiple of it.
    n_cols = vectors_per_row * VECTOR
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    row_there = rows < n_rows
    there = row_there[:, None] & (cols < n_cols)[None, :]
    s = tl.load(s_ptr + rows, mask=row_there, other=1.0).to(tl.float32)
    places = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + places, mask=there).to(tl.float32)
    tl.store(output_ptr + places, (x * s[:, None]).to(output_ptr.dtype.element_ty), mask=there)


def scale_rows(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    m, n = x.shape
    output = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if output.numel() == 0:
        return output
    in_16_bytes = 16 // x.element_size()
    vector = in_16_bytes if n % in_16_bytes == 0 else 1
    cols = min(2048, max(16, triton.next_power_of_2(n)))
    rows = 2048 // cols
    grid = (triton.cdiv(m, rows), triton.cdiv(n, cols))
    scale_rows_kernel[grid](x, s, output, m, n // vector, VECTOR=vector, ROWS=rows, COLS=cols)
    return output
