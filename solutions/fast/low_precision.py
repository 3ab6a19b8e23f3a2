"""Fast forms of the lesson on low precision: 8-bit products, and 4-bit weights for few rows.

*fp8.* See hopper_fp8.py: two groups of warps multiply by turns, and their sums stay exact.

*4 bits, few rows.* The weights are read once, and that is nearly all there is to do. So

- a program has few columns and *all* of k, so that nothing is left to be added up afterwards;
- each of its warps has parts of k, each one matrix of a batch; their sums are added at the end;
- the eight numbers of a word are never put in order. Number j of each word makes a matrix of its
  own, which is multiplied with every eighth column of a;
- numbers become fp16 without a conversion: 0x6400 | q are the bits of 1024 + q, and those of
  1024 + 16 q where q stands four places further;
- the scales are applied once to the sums of a group, in float32.

The form in Triton is for any GPU. On Hopper GPUs hopper_few_rows.py does the same in Gluon.
"""

import torch
import triton
import triton.language as tl

from solutions import low_precision as plain
from solutions.fast.hopper import is_hopper
from solutions.fast.hopper_few_rows import FEWEST_NUMBERS, hopper_few_rows
from solutions.fast.hopper_fp8 import hopper_fp8_matmul

FP8 = torch.float8_e4m3fn
HALVES = tl.constexpr((tl.float16,) * 8)
LEAST_PARTS = 8  # of k, in the kernel for few rows: one for each warp


def can_describe(x: torch.Tensor) -> bool:
    """Whether a descriptor can follow this matrix of bytes."""
    aligned = x.stride(0) % 16 == 0 and x.data_ptr() % 16 == 0
    return x.dtype == FP8 and x.numel() > 0 and x.stride(1) == 1 and x.stride(0) > 0 and aligned


# %% fp8_matmul
def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor
) -> torch.Tensor:
    """Return a @ b, scaled; the contract is that of the plain form, which takes what does not fit.

    The tensor cores want both along k, so this takes b if its columns are contiguous.
    """
    if not (is_hopper(a) and can_describe(a) and can_describe(b.T) and b.shape[1] % 8 == 0):
        return plain.fp8_matmul(a, b, scale_a, scale_b)
    return hopper_fp8_matmul(a, b, scale_a, scale_b)


# ---------------------------------------------------------------------------- 4 bits


@triton.jit
def every_eighth(x, PARTS: tl.constexpr, ROWS: tl.constexpr, WORDS: tl.constexpr):
    """Return eight blocks: number j has what stands in places j, j + 8, ... of the last axis."""
    even, odd = tl.split(tl.reshape(x, (PARTS, ROWS, WORDS, 2, 2, 2)))
    x04, x26 = tl.split(even)
    x15, x37 = tl.split(odd)
    x0, x4 = tl.split(x04)
    x2, x6 = tl.split(x26)
    x1, x5 = tl.split(x15)
    x3, x7 = tl.split(x37)
    return x0, x1, x2, x3, x4, x5, x6, x7


@triton.jit
def numbers_of(words, ON_GPU: tl.constexpr):
    """Return eight blocks of fp16: number j of each word q as 1024 + q, or 1024 + 16 q for odd j.

    On a GPU two words are taken together: their halves are put side by side once, and then each
    instruction makes two numbers. Triton itself would make one at a time.
    """
    if ON_GPU:
        numbers = tl.inline_asm_elementwise(
            """{
            .reg .b32 low, high, low8, high8;
            prmt.b32 low, $8, $9, 0x5410;
            prmt.b32 high, $8, $9, 0x7632;
            shr.u32 low8, low, 8;
            shr.u32 high8, high, 8;
            lop3.b32 $0, low, 0x000f000f, 0x64006400, 0xea;
            lop3.b32 $1, low, 0x00f000f0, 0x64006400, 0xea;
            lop3.b32 $2, low8, 0x000f000f, 0x64006400, 0xea;
            lop3.b32 $3, low8, 0x00f000f0, 0x64006400, 0xea;
            lop3.b32 $4, high, 0x000f000f, 0x64006400, 0xea;
            lop3.b32 $5, high, 0x00f000f0, 0x64006400, 0xea;
            lop3.b32 $6, high8, 0x000f000f, 0x64006400, 0xea;
            lop3.b32 $7, high8, 0x00f000f0, 0x64006400, 0xea;
            }""",
            "=r,=r,=r,=r,=r,=r,=r,=r,r,r",
            [words],
            dtype=HALVES,
            is_pure=True,
            pack=2,
        )
    else:
        numbers = (
            ((words & 0xF) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words & 0xF0) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 8 & 0xF) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 8 & 0xF0) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 16 & 0xF) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 16 & 0xF0) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 24 & 0xF) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
            ((words >> 24 & 0xF0) | 0x6400).to(tl.int16).to(tl.float16, bitcast=True),
        )
    return numbers


