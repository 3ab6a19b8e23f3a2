"""Each nibble has a dot of its own, with every eighth column of a."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G, sam, sak,
    BM: tl.constexpr, BN: tl.constexpr, BW: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    n_words = K // 8
    for start in range(0, n_words, BW):
        rw = start + tl.arange(0, BW)
        b_mask = (rw[:, None] < n_words) & (rn[None, :] < N)
        a_mask = (rm[:, None] < M) & (rw[None, :] < n_words)
        words = tl.load(b_ptr + rw[:, None] * N + rn[None, :], mask=b_mask, other=0)
        # A group has a multiple of sixteen rows, so a word lies within one.
        at = (rw * 8 // G)[:, None] * N + rn[None, :]
        scale = tl.load(s_ptr + at, mask=b_mask, other=0.0).to(tl.float32)
        zero = tl.load(z_ptr + at, mask=b_mask, other=0).to(tl.int32)
        for i in tl.static_range(8):
            a = tl.load(
                a_ptr + rm[:, None] * sam + (rw * 8 + i)[None, :] * sak, mask=a_mask, other=0.0
            )
            b = (((words >> (4 * i)) & 0xF) - zero).to(tl.float32) * scale
            acc = tl.dot(a, b.to(a.dtype), acc)
    tl.store(
        c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )  # fmt: skip


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0], a.stride(0), a.stride(1),
        BM=32, BN=32, BW=16,
    )  # fmt: skip
    return c
