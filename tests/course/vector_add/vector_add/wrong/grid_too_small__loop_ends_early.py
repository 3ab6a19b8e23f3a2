"""The loop of each program ends before the last block."""

import torch
import triton
import triton.language as tl

@triton.jit
def _load(ptr, offs, n):
    return tl.load(ptr + offs, mask=offs < n, other=0.0).to(tl.float32)


@triton.jit
def add_persistent(x_ptr, y_ptr, out_ptr, n, n_blocks, BLOCK: tl.constexpr):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    lanes = tl.arange(0, BLOCK)
    for block in tl.range(start, n_blocks - 1, step):
        offs = block.to(tl.int64) * BLOCK + lanes
        total = _load(x_ptr, offs, n) + _load(y_ptr, offs, n)
        tl.store(out_ptr + offs, total.to(out_ptr.dtype.element_ty), mask=offs < n)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    assert x.shape == y.shape, "shapes differ"
    assert x.dtype == y.dtype and x.is_contiguous() and y.is_contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    BLOCK = 256
    n_blocks = triton.cdiv(x.numel(), BLOCK)
    if n_blocks == 0:
        return out
    add_persistent[(min(16, n_blocks),)](x, y, out, x.numel(), n_blocks, BLOCK=BLOCK, num_warps=2)
    return out
