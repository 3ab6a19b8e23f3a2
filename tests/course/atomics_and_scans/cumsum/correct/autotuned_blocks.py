import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=w) for block, w in ((128, 2), (1024, 4))],
    key=["n"],
)
@triton.jit
def tuned_kernel(x_ptr, y_ptr, n, sr, sc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carried = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < n, other=0.0).to(tl.float32)
        y = carried + tl.cumsum(x, axis=0)
        tl.store(y_ptr + row * n + cols, y.to(y_ptr.dtype.element_ty), mask=cols < n)
        carried += tl.sum(x, axis=0)


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if m * n:
        tuned_kernel[lambda meta: (m,)](x, y, n, x.stride(0), x.stride(1))
    return y
