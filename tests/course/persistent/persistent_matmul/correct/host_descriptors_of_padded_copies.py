"""What no descriptor can follow is copied into rows that one can."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def with_descriptors(a_desc, b_desc, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, tl.num_programs(0)):
        first_m, first_n = tile // tiles_n * BM, tile % tiles_n * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            acc += tl.dot(a_desc.load([first_m, k]), b_desc.load([k, first_n]), input_precision="ieee")
        m = first_m + tl.arange(0, BM).to(tl.int64)[:, None]
        n = first_n + tl.arange(0, BN)[None, :]
        tl.store(c_ptr + m * N + n, acc.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def described(x, rows, columns):
    """A descriptor of x; of a dense copy with padded rows where x cannot be followed."""
    step = 16 // x.element_size()
    if x.stride(1) == 1 and x.stride(0) % step == 0 and x.stride(0) >= x.shape[1] and x.data_ptr() % 16 == 0:
        return TensorDescriptor(x, list(x.shape), list(x.stride()), [rows, columns])
    width = triton.cdiv(x.shape[1], step) * step
    copy = torch.empty((x.shape[0], width), dtype=x.dtype, device=x.device)[:, : x.shape[1]]
    copy.copy_(x)
    return TensorDescriptor(copy, list(x.shape), list(copy.stride()), [rows, columns])


def persistent_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    if M * N * K == 0:
        return torch.zeros((M, N), dtype=a.dtype, device=a.device)
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    tiles = triton.cdiv(M, 64) * triton.cdiv(N, 32)
    with_descriptors[(min(tiles, 132),)](described(a, 64, 32), described(b, 32, 32), c, M, N, K, BM=64, BN=32, BK=32)
    return c
