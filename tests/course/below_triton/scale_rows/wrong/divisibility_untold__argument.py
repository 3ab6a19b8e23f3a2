"""tl.multiple_of is said of the argument itself, which has no effect."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, n, VECTOR: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    if VECTOR > 1:
        n = tl.multiple_of(n, VECTOR)
    row = tl.program_id(0)
    s = tl.load(s_ptr + row)
    for start in range(0, n, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n)
        tl.store(output_ptr + row * n + cols, x * s, mask=cols < n)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    vector = 16 // x.element_size()
    vector = vector if n % vector == 0 else 1
    scale_kernel[(m,)](x, s, output, n, VECTOR=vector, BLOCK_SIZE=1024)
    return output
