"""Model solution of the lesson on vector addition: one block of elements per program."""

import torch
import triton
import triton.language as tl


# %% vector_add
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Add one block of `BLOCK_SIZE` elements of x and y, and store it in the output.

    x_ptr, y_ptr and output_ptr point to the first of `n_elements` contiguous elements.
    """
    # 1. Which program am I, and at which element does my block start?
    # 2. The offsets of the BLOCK_SIZE elements of my block.
    # 3. A mask that is true only for offsets inside the vectors.
    # 4. Load the two blocks, add them, store the sum, each under the mask.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    # In 64 bits: a large vector has more than 2**31 elements.
    block_start = pid.to(tl.int64) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)
    ### END SOLUTION


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x + y.

    x, y: 1D, contiguous, of the same shape and dtype (float32, float16 or bfloat16).
    The result is a new tensor with the shape and dtype of x. Empty vectors are allowed.
    """
    # 1. Allocate the output; the kernel fills it.
    # 2. Choose the grid: as many programs as it takes to cover all elements.
    # 3. Launch the kernel on that grid.
    # 4. Return the output.
    ### BEGIN SOLUTION
    output = torch.empty_like(x)
    n_elements = output.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=block_size)
    return output
    ### END SOLUTION
