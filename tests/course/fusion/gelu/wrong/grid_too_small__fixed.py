"""132 programs of 1024 elements, whatever the size."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_offsets(offsets, n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3):
    """Say where the elements of a 4D tensor of shape (any, n_1, n_2, n_3) lie.

    `offsets` numbers the elements row after row; the result is counted in elements too.
    """
    index_3 = offsets % n_3
    index_2 = offsets // n_3 % n_2
    index_1 = offsets // n_3 // n_2 % n_1
    index_0 = offsets // n_3 // n_2 // n_1
    return index_0 * stride_0 + index_1 * stride_1 + index_2 * stride_2 + index_3 * stride_3


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
    """Apply GELU (tanh form) to one block of `BLOCK_SIZE` elements.

    x is a 4D tensor of `n_elements` elements; its last three sizes and its four strides are
    given. The output is contiguous. CONTIGUOUS says that x is contiguous as well.
    """
    # 1. The offsets of my block in the output, and the mask of those that exist.
    # 2. The offsets in x: the same if x is contiguous, `strided_offsets(...)` if not.
    # 3. Load x once, and go on in float32.
    # 4. gelu(x) = 0.5 x (1 + tanh(z)) with z = sqrt(2 / pi) (x + 0.044715 x^3).
    #    Triton has no tanh of its own, but 0.5 (1 + tanh(z)) = sigmoid(2 z).
    # 5. Store once.
    # In 64 bits, because a stride can lead to an address more than 2**31 elements away.
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    if CONTIGUOUS:
        x_offsets = offsets
    else:
        x_offsets = strided_offsets(offsets, n_1, n_2, n_3, stride_0, stride_1, stride_2, stride_3)
    x = tl.load(x_ptr + x_offsets, mask=mask, other=0.0).to(tl.float32)
    z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    result = x * tl.sigmoid(2.0 * z)
    tl.store(output_ptr + offsets, result.to(output_ptr.dtype.element_ty), mask=mask)


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Return the GELU of x in its tanh form, as `torch.nn.functional.gelu(x, "tanh")` has it.

    x: any shape and any strides (float32, float16 or bfloat16).
    The result is a new contiguous tensor of the same shape and dtype.
    """
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    launch_gelu(x, output)
    return output


def launch_gelu(x: torch.Tensor, output: torch.Tensor) -> None:
    """Fill the contiguous `output` with the GELU of x."""
    if x.ndim > 4:  # the kernel knows four dimensions: take a longer tensor slice by slice
        for i in range(x.shape[0]):
            launch_gelu(x[i], output[i])
        return
    missing = 4 - x.ndim
    shape = (1,) * missing + tuple(x.shape)
    strides = (0,) * missing + x.stride()
    n_elements = x.numel()
    block_size = 1024
    grid = (132,)
    gelu_kernel[grid](
        x,
        output,
        n_elements,
        *shape[1:],
        *strides,
        CONTIGUOUS=x.is_contiguous(),
        BLOCK_SIZE=block_size,
    )
