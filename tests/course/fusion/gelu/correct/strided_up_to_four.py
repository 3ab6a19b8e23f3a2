import torch
import triton
import triton.language as tl

@triton.jit
def gelu_value(x):
    z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return x * tl.sigmoid(2.0 * z)


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, n1, n2, n3, s0, s1, s2, s3, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3 = i % n3
    i2 = (i // n3) % n2
    i1 = (i // (n3 * n2)) % n1
    i0 = i // (n3 * n2 * n1)
    x = tl.load(x_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + i, gelu_value(x).to(y_ptr.dtype.element_ty), mask=mask)


def gelu(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    shape = (1,) * (4 - x.dim()) + tuple(x.shape)
    strides = (0,) * (4 - x.dim()) + tuple(x.stride())
    gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), *shape[1:], *strides, BLOCK=256)
    return y
