import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def masked_mean(values, mask, count):
    return tl.sum(tl.where(mask, values, 0.0), axis=0) / count


@triton.jit
def row_of(ptr, offsets, mask):
    return tl.load(ptr + offsets, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, output_ptr, n_cols, stride_row, stride_col, stride_w, stride_b,
                     eps, BLOCK_SIZE: tl.constexpr):
    """Normalise one row."""
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = row_of(x_ptr + row * stride_row, cols * stride_col, mask)
    mean = masked_mean(x, mask, n_cols)
    variance = masked_mean((x - mean) * (x - mean), mask, n_cols)
    normal = (x - mean) / tl.sqrt(variance + eps)
    result = normal * row_of(weight_ptr, cols * stride_w, mask) + row_of(bias_ptr, cols * stride_b, mask)
    tl.store(output_ptr + row * n_cols + cols, result.to(output_ptr.dtype.element_ty), mask=mask)


def layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Layer normalisation of the rows of x."""
    n_rows, n_cols = x.shape
    if weight.numel() != n_cols or bias.numel() != n_cols:
        raise ValueError(f"weight and bias need {n_cols} elements")
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    block = max(16, triton.next_power_of_2(n_cols))
    layernorm_kernel[(n_rows,)](
        x, weight, bias, output, n_cols, x.stride(0), x.stride(1), weight.stride(0), bias.stride(0), eps,
        BLOCK_SIZE=block, num_warps=8 if block >= 4096 else 4,
    )
    return output
