"""Type hints, checks with f-strings, a message while debugging, constants, an early return."""

import torch
import triton
import triton.language as tl


BLOCK_SIZE: int = 1024
NUM_WARPS = 4
VERBOSE = False


@triton.jit
def add_kernel(
    x_ptr,  # pointer to the first input
    y_ptr,  # pointer to the second input
    output_ptr,
    n_elements: tl.int32,
    BLOCK_SIZE: tl.constexpr,
) -> None:
    """Add x and y, block by block."""
    tl.static_assert(BLOCK_SIZE >= 16)
    pid = tl.program_id(axis=0)  # which block is mine
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x + y."""
    assert x.shape == y.shape, f"shapes differ: {tuple(x.shape)} and {tuple(y.shape)}"
    if x.dtype != y.dtype:
        raise ValueError(f"dtypes differ: {x.dtype} and {y.dtype}")
    output = torch.empty_like(x)
    assert output.device == x.device and output.is_contiguous()
    n_elements = output.numel()
    if n_elements == 0:
        return output
    grid = (triton.cdiv(n_elements, BLOCK_SIZE), 1, 1)
    if VERBOSE:
        print(f"launching {grid[0]} programs for {n_elements} elements")
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=BLOCK_SIZE, num_warps=NUM_WARPS)
    return output