@triton.jit
def few_rows_kernel(
    a_ptr, packed_ptr, scales_ptr, zeros_ptr, c_ptr, M, N, K: tl.constexpr, GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PARTS: tl.constexpr, ON_GPU: tl.constexpr,
):  # fmt: skip
    """Compute BLOCK_N columns of c = a @ b, for at most BLOCK_M rows. All tensors are contiguous.

    k is taken in PARTS parts at a time, each with whole groups.
    """
    WORDS: tl.constexpr = GROUP // 8
    cols = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N))[None, None, :]
    rows = tl.arange(0, BLOCK_M)[None, :, None]
    accumulator = tl.zeros((PARTS, BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in tl.static_range(K // GROUP // PARTS):
        group = (tl.arange(0, PARTS) * (K // GROUP // PARTS) + i)[:, None, None]
        word = group * WORDS + tl.arange(0, WORDS)[None, :, None]
        words = tl.load(packed_ptr + word * N + cols)
        scale = tl.load(scales_ptr + group * N + cols).to(tl.float32)
        zero = tl.load(zeros_ptr + group * N + cols).to(tl.float16)
        ks = group * GROUP + tl.arange(0, GROUP)[None, None, :]
        a = tl.load(a_ptr + rows * K + ks, mask=rows < M, other=0.0)
        eighths = every_eighth(a, PARTS, BLOCK_M, WORDS)
        sums = tl.zeros((PARTS, BLOCK_M, BLOCK_N), dtype=tl.float32)
        numbers = numbers_of(words, ON_GPU)
        # Exact, all of it: whole numbers, and sixteenths of multiples of 16.
        for j in tl.static_range(0, 8, 2):
            sums = tl.dot(eighths[j], numbers[j] - (1024 + zero), sums)
            sums = tl.dot(eighths[j + 1], numbers[j + 1] * 0.0625 - (64 + zero), sums)
        accumulator += sums * scale
    c = tl.sum(accumulator, axis=0)[None, :, :]
    tl.store(c_ptr + rows * N + cols, c.to(c_ptr.dtype.element_ty), mask=rows < M)


def is_for_few_rows(a: torch.Tensor, *others: torch.Tensor) -> bool:
    """Whether `few_rows_kernel` can take these."""
    packed_b, scales, _ = others
    k, (n_groups, n) = a.shape[1], scales.shape
    tensors = (a, *others)
    fits = 0 < a.shape[0] <= 16 and n % 32 == 0 and n_groups % LEAST_PARTS == 0 and n_groups > 0
    return (
        fits
        and a.dtype == torch.float16
        and all(x.is_contiguous() for x in tensors)
        and (k // n_groups) % 128 == 0
        and packed_b.numel() * 8 < 2**31
    )


# %% quantized_matmul
def quantized_matmul(
    a: torch.Tensor, packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """Return a @ b for 4-bit b; the contract is that of the plain form, which takes many rows."""
    if not is_for_few_rows(a, packed_b, scales, zeros):
        return plain.quantized_matmul(a, packed_b, scales, zeros)
    if is_hopper(a) and a.shape[1] % FEWEST_NUMBERS == 0:
        return hopper_few_rows(a, packed_b, scales, zeros)
    return launch_few_rows(a, packed_b, scales, zeros, *size_for(a.shape[0], scales.shape[0]))


def size_for(n_rows: int, n_groups: int) -> tuple[int, int]:
    """Return how many columns a program has, and in how many parts it takes k.

    Up to eight rows leave registers for more parts at a time. Parts have whole groups.
    """
    block_n, parts = (16, 32) if n_rows <= 8 else (32, 16)
    while n_groups % parts:
        parts //= 2
    return block_n, parts


def launch_few_rows(
    a: torch.Tensor,
    packed_b: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    block_n: int = 32,
    parts: int = LEAST_PARTS,
    num_warps: int = 8,
) -> torch.Tensor:
    """Launch with that many columns in each program, and k in that many parts."""
    (m, k), n = a.shape, packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    few_rows_kernel[(n // block_n,)](
        a, packed_b, scales, zeros, c, m, n, K=k, GROUP=k // scales.shape[0],
        BLOCK_M=8 if m <= 8 else 16, BLOCK_N=block_n, PARTS=parts, ON_GPU=a.is_cuda,
        num_warps=num_warps,
    )  # fmt: skip
    return c
