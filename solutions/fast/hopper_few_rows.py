"""4-bit weights for few rows of a, with the layout of every number in registers said.

What low_precision.py says of few rows holds here, too. Beyond that

- the weights are the left operand of the product (c.T = b.T @ a.T): its 16 rows are columns of b,
  so that no row of an instruction is empty, and 8 rows of a fill the right one;
- words are loaded where the tensor cores want the numbers that are in them: nothing goes through
  shared memory but the sums of the warps at the end, and are not kept in the L2, because nobody
  reads them again ("evict_first"). For this the order of words and columns
  within a tile is another one: a product is the same in any order of k, and a column of c is
  stored where it belongs.

Within a tile, column n stands in row n % S * 8 + n // S (S = BLOCK_N // 8), so that a thread loads
S columns at once; and word i stands in place i // 8 * 8 + i % 4 * 2 + i // 4 % 2.
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2

HALVES = gl.constexpr((gl.float16,) * 8)
WORDS = 16  # of a column in one step: 128 numbers
BLOCK_N, WARPS = 32, 16
FEWEST_NUMBERS = 128 * WARPS  # of a column: one step for each warp


def layout_of_words(block_n: int, warps: int) -> gl.DistributedLinearLayout:
    """Of [warp, column, word]: who loads which words."""
    columns = [[0, 1 << bit, 0] for bit in range(block_n.bit_length() - 1)]
    own, others = columns[:-3], columns[-3:]
    return gl.DistributedLinearLayout(
        reg_bases=[*own, [0, 0, 4], [0, 0, 8]],
        lane_bases=[[0, 0, 1], [0, 0, 2], *others],
        warp_bases=[[1 << bit, 0, 0] for bit in range(warps.bit_length() - 1)],
        block_bases=[],
        shape=[warps, block_n, WORDS],
    )


def layout_of_a(rows: int, warps: int) -> gl.DistributedLinearLayout:
    """Of [warp, row, word, number of the word]: who loads what of a."""
    more = [[0, 8, 0, 0]] if rows == 16 else []
    return gl.DistributedLinearLayout(
        reg_bases=[[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 4], [0, 0, 4, 0], [0, 0, 8, 0], *more],
        lane_bases=[[0, 0, 1, 0], [0, 0, 2, 0], [0, 1, 0, 0], [0, 2, 0, 0], [0, 4, 0, 0]],
        warp_bases=[[1 << bit, 0, 0, 0] for bit in range(warps.bit_length() - 1)],
        block_bases=[],
        shape=[warps, rows, WORDS, 8],
    )


def layout_of_sums(block_n: int, rows: int, warps: int) -> gl.DistributedLinearLayout:
    """Of [warp, place of a column, row of a]: a thread has what all warps have of one number."""
    columns = [[0, 1 << bit, 0] for bit in range(block_n.bit_length() - 1)]
    numbers = [*columns[3:], *columns[:3]]  # neighbours in memory first
    numbers += [[0, 0, 1 << bit] for bit in range(rows.bit_length() - 1)]
    of_warps = warps.bit_length() - 1
    others = numbers[5:] + [[0, 0, 0]] * of_warps  # more threads than numbers: some have the same
    own = [number for number in others[of_warps:] if any(number)]
    return gl.DistributedLinearLayout(
        reg_bases=[[1 << bit, 0, 0] for bit in range(of_warps)] + own,
        lane_bases=numbers[:5],
        warp_bases=others[:of_warps],
        block_bases=[],
        shape=[warps, block_n, rows],
    )


@gluon.jit
def numbers_of(words, zeros):
    """Return eight blocks of fp16: number j of each word, less the zero of its column.

    0x6400 | q are the bits of 1024 + q, and those of 1024 + 16 q where q stands four places
    further. Two words are taken together: each instruction makes two numbers.
    """
    even, odd = 1024.0 + zeros, -64.0 - zeros
    return gl.inline_asm_elementwise(
        """{
        .reg .b32 low, high, low8, high8, bits, sixteenth;
        mov.b32 sixteenth, 0x2c002c00;
        prmt.b32 low, $8, $9, 0x5410;
        prmt.b32 high, $8, $9, 0x7632;
        shr.u32 low8, low, 8;
        shr.u32 high8, high, 8;
        lop3.b32 bits, low, 0x000f000f, 0x64006400, 0xea;
        sub.f16x2 $0, bits, $10;
        lop3.b32 bits, low, 0x00f000f0, 0x64006400, 0xea;
        fma.rn.f16x2 $1, bits, sixteenth, $11;
        lop3.b32 bits, low8, 0x000f000f, 0x64006400, 0xea;
        sub.f16x2 $2, bits, $10;
        lop3.b32 bits, low8, 0x00f000f0, 0x64006400, 0xea;
        fma.rn.f16x2 $3, bits, sixteenth, $11;
        lop3.b32 bits, high, 0x000f000f, 0x64006400, 0xea;
        sub.f16x2 $4, bits, $10;
        lop3.b32 bits, high, 0x00f000f0, 0x64006400, 0xea;
        fma.rn.f16x2 $5, bits, sixteenth, $11;
        lop3.b32 bits, high8, 0x000f000f, 0x64006400, 0xea;
        sub.f16x2 $6, bits, $10;
        lop3.b32 bits, high8, 0x00f000f0, 0x64006400, 0xea;
        fma.rn.f16x2 $7, bits, sixteenth, $11;
        }""",
        "=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r",
        [words, even, odd],
        dtype=HALVES,
        is_pure=True,
        pack=2,
    )


@gluon.jit
def placed(x, layout: gl.constexpr):
    """Return x, of [warp, column], with each column in its place; a thread keeps what it has."""
    WARPS: gl.constexpr = x.shape[0]
    BLOCK_N: gl.constexpr = x.shape[1]
    x = x.reshape([WARPS, 8, BLOCK_N // 8]).permute([0, 2, 1]).reshape([WARPS, BLOCK_N])
    return gl.convert_layout(x, layout, assert_trivial=True)


@gluon.jit
def eighths_of(a, WARPS: gl.constexpr, ROWS: gl.constexpr, layout: gl.constexpr):
    """Return eight right operands [warp, place, row]: number j of each word."""
    # 4 words of a thread, of which 2 stand side by side, and those of 4 threads in between.
    a = a.reshape([WARPS, ROWS, 2, 2, 4, 8]).permute([0, 2, 4, 3, 1, 5])
    a = a.reshape([WARPS, 16, ROWS, 2, 2, 2])
    even, odd = gl.split(a)
    x04, x26 = gl.split(even)
    x15, x37 = gl.split(odd)
    x0, x4 = gl.split(x04)
    x2, x6 = gl.split(x26)
    x1, x5 = gl.split(x15)
    x3, x7 = gl.split(x37)
    return (
        gl.convert_layout(x0, layout, assert_trivial=True),
        gl.convert_layout(x1, layout, assert_trivial=True),
        gl.convert_layout(x2, layout, assert_trivial=True),
        gl.convert_layout(x3, layout, assert_trivial=True),
        gl.convert_layout(x4, layout, assert_trivial=True),
        gl.convert_layout(x5, layout, assert_trivial=True),
        gl.convert_layout(x6, layout, assert_trivial=True),
        gl.convert_layout(x7, layout, assert_trivial=True),
    )


@gluon.jit
def hopper_few_rows_kernel(
    a_ptr, packed_ptr, scales_ptr, zeros_ptr, c_ptr, M, N, K: gl.constexpr, GROUP: gl.constexpr,
    ROWS: gl.constexpr, BLOCK_N: gl.constexpr, WARPS: gl.constexpr, words_layout: gl.constexpr,
    a_layout: gl.constexpr, sums_layout: gl.constexpr,
):  # fmt: skip
    """Compute BLOCK_N columns of c = a @ b, for at most ROWS rows. All tensors are contiguous.

    Each warp takes K / WARPS numbers of each column, 128 at a time.
    """
    S: gl.constexpr = BLOCK_N // 8
    STEPS: gl.constexpr = K // 128 // WARPS
    products: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [WARPS, 1, 1], [1, 16, 8])
    left: gl.constexpr = gl.DotOperandLayout(0, products, 2)
    right: gl.constexpr = gl.DotOperandLayout(1, products, 2)
    by_column: gl.constexpr = gl.SliceLayout(2, words_layout)
    warp = gl.arange(0, WARPS, gl.SliceLayout(1, by_column))[:, None, None]
    col = gl.arange(0, BLOCK_N, gl.SliceLayout(0, by_column))[None, :, None]
    word = gl.arange(0, 16, gl.SliceLayout(0, gl.SliceLayout(1, words_layout)))[None, None, :]
    first = gl.program_id(0) * BLOCK_N
    word_ptrs = packed_ptr + (warp * STEPS * 16 + word) * N + first + col

    by_row: gl.constexpr = gl.SliceLayout(2, gl.SliceLayout(3, a_layout))
    by_word: gl.constexpr = gl.SliceLayout(0, gl.SliceLayout(1, gl.SliceLayout(3, a_layout)))
    by_number: gl.constexpr = gl.SliceLayout(0, gl.SliceLayout(1, gl.SliceLayout(2, a_layout)))
    a_warp = gl.arange(0, WARPS, gl.SliceLayout(1, by_row))[:, None, None, None]
    row = gl.arange(0, ROWS, gl.SliceLayout(0, by_row))[None, :, None, None]
    a_word = gl.arange(0, 16, by_word)[None, None, :, None]
    number = gl.arange(0, 8, by_number)[None, None, None, :]
    a_ptrs = a_ptr + row * K + (a_warp * STEPS * 16 + a_word) * 8 + number

    group_warp = gl.arange(0, WARPS, gl.SliceLayout(1, by_column))[:, None]
    group_col = first + gl.arange(0, BLOCK_N, gl.SliceLayout(0, by_column))[None, :]

    # All loads before any product: else those of a step would wait for the products before them.
    all_words, all_a, all_zeros, all_scales = (), (), (), ()
    for step in gl.static_range(STEPS):
        in_group = (group_warp * STEPS + step) // (GROUP // 128) * N + group_col
        all_words += (gl.load(word_ptrs + step * 16 * N, eviction_policy="evict_first"),)
        all_a += (gl.load(a_ptrs + step * 128, mask=row < M, other=0.0),)
        all_zeros += (gl.load(zeros_ptr + in_group),)
        all_scales += (gl.load(scales_ptr + in_group),)

    accumulator = gl.zeros((WARPS, BLOCK_N, ROWS), gl.float32, products)
    for step in gl.static_range(STEPS):
        zero = placed(all_zeros[step], gl.SliceLayout(2, left))
        scale = placed(all_scales[step], gl.SliceLayout(2, products))
        words = all_words[step].reshape([WARPS, 8, S, 2, 2, 4]).permute([0, 2, 1, 3, 5, 4])
        words = gl.convert_layout(words.reshape([WARPS, BLOCK_N, 16]), left, assert_trivial=True)
        zeros, words = gl.broadcast(gl.expand_dims(zero.to(gl.float16), 2), words)
        numbers = numbers_of(words, zeros)
        eighths = eighths_of(all_a[step], WARPS, ROWS, right)
        sums = gl.zeros((WARPS, BLOCK_N, ROWS), gl.float32, products)
        for j in gl.static_range(8):
            sums = mma_v2(numbers[j], eighths[j], sums)
        accumulator += sums * gl.expand_dims(scale.to(gl.float32), 2)
    c = gl.sum(gl.convert_layout(accumulator, sums_layout), axis=0)
    of_c: gl.constexpr = gl.SliceLayout(0, sums_layout)
    c_row = gl.arange(0, BLOCK_N, gl.SliceLayout(1, of_c))[:, None]
    m = gl.arange(0, ROWS, gl.SliceLayout(0, of_c))[None, :]
    c_col = first + c_row % 8 * S + c_row // 8
    gl.store(c_ptr + m * N + c_col, c.to(c_ptr.dtype.element_ty), mask=m < M)


def hopper_few_rows(
    a: torch.Tensor,
    packed_b: torch.Tensor,
    scales: torch.Tensor,
    zeros: torch.Tensor,
    block_n: int = BLOCK_N,
    warps: int = WARPS,
) -> torch.Tensor:
    """Return a @ b for 4-bit b and at most 16 rows of a, half precision; all are contiguous.

    k is a multiple of 128 `warps`, n one of `block_n`, and each group has a multiple of 128.
    """
    (m, k), n = a.shape, packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    rows = 8 if m <= 8 else 16
    hopper_few_rows_kernel[(n // block_n,)](
        a, packed_b, scales, zeros, c, m, n, K=k, GROUP=k // scales.shape[0], ROWS=rows,
        BLOCK_N=block_n, WARPS=warps, words_layout=layout_of_words(block_n, warps),
        a_layout=layout_of_a(rows, warps), sums_layout=layout_of_sums(block_n, rows, warps),
        num_warps=warps,
    )  # fmt: skip
    return c
