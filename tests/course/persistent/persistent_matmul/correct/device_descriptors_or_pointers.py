import torch
import triton
import triton.language as tl


@triton.jit
def dense(a_ptr, b_ptr, c_ptr, M, N, K, sa, sb, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[sa, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[sb, 1], block_shape=[BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tiles_m = tl.cdiv(M, BM)
    n_tiles = tiles_m * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        m = tile % tiles_m * BM
        n = tile // tiles_m * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(a_desc.load([m, k]), b_desc.load([k, n]), acc, input_precision="ieee")
        c_desc.store([m, n], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def strided(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_m = tl.cdiv(M, BM)
    n_tiles = tiles_m * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        m = tile % tiles_m * BM + tl.arange(0, BM).to(tl.int64)
        n = tile // tiles_m * BN + tl.arange(0, BN).to(tl.int64)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in tl.range(0, K, BK):
            k = start + tl.arange(0, BK).to(tl.int64)
            a = tl.load(a_ptr + m[:, None] * am + k[None, :] * ak, mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + k[:, None] * bk + n[None, :] * bn, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def follows(x):
    return x.stride(1) == 1 and x.stride(0) >= x.shape[1] and x.stride(0) % (16 // x.element_size()) == 0 and x.data_ptr() % 16 == 0


def persistent_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    grid = (min(100, triton.cdiv(M, 32) * triton.cdiv(N, 64)),)
    if K > 0 and follows(a) and follows(b) and follows(c):
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=a.device))
        dense[grid](a, b, c, M, N, K, a.stride(0), b.stride(0), BM=32, BN=64, BK=64)
    else:
        strided[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=32, BN=64, BK=64)
    return c
