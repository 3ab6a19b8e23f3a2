"""Each tile is computed as (w.T @ x.T).T; a helper finds the tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def locate(bounds, tile, count, HEIGHT: tl.constexpr):
    found, top, bottom, gone = -1, 0, 0, 0
    for i in range(count):
        begin, end = tl.load(bounds + i), tl.load(bounds + i + 1)
        mine = tl.cdiv(end - begin, HEIGHT)
        if (gone <= tile) & (tile < gone + mine):
            found = i
            top = begin + (tile - gone) * HEIGHT
            bottom = tl.minimum(end, top + HEIGHT)
        gone += mine
    return found, top, bottom


@triton.jit
def turned_kernel(tokens, weights, out, bounds, count, width, depth, ts, tk, we, wk, wn, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr):
    expert, top, bottom = locate(bounds, tl.program_id(0), count, HEIGHT)
    if expert < 0:
        return
    r = (top + tl.arange(0, HEIGHT)).to(tl.int64)
    c = (tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)).to(tl.int64)
    total = tl.zeros((WIDTH, HEIGHT), dtype=tl.float32)
    for start in range(0, depth, DEPTH):
        d = (start + tl.arange(0, DEPTH)).to(tl.int64)
        x_t = tl.load(tokens + r[None, :] * ts + d[:, None] * tk, mask=(r < bottom)[None, :] & (d < depth)[:, None], other=0.0)
        w_t = tl.load(weights + expert.to(tl.int64) * we + d[None, :] * wk + c[:, None] * wn, mask=(c < width)[:, None] & (d < depth)[None, :], other=0.0)
        total = tl.dot(w_t, x_t, total, input_precision="ieee")
    tl.store(out + r[:, None] * width + c[None, :], tl.trans(total).to(out.dtype.element_ty), mask=(r < bottom)[:, None] & (c < width)[None, :])


def grouped_gemm(tokens, weights, bounds):
    rows = tokens.shape[0]
    count, depth, width = weights.shape
    out = torch.empty((rows, width), dtype=tokens.dtype, device=tokens.device)
    if rows == 0 or width == 0:
        return out
    turned_kernel[(rows // 32 + count, triton.cdiv(width, 32))](
        tokens, weights, out, bounds, count, width, depth, *tokens.stride(), *weights.stride(), HEIGHT=32, WIDTH=32, DEPTH=32)
    return out
