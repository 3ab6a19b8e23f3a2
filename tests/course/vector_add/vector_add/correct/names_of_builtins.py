"""Variables of the kernel have the names of Python's builtins, or of placeholders."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, len, BLOCK_SIZE: tl.constexpr):
    id = tl.program_id(0).to(tl.int64)
    range = id * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    locals = range < len
    if id * BLOCK_SIZE < len:
        BODY = tl.load(x_ptr + range, mask=locals)
        sum = BODY + tl.load(y_ptr + range, mask=locals)
        tl.store(output_ptr + range, sum, mask=locals)


def vector_add(x, y):
    output = torch.empty_like(x)
    grid = (triton.cdiv(output.numel(), 1024),)
    add_kernel[grid](x, y, output, output.numel(), BLOCK_SIZE=1024)
    return output
