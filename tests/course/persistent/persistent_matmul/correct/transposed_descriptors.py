import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def take(x, row, col, rows, cols, s0, s1, H: tl.constexpr, W: tl.constexpr, HOW: tl.constexpr):
    if HOW == "as it is":
        tile = x.load([row, col])
    elif HOW == "turned":
        tile = tl.trans(x.load([col, row]))
    else:
        i = row + tl.arange(0, H).to(tl.int64)[:, None]
        j = col + tl.arange(0, W).to(tl.int64)[None, :]
        tile = tl.load(x + i * s0 + j * s1, mask=(i < rows) & (j < cols), other=0.0)
    return tile


@triton.jit
def product(a, b, c, M, N, K, am, ak, bk, bn, A: tl.constexpr, B: tl.constexpr, SIDE: tl.constexpr, STEP: tl.constexpr):
    across = tl.cdiv(N, SIDE)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, SIDE) * across, tl.num_programs(0)):
        row, col = tile // across * SIDE, tile % across * SIDE
        acc = tl.zeros((SIDE, SIDE), tl.float32)
        for k in tl.range(0, K, STEP):
            left = take(a, row, k, M, K, am, ak, SIDE, STEP, A)
            right = take(b, k, col, K, N, bk, bn, STEP, SIDE, B)
            acc = tl.dot(left, right, acc, input_precision="ieee")
        i = row + tl.arange(0, SIDE).to(tl.int64)[:, None]
        j = col + tl.arange(0, SIDE)[None, :]
        tl.store(c + i * N + j, acc.to(c.dtype.element_ty), mask=(i < M) & (j < N))


def fits(x):
    size = x.element_size()
    return x.numel() and x.stride(1) == 1 and x.stride(0) >= x.shape[1] and x.stride(0) * size % 16 == 0 and x.data_ptr() % 16 == 0


def source(x, height, width):
    if fits(x):
        return TensorDescriptor.from_tensor(x, [height, width]), "as it is"
    if fits(x.t()):
        return TensorDescriptor.from_tensor(x.t(), [width, height]), "turned"
    return x, "by pointer"


def persistent_matmul(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if M == 0 or N == 0:
        return c
    side, step = 64, 32
    left, how_a = source(a, side, step)
    right, how_b = source(b, step, side)
    programs = min(132, triton.cdiv(M, side) * triton.cdiv(N, side))
    product[(programs,)](left, right, c, M, N, K, *a.stride(), *b.stride(), A=how_a, B=how_b, SIDE=side, STEP=step)
    return c
