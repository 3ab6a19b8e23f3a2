"""Each lane computes one element of the flattened result, number after number along k."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, n, k, n_elements, sam, sak, sbk, sbn,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    row, column = offsets // n, offsets % n
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for i in range(k):
        x = tl.load(a_ptr + row * sam + i * sak, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(b_ptr + i * sbk + column * sbn, mask=mask, other=0.0).to(tl.float32)
        total = tl.fma(x, y, total)
    total *= tl.load(sa_ptr + row, mask=mask, other=0.0)
    total *= tl.load(sb_ptr + column, mask=mask, other=0.0)
    tl.store(c_ptr + offsets, total, mask=mask)


def fp8_matmul(a, b, scale_a, scale_b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=torch.bfloat16, device=a.device)
    count = c.numel()
    kernel[(triton.cdiv(count, 512),)](
        a, b, scale_a, scale_b, c, b.shape[1], a.shape[1], count, *a.stride(), *b.stride(),
        BLOCK_SIZE=512,
    )  # fmt: skip
    return c
