import torch
import triton
import triton.language as tl


@triton.jit
def by_descriptor(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    sam,
    sbk,
    scm,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[sam, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[sbk, 1], block_shape=[BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[scm, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([k, n]), acc, input_precision="ieee")
    c_desc.store([m, n], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def by_pointer(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    m = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    n = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = (k0 + tl.arange(0, BK)).to(tl.int64)
        a = tl.load(a_ptr + m[:, None] * sam + k * sak, mask=(m[:, None] < M) & (k < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * sbk + n * sbn, mask=(k[:, None] < K) & (n < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n, acc, mask=(m[:, None] < M) & (n < N))


def fits(t):
    return (
        t.stride(1) == 1
        and t.stride(0) * t.element_size() % 16 == 0
        and t.stride(0) >= t.shape[1]
        and t.data_ptr() % 16 == 0
    )


def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if not c.numel():
        return c
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    if k > 0 and fits(a) and fits(b) and fits(c):
        if a.is_cuda:
            triton.set_allocator(
                lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=a.device)
            )
        by_descriptor[grid](
            a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), BM=64, BN=64, BK=32
        )
    else:
        by_pointer[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), BM=64, BN=64, BK=32)
    return c
