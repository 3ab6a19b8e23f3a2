"""Fast form of the persistent product, in Triton proper: larger tiles, chosen by measuring.

Why the plain form cannot reach cuBLAS: a tile of 64 x 64 reads each number of a and b for only 64
products. A tile of 128 x 256 takes a third of that traffic, and wgmma multiplies it straight from
shared memory, where the descriptors' copies (TMA) arrive some steps ahead. What remains is the
end of each tile, in which the tensor cores wait:

- the loops over tiles and over k are made one (`flatten`), so that the first steps of the next tile
  are on their way while this one is stored;
- the tile is stored in two halves, which need half the shared memory, and leave room for a stage;
- no more programs than needed for the same number of rounds: where 132 need four, so do 128.

What descriptors cannot follow, and float32, goes to the plain form.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from solutions import persistent as plain
from solutions.fast.hopper import is_hopper, processors_of, tma_can_read


@triton.jit
def tile_of(index, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """Return the first row and the first column of tile number `index`, in grouped order."""
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first = index // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first, GROUP)
    index_in_group = index % tiles_per_group
    row = first + index_in_group % rows_in_group
    return row * BLOCK_M, index_in_group // rows_in_group * BLOCK_N


def describe(tensors, blocks):
    """Set the tiles that the descriptors move, before a launch with other tiles."""
    for tensor, block in zip(tensors, blocks, strict=True):
        tensor.block_shape = block


def before_launch(arguments):
    """Tell the three descriptors the tile of this configuration."""
    m, n, k = (arguments[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    part = n // 2 if arguments["HALVES"] else n
    tensors = [arguments[name] for name in ("a_desc", "b_desc", "c_desc")]
    describe(tensors, ([m, k], [k, n], [m, part]))


def config(
    tile: tuple[int, int, int], num_warps: int, stages: int, flat: bool, halves: bool
) -> triton.Config:
    """One way to launch."""
    meta = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    meta |= {"GROUP": 8, "FLAT": flat, "HALVES": halves}
    return triton.Config(meta, num_warps=num_warps, num_stages=stages, pre_hook=before_launch)


CONFIGS = [
    config((128, 256, 64), 8, 3, flat=False, halves=False),
    config((128, 256, 64), 8, 4, flat=False, halves=True),
    config((128, 256, 64), 8, 3, flat=True, halves=False),
    config((128, 256, 64), 8, 3, flat=True, halves=True),
    config((128, 256, 64), 8, 4, flat=True, halves=True),
    config((256, 128, 64), 8, 3, flat=True, halves=True),
    config((128, 128, 64), 4, 4, flat=True, halves=False),
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def described_matmul_kernel(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    FLAT: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """Compute every P-th tile of c = a @ b, beginning with the program's own number; P programs."""
    n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    n_steps = tl.cdiv(K, BLOCK_K)
    for index in tl.range(tl.program_id(0), n_tiles, tl.num_programs(0), flatten=FLAT):
        row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for i in range(n_steps):
            a = a_desc.load([row, i * BLOCK_K])
            b = b_desc.load([i * BLOCK_K, col])
            accumulator = tl.dot(a, b, accumulator)
        if HALVES:
            halves = tl.reshape(accumulator, (BLOCK_M, 2, BLOCK_N // 2))
            left, right = tl.split(tl.permute(halves, (0, 2, 1)))
            c_desc.store([row, col], left.to(c_desc.dtype))
            c_desc.store([row, col + BLOCK_N // 2], right.to(c_desc.dtype))
        else:
            c_desc.store([row, col], accumulator.to(c_desc.dtype))


# %% persistent_matmul
def persistent_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b; the contract is that of the plain form, which takes what does not fit."""
    # The rows of the result must be whole multiples of 16 bytes as well.
    if not (is_hopper(a) and tma_can_read(a) and tma_can_read(b) and b.shape[1] % 8 == 0):
        return plain.persistent_matmul(a, b)
    return launch(described_matmul_kernel, a, b)


def launch(kernel, a: torch.Tensor, b: torch.Tensor, **meta) -> torch.Tensor:
    """Launch `kernel`, which is described_matmul_kernel or what it is made of."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    n_processors = processors_of(a)

    def grid(meta):
        n_tiles = triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"])
        return (triton.cdiv(n_tiles, triton.cdiv(n_tiles, n_processors)),)

    whole = [1, 1]  # until `before_launch` says more
    descriptors = [TensorDescriptor.from_tensor(x, whole) for x in (a, b, c)]
    kernel[grid](*descriptors, m, n, k, **meta)
    return c
