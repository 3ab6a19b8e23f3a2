import torch
import triton
import triton.language as tl


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def _kernel(x, y, m, n, s0, s1, R: tl.constexpr, C: tl.constexpr):
    """The tile lies the other way round: columns down, rows across, scanned along axis 0."""
    r = tl.program_id(0) * R + tl.arange(0, R)
    run = tl.zeros([R], tl.float32)
    for c0 in range(0, tl.cdiv(n, C)):
        c = c0 * C + tl.arange(0, C)
        ok = (c[:, None] < n) & (r[None, :] < m)
        v = tl.load(x + c[:, None] * s1 + r[None, :] * s0, ok, 0).to(tl.float32)
        s = tl.associative_scan(v, 0, _add) + run[None, :]
        tl.store(y + r[None, :] * n + c[:, None], s.to(y.type.element_ty), ok)
        run = run + tl.sum(v, 0)


def cumsum(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if min(x.shape) > 0:
        _kernel[(triton.cdiv(x.shape[0], 8),)](x, y, *x.shape, *x.stride(), R=8, C=64)
    return y
