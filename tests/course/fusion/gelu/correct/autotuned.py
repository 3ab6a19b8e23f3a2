import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 1024}, num_warps=8)]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(y_ptr + i, (x * tl.sigmoid(2.0 * z)).to(y_ptr.dtype.element_ty), mask=i < n)


def gelu(x):
    dense = x if x.is_contiguous() else x.contiguous()
    y = torch.empty_like(dense)
    gelu_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](dense, y, x.numel())
    return y
