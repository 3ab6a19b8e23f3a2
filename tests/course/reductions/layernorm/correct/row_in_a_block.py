import torch
import triton
import triton.language as tl

@triton.jit
def layernorm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, n_cols, sr, sc, sw, sb, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * sr + cols * sc, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_cols
    w = tl.load(w_ptr + cols * sw, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + cols * sb, mask=mask, other=0.0).to(tl.float32)
    y = centred / tl.sqrt(variance + eps) * w + b
    tl.store(y_ptr + row * n_cols + cols, y.to(y_ptr.dtype.element_ty), mask=mask)


def layernorm(x, weight, bias, eps):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    layernorm_kernel[(n_rows,)](
        x, weight, bias, y, n_cols, *x.stride(), *weight.stride(), *bias.stride(), eps,
        BLOCK_SIZE=triton.next_power_of_2(n_cols),
    )
    return y
