import torch
import triton
import triton.language as tl

@triton.jit
def locate(pid, n_rows, n_cols, GROUP: tl.constexpr):
    """Row and column of the tile of program pid."""
    programs = GROUP * n_cols
    first = pid // programs * GROUP
    rows = min(n_rows - first, GROUP)
    return first + pid % programs % rows, pid % programs // rows


@triton.jit
def ids_kernel(out_ptr, n_rows, n_cols, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    row, col = locate(pid, n_rows, n_cols, GROUP)
    pair = out_ptr + pid * 2
    tl.store(pair, row)
    tl.store(pair + 1, col)


def swizzle_ids(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
    """See the exercise."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out = torch.empty((n_rows * n_cols, 2), dtype=torch.long, device=device)
    grid = lambda meta: (n_rows * n_cols,)
    ids_kernel[grid](out, n_rows, n_cols, GROUP=group, num_warps=1)
    return out
