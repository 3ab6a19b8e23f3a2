import torch
import triton
import triton.language as tl


@triton.jit
def chunk_kernel(x_ptr, output_ptr, n_elements, CHUNK: tl.constexpr, STEP: tl.constexpr):
    """Each program walks through a chunk in steps of STEP."""
    position = tl.program_id(0) * CHUNK
    end = tl.minimum(position + CHUNK, n_elements)
    while position < end:
        offsets = position + tl.arange(0, STEP)
        mask = offsets < end
        item = tl.load(x_ptr + offsets, mask=mask)
        tl.store(output_ptr + offsets, tl.where(item > 0.0, item, 0.0), mask=mask)
        position += STEP


def relu2d(x):
    output = torch.empty_like(x)
    chunk_kernel[(triton.cdiv(x.numel(), 1500),)](x, output, x.numel(), CHUNK=1500, STEP=128)
    return output
