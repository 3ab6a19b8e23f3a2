import torch
import triton
import triton.language as tl

@triton.jit
def ids_kernel(out_ptr, n_rows, n_cols, group, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < n_rows * n_cols
    in_group = p % (group * n_cols)
    first = p // (group * n_cols) * group
    size = tl.minimum(n_rows - first, group)
    size = tl.where(mask, size, 1)
    tl.store(out_ptr + p * 2, first + in_group % size, mask=mask)
    tl.store(out_ptr + p * 2 + 1, in_group // size, mask=mask)


def swizzle_ids(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    total = n_rows * n_cols
    out = torch.empty((total, 2), dtype=torch.int64, device="cuda" if torch.cuda.is_available() else "cpu")
    ids_kernel[(triton.cdiv(total, 64),)](out, n_rows, n_cols, group, BLOCK=64)
    return out
