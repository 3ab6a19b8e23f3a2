import torch
import triton
import triton.language as tl


@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    n_tiles = tl.cdiv(M, BM) * tiles_n
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        m = tile // tiles_n * BM + tl.arange(0, BM).to(tl.int64)
        n = tile % tiles_n * BN + tl.arange(0, BN).to(tl.int64)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK).to(tl.int64)
            a = tl.load(a_ptr + m[:, None] * am + k[None, :] * ak, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + k[:, None] * bk + n[None, :] * bn, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def persistent_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    tiles = triton.cdiv(M, 64) * triton.cdiv(N, 64)
    processors = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 132
    if tiles:
        mm[(min(processors, tiles),)](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=32)
    return c
