# %% [markdown]
# # Experts: groups of unequal size
#
# Many language models have layers with dozens of weight matrices in place of one, and each token uses only one of them, or
# a few. Such a layer is called a **mixture of experts** (MoE). The number of tokens of an expert changes in each step, and
# it is known only in GPU memory. In this lesson you multiply all groups by their matrices in *one* launch. The field calls
# this a **grouped GEMM**.
#
# It takes about 70 minutes. Lesson 08 (matmul) comes first; lesson 16 (persistent kernels) helps.

# %% setup
from itertools import accumulate

from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.experts import expert_tiles

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Tokens, ordered by expert
#
# A small layer, the **router**, chooses an expert for each token. Here are ten tokens and four experts. The tokens of an
# expert must be neighbours, so that they are the rows of a matrix. So the tokens are sorted by their experts.
#
# **Predict.** Expert 0 got two of the ten tokens, and expert 1 got two. Counted from 0: in which row do those of expert 2
# begin?

# %%
predict("first_row_of_expert_2", None)

# %% [markdown]
# **Fix it.** The next cell prints which rows each expert has. The first line of its output should say that expert 0 has
# rows 0 to 2, without row 2. It does not, and one expert is missing: `offsets` lacks its first number.

# %%
choice = torch.tensor([2, 0, 2, 1, 2, 0, 2, 2, 1, 2])  # by the router, for each token
order = choice.argsort(stable=True)  # x = tokens[order]
rows_of_each = torch.bincount(choice, minlength=4).tolist()
offsets = list(accumulate(rows_of_each))
for expert in range(len(offsets) - 1):
    print(f"expert {expert} has rows {offsets[expert]} to {offsets[expert + 1]}: tokens", end=" ")
    print(order[offsets[expert] : offsets[expert + 1]].tolist())

# %% [markdown]
# `accumulate(rows_of_each, initial=0)` begins with 0. Then there are e + 1 offsets for e experts: expert i has the rows
# from `offsets[i]` up to `offsets[i + 1]`, without the last. If both are equal, the expert has no rows. That happens to
# expert 3 here, and it is normal.
#
# On a GPU the same takes two lines of torch, and no number is copied to the CPU:
#
# ```python
# counts = torch.bincount(choice, minlength=n_experts)
# offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).to(torch.int32)
# ```
#
# The layer has to compute `x[offsets[i]:offsets[i + 1]] @ w[i]` for each expert i. (In most models a token uses several
# experts. Then it is listed several times, and its results are added afterwards. The product in the middle is the same.)
#
# ## Two slow ways
#
# **Padding.** Make all groups as long as the longest, with rows of zeros, and call a batched product. The GPU multiplies
# the zeros like all other rows.
#
# **Predict.** Four experts get 100, 20, 3 and 5 rows. All are padded to the longest. What percentage of the multiplications
# is spent on padding?

# %%
predict("share_of_padding", None)

# %%
for lengths in ((32, 32, 32, 32), (40, 30, 30, 28), (100, 20, 3, 5), (128, 0, 0, 0)):
    padded = len(lengths) * max(lengths)
    print(f"{lengths!s:18} {padded:3} rows with padding: {1 - sum(lengths) / padded:4.0%} are zeros")

# %% [markdown]
# And how long is the longest group? That number is in GPU memory, and the CPU must wait for it.
#
# **A launch for each expert.** Again the CPU needs the lengths, or each launch must be large enough for all rows. And there
# are e launches instead of one, and each costs time to start. Worse, a few rows make few tiles, and a GPU has more than a
# hundred multiprocessors.
#
# **Predict.** One expert has 20 rows, and its matrix has 4096 columns. A tile has 64 rows and 128 columns. How many
# programs does the launch for this expert have?

# %%
predict("programs_of_a_small_expert", None)

# %%
for rows in (20, 64, 65, 1000):
    programs = triton.cdiv(rows, 64) * triton.cdiv(4096, 128)
    print(f"{rows:4} rows: {programs:3} programs, for the 132 multiprocessors of an H200")

# %% [markdown]
# Launches in one stream run one after the other, so they do not fill each other's gaps. So put all tiles of all experts
# into one launch.
#
# ## Tiles
#
# Lesson 08 divided the rows of the result into tiles of BLOCK_M. Do the same here and ignore the experts:

# %%
expert_tiles([7, 2, 0, 6], block=4, by_expert=False)

# %% [markdown]
# Tiles 1 and 2 contain rows of two experts. A `tl.dot` multiplies *all* rows of its tile by the same tile of weights. So
# the marked rows are multiplied by the matrix of the wrong expert. All shapes fit, and nothing crashes.
#
# Now each expert has its own tiles. The first tile begins at the expert's first row, and the last one may not be full:

# %%
expert_tiles([7, 2, 0, 6], block=4)

