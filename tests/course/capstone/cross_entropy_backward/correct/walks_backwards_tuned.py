"""Autotuned; the second walk goes from the last block to the first, which is still in the cache."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((512, 4), (4096, 8))], key=["n_cols"]
)
@triton.jit
def there_and_back(x_ptr, t_ptr, g_ptr, o_ptr, n_cols, sr, sc, sg, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(t_ptr + row)
    blocks = tl.cdiv(n_cols, BLOCK)
    m = float("-inf")
    s = 0.0
    for b in range(blocks):
        c = b * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * sr + c * sc, mask=c < n_cols, other=float("-inf")).to(tl.float32)
        n = tl.maximum(m, tl.max(x, 0))
        z = tl.where(n == float("-inf"), 0.0, n)
        s = s * tl.exp(m - z) + tl.sum(tl.exp(x - z), 0)
        m = n
    g = tl.load(g_ptr + row * sg, mask=t != -100, other=0.0)
    for b in range(blocks):
        c = (blocks - 1 - b) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * sr + c * sc, mask=c < n_cols, other=float("-inf")).to(tl.float32)
        p = tl.exp(x - m) / s
        tl.store(o_ptr + row * n_cols + c, g * tl.where(c == t, p - 1.0, p), mask=c < n_cols)


def cross_entropy_backward(logits, targets, dloss):
    rows, n = logits.shape
    out = torch.empty((rows, n), dtype=logits.dtype, device=logits.device)
    there_and_back[(rows,)](logits, targets, dloss, out, n, *logits.stride(), dloss.stride(0))
    return out
