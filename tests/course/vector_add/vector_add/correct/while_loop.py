import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, CHUNK: tl.constexpr, STEP: tl.constexpr):
    """Each program walks through a chunk of CHUNK elements in steps of STEP."""
    start = tl.program_id(0) * CHUNK
    end = tl.minimum(start + CHUNK, n_elements)
    position = start
    while position < end:
        offsets = position + tl.arange(0, STEP)
        mask = offsets < end
        total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
        tl.store(output_ptr + offsets, total, mask=mask)
        position += STEP


def vector_add(x, y):
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1000),)](x, y, output, x.numel(), CHUNK=1000, STEP=128)
    return output
