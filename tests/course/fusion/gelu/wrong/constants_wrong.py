"""0.44715 in place of 0.044715."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_offsets(offsets, n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3):
    index_3 = offsets % n_3
    index_2 = offsets // n_3 % n_2
    index_1 = offsets // n_3 // n_2 % n_1
    index_0 = offsets // n_3 // n_2 // n_1
    return index_0 * stride_0 + index_1 * stride_1 + index_2 * stride_2 + index_3 * stride_3


@triton.jit
def gelu_kernel(
    x_ptr, output_ptr, n_elements, n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3, CONTIGUOUS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    if CONTIGUOUS:
        x_offsets = offsets
    else:
        x_offsets = strided_offsets(offsets, n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3)
    x = tl.load(x_ptr + x_offsets, mask=mask, other=0.0).to(tl.float32)
    z = 0.7978845608028654 * (x + 0.44715 * x * x * x)
    result = x * tl.sigmoid(2.0 * z)
    tl.store(output_ptr + offsets, result.to(output_ptr.dtype.element_ty), mask=mask)


def gelu(x: torch.Tensor) -> torch.Tensor:
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_gelu(x, output)
    return output


def launch_gelu(x: torch.Tensor, output: torch.Tensor) -> None:
    if x.ndim > 4:
        for i in range(x.shape[0]):
            launch_gelu(x[i], output[i])
        return
    missing = 4 - x.ndim
    shape = (1,) * missing + tuple(x.shape)
    strides = (0,) * missing + x.stride()
    n_elements = x.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    gelu_kernel[grid](
        x, output, n_elements, *shape[1:], *strides, CONTIGUOUS=x.is_contiguous(), BLOCK_SIZE=block_size
    )
