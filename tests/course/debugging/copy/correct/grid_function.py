import torch
import triton
import triton.language as tl


@triton.jit
def k(a, c, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(a + i, i < N, 0)
    tl.store(c + i, v, i < N)


def copy(x):
    z = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    k[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, z, x.numel(), BLOCK=2048, num_warps=8)
    return z