# %% [markdown]
# Mask off the empty lanes with `rows < end`, where `end` is the end of the *expert*. After it come the rows of the next
# expert, and an unmasked lane would overwrite them.
#
# **Predict.** The experts have 70, 5, 130 and 33 rows, in tiles of 32. How many tiles are there?

# %%
predict("tiles_of_four_experts", None)

# %%
lengths, block = (70, 5, 130, 33), 32
tiles = [triton.cdiv(length, block) for length in lengths]
print(f"tiles of each expert: {tiles}, in all {sum(tiles)}")
print(f"tiles if all {sum(lengths)} rows belonged to one: {triton.cdiv(sum(lengths), block)}")

# %% [markdown]
# **Try it.** Give `expert_tiles` other groups: all of them multiples of 4, with `by_expert=False`. Why would a test with
# such groups find nothing?
#
# ## Which expert has tile number 4?
#
# A program knows only its number. The tiles are numbered in order: first all tiles of expert 0, then those of expert 1, and
# so on. Add up the tiles of the experts. The running sum is called a **prefix sum**; for the tiles above it is 3, 4, 9, 11.
# So the first two experts have 4 tiles together, and these are the tiles 0, 1, 2 and 3.
#
# **Predict.** To which expert does tile 4 belong?

# %%
predict("expert_of_tile_4", None)

# %% [markdown]
# **Fix it.** The expert is the *number of prefix sums that are ≤ tile*. The line below is wrong at each boundary: tile 3
# belongs to expert 1, and tile 4 to the expert that you predicted. One sign is missing.

# %%
sums = list(accumulate(tiles))
for tile in range(sums[-1]):
    expert = sum(total < tile for total in sums)
    print(f"tile {tile:2}: expert {expert}")

# %% [markdown]
# With `<=` the output is correct. An expert without rows adds no tile, so its prefix sum equals the one before, and the
# count passes both at the same tile. It needs no special case. Try `lengths = (70, 0, 130, 33)` two cells further up.
#
# In a kernel you need a block with one lane for each expert, and three lines: `tl.cdiv` of the lengths, `tl.cumsum`, and
# the sum of a comparison. Every program computes this for itself. Other ways are also correct:
#
# - A **loop** over the experts with a counter, until the tile belongs to the current expert. It is simple, but slow with
#   many experts: each step waits for a load.
# - A **binary search** in the prefix sums. It needs the sums in memory.
# - A grid of **(experts, most tiles)**. It needs no search, but one expert may have all rows, so each of them needs
#   `cdiv(t, BLOCK_M)` programs. Nearly all of these return at once.
#
# Then find the position within the expert: how many tiles come before this expert? Tile 5 of the launch is the *second*
# tile of its expert, because 4 tiles come before that expert. So it begins BLOCK_M rows after the expert's first row.
#
# ## How many programs?
#
# The launcher chooses the grid, and it cannot read `offsets`: these numbers are in GPU memory. It knows t, the number of
# all rows, and e, the number of experts.
#
# t rows without groups make `cdiv(t, BLOCK_M)` tiles. Each expert may end in a tile that is not full, so there are up to e
# more. A launch of `cdiv(t, BLOCK_M) + e` tiles is always enough. A program whose number is too large counts all e prefix
# sums, so it finds no expert and returns.
#
# **Predict.** The groups are 100, 20, 3 and 5 rows, and BLOCK_M is 32. How many programs of a launch with so many tiles
# (and one tile of columns) have nothing to do?

# %%
predict("programs_without_a_tile", None)

# %%
generator = torch.Generator().manual_seed(0)
for e in (4, 8, 64):
    t, counts = 1024, []
    for _ in range(200):
        found = torch.bincount(torch.randint(e, (t,), generator=generator), minlength=e).tolist()
        counts.append(sum(triton.cdiv(length, 64) for length in found))
    print(f"{t} rows, {e:2} experts, tiles of 64: {min(counts):2} to {max(counts):2} tiles, {t // 64 + e} launched")

# %% [markdown]
# ## Balance
#
# All tiles have the same size, and so the same amount of work. A program of an expert with 1000 rows takes no longer than
# one of an expert with 10. That is the balance that one launch gives you. It has a limit: a tile with two rows takes as
# long as a full one.
#
# **Predict.** 64 experts have 2 rows each, and BLOCK_M is 64. What percentage of the multiplied rows are rows of x?

# %%
predict("share_of_useful_rows", None)

# %%
for block in (16, 32, 64, 128):
    print(f"BLOCK_M {block:3}: {2 / block:5.1%} of the rows are real")

# %% [markdown]
# So a smaller BLOCK_M helps when there are few rows. But there is another limit. Each expert with at least one row needs
# its whole matrix, and that matrix comes from memory.
#
# **Predict.** An expert has 8 rows, and its weights are float16, two bytes each. How many operations are there for each
# byte of its matrix? (A multiplication and an addition are two.)

