import torch
import triton
import triton.language as tl


@triton.jit
def _count(x_ptr, out_ptr, n, nb, sx, BLOCK: tl.constexpr, CHUNK: tl.constexpr):
    """Program (i, j): block i of x against chunk j of the bins, transposed compare, one add."""
    i, j = tl.program_id(0), tl.program_id(1)
    o = i * BLOCK + tl.arange(0, BLOCK)
    ok = o < n
    v = tl.load(x_ptr + o * sx, ok, 0)
    b = j * CHUNK + tl.arange(0, CHUNK)
    hit = (v.to(tl.int64)[None, :] == b[:, None]) & ok[None, :]
    c = tl.sum(tl.where(hit, 1, 0), 1)
    tl.atomic_add(out_ptr + b, c, (b < nb) & (c != 0))


def histogram(x: torch.Tensor, n_bins: int):
    out = torch.zeros(size=(n_bins,), dtype=torch.int32, device=x.device)
    if x.nelement() == 0:
        return out
    _count[(triton.cdiv(x.nelement(), 512), triton.cdiv(n_bins, 128))](
        x, out, x.nelement(), n_bins, x.stride(0), BLOCK=512, CHUNK=128
    )
    return out
