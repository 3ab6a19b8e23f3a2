"""The second walk goes on where the first one has ended."""

import torch
import triton
import triton.language as tl



@triton.jit
def products(y_tile, dy_tile):
    return tl.sum(y_tile.to(tl.float32) * dy_tile.to(tl.float32), axis=1)


@triton.jit
def backward_tiles(y, dy, out, m, n, y_strides, dy_strides, ROWS: tl.constexpr, COLS: tl.constexpr):
    for band in range(tl.program_id(0), tl.cdiv(m, ROWS), tl.num_programs(0)):
        row = band * ROWS + tl.arange(0, ROWS)
        col = tl.arange(0, COLS)
        # rows past the edge repeat the last one and are never stored
        safe = tl.minimum(row, m - 1).to(tl.int64)[:, None]
        y_at = y + safe * y_strides[0] + col[None, :].to(tl.int64) * y_strides[1]
        dy_at = dy + safe * dy_strides[0] + col[None, :].to(tl.int64) * dy_strides[1]
        out_at = out + safe * n + col[None, :]
        total = tl.zeros((ROWS,), tl.float32)
        for step in range(tl.cdiv(n, COLS)):
            ok = (col < n - step * COLS)[None, :]
            total += products(tl.load(y_at, mask=ok, other=0.0), tl.load(dy_at, mask=ok, other=0.0))
            y_at += tl.full((), COLS, tl.int64) * y_strides[1]
            dy_at += tl.full((), COLS, tl.int64) * dy_strides[1]

        for step in range(tl.cdiv(n, COLS)):
            ok = (col < n - step * COLS)[None, :]
            g = tl.load(dy_at, mask=ok, other=0.0).to(tl.float32) - total[:, None]
            g = g * tl.load(y_at, mask=ok, other=0.0).to(tl.float32)
            tl.store(out_at, g.to(out.dtype.element_ty), mask=ok & (row < m)[:, None])
            y_at += tl.full((), COLS, tl.int64) * y_strides[1]
            dy_at += tl.full((), COLS, tl.int64) * dy_strides[1]
            out_at += COLS


def softmax_backward(y, dy):
    m, n = y.shape
    out = torch.zeros(m, n, dtype=y.dtype, device=y.device)
    if out.numel() > 0:
        rows, cols = 4, 256
        programs = min(triton.cdiv(m, rows), 1024)
        backward_tiles[(programs,)](y, dy, out, m, n, y.stride(), dy.stride(), ROWS=rows, COLS=cols)
    return out
