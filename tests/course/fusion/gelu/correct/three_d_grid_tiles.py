import torch
import triton
import triton.language as tl


@triton.jit
def gelu_tile(x_ptr, y_ptr, B1, M, N, sb0, sb1, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    """One tile of one matrix of a batch with two batch dimensions."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    batch = tl.program_id(2)
    m = m.to(tl.int64)
    n = n.to(tl.int64)
    x_ptr += (batch // B1).to(tl.int64) * sb0 + (batch % B1).to(tl.int64) * sb1
    y_ptr += batch.to(tl.int64) * M * N
    inside = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * sm + n[None, :] * sn, mask=inside, other=0.0).to(tl.float32)
    y = x * tl.sigmoid(2.0 * 0.7978845608028654 * x * (1.0 + 0.044715 * x * x))
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def gelu(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    run(x, y)
    return y


def run(x, y):
    if x.numel() == 0:
        return
    if x.ndim > 4:
        for a, b in zip(x, y):
            run(a, b)
        return
    while x.ndim < 4:
        x = x.unsqueeze(0)
    b0, b1, m, n = x.shape
    gelu_tile[(triton.cdiv(n, 64), triton.cdiv(m, 16), b0 * b1)](
        x, y, b1, m, n, *x.stride(), BM=16, BN=64
    )
