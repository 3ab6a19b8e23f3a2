"""Model solution of the lesson on memory and compute: a ReLU, one operation per element."""

import torch
import triton
import triton.language as tl


# %% relu2d
@triton.jit
def relu_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Apply the ReLU to one block of `BLOCK_SIZE` elements.

    x_ptr and output_ptr point to the first of `n_elements` contiguous elements.
    """
    # 1. The offsets of my block, and a mask that is true for elements of the matrix. The matrix
    #    is contiguous: in memory its rows follow one another without a gap.
    # 2. Load, take the larger of x and 0, store: 1 operation, 1 load and 1 store per element.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    offsets = pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)
    ### END SOLUTION


def relu2d(x: torch.Tensor) -> torch.Tensor:
    """Return max(x, 0), element by element.

    x: 2D, contiguous (float32, float16 or bfloat16). The result is a new tensor of the same
    shape and dtype. Where x is NaN, the result may be NaN or 0.
    """
    # 3. Allocate the result, count the elements, choose the block size and the grid, launch.
    ### BEGIN SOLUTION
    output = torch.empty_like(x)
    n_elements = output.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    relu_kernel[grid](x, output, n_elements, BLOCK_SIZE=block_size)
    return output
    ### END SOLUTION
