import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, bias_ptr, y_ptr, total, N, sm, sn, sb, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < total
    row, col = i // N, i % N
    value = tl.load(x_ptr + row * sm + col * sn, keep, 0.0) + tl.load(bias_ptr + col * sb, keep, 0.0)
    tl.store(y_ptr + i, tl.where(value > 0, value, 0.0), keep)


def bias_relu(x, bias):
    M, N = x.shape
    y = x.new_empty((M, N))
    kernel[(triton.cdiv(M * N, 256),)](x, bias, y, M * N, N, x.stride(0), x.stride(1), bias.stride(0), BLOCK=256)
    return y
