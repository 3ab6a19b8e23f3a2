import torch
import triton
import triton.language as tl


@triton.jit
def add_interleaved(x_ptr, y_ptr, out_ptr, n, B: tl.constexpr):
    # program p takes the elements p, p + P, p + 2P, ...
    offs = tl.program_id(0) + tl.arange(0, B) * tl.num_programs(0)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    y = tl.load(y_ptr + offs, mask=m)
    tl.store(out_ptr + offs, x + y, mask=m)


def vector_add(x, y):
    out = torch.empty_like(x)
    add_interleaved[(max(1, triton.cdiv(x.numel(), 128)),)](x, y, out, x.numel(), B=128)
    return out
