"""x is loaded once for the polynomial and once for the product."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_offsets(offsets, shape, strides):
    index_3 = offsets % shape[3]
    index_2 = offsets // shape[3] % shape[2]
    index_1 = offsets // shape[3] // shape[2] % shape[1]
    index_0 = offsets // shape[3] // shape[2] // shape[1]
    upper = index_0 * strides[0] + index_1 * strides[1]
    return upper + index_2 * strides[2] + index_3 * strides[3]


@triton.jit
def gate(ptrs, mask):
    v = tl.load(ptrs, mask=mask, other=0.0).to(tl.float32)
    return tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))


@triton.jit
def gelu_kernel(
    x_ptr, output_ptr, n_elements, shape, strides,
    CONTIGUOUS: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    if CONTIGUOUS:
        ptrs = x_ptr + offsets
    else:
        ptrs = x_ptr + strided_offsets(offsets, shape, strides)
    g = gate(ptrs, mask)
    x = tl.load(ptrs, mask=mask, other=0.0).to(tl.float32)
    tl.store(output_ptr + offsets, (x * g).to(output_ptr.dtype.element_ty), mask=mask)


def gelu(x: torch.Tensor) -> torch.Tensor:
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_gelu(x, output)
    return output


def launch_gelu(x: torch.Tensor, output: torch.Tensor) -> None:
    if x.ndim > 4:
        for i in range(x.shape[0]):
            launch_gelu(x[i], output[i])
        return
    wide = x[(None,) * (4 - x.ndim)]
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    gelu_kernel[grid](
        x, output, n_elements, tuple(wide.shape), wide.stride(),
        CONTIGUOUS=x.is_contiguous(), BLOCK_SIZE=1024,
    )  # fmt: skip
