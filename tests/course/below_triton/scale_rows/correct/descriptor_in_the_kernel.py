"""A descriptor that the kernel makes, where its rules permit one."""

import torch
import triton
import triton.language as tl


@triton.jit
def described_kernel(x_ptr, s_ptr, output_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    first, left = tl.program_id(0) * BM, tl.program_id(1) * BN
    rows = first + tl.arange(0, BM)
    s = tl.load(s_ptr + rows, mask=rows < m)
    x_tiles = tl.make_tensor_descriptor(x_ptr, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    out_tiles = tl.make_tensor_descriptor(output_ptr, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    out_tiles.store([first, left], x_tiles.load([first, left]) * s[:, None])


@triton.jit
def plain_kernel(x_ptr, s_ptr, output_ptr, m, n, VECTOR: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    n = n // VECTOR * VECTOR
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    offsets = rows[:, None] * n + cols[None, :]
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    s = tl.load(s_ptr + rows, mask=rows < m)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * s[:, None], mask=mask)


def memory_for(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 64))
    vector = 16 // x.element_size()
    if n % 16 == 0 and x.data_ptr() % 16 == 0 and output.data_ptr() % 16 == 0:
        triton.set_allocator(memory_for)
        described_kernel[grid](x, s, output, m, n, BM=16, BN=64)
    else:
        vector = 1 if n % vector else vector
        plain_kernel[grid](x, s, output, m, n, VECTOR=vector, BM=16, BN=64)
    return output
