"""Model solution of the lesson on randomness: dropout that computes its mask in the kernel."""

import torch
import triton
import triton.language as tl


# %% dropout_residual
@triton.jit
def places_of(elements, shape, strides):
    """Return the offsets of elements that are numbered row after row, from the first element.

    shape and strides are those of the tensor, with an entry for each axis; counted in elements.
    """
    places = elements * 0
    for axis in tl.static_range(len(shape) - 1, -1, -1):
        places += elements % shape[axis] * strides[axis]
        elements = elements // shape[axis]
    return places


@triton.jit
def dropout_residual_kernel(
    x_ptr, residual_ptr, output_ptr, n_elements, shape, x_strides, residual_strides, p, seed,
    DENSE: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    """Compute BLOCK_SIZE elements of residual + dropout(x).

    All three tensors have this shape and `n_elements` elements. The output is contiguous. DENSE
    says that x and residual are contiguous as well.
    """
    # 1. Compute the numbers of the elements, row after row through the whole tensor; a mask.
    # 2. Compute their offsets in x and in residual: `places_of(...)`, or the numbers if DENSE.
    # 3. Load both, and convert to float32.
    # 4. Compute a random number for each element: `tl.rand(seed, ...)`. Which counter?
    # 5. Where the number is p or more, store residual + x / (1 - p). Elsewhere store residual.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    elements = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = elements < n_elements
    if DENSE:
        x_places = elements
        residual_places = elements
    else:
        x_places = places_of(elements, shape, x_strides)
        residual_places = places_of(elements, shape, residual_strides)
    x = tl.load(x_ptr + x_places, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + residual_places, mask=mask, other=0.0).to(tl.float32)
    keep = tl.rand(seed, elements) >= p
    result = tl.where(keep, residual + x / (1 - p), residual)
    tl.store(output_ptr + elements, result.to(output_ptr.dtype.element_ty), mask=mask)
    ### END SOLUTION


def dropout_residual(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Return residual + x / (1 - p) where an element of x is kept, and residual elsewhere.

    x, residual: the same shape, one axis or more, any strides, of the same dtype (float32,
    float16 or bfloat16). Element number i, row after row, is kept where `tl.rand(seed, i) >= p`.
    p: 0 <= p < 1. The result is a new contiguous tensor with the shape and the dtype of x.
    """
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n_elements = x.numel()
    if n_elements == 0:
        return output
    block_size = 1024
    dropout_residual_kernel[(triton.cdiv(n_elements, block_size),)](
        x, residual, output, n_elements, x.shape, x.stride(), residual.stride(), p, seed,
        DENSE=x.is_contiguous() and residual.is_contiguous(), BLOCK_SIZE=block_size,
    )  # fmt: skip
    return output
