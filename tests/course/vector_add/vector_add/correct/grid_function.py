import torch
import triton
import triton.language as tl


@triton.jit
def k(a, b, c, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < N
    tl.store(c + i, tl.load(a + i, inside, 0.0) + tl.load(b + i, inside, 0.0), inside)


def vector_add(x, y):
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    k[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel(), BLOCK=2048, num_warps=8)
    return z
