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


# %% find_bug
def find_bug(run) -> int:
    """Return 1 if the copy kernel behind `run` has a bug, else 0.

    `run(numbers)` launches the kernel on a list of at most 1,000 numbers, and returns its copy as
    a tuple. A correct copy has the same numbers in the same order; NaN stays NaN. The kernel's
    block has 2, 4, 8, 16, 32 or 64 lanes.
    """
    # 1. Inputs: which lengths, and which values?
    # 2. Run the kernel on each of them. Does the copy have the same length and the same numbers?
    # 3. Return 1 at the first difference. Return 0 if there is none.
    ### BEGIN SOLUTION
    powers = [2**power for power in range(1, 8)]
    lengths = [0, 1, 1000, *(n + near for n in powers for near in (-1, 0, 1))]
    # Other numbers for each length: the output's memory still has those of the last run.
    inputs = [[(-1) ** i * (i + n + 0.25) for i in range(n)] for n in lengths]
    inputs.append([float("nan"), float("inf"), float("-inf")])
    for numbers in inputs:
        copied = run(numbers)
        if len(copied) != len(numbers):
            return 1
        for number, copy_of_it in zip(numbers, copied, strict=True):
            both_nan = number != number and copy_of_it != copy_of_it
            if number != copy_of_it and not both_nan:
                return 1
    return 0
    ### END SOLUTION
