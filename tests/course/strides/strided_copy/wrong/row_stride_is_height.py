"""The store moves on by the number of rows from row to row."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_tile(src, dst, h, w, step_down, step_right, TH: tl.constexpr, TW: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    across = tl.cdiv(w, TW)
    i = (pid // across * TH + tl.arange(0, TH))[:, None]
    j = (pid % across * TW + tl.arange(0, TW))[None, :]
    ok = (i < h) & (j < w)
    tile = tl.load(src + i * step_down + j * step_right, mask=ok)
    tl.store(dst + i * h + j, tile, mask=ok)


def strided_copy(x: torch.Tensor) -> torch.Tensor:
    h, w = x.shape
    out = torch.empty((h, w), dtype=x.dtype, device=x.device)
    th, tw = 8, 128
    tiles = triton.cdiv(h, th) * triton.cdiv(w, tw)
    if tiles:
        gather_tile[(tiles,)](x, out, h, w, *x.stride(), TH=th, TW=tw)
    return out
