"""The random number goes through bfloat16."""

import torch
import triton
import triton.language as tl


@triton.jit
def staying_kernel(x_ptr, r_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for start in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + lanes
        mask = i < n
        number = tl.rand(seed, i)
        x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(r_ptr + i, mask=mask, other=0.0).to(tl.float32)
        y = r + tl.where(number.to(tl.bfloat16).to(tl.float32) < p, 0.0, x / (1 - p))
        tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=mask)


def dropout_residual(x, residual, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel():
        programs = min(8, triton.cdiv(x.numel(), 512))
        staying_kernel[(programs,)](
            x.contiguous(), residual.contiguous(), y, x.numel(), p, seed, BLOCK=512
        )
    return y
