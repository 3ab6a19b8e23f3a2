# %% [markdown]
# # Persistent kernels: programs that stay
#
# Until now a program computed one tile and ended. Here it stays: one launch as large as the GPU, and each program takes one
# tile after another. And tiles come in another way: by a **descriptor**, which knows the shape of the matrix, so that no
# mask is left to write. Fast matrix products on recent GPUs are built like this.
#
# It takes about 40 minutes. Lessons 08 (matmul) and 09 (swizzling) come first.

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
# Ten tiles and four programs. In the first round program p takes tile p, and then it goes on. No program asks another one
# which tile is free: all of them know the rule.
#
# **Predict.** How many tiles does program 1 compute in all?

# %%
predict("tiles_of_program_1", None)

# %% [markdown]
# **Mend it.** The line below should print [1, 5, 9]. It prints every tile from 1 on. One number is missing.

# %%
pid, n_tiles, programs = 1, 10, 4
print(list(range(pid, n_tiles)))

# %% [markdown]
# `range(pid, n_tiles, programs)`: the step is the number of programs. In Triton it is the same line, with `tl.range` and with
# `tl.num_programs(0)`, which is the size of the grid.

# %%
rounds(tiles=10, programs=4)

# %% [markdown]
# The last round is not full: programs 2 and 3 have nothing to do in it. The loop knows that, because it ends before
# `n_tiles`. No `if` is needed.
#
# **Try it.** Give `rounds` another `stride`: 5, then 3. Which of the two loses tiles, and which computes some of them twice?
#
# ## Why stay?
#
# A GPU starts a program on a multiprocessor as soon as there is room. Where tiles are large, one program fills a
# multiprocessor, and a launch with a program for each tile goes like this: start, work out offsets, wait for the first
# loads, multiply, store, end; and the next one again. While a program waits for its first tiles, or stores, its tensor
# cores rest.
#
# A program that stays can do better. Its next tile is known beforehand, so loads for it may be on their way while
# the present one is still stored. That is what can be gained, no more. It takes a compiler, or a hand, that really lets them
# overlap.
#
# What does *not* change is the number of rounds.
#
# **Predict.** A 4096×4096 product in tiles of 128×256, on a GPU of 132 multiprocessors with one program on each. How many
# rounds are there, the last one counted in full?

# %%
predict("rounds_at_4096", None)

# %%
for size in (1024, 2048, 2304, 4096, 8192):
    tiles = triton.cdiv(size, 128) * triton.cdiv(size, 256)
    count = triton.cdiv(tiles, 132)
    print(f"{size}: {tiles:5} tiles, {count:2} rounds, {tiles / (132 * count):4.0%} of the places are used")

# %% [markdown]
# At 2304 there are 30 tiles more than one round holds, so a second one runs nearly empty. That loss has
# nothing to do with staying; smaller tiles, or sharing the sum over k (lesson 18 does it), help.
#
# ## A descriptor
#
# A pointer tile names the address of every element. A **tensor descriptor** holds five things instead: where a matrix
# begins, its shape, its strides, the size of a tile, and what to put where there is no matrix. A tile is then named by
# its first row and column alone:

# %%
@triton.jit
def corner_kernel(x_desc, output_ptr, row, col, SIDE: tl.constexpr):
    """Copy the SIDE x SIDE tile of x that begins at (row, col)."""
    tile = x_desc.load([row, col])
    lanes = tl.arange(0, SIDE)
    tl.store(output_ptr + lanes[:, None] * SIDE + lanes[None, :], tile)


# %% [markdown]
# **Predict.** x has 5 rows and 6 columns; it is the left part of a matrix with 8. How many of the 16 elements of the 4×4 tile
# that begins at row 3, column 4 lie inside x?

# %%
predict("elements_inside", None)

# %%
x = torch.arange(1, 41, dtype=torch.float32, device=DEVICE).reshape(5, 8)[:, :6]
tile = torch.empty(4, 4, device=DEVICE)
corner_kernel[(1,)](TensorDescriptor.from_tensor(x, [4, 4]), tile, 3, 4, SIDE=4)
print(tile)

