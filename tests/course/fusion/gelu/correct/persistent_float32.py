import torch
import triton
import triton.language as tl

PROGRAMS = 6


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        e = tl.exp(-2.0 * tl.abs(z))
        tanh = (1.0 - e) / (1.0 + e)
        tanh = tl.where(z < 0, -tanh, tanh)
        tl.store(y_ptr + i, 0.5 * x * (1.0 + tanh), mask=i < n)


def gelu(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    y = torch.empty(flat.shape, dtype=torch.float32, device=x.device)
    gelu_kernel[(PROGRAMS,)](flat.contiguous(), y, flat.numel(), BLOCK=512)
    return y.to(x.dtype).view(x.shape)
