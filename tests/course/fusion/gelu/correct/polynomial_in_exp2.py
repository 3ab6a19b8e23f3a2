"""exp2 instead of exp, a while loop over chunks, an assertion and a warning."""

import torch
import triton
import triton.language as tl

LOG2_E = 1.4426950408889634


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, CHUNK: tl.constexpr, STEP: tl.constexpr, LOG2_E: tl.constexpr):
    start = tl.program_id(0) * CHUNK
    stop = min(start + CHUNK, n)
    while start < stop:
        i = start + tl.arange(0, STEP)
        inside = i < stop
        x = tl.load(x_ptr + i, mask=inside, other=0.0).to(tl.float32)
        u = 1.5957691216057308 * (x + 0.044715 * x * x * x)
        y = x / (1.0 + tl.exp2(-u * LOG2_E))
        tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=inside)
        start += STEP


def gelu(x: torch.Tensor) -> torch.Tensor:
    assert x.is_floating_point(), f"gelu needs floats, got {x.dtype}"
    dense = x.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    gelu_kernel[(triton.cdiv(x.numel(), 2000),)](dense, y, x.numel(), CHUNK=2000, STEP=256, LOG2_E=LOG2_E)
    return y