# %% [markdown]
# What lies outside comes as 0, even where memory goes on, and what is stored outside is dropped. So the masks of lesson 08 are gone, the one along k
# too. Two things remain yours: offsets count *elements*, so tile number 3 begins at row `3 * BLOCK_M`. And a NaN
# elsewhere in the matrix is still a NaN.
#
# There are two ways to make one:
#
# | where | how | what it needs |
# |---|---|---|
# | on the host, before the launch | `TensorDescriptor.from_tensor(x, [rows, columns])`, passed like a tensor | nothing |
# | in the kernel | `tl.make_tensor_descriptor(x_ptr, shape=[M, K], strides=[K, 1], block_shape=[…])` | on a GPU memory for it: `triton.set_allocator` |
#
# On Hopper and later GPUs a unit of its own, the **TMA** (tensor memory accelerator), reads descriptors. One thread
# asks for a tile; the unit works out the addresses, checks the edges and fills shared memory, while the other threads do something else. On older
# GPUs Triton turns the same line into ordinary loads with masks.
#
# ## What it cannot follow
#
# Hardware sets rules, and they are strict:
#
# - the last axis has stride 1;
# - rows begin at multiples of **16 bytes**: `x.stride(0) * x.element_size() % 16 == 0`;
# - so does the first element: `x.data_ptr() % 16 == 0`;
# - a row of a tile has 16 bytes or more, and no size is 0.
#
# A repeated row (stride 0) and rows that overlap are better left to pointers, too.
#
# **Predict.** A contiguous fp16 matrix with 100 columns breaks one of these rules. What is the next larger width that keeps them?

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
# Four of the six cannot be described. None of them is exotic: a slice, a transpose, an odd width. A launcher that must be right
# everywhere asks each matrix, and has another way where the answer is no. (A transpose whose *own* rows are fit can be
# described the other way round, and its tile turned with `tl.trans`.)
#
# ## `tl.range`
#
# Python's `range` and `tl.range` are the same loop. The second one takes wishes for the compiler:
#
# | flag | wish |
# |---|---|
# | `num_stages=3` | keep the loads of so many steps in flight |
# | `flatten=True` | make one loop out of this one and those inside, so that loads run ahead over the end of a tile |
# | `warp_specialize=True` | give loading and multiplying to different warps; so far for simple products on Blackwell |
# | `loop_unroll_factor=2` | write the body twice |
#
# None of them changes a result. Whether one makes a kernel faster only a measurement says, and it differs from one version of
# Triton to the next.
#
# ## Exercise: `persistent_matmul`
#
# **The contract.** `persistent_matmul(a, b)` returns a @ b.
#
# - a is (m, k), b is (k, n), of the same dtype: float32, float16 or bfloat16. Any strides, any sizes, also 0.
# - The sum is fp32, and exact to fp32 for fp32 (`input_precision="ieee"`). The result is new and contiguous, in the dtype of a.
# - No launch has more programs than the GPU has multiprocessors; 132 where there is no GPU.
# - Descriptors where strides and addresses permit; right everywhere.
#
# Three helpers are given: `tile_of` numbers tiles in groups, as in lesson 09; `load_tile` and `store_tile` take a descriptor or a
# pointer. So is the launcher. Two things are yours: the kernel, and `can_describe`, the rules. As long as `can_describe` says no,
# pointers are used, so write the kernel first. `hint("persistent_matmul")` helps.

# %% exercise="persistent_matmul"

# %% [markdown]
# ## What staying saves, and what it does not
#
# **Predict.** The same product, the same tiles, with 132 programs that stay or with a program for each tile. By which factor do the bytes
# that the programs ask for differ?

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
# The tiles of a and b have to come, whoever computes. (If your blocks are not 64×64, or nothing is computed yet, the
# figures differ.) Staying saves time between tiles, and no bytes.
#
# ## From here to the top
#
# The climb so far, at 4096×4096 in fp16, measured on an NVIDIA H200:
#
# | step | lesson | TFLOP/s |
# |---|---|---|
# | a tile of 64×64 for each program | 08 | {h200: matmul 4096 | plain | TFLOP/s} |
# | tiles in groups | 09 | {h200: grouped_matmul 4096 | plain | TFLOP/s} |
# | large tiles, found by measuring | 11 | {h200: autotuned_matmul 4096 | plain | TFLOP/s} |
# | programs that stay, tiles of 64×64 | this one, the model solution | {h200: persistent_matmul 4096 | plain | TFLOP/s} |
# | programs that stay, tiles up to 128×256, found by measuring | this one, the course's fast form | {h200: persistent_matmul 4096 | fast | TFLOP/s} |
# | a form in Gluon | this one, to read | {h200: autotuned_matmul 4096 | fast | TFLOP/s} |
# | cuBLAS | | {h200: autotuned_matmul 4096 | torch | TFLOP/s} |
#
# Staying alone is a step back. With one program for each multiprocessor and a tile of 64×64, nothing else is there to be done while
# the program waits; in lesson 08 other programs filled the gap. With large tiles the same loop reaches
# cuBLAS, in plain Triton: `solutions/fast/persistent.py`. What Triton uses by itself, and what it leaves:
#
# - **wgmma**, the instruction by which four warps of a Hopper GPU multiply tiles straight from shared memory: yes, `tl.dot` becomes that.
# - **TMA**: only through a descriptor.
# - **Warps with different jobs**, one loading and others multiplying, so that one tile is stored while the next is multiplied: not on
#   Hopper in plain Triton 3.9.
#
# For the last one there is **Gluon**, a language below Triton in which layouts, barriers and warps are written by hand. The course has such a
# kernel to read: `solutions/fast/hopper_matmul.py`. Its loop over tiles is the one that you have just written. What is new is
# all that makes loading, multiplying and storing run at the same time.
#
# ## Quiz

