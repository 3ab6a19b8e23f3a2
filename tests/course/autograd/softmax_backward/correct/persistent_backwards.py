"""A fixed number of programs, each with every P-th row; the second walk goes back to the front."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_of_mine(y, dy, out, M, N, y_s, dy_s, BLOCK: tl.constexpr):
    steps = tl.cdiv(N, BLOCK)
    lanes = tl.arange(0, BLOCK)
    for i in range(tl.program_id(0), M, tl.num_programs(0)):
        row = tl.cast(i, tl.int64)
        y_row = y + row * y_s[0]
        dy_row = dy + row * dy_s[0]
        acc = tl.zeros((BLOCK,), tl.float32)
        for step in range(steps):
            c = step * BLOCK + lanes
            acc = tl.fma(tl.load(y_row + c * y_s[1], mask=c < N, other=0.0).to(tl.float32),
                         tl.load(dy_row + c * dy_s[1], mask=c < N, other=0.0).to(tl.float32), acc)
        dot = tl.sum(acc)
        for step in range(steps):
            c = (steps - 1 - step) * BLOCK + lanes
            p = tl.load(y_row + c * y_s[1], mask=c < N).to(tl.float32)
            g = tl.load(dy_row + c * dy_s[1], mask=c < N).to(tl.float32)
            tl.store(out + row * N + c, p * (g - dot), mask=c < N)


def softmax_backward(y, dy):
    M, N = y.shape
    out = torch.empty((M, N), dtype=y.dtype, device=y.device)
    rows_of_mine[(max(1, min(M, 6)),)](y, dy, out, M, N, y.stride(), dy.stride(), BLOCK=256)
    return out
