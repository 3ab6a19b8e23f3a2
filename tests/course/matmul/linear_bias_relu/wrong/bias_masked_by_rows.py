"""The mask of the bias compares columns with the number of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, stride_xm, stride_xk, stride_wn, stride_wk, stride_b,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    tiles_m = tl.cdiv(M, BM)
    for t in range(tl.program_id(0), tiles_m * tl.cdiv(N, BN), tl.num_programs(0)):
        m = (t % tiles_m) * BM + tl.arange(0, BM)
        n = (t // tiles_m) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK)
            x = tl.load(
                x_ptr + m[:, None] * stride_xm + k[None, :] * stride_xk,
                mask=(m < M)[:, None] & (k < K)[None, :], other=0.0,
            )
            w = tl.load(
                w_ptr + n[:, None] * stride_wn + k[None, :] * stride_wk,
                mask=(n < N)[:, None] & (k < K)[None, :], other=0.0,
            )
            acc += tl.dot(x, tl.trans(w), input_precision="ieee")
        acc += tl.load(b_ptr + n * stride_b, mask=n < M, other=0.0).to(tl.float32)[None, :]
        y = tl.where(acc > 0, acc, 0.0).to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + m[:, None] * N + n[None, :], y, mask=(m < M)[:, None] & (n < N)[None, :])


def linear_bias_relu(x, w, b):
    (M, K), N = x.shape, w.shape[0]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    if M * N:
        linear_kernel[(min(32, triton.cdiv(M, 32) * triton.cdiv(N, 16)),)](
            x, w, b, out, M, N, K, x.stride(0), x.stride(1), w.stride(0), w.stride(1), b.stride(0),
            BM=32, BN=16, BK=32,
        )
    return out
