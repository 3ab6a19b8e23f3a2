# %% [markdown]
# # Persistent kernels: one program, many tiles
#
# Until now a program computed one tile and ended. A **persistent** kernel is one launch as large as the GPU, in which
# each program computes one tile after another. In this lesson you write such a matrix product. You also load tiles in a
# new way, through a **descriptor**, which knows the shape of the matrix, so you write no mask. Fast matrix products on
# recent GPUs are built like this.
#
# It takes about 55 minutes. Lessons 08 (matmul) and 09 (swizzling) come first.

# %% setup
from triton.tools.tensor_descriptor import TensorDescriptor

from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.rounds import rounds

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Tiles in rounds
#
# Take ten tiles and four programs. In the first round program p computes tile p, and then it takes another tile. The
# programs do not communicate: all of them follow the same rule.
#
# **Predict.** How many tiles does program 1 compute in all?

# %%
predict("tiles_of_program_1", None)

# %% [markdown]
# **Fix it.** The line below should print [1, 5, 9]. It prints every tile from 1 on. One number is missing.

# %%
pid, n_tiles, programs = 1, 10, 4
print(list(range(pid, n_tiles)))

# %% [markdown]
# `range(pid, n_tiles, programs)`: the step is the number of programs. In Triton the line is the same with `tl.range`
# and `tl.num_programs(0)`, the size of the grid.

# %%
rounds(tiles=10, programs=4)

# %% [markdown]
# The last round is not full: programs 2 and 3 have no tile in it. Their loops end by themselves, because `n_tiles` is
# the end of the range. You need no `if`.
#
# **Try it.** Give `rounds` another `stride`: 5, then 3. Which of the two loses tiles, and which computes some of them
# twice?
#
# ## Why persistent?
#
# A GPU starts a program on a **multiprocessor** (SM) as soon as there is room. If tiles are large, one program fills an
# SM. With one program for each tile, every program starts, computes offsets, waits for its first loads, multiplies,
# stores and ends. Then the next one starts. While a program waits for its first tiles, or stores its result, the tensor
# cores are idle.
#
# A persistent program can do better. It knows its next tile early, so it can load for that tile while it still stores
# the current one. That overlap is the only gain. Only the compiler, or you, can make loads and stores overlap.
#
# The number of rounds does *not* change.
#
# **Predict.** A 4096×4096 product in tiles of 128×256, on a GPU of 132 multiprocessors with one program on each. How
# many rounds are there, the last one counted in full?

# %%
predict("rounds_at_4096", None)

# %%
for size in (1024, 2048, 2304, 4096, 8192):
    tiles = triton.cdiv(size, 128) * triton.cdiv(size, 256)
    count = triton.cdiv(tiles, 132)
    print(f"{size}: {tiles:5} tiles, {count:2} rounds, {tiles / (132 * count):4.0%} of the places are used")

# %% [markdown]
# At 2304 there are 30 tiles more than one round holds, so the second round is nearly empty. A persistent kernel has the
# same problem. Smaller tiles help, or splitting the sum over k (lesson 18).
#
# ## A descriptor
#
# With pointers you compute the address of every element of a tile. A **tensor descriptor** holds five things instead:
# where a matrix begins, its shape, its strides, the size of a tile, and the value for elements outside the matrix. To
# name a tile you then give only its first row and column:

# %%
@triton.jit
def corner_kernel(x_desc, output_ptr, row, col, SIDE: tl.constexpr):
    """Copy the SIDE x SIDE tile of x that begins at (row, col)."""
    tile = x_desc.load([row, col])
    lanes = tl.arange(0, SIDE)
    tl.store(output_ptr + lanes[:, None] * SIDE + lanes[None, :], tile)


# %% [markdown]
# **Predict.** x has 5 rows and 6 columns; it is the left part of a matrix with 8. How many of the 16 elements of the
# 4×4 tile that begins at row 3, column 4 are inside x?

# %%
predict("elements_inside", None)

# %%
x = torch.arange(1, 41, dtype=torch.float32, device=DEVICE).reshape(5, 8)[:, :6]
tile = torch.empty(4, 4, device=DEVICE)
corner_kernel[(1,)](TensorDescriptor.from_tensor(x, [4, 4]), tile, 3, 4, SIDE=4)
print(tile)

