"""The columns do not move on."""

import torch
import triton
import triton.language as tl


@triton.jit
def fp8_matmul_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K, a_strides, b_strides, c_strides,
    BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(axis=0)
    rows = pid_m * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(K, BLOCK_K)):
        inner = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + rows[:, None] * a_strides[0] + inner[None, :] * a_strides[1],
            mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + inner[:, None] * b_strides[0] + cols[None, :] * b_strides[1],
            mask=(inner[:, None] < K) & (cols[None, :] < N), other=0.0,
        )  # fmt: skip
        total += tl.dot(a, b)
    row_scales = tl.load(scale_a_ptr + rows, mask=rows < M, other=0.0)
    col_scales = tl.load(scale_b_ptr + cols, mask=cols < N, other=0.0)
    result = total * row_scales[:, None] * col_scales[None, :]
    tl.store(
        c_ptr + rows[:, None] * c_strides[0] + cols[None, :] * c_strides[1],
        result.to(tl.bfloat16),
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


def fp8_matmul(a, b, scale_a, scale_b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    fp8_matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, b, scale_a, scale_b, c, m, n, k, a.stride(), b.stride(), c.stride(),
        BLOCK=32, BLOCK_K=64,
    )  # fmt: skip
    return c
