"""A block of vectors: the second axis counts the elements of one of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, vectors, per_row, VECTOR: tl.constexpr, BLOCK: tl.constexpr):
    """Vectors of VECTOR elements are numbered through the whole matrix, per_row of them in a row."""
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = number < vectors
    s = tl.load(s_ptr + number // per_row, mask=inside)
    offsets = number[:, None] * VECTOR + tl.arange(0, VECTOR)[None, :]
    mask = inside[:, None] & (tl.arange(0, VECTOR) >= 0)[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x * s[:, None], mask=mask)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    vector = 16 // x.element_size()
    while n % vector:
        vector //= 2
    vectors = m * n // vector
    grid = (triton.cdiv(vectors, 256),)
    scale_kernel[grid](x, s, output, vectors, n // vector, VECTOR=vector, BLOCK=256)
    return output
