"""dy - y * sum: the factor y is missing at dy."""

import torch
import triton
import triton.language as tl

@triton.jit
def softmax_backward_kernel(
    y_ptr, dy_ptr, output_ptr, n_cols,
    y_strides, dy_strides, output_strides,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    y_ptr += row * y_strides[0]
    dy_ptr += row * dy_strides[0]
    output_ptr += row * output_strides[0]
    total = tl.zeros((BLOCK_SIZE,), tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        y = tl.load(y_ptr + cols * y_strides[1], mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + cols * dy_strides[1], mask=mask, other=0.0).to(tl.float32)
        total += dy * y
    dot = tl.sum(total, axis=0)
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE).to(tl.int64)
        mask = cols < n_cols
        y = tl.load(y_ptr + cols * y_strides[1], mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + cols * dy_strides[1], mask=mask, other=0.0).to(tl.float32)
        dx = dy - y * dot
        tl.store(output_ptr + cols * output_strides[1], dx.to(output_ptr.dtype.element_ty), mask=mask)


def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    output = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    block_size = min(4096, triton.next_power_of_2(y.shape[1]))
    softmax_backward_kernel[(y.shape[0],)](
        y, dy, output, y.shape[1],
        y.stride(), dy.stride(), output.stride(),
        BLOCK_SIZE=max(16, block_size),
    )
    return output
