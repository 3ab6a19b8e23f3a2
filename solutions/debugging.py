"""Model solution of the lesson on debugging: the copy kernel without its three bugs."""

import torch
import triton
import triton.language as tl


# %% copy
@triton.jit
def copy_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Copy one block of `BLOCK_SIZE` elements.

    x_ptr and output_ptr point to the first of `n_elements` contiguous elements.
    """
    # 1. The offsets of my block: each program has its own block of BLOCK_SIZE elements.
    # 2. A mask that is true only for offsets inside the vector.
    # 3. Load and store, both under the mask.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    # In 64 bits: a large vector has more than 2**31 elements.
    offsets = pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    ### END SOLUTION


def copy(x: torch.Tensor) -> torch.Tensor:
    """Return a copy of x in memory of its own, equal bit for bit.

    x: 1D, contiguous, of any dtype. The result is a new tensor of the same shape and dtype.
    """
    output = torch.empty_like(x)
    n_elements = output.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    copy_kernel[grid](x, output, n_elements, BLOCK_SIZE=block_size)
    return output
