import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).cast(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(
        x_ptr + row * stride_row + cols.to(tl.int64) * stride_col, mask=mask, other=-float("inf")
    ).to(tl.float32)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    s = tl.sum(e, axis=0)
    tl.store(output_ptr + row * n_cols + cols, tl.fdiv(e, s), mask=mask)


@triton.jit
def prev_multiple(a, b: tl.constexpr):
    return tl.cdiv(a, b) * b - b


@triton.jit
def softmax_long_kernel(
    x_ptr, output_ptr, n_cols, stride_row, stride_col, BLOCK_SIZE: tl.constexpr
):
    """Walks forward for the statistics and backward for the result: what was read last is still in the cache."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride_row
    output_ptr += row * n_cols
    m = tl.full([BLOCK_SIZE], value=float("-inf"), dtype=tl.float32)
    z = tl.full([BLOCK_SIZE], value=0.0, dtype=tl.float32)
    last = prev_multiple(n_cols, BLOCK_SIZE)
    for start in range(0, last, BLOCK_SIZE):
        at = start + tl.arange(0, BLOCK_SIZE)
        v = tl.load(x_ptr + at.to(tl.int64) * stride_col).to(tl.float32)
        m_new = tl.maximum(m, v)
        dead = m_new == float("-inf")
        z = tl.where(dead, z, z * tl.exp(m - m_new) + tl.exp(v - m_new))
        m = m_new
    at = last + tl.arange(0, BLOCK_SIZE)
    v = tl.load(x_ptr + at.to(tl.int64) * stride_col, mask=at < n_cols, other=-float("inf")).to(
        tl.float32
    )
    m_new = tl.maximum(m, v)
    dead = m_new == float("-inf")
    z = tl.where(dead, z, z * tl.exp(m - m_new) + tl.exp(v - m_new))
    m_row = tl.max(m_new, 0)
    z_row = tl.sum(z * tl.exp(m_new - m_row), 0)
    tl.store(output_ptr + at, tl.exp(v - m_row) / z_row, mask=at < n_cols)
    for back in range(BLOCK_SIZE, last + BLOCK_SIZE, BLOCK_SIZE):
        at = last - back + tl.arange(0, BLOCK_SIZE)
        v = tl.load(x_ptr + at.to(tl.int64) * stride_col).to(tl.float32)
        tl.store(output_ptr + at, tl.exp(v - m_row) / z_row)


def softmax(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    longest_block = 16384
    if n_cols <= longest_block:
        kernel, block_size = softmax_kernel, max(16, triton.next_power_of_2(n_cols))
    else:
        kernel, block_size = softmax_long_kernel, 4096
    num_warps = 4 if block_size <= 2048 else 8
    kernel[(n_rows,)](
        x, output, n_cols, x.stride(0), x.stride(1), BLOCK_SIZE=block_size, num_warps=num_warps
    )
    return output
