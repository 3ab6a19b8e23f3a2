import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    x_ptr, r_ptr, y_ptr, rows_0, rows_1, n_cols,
    xs_0, xs_1, xs_2, xs_3, rs_0, rs_1, rs_2, rs_3, p, scale, seed, WIDTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    at_2 = row % rows_1
    at_1 = row // rows_1 % rows_0
    at_0 = row // rows_1 // rows_0
    mask = cols < n_cols
    x_row = x_ptr + at_0 * xs_0 + at_1 * xs_1 + at_2 * xs_2
    r_row = r_ptr + at_0 * rs_0 + at_1 * rs_1 + at_2 * rs_2
    x = tl.load(x_row + cols * xs_3, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_row + cols * rs_3, mask=mask, other=0.0).to(tl.float32)
    element = row * n_cols + cols
    drop = tl.rand(seed, element) < p
    y = tl.where(drop, r, r + x * scale)
    tl.store(y_ptr + element, y.to(y_ptr.dtype.element_ty), mask=mask)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    missing = 4 - x.dim()
    shape = (1,) * missing + tuple(x.shape)
    zeros = (0,) * missing
    rows = shape[0] * shape[1] * shape[2]
    rows_kernel[(rows, triton.cdiv(shape[3], 128))](
        x, residual, y, shape[1], shape[2], shape[3],
        *zeros, *x.stride(), *zeros, *residual.stride(), p, 1.0 / (1.0 - p), seed, WIDTH=128,
    )  # fmt: skip
    return y