# %% [markdown]
# Elements outside the matrix load as 0, even where memory continues, and stores outside are dropped. So you need none
# of the masks of lesson 08, including the one along k. Two things remain your job. Offsets count *elements*, so tile
# number 3 begins at row `3 * BLOCK_M`. And a NaN inside the matrix is still loaded as NaN.
#
# There are two ways to make a descriptor:
#
# | where | how | what it needs |
# |---|---|---|
# | on the host, before the launch | `TensorDescriptor.from_tensor(x, [rows, columns])`, passed like a tensor | nothing |
# | in the kernel | `tl.make_tensor_descriptor(x_ptr, shape=[M, K], strides=[K, 1], block_shape=[…])` | on a GPU memory for it: `triton.set_allocator` |
#
# On Hopper and later GPUs a separate unit, the **TMA** (tensor memory accelerator), reads descriptors. One thread
# requests a tile. The TMA computes the addresses, checks the edges and fills shared memory, while the other threads
# continue. On older GPUs Triton turns the same line into ordinary loads with masks.
#
# ## What a descriptor cannot describe
#
# The hardware has strict rules:
#
# - the last axis has stride 1;
# - rows begin at multiples of **16 bytes**: `x.stride(0) * x.element_size() % 16 == 0`;
# - so does the first element: `x.data_ptr() % 16 == 0`;
# - a row of a tile has 16 bytes or more, and no size is 0.
#
# Use pointers also for a repeated row (stride 0) and for rows that overlap.
#
# **Predict.** A contiguous fp16 matrix with 100 columns breaks one of these rules. What is the next larger width that
# keeps them?

# %%
predict("next_width", None)

# %%
base = torch.zeros(64, 128, dtype=torch.float16)
for name, view in (
    ("the matrix itself", base),
    ("its left half", base[:, :64]),
    ("without its first column", base[:, 1:]),
    ("its transpose", base.t()),
    ("every second column", base[:, ::2]),
    ("100 columns, dense", torch.zeros(64, 100, dtype=torch.float16)),
):
    apart, start = 2 * view.stride(0), view.data_ptr() % 16
    print(f"{name:25} strides {view.stride()!s:9} rows {apart:3} bytes apart, address % 16 = {start}")

# %% [markdown]
# A descriptor cannot describe four of the six: a slice from column 1 on, a transpose, every second column, an odd width.
# All are common. So a correct launcher tests each matrix, and uses pointers where one fails. (If the rows of the original
# matrix follow the rules, you can also describe the original and transpose each tile with `tl.trans`.)
#
# ## `tl.range`
#
# Python's `range` and `tl.range` are the same loop. `tl.range` also takes flags for the compiler:
#
# | flag | what you ask for |
# |---|---|
# | `num_stages=3` | pipeline the loop: keep the loads of so many steps in flight |
# | `flatten=True` | merge this loop with the inner ones, so that loads can run ahead across the end of a tile |
# | `warp_specialize=True` | **warp specialization**: some warps load, others multiply |
# | `loop_unroll_factor=2` | write the body twice |
#
# These flags do not change the result. Only measuring tells whether a flag helps, and the answer can change with the
# version of Triton.
#
# Warp specialization is young. Triton's documentation promises it for Blackwell GPUs only. But Triton 3.9 also compiles
# it for Hopper. For a product with descriptors and `num_warps=4`, the PTX for sm_90 then has 384 threads, three groups
# of four warps. Its `setmaxnreg` instructions move registers from the loading warps to the multiplying ones. With
# `num_warps=8` the compiler ignores the flag without a message. So look at the PTX as in lesson 12, and measure.
#
# ## Exercise: `persistent_matmul`
#
# **The contract.** `persistent_matmul(a, b)` returns a @ b.
#
# - a is (m, k), b is (k, n), of the same dtype: float32, float16 or bfloat16. Any strides, any sizes, also 0.
# - The sum is fp32, and exact to fp32 for fp32 (`input_precision="ieee"`). The result is new and contiguous, in the
#   dtype of a.
# - No launch has more programs than the GPU has multiprocessors; 132 where there is no GPU.
# - Descriptors where strides and addresses permit; correct results everywhere.
#
# (With small tiles several programs fit on one SM. Real kernels then often launch SMs × **occupancy** programs, where
# occupancy here is the number of programs that fit on one SM. This exercise keeps to one for each SM.)
#
# Three helpers are given: `tile_of` numbers tiles in groups, as in lesson 09; `load_tile` and `store_tile` take a
# descriptor or a pointer. The launcher is given, too. You write two things: the kernel, and `can_describe`, which
# checks the rules. While `can_describe` returns False, the launcher uses pointers, so write the kernel first.
# `hint("persistent_matmul")` helps.

