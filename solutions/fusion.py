"""Model solution of the lesson on fusion: GELU with one load and one store per element."""

import torch
import triton
import triton.language as tl


# %% gelu
@triton.jit
def strided_offsets(offsets, shape, strides):
    """Return the offsets in memory of elements of a 4D tensor with this shape and these strides.

    `offsets` numbers the elements row after row. The result is counted in elements, too.
    """
    index_3 = offsets % shape[3]
    index_2 = offsets // shape[3] % shape[2]
    index_1 = offsets // shape[3] // shape[2] % shape[1]
    index_0 = offsets // shape[3] // shape[2] // shape[1]
    upper = index_0 * strides[0] + index_1 * strides[1]
    return upper + index_2 * strides[2] + index_3 * strides[3]


@triton.jit
def gelu_kernel(
    x_ptr, output_ptr, n_elements, shape, strides,
    CONTIGUOUS: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    """Apply GELU (tanh form) to one block of `BLOCK_SIZE` elements.

    x is a 4D tensor of `n_elements` elements; `shape` and `strides` have four numbers each. The
    output is contiguous. CONTIGUOUS says that x is contiguous as well.
    """
    # 1. The offsets of the program's block in the output, and the mask of those that exist.
    # 2. The offsets in x: the same if x is contiguous, `strided_offsets(...)` if not.
    # 3. Load x once, and compute in float32.
    # 4. gelu(x) = 0.5 x (1 + tanh(z)) with z = sqrt(2 / pi) (x + 0.044715 x^3).
    #    Triton has no tanh of its own, but 0.5 (1 + tanh(z)) = sigmoid(2 z).
    # 5. Store once.
    ### BEGIN SOLUTION
    # In 64 bits, because an offset can exceed 2**31 elements.
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x_offsets = offsets if CONTIGUOUS else strided_offsets(offsets, shape, strides)
    x = tl.load(x_ptr + x_offsets, mask=mask, other=0.0).to(tl.float32)
    z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    result = x * tl.sigmoid(2.0 * z)
    tl.store(output_ptr + offsets, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Return the GELU of x in its tanh form: `torch.nn.functional.gelu(x, approximate="tanh")`.

    x: any shape and any strides (float32, float16 or bfloat16).
    The result is a new contiguous tensor of the same shape and dtype.
    """
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_gelu(x, output)
    return output


def launch_gelu(x: torch.Tensor, output: torch.Tensor) -> None:
    """Fill the contiguous `output` with the GELU of x."""
    if x.ndim > 4:  # the kernel takes four dimensions: launch it for each slice of x
        for i in range(x.shape[0]):
            launch_gelu(x[i], output[i])
        return
    wide = x[(None,) * (4 - x.ndim)]  # axes of length 1 in front
    n_elements = x.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    gelu_kernel[grid](
        x, output, n_elements, tuple(wide.shape), wide.stride(),
        CONTIGUOUS=x.is_contiguous(), BLOCK_SIZE=block_size,
    )  # fmt: skip
