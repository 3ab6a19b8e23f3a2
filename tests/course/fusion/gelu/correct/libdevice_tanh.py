"""Four dimensions by index arithmetic, tanh from libdevice, a cached block size."""

from __future__ import annotations
import functools, math
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@functools.lru_cache(maxsize=None)
def pick_block(n: int) -> int:
    return min(triton.next_power_of_2(max(n, 1)), 512)

@triton.jit
def _gelu(x):
    c = 0.7978845608028654
    return 0.5 * x * (1.0 + libdevice.tanh(c * (x + 0.044715 * x * x * x)))

@triton.jit
def gelu_kernel(X, Y, s0, s1, s2, s3, n1, n2, n3, n, BLOCK: tl.constexpr):
    """strided gelu"""
    idx = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = idx < n
    i3 = idx % n3
    i2 = (idx // n3) % n2
    i1 = (idx // (n3 * n2)) % n1
    i0 = idx // (n3 * n2 * n1)
    v = tl.load(X + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=ok, other=0.0)
    r = _gelu(v.to(tl.float32))
    tl.store(Y + idx, r.to(Y.dtype.element_ty), mask=ok)

def gelu(x: torch.Tensor) -> torch.Tensor:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"expected tensor, got {type(x).__name__}")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = out.numel()
    if n == 0:
        return out
    shape = [1] * (4 - x.dim()) + list(x.shape)
    stride = [0] * (4 - x.dim()) + list(x.stride())
    B = pick_block(n)
    gelu_kernel[(math.ceil(n / B),)](x, out, *stride, *shape[1:], n, BLOCK=B, num_warps=4)
    return out