# %% exercise="persistent_matmul"

# %% [markdown]
# ## What a persistent kernel saves
#
# **Predict.** The same product and the same tiles, with 132 persistent programs or with a program for each tile. By
# which factor do the bytes that the programs load differ?

# %%
predict("factor_of_bytes", None)

# %%
a = torch.randn(512, 64, generator=torch.Generator().manual_seed(0))
b = torch.randn(64, 640, generator=torch.Generator().manual_seed(1))
moved = explore.measure(persistent_matmul, a, b)
tiles = triton.cdiv(512, 64) * triton.cdiv(640, 64)
print(moved)
print(f"asked for by {tiles} programs with a tile of 64 x 64 each: {tiles * 2 * 64 * 64 * 4:,} bytes")

# %% [markdown]
# Each tile of the result needs the same tiles of a and b in both cases. (If your blocks are not 64×64, or your kernel
# computes nothing yet, the figures differ.) A persistent kernel saves time between tiles, but no bytes.
#
# ## From here to the top
#
# The steps so far, at 4096×4096 in fp16, measured on an NVIDIA H200 ({h200: versions}):
#
# | step | lesson | TFLOP/s |
# |---|---|---|
# | a tile of 64×64 for each program | 08 | {h200: matmul 4096 | plain | TFLOP/s} |
# | tiles in groups | 09 | {h200: grouped_matmul 4096 | plain | TFLOP/s} |
# | large tiles, found by measuring | 11 | {h200: autotuned_matmul 4096 | plain | TFLOP/s} |
# | persistent, tiles of 64×64 | this one, the model solution | {h200: persistent_matmul 4096 | plain | TFLOP/s} |
# | persistent, tiles up to 128×256, found by measuring | this one, the course's fast form | {h200: persistent_matmul 4096 | fast | TFLOP/s} |
# | a form in Gluon | this one, to read | {h200: autotuned_matmul 4096 | fast | TFLOP/s} |
# | cuBLAS | | {h200: autotuned_matmul 4096 | torch | TFLOP/s} |
#
# The model solution is slower than the kernel of lesson 11. With one program for each SM and a tile of 64×64, the SM
# has nothing else to do while the program waits. In lesson 08 other programs on the same SM filled the gap. With large
# tiles the same loop reaches cuBLAS, in plain Triton: `solutions/fast/persistent.py`. What Triton uses by itself, and
# what you must ask for:
#
# - **wgmma**, the instruction with which four warps of a Hopper GPU multiply tiles straight from shared memory: by
#   itself, for `tl.dot`.
# - **TMA**: only through a descriptor.
# - **Warp specialization**: only with `warp_specialize=True`, with the limits named above.
#
# **Gluon** is a language below Triton in which you write layouts, barriers and the work of each warp by hand. The
# course has such a kernel to read: `solutions/fast/hopper_matmul.py`. Its loop over tiles is the one that you have just
# written. The new part makes loading, multiplying and storing run at the same time. Its warps wait for each other at
# **mbarriers**, counters in shared memory that the TMA also updates when a tile has arrived.
#
# ## Quiz

# %%
quiz("persistent")

# %% [markdown] case_study="right-on-one-card" points=6
# ## Case study: right on one card
#
# A team writes the last layer of a language model: `logits = x @ w`, x (tokens, 4096), w (4096, 50257), fp16. On their
# own H200 all tests pass. Customers with another card, of 114 multiprocessors, report words that make no sense, not
# always the same ones. Customers with 148 multiprocessors report no problem. Parts of the code:
#
# ```python
# NUM_SMS = 132
#
# def describe(t, block):
#     return TensorDescriptor(t, list(t.shape), [t.shape[1], 1], block)
#
# programs = torch.cuda.get_device_properties(0).multi_processor_count
# kernel[(programs,)](describe(x, [128, 64]), describe(w_padded, [64, 256]), logits, ...)
#
# # in the kernel
# accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
# for tile in tl.range(tl.program_id(0), n_tiles, NUM_SMS):
#     ...
# ```
#
# The tests multiply (256, 4096) by (4096, 1024). `w_padded` has 50,264 columns, of which the last 7 are zeros.
#
# 1. What happens on the card with 114 multiprocessors, what on the one with 148, and why is it not always the same?
# 2. A second mistake affects every card, shows in no test, and starts at the 133rd tile. Which one?
# 3. For some x, `describe` reads wrong elements without an error. For which, and why are there 50,264 columns and not
#    50,257?
# 4. Fix the three mistakes, and give the sizes of a test that shows each.
#
# Answer in about 180 words.

