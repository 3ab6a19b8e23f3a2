"""A conversion to the same dtype makes the view dense, and the kernel copies that."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(a, b, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(b + i, tl.load(a + i, mask=i < n), mask=i < n)


def copy_flat(a):
    b = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    k[(triton.cdiv(a.numel(), 256),)](a, b, a.numel(), B=256)
    return b


def strided_copy(x):
    a = x.to(device=x.device, memory_format=torch.contiguous_format, copy=True)
    return copy_flat(a)
