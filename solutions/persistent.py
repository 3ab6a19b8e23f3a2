"""Model solutions of the lesson on persistent kernels: a launch that is as large as the GPU."""

import torch
import triton
import triton.language as tl

# %% persistent_matmul
from triton.tools.tensor_descriptor import TensorDescriptor

PROCESSORS = 132  # of an H200; the number of programs where there is no GPU
GROUP = 8  # rows of tiles that are taken together


@triton.jit
def tile_of(index, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """Return the first row and the first column of tile number `index`, in grouped order."""
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first = index // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first, GROUP)
    index_in_group = index % tiles_per_group
    row = first + index_in_group % rows_in_group
    return row * BLOCK_M, index_in_group // rows_in_group * BLOCK_N


@triton.jit
def load_tile(
    source, row, col, shape, strides,
    HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Return the HEIGHT x WIDTH tile that starts at (row, col), with zeros outside the matrix.

    source: a tensor descriptor where DESCRIBED, else a pointer to a matrix with these strides.
    """
    if DESCRIBED:
        tile = source.load([row, col])
    else:
        # In 64 bits, because an address can be more than 2**31 elements away.
        rows = row + tl.arange(0, HEIGHT).to(tl.int64)[:, None]
        cols = col + tl.arange(0, WIDTH).to(tl.int64)[None, :]
        inside = (rows < shape[0]) & (cols < shape[1])
        tile = tl.load(source + rows * strides[0] + cols * strides[1], mask=inside, other=0.0)
    return tile


@triton.jit
def store_tile(
    target, row, col, shape, strides, tile,
    HEIGHT: tl.constexpr, WIDTH: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Store the part of a tile at (row, col) that is inside the matrix, in the matrix's dtype."""
    if DESCRIBED:
        target.store([row, col], tile.to(target.dtype))
    else:
        rows = row + tl.arange(0, HEIGHT).to(tl.int64)[:, None]
        cols = col + tl.arange(0, WIDTH).to(tl.int64)[None, :]
        inside = (rows < shape[0]) & (cols < shape[1])
        ptrs = target + rows * strides[0] + cols * strides[1]
        tl.store(ptrs, tile.to(target.dtype.element_ty), mask=inside)


@triton.jit
def persistent_matmul_kernel(
    a, b, c, M, N, K, a_strides, b_strides, c_strides,
    A_DESCRIBED: tl.constexpr, B_DESCRIBED: tl.constexpr, C_DESCRIBED: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Compute every P-th tile of c = a @ b, starting at the program's number, with P programs.

    a (M, K), b (K, N) and c (M, N) are descriptors or pointers, as the flags say.
    """
    # 1. Compute the number of tiles of c.
    # 2. Take the tiles pid, pid + P, pid + 2 P, ... in a `tl.range`. P is `tl.num_programs(0)`.
    # 3. For each: its row and column with `tile_of`; a new accumulator; the loop over K with
    #    `load_tile`; `store_tile`.
    ### BEGIN SOLUTION
    n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for index in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            a_tile = load_tile(a, row, k, (M, K), a_strides, BLOCK_M, BLOCK_K, A_DESCRIBED)
            b_tile = load_tile(b, k, col, (K, N), b_strides, BLOCK_K, BLOCK_N, B_DESCRIBED)
            accumulator = tl.dot(a_tile, b_tile, accumulator, input_precision="ieee")
        store_tile(c, row, col, (M, N), c_strides, accumulator, BLOCK_M, BLOCK_N, C_DESCRIBED)
    ### END SOLUTION


def can_describe(x: torch.Tensor) -> bool:
    """Return whether a descriptor can describe this matrix, by its strides and its address."""
    # The last axis has stride 1. Rows start at multiples of 16 bytes and do not overlap. The
    # address of the first element is a multiple of 16. There is at least one element.
    ### BEGIN SOLUTION
    if x.numel() == 0 or x.stride(1) != 1 or x.stride(0) < x.shape[1]:
        return False
    return x.stride(0) * x.element_size() % 16 == 0 and x.data_ptr() % 16 == 0
    ### END SOLUTION


def persistent_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b, computed by at most as many programs as the GPU has multiprocessors.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if c.numel() == 0:
        return c
    block_m, block_n, block_k = 64, 64, 32
    blocks = ([block_m, block_k], [block_k, block_n], [block_m, block_n])
    described = [bool(can_describe(x)) for x in (a, b, c)]
    sources = [
        TensorDescriptor.from_tensor(x, block) if flag else x
        for x, block, flag in zip((a, b, c), blocks, described, strict=True)
    ]
    processors = PROCESSORS
    if a.is_cuda:
        processors = torch.cuda.get_device_properties(a.device).multi_processor_count
    tiles = triton.cdiv(m, block_m) * triton.cdiv(n, block_n)
    persistent_matmul_kernel[(min(processors, tiles),)](
        *sources, m, n, k, a.stride(), b.stride(), c.stride(), *described,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=GROUP,
    )  # fmt: skip
    return c
