import torch
import triton
import triton.language as tl


@triton.jit
def within_row(sum_a, starts_a, sum_b, starts_b):
    """Where b starts a row, what stands before it does not count."""
    return tl.where(starts_b, sum_b, sum_a + sum_b), starts_a | starts_b


@triton.jit
def line_kernel(x_ptr, y_ptr, m, n, sr, sc, BLOCK: tl.constexpr):
    """One program takes four rows as one line; a flag says where a row begins."""
    first = tl.program_id(0).to(tl.int64) * 4 * n
    last = tl.minimum(first + 4 * n, m * n)
    carried = 0.0
    for start in range(0, 4 * n, BLOCK):
        i = first + start + tl.arange(0, BLOCK)
        mask = i < last
        x = tl.load(x_ptr + i // n * sr + i % n * sc, mask=mask, other=0.0).to(tl.float32)
        sums, begun = tl.associative_scan((x, i % n == 0), 0, within_row)
        y = tl.where(begun, sums, sums + carried)
        tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=mask)
        carried = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, y, 0.0))


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel():
        line_kernel[(triton.cdiv(m, 4),)](x, y, m, n, x.stride(0), x.stride(1), BLOCK=128)
    return y
