import torch
import triton
import triton.language as tl

@triton.jit
def bias_relu_kernel(x_ptr, b_ptr, y_ptr, M, N, sm, sn, sb, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * sm + n[None, :] * sn, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + n * sb, mask=n < N, other=0.0).to(tl.float32)
    y = tl.maximum(x + b[None, :], 0.0)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=mask)


def bias_relu(x, bias):
    M, N = x.shape
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    bias_relu_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, bias, y, M, N, *x.stride(), *bias.stride(), BM=32, BN=32)
    return y