# %%
quiz("persistent")

# %% [markdown] case_study="right-on-one-card" points=6
# ## Case study: right on one card
#
# A team writes the last layer of a language model: `logits = x @ w`, x (tokens, 4096), w (4096, 50257), fp16. On their own
# H200 all tests pass. Customers with another card, of 114 multiprocessors, report words that make no sense, not always the same ones.
# Customers with 148 multiprocessors report nothing. Parts of the code:
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
# 2. A second mistake shows on every card, in no test, and from the 133rd tile on. Which one?
# 3. `describe` reads wrong elements of some x, without an error. Of which, and why are there 50,264 columns and not 50,257?
# 4. Mend the three mistakes, and give the sizes of a test that shows each.
#
# Answer in about 180 words.

# %%
answer("right-on-one-card")

# %% [markdown] model_answer="right-on-one-card"
# 1. The stride of the loop is 132, the grid has 114 programs: tiles 114 to 131, and so on in each round, belong to nobody. Their
#    elements hold what was in that memory before, which differs from run to run. With 148 programs, tiles 132 to 147 are
#    computed twice, by the programs with those numbers and by programs 0 to 15 in their second round: the same values, some time lost.
# 2. The accumulator is zeroed once for each program. From its second tile on a program adds to the sums of the one before. The tests have
#    2 × 4 tiles, fewer than programs, so there is no second tile.
# 3. Of an x that is a view: the strides are computed from the shape, in place of asked for. A slice of columns or a transpose is then read as if it
#    were dense. Rows of 50,257 fp16 numbers are 100,514 bytes apart, no multiple of 16; 50,264 is the next multiple of 8.
# 4. `tl.num_programs(0)` as the stride; the accumulator inside the loop; `list(t.stride())`, and pointers where a rule is
#    broken. Tests: more than 132 tiles and a number that is no multiple, such as 2,048 × 3,000 (16 × 12 = 192 tiles); the grid as a parameter, tried with 5 programs; x as `big[:, :4096]`
#    of a wider matrix, and the output filled with NaN before the launch.
#
# **Rubric (6 points)**
#
# - 1 point: 114 programs leave tiles to nobody, and there stands what lay in memory.
# - 1 point: 148 programs compute tiles twice, with the same values.
# - 1 point: the accumulator, and why eight tiles cannot show it.
# - 1 point: strides from the shape; views.
# - 1 point: rows at multiples of 16 bytes.
# - 1 point: the mends, and a test with more tiles than programs (or few programs) and a view.

# %% [markdown]
# ## For the GPU
#
# Your product beside cuBLAS. In the launcher try `block_m, block_n, block_k = 128, 256, 64`, with `num_warps=8` and `num_stages=3` at the launch: it
# needs 144 KiB of shared memory in fp16, which an A100 or a later data-centre GPU has. Then `flatten=True` in the `tl.range` over tiles. Then
# let `can_describe` return False, and see what descriptors bring.

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
# - Program p takes tiles p, p + P, p + 2 P, … The step is the number of *programs*, asked for and not remembered.
# - All that belongs to one tile stands inside the loop, its accumulator first of all.
# - A descriptor takes the place of addresses and masks. It follows rows of neighbours that begin at multiples of 16 bytes, and nothing else.
# - Test with more tiles than programs, and with a last round that is not full.

# %%
progress()
