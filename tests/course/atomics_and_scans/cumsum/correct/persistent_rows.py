import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, y_ptr, m, n, sr, sc, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), m, tl.num_programs(0)):
        carried = 0.0
        for start in range(0, n, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            mask = cols < n
            places = row.to(tl.int64) * sr + cols.to(tl.int64) * sc
            x = tl.load(x_ptr + places, mask=mask, other=0.0).to(tl.float32)
            tl.store(
                y_ptr + row.to(tl.int64) * n + cols,
                (tl.cumsum(x, 0) + carried).to(y_ptr.dtype.element_ty),
                mask=mask,
            )
            carried += tl.sum(x, 0)


def cumsum(x):
    m, n = x.shape
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel():
        rows_kernel[(min(m, 12),)](x, y, m, n, x.stride(0), x.stride(1), BLOCK=512)
    return y
