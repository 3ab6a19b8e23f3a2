"""Pointers move on in each step; the count of columns that remain makes the mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, dy_ptr, dx_ptr, COLS, STRIDES, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    y_row = y_ptr + pid * STRIDES[0] + lane * STRIDES[1]
    d_row = dy_ptr + pid * STRIDES[2] + lane * STRIDES[3]
    y_ptrs, d_ptrs = y_row, d_row
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    left = COLS
    for _ in range(tl.cdiv(COLS, BLOCK)):
        a = tl.load(y_ptrs, mask=lane < left, other=0.0).to(tl.float32)
        b = tl.load(d_ptrs, mask=lane < left, other=0.0).to(tl.float32)
        total += a * b
        y_ptrs += BLOCK * STRIDES[1]
        d_ptrs += BLOCK * STRIDES[3]
        left -= BLOCK
    dot = tl.sum(total, axis=0)
    y_ptrs, d_ptrs = y_row, d_row
    out_ptrs = dx_ptr + pid * COLS + lane
    left = COLS
    for _ in range(tl.cdiv(COLS, BLOCK)):
        a = tl.load(y_ptrs, mask=lane < left, other=0.0).to(tl.float32)
        b = tl.load(d_ptrs, mask=lane < left, other=0.0).to(tl.float32)
        tl.store(out_ptrs, (a * (b - dot)).to(dx_ptr.dtype.element_ty), mask=lane < left)
        y_ptrs += BLOCK * STRIDES[1]
        d_ptrs += BLOCK * STRIDES[3]
        out_ptrs += BLOCK
        left -= BLOCK


def softmax_backward(y, dy):
    dx = torch.empty(tuple(y.shape), dtype=y.dtype, device=y.device)
    kernel[(len(y),)](y, dy, dx, y.shape[1], (*y.stride(), *dy.stride()), BLOCK=128)
    return dx
