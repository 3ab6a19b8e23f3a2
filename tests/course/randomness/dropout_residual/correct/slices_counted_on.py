import torch
import triton
import triton.language as tl


@triton.jit
def slice_kernel(
    x_ptr, r_ptr, y_ptr, m, n, x_m, x_n, r_m, r_n, y_m, y_n, first, p, seed, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, col = at // n, at % n
    x = tl.load(x_ptr + row * x_m + col * x_n, mask=at < m * n, other=0.0).to(tl.float32)
    r = tl.load(r_ptr + row * r_m + col * r_n, mask=at < m * n, other=0.0).to(tl.float32)
    y = tl.where(tl.rand(seed, first + at) >= p, r + x / (1 - p), r)
    y_ptr += row * y_m + col * y_n
    tl.store(y_ptr, y.to(y_ptr.dtype.element_ty), mask=at < m * n)


def fill(x, residual, y, p, seed, first):
    if x.dim() == 1:
        fill(x[None], residual[None], y[None], p, seed, first)
    elif x.dim() == 2:
        m, n = x.shape
        slice_kernel[(triton.cdiv(m * n, 512),)](
            x, residual, y, m, n, *x.stride(), *residual.stride(), *y.stride(), first, p, seed,
            BLOCK=512,
        )  # fmt: skip
    else:
        for i in range(x.shape[0]):
            fill(x[i], residual[i], y[i], p, seed, first + i * x[i].numel())


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        fill(x, residual, y, p, seed, 0)
    return y