# %%
answer("right-on-one-card")

# %% [markdown] model_answer="right-on-one-card"
# 1. The stride of the loop is 132, the grid has 114 programs. So no program computes tiles 114 to 131, and the same 18
#    in each further round. Their elements hold what was in that memory before, which differs from run to run. With 148
#    programs, tiles 132 to 147 are computed twice, by the programs with those numbers and by programs 0 to 15 in their
#    second round, and so are 16 tiles of each further round: the same values, some time lost.
# 2. Each program sets the accumulator to zero only once. From its second tile on, it adds to the sums of the tile
#    before. The tests have 2 × 4 tiles, fewer than programs, so no program gets a second tile.
# 3. For an x that is a view: `describe` computes the strides from the shape instead of asking for them. So it reads a
#    slice of columns or a transpose as if it were dense. Rows of 50,257 fp16 numbers are 100,514 bytes apart, which is
#    not a multiple of 16; 50,264 is the next multiple of 8.
# 4. `tl.num_programs(0)` as the stride; the accumulator inside the loop; `list(t.stride())`, and pointers where a rule
#    is broken. Tests: more than 132 tiles, and a number that is not a multiple of 132, such as 2,048 × 3,000 (16 × 12 =
#    192 tiles); the grid as a parameter, tried with 5 programs; x as `big[:, :4096]` of a wider matrix, and the output
#    filled with NaN before the launch.
#
# **Rubric (6 points)**
#
# - 1 point: 114 programs leave some tiles uncomputed, and old memory contents remain there.
# - 1 point: 148 programs compute tiles twice, with the same values.
# - 1 point: the accumulator, and why eight tiles cannot show it.
# - 1 point: strides from the shape; views.
# - 1 point: rows at multiples of 16 bytes.
# - 1 point: the fixes, and a test with more tiles than programs (or few programs) and a view.

# %% [markdown]
# ## For the GPU
#
# Your product beside cuBLAS. Three experiments:
#
# 1. In the launcher try `block_m, block_n, block_k = 128, 256, 64`, with `num_warps=8` and `num_stages=3` at the
#    launch. It needs 144 KiB of shared memory in fp16, which an A100 or a later data-centre GPU has.
# 2. Add `flatten=True` to the `tl.range` over tiles.
# 3. Let `can_describe` return False, and see what descriptors gain.

# %% gpu
if ON_GPU:
    for size in (1024, 2048, 4096, 8192):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
        time_beside(
            persistent_matmul,
            {"cuBLAS": torch.matmul},
            *(a, b),
            operations=2 * size**3,
            atol=size**0.5 * 2e-2,
            title=f"{size}×{size}",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Program p takes tiles p, p + P, p + 2 P, … The step is the number of *programs*: ask for it with
#   `tl.num_programs(0)`.
# - Everything that belongs to one tile is inside the loop, above all its accumulator.
# - A descriptor replaces addresses and masks. It needs a last axis with stride 1 and rows that begin at multiples of 16
#   bytes.
# - Test with more tiles than programs, and with a last round that is not full.
#
# | in this course | elsewhere |
# |---|---|
# | `processors` | `NUM_SMS` (Triton tutorial 09) |
# | tiles in groups, `GROUP` | `GROUP_SIZE_M`, swizzled or grouped ordering |
# | tiles in rounds | tile scheduler; a round is a *wave*, a last round that is not full is *wave quantization* |
# | descriptor | `CUtensorMap`, tensor map |
#
# References:
#
# - [Persistent Matmul](https://triton-lang.org/main/getting-started/tutorials/09-persistent-matmul.html) (Triton
#   tutorial 09)
# - [Matrix Multiplication](https://triton-lang.org/main/getting-started/tutorials/03-matrix-multiplication.html)
#   (Triton tutorial 03)
# - Triton's [Gluon tutorials](https://github.com/triton-lang/triton/tree/main/python/tutorials/gluon), on TMA,
#   wgmma, persistence and warp specialization
# - NVIDIA: [Efficient GEMM in CUDA](https://docs.nvidia.com/cutlass/media/docs/cpp/efficient_gemm.html)
#   (CUTLASS), on warp-specialized and persistent kernels for Hopper
#
# To repeat in a few days what you wrote here, call `practice()`: it draws a puzzle from an exercise that you have
# passed.

# %%
progress()
