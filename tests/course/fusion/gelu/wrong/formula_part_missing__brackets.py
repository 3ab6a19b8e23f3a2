"""0.5 * x * 1 + tanh: the brackets round 1 + tanh are missing."""

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
def tanh(z):
    # 1 - 2/(e^2z + 1) never divides inf by inf
    return 1 - 2 / (tl.exp(2 * z) + 1)


@triton.jit
def gelu_kernel(
    x_ptr,
    output_ptr,
    n_elements,
    n_1,
    n_2,
    n_3,
    stride_0,
    stride_1,
    stride_2,
    stride_3,
    CONTIGUOUS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):

    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    keep = offs < n_elements
    where = strided_offsets(
        offs.to(tl.int64), n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3
    )
    v = tl.load(x_ptr + where, keep, 0.0).to(tl.float32)
    out = 0.5 * v * 1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v))
    tl.store(output_ptr + offs, out, keep)


def gelu(x: torch.Tensor) -> torch.Tensor:
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_gelu(x, output)
    return output


def launch_gelu(x, output):
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
        x,
        output,
        n_elements,
        *shape[1:],
        *strides,
        CONTIGUOUS=x.is_contiguous(),
        BLOCK_SIZE=block_size,
    )
