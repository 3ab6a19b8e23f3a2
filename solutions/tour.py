"""Model solution of the tour: each element doubled."""

import torch
import triton
import triton.language as tl


# %% double
@triton.jit
def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Double one block of `BLOCK_SIZE` elements.

    x_ptr and output_ptr point to the first of `n_elements` contiguous elements.
    """
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    # In 64 bits, because a large vector has more than 2**31 elements.
    offsets = pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, 2 * x, mask=mask)
    ### END SOLUTION


def double(x: torch.Tensor) -> torch.Tensor:
    """Return 2 * x.

    x: 1D, contiguous, float32. The result is a new tensor of the same shape and dtype.
    """
    ### BEGIN SOLUTION
    output = torch.empty_like(x)
    n_elements = output.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output
    ### END SOLUTION
