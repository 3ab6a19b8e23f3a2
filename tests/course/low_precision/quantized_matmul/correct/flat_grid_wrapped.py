"""A one-dimensional grid in groups of rows; rows and columns beyond the end wrap round."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, group_size,
    stride_am, stride_ak, stride_bk, stride_bn, stride_sg, stride_sn, stride_zg, stride_zn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * num_n
    first_m = pid // in_group * GROUP_M
    size_m = min(num_m - first_m, GROUP_M)
    pid_m = first_m + pid % in_group % size_m
    pid_n = pid % in_group // size_m
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        in_k = offs_k < K
        a = tl.load(
            a_ptr + offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak,
            mask=in_k[None, :], other=0.0,
        )  # fmt: skip
        packed = tl.load(
            b_ptr + (offs_k // 8)[:, None] * stride_bk + offs_bn[None, :] * stride_bn,
            mask=in_k[:, None], other=0,
        )  # fmt: skip
        q = (packed >> (offs_k % 8 * 4)[:, None]) & 0xF
        g = offs_k // group_size
        s = tl.load(
            s_ptr + g[:, None] * stride_sg + offs_bn[None, :] * stride_sn,
            mask=in_k[:, None], other=0.0,
        )  # fmt: skip
        z = tl.load(
            z_ptr + g[:, None] * stride_zg + offs_bn[None, :] * stride_zn,
            mask=in_k[:, None], other=0,
        )  # fmt: skip
        b = (q.to(tl.float32) - z.to(tl.float32)) * s
        acc = tl.dot(a.to(tl.float32), b, acc, input_precision="ieee")
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    keep = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=keep)


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    _, N = packed_b.shape
    c = a.new_empty((M, N))
    BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 128
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0],
        *a.stride(), *packed_b.stride(), *scales.stride(), *zeros.stride(),
        BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M=4,
    )  # fmt: skip
    return c
