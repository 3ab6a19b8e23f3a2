"""Fast form of GELU: fewer instructions between the load and the store.

Why the plain form falls short by two percent: at the speed of memory, each multiprocessor has
only some thirty instructions' time for an element. Here the polynomial, the factor 2 and the
log2(e) that exp needs are folded into two constants, and sigmoid and product into one division:

    x * sigmoid(2 z) = x / (1 + exp(-2 z)) = x / (1 + 2^-(x * (A + B * x^2)))
"""

import torch
import triton
import triton.language as tl

from solutions import fusion as plain


@triton.jit
def gelu_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Apply GELU (tanh form) to BLOCK_SIZE of n_elements contiguous elements."""
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    # A = 2 sqrt(2 / pi) log2(e), B = 0.044715 A
    exponent = x * (2.302208198144325 + 0.1029432395800235 * x * x)
    result = x / (1.0 + tl.exp2(-exponent))
    tl.store(output_ptr + offsets, result.to(output_ptr.dtype.element_ty), mask=mask)


# %% gelu
def gelu(x: torch.Tensor) -> torch.Tensor:
    """Return the GELU of x in its tanh form; the contract is that of the plain form."""
    if not x.is_contiguous():
        return plain.gelu(x)
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block_size = 1024
    grid = (triton.cdiv(x.numel(), block_size),)
    gelu_kernel[grid](x, output, x.numel(), BLOCK_SIZE=block_size)
    return output