# %%
predict("operations_per_byte", None)

# %%
for rows in (1, 8, 64, 512):
    print(f"{rows:3} rows: {2 * rows / 2:3.0f} operations for each byte of the expert's matrix")

# %% [markdown]
# In lesson 03 you saw how many operations a GPU performs in the time of one byte: more than a hundred. An expert with a few
# rows waits for its weights, whatever the tile size. More tokens in a batch help. So does a router that distributes them
# evenly, which is why many models are trained with a penalty for uneven groups.
#
# ## Exercise: `grouped_gemm`
#
# **The contract.** `grouped_gemm(x, w, offsets)` returns `x[offsets[i]:offsets[i + 1]] @ w[i]` for all experts i, one below
# the other.
#
# - x is (t, k), its rows ordered by expert. w is (e, k, n), with e ≥ 1. Both have the same dtype: float32, float16 or
#   bfloat16. Any strides, and each has its own.
# - offsets is (e + 1,), int32, contiguous, on the device of x. It begins with 0, ends with t, and never decreases. Experts
#   without rows are legal; so are t, k and n of 0.
# - The sum is fp32, and exact to fp32 for fp32 (`input_precision="ieee"`). The result (t, n) is new and contiguous, in the
#   dtype of x.
# - One launch of one kernel. The launcher must not read the values of offsets.
#
# The launcher is given. You write two functions: `rows_of_tile` finds the expert of a tile and where the tile begins, and
# the kernel multiplies. `hint("grouped_gemm")` helps.

# %% exercise="grouped_gemm"

# %% [markdown]
# ## What it loads
#
# The next cell runs your kernel with three routings of 96 rows to four experts. Before you run it: which of them loads the
# most bytes of w?

# %%
x, w = torch.randn(96, 32), torch.randn(4, 32, 64)
for lengths in ((24, 24, 24, 24), (93, 1, 1, 1), (96, 0, 0, 0)):
    bounds = torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)
    print(lengths, explore.measure(grouped_gemm, x, w, bounds), sep="\n", end="\n\n")

# %% [markdown]
# (Before your kernel is written, it shows nothing.) Every tile of rows loads its expert's whole matrix, 8,192 bytes, even
# if the tile is not full. With 93 rows expert 0 has three tiles, and the others have one each. For an expert without rows,
# nothing is loaded.
#
# ## Quiz

# %%
quiz("experts")

# %% [markdown] case_study="expert-that-never-spoke" points=6
# ## Case study: the expert that was never used
#
# A team replaces its batched product by its own kernel. Their test has three experts with 64, 128 and 192 rows, and it
# passes. In production the model gets worse, and no log shows an error. Parts of the code, with BLOCK_M = 64:
#
# ```python
# tile = tl.program_id(0)
# expert = 0
# while tl.load(offsets_ptr + expert + 1) <= tile * BLOCK_M:
#     expert += 1
# rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
# x = tl.load(..., mask=rows[:, None] < T, ...)
#
# grid = (triton.cdiv(T, BLOCK_M), triton.cdiv(N, BLOCK_N))
# ```
#
# 1. Why does the test pass?
# 2. Three experts have 100, 28 and 60 rows. Which rows are multiplied by the matrix of which expert, and which expert is
#    never used?
# 3. Their first fix pads each group with zeros to a multiple of 64 rows. What does the CPU have to know for that? With 64
#    experts of 8 rows each, what fraction of the rows is real?
# 4. Their second fix gives each expert its own tiles in the kernel, and leaves the grid as it is. Which rows of the example
#    in 2 are missing now, and what do they hold?
# 5. Which grid is correct, and which test would have shown all of this?
#
# Answer in about 180 words.

# %%
answer("expert-that-never-spoke")

# %% [markdown] model_answer="expert-that-never-spoke"
# 1. All groups end at multiples of 64, so no tile contains rows of two experts, and the expert of the first row is that of
#    all rows.
# 2. Tile 0 has rows 0 to 63, tile 1 rows 64 to 127. The first row of each belongs to expert 0. So rows 100 to 127, which
#    are all rows of expert 1, are multiplied by w[0]. Tile 2 begins with row 128, where expert 2 begins, and is correct.
#    Expert 1 is never used.
# 3. It has to know how many rows each group has, because it must allocate and fill the padded x. So the CPU waits for the
#    GPU in each layer. 64 experts of 8 rows are 512 rows in 4096, which is one in eight.
# 4. The experts have 2, 1 and 1 tiles, which is 4, and `cdiv(188, 64)` is 3. The tile of expert 2 has no program. Rows 128
#    to 187 hold old contents of the memory, perhaps even the correct result of an earlier call.
# 5. The grid is `cdiv(T, BLOCK_M) + e` tiles; programs without a tile return at once. The test needs groups that are not
#    multiples of BLOCK_M, some of them smaller than a tile, and one group without rows. Fill the output with NaN before.
#
# **Rubric (6 points)**
#
# - 1 point: in the test each group ends where a tile ends.
# - 1 point: rows 100 to 127 get w[0], and expert 1 is never used.
# - 1 point: lengths on the CPU, and so a wait; one row in eight.
# - 1 point: the last tile has no program, so rows 128 to 187 are missing.
# - 1 point: they hold old contents of the memory, not zeros, and no error is raised.
# - 1 point: `cdiv(T, BLOCK_M) + e`, and a test with ragged, small and empty groups.

# %% [markdown]
# ## For the GPU
#
# The next cell compares three ways to the same result: yours, a launch for each expert, and padding. The second and the
# third already know the lengths, so they need not wait for them. Look at how the order changes as the number of rows grows.

# %% gpu
if ON_GPU:
    e, k, n = 32, 2048, 2048
    w = torch.randn(e, k, n, device="cuda", dtype=torch.float16) / k**0.5
    for t in (256, 4096, 32768):
        # Uneven groups: experts with low numbers are chosen more often.
        chosen = (torch.rand(t, device="cuda") ** 2 * e).long().clamp(max=e - 1)
        lengths = torch.bincount(chosen, minlength=e).tolist()
        bounds = [0, *accumulate(lengths)]
        x = torch.randn(t, k, device="cuda", dtype=torch.float16)
        offsets = torch.tensor(bounds, dtype=torch.int32, device="cuda")
        groups = [x[bounds[i] : bounds[i + 1]] for i in range(e)]
        padded = torch.zeros(e, max(lengths), k, device="cuda", dtype=torch.float16)
        for i in range(e):
            padded[i, : lengths[i]] = groups[i]
        time_beside(
            lambda: grouped_gemm(x, w, offsets),
            {
                "a launch for each": lambda: [groups[i] @ w[i] for i in range(e)],
                "padded": lambda: padded @ w,
            },
            wanted=torch.cat([groups[i] @ w[i] for i in range(e)]),
            operations=2 * t * k * n,  # of useful work
            title=f"t = {t}",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# With many rows, cuBLAS may be faster because of its better tiles: yours are small and plain. Lessons 09, 11 and 16 show
# what to do, and all of it applies here: tiles in groups, so that neighbours share a matrix; tuned block sizes; persistent
# programs that take one tile after another.
#
# PyTorch has this product as `torch.nn.functional.grouped_mm`, for bfloat16. Its offsets are the ends of the groups,
# without the leading 0. The measurement below used its private form `torch._grouped_mm`.
#
# Measured on an NVIDIA H200 ({h200: versions}) in bf16, with 64 uneven experts, 32,768 rows, k = 2048 and n = 4096:
#
# - the model solution took {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | plain | ms} ms;
# - `torch._grouped_mm` took {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | torch._grouped_mm | ms} ms;
# - the course's fast form, which does all of the above, took
#   {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | fast | ms} ms;
# - a launch for each expert took {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | torch | ms} ms. It varied
#   by a factor of three from round to round, because each round had new group sizes.
#
# ## What you take with you
#
# - Groups of unequal size fit into one launch: each expert has its own tiles, and a prefix sum gives the expert of a tile.
# - Distinguish three ends: of the tile, of the expert, and of x. The mask of the rows uses the end of the expert.
# - The launcher knows shapes, not values. It launches the largest possible number of programs, and those without a tile
#   return at once.
# - Test with groups that are ragged, tiny and empty. Groups that are multiples of the tile hide mistakes.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `grouped_gemm` | grouped GEMM, fused MoE, `grouped_mm` |
# | offsets | `offs`, `expert_offsets`, group sizes (their differences) |
# | tokens ordered by expert | permuted or sorted tokens, dispatch |
# | rows without a token | padding, `num_tokens_post_padded` (vLLM) |
# | a token uses several experts | top-k routing |
#
# References:
#
# - Shazeer et al.: [Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts
#   Layer](https://arxiv.org/abs/1701.06538) (2017)
# - Gale et al.: [MegaBlocks: Efficient Sparse Training with Mixture-of-Experts](https://arxiv.org/abs/2211.15841)
#   (2022)
# - [Group GEMM](https://triton-lang.org/main/getting-started/tutorials/08-grouped-gemm.html) (Triton tutorial
#   08): persistent programs go through the tiles of all groups
# - [torch.nn.functional.grouped_mm](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html)
#   (PyTorch's documentation)
#
# To practise, run `practice()`: it gives you a puzzle from an exercise that you have passed.

# %%
progress()
