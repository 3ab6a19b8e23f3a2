# %% [markdown]
# # Experts: groups of unequal size
#
# Many language models have layers with not one matrix of weights but dozens, and each token meets only one of them, or a few. Such a
# layer is called a **mixture of experts**. How many tokens an expert gets is different in each step, and only the GPU knows it. You will
# multiply all groups by their matrices in *one* launch.
#
# It takes about 35 minutes. Lesson 08 (matmul) comes first; lesson 16 (persistent kernels) helps.

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
# A small layer, the **router**, chooses an expert for each token. Here are ten tokens and four experts. The tokens of an expert shall
# lie side by side, because then they are the rows of a matrix. So the tokens are sorted by their experts.
#
# **Predict.** Expert 0 got two of the ten tokens, and expert 1 got two. Counted from 0: in which row do those of expert 2 begin?

# %%
predict("first_row_of_expert_2", None)

# %% [markdown]
# **Mend it.** The cell prints which rows each expert has. The first line of its output should say that expert 0 has rows 0 to 2, the
# last one not included. It does not, and one expert is not there at all: `offsets` lacks its first number.

# %%
choice = torch.tensor([2, 0, 2, 1, 2, 0, 2, 2, 1, 2])  # of the router, for each token
order = choice.argsort(stable=True)  # x = tokens[order]
rows_of_each = torch.bincount(choice, minlength=4).tolist()
offsets = list(accumulate(rows_of_each))
for expert in range(len(offsets) - 1):
    print(f"expert {expert} has rows {offsets[expert]} to {offsets[expert + 1]}: tokens", end=" ")
    print(order[offsets[expert] : offsets[expert + 1]].tolist())

# %% [markdown]
# `accumulate(rows_of_each, initial=0)` begins with 0. Then there are e + 1 offsets for e experts: expert i has the rows from
# `offsets[i]` on, and `offsets[i + 1]` is the first row that is no longer its own. Where both are equal, the expert has no rows. That is
# expert 3 here, and it is nothing special.
#
# On a GPU the same is two lines of torch, and no number comes to the CPU:
#
# ```python
# counts = torch.bincount(choice, minlength=n_experts)
# offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).to(torch.int32)
# ```
#
# What the layer has to compute is `x[offsets[i]:offsets[i + 1]] @ w[i]` for each expert i. (In most models a token meets several
# experts. It is then listed several times, and its results are added up afterwards. The product in the middle is the same.)
#
# ## Two ways that waste
#
# **Padding.** Make all groups as long as the longest, with rows of zeros, and call a batched product. The GPU multiplies the zeros as
# diligently as the rest.
#
# **Predict.** Four experts get 100, 20, 3 and 5 rows. All are padded to the longest. What share of the multiplications, in percent,
# is spent on padding?

# %%
predict("share_of_padding", None)

# %%
for lengths in ((32, 32, 32, 32), (40, 30, 30, 28), (100, 20, 3, 5), (128, 0, 0, 0)):
    padded = len(lengths) * max(lengths)
    print(f"{lengths!s:18} {padded:3} rows with padding: {1 - sum(lengths) / padded:4.0%} are zeros")

# %% [markdown]
# And how long is the longest? Somebody has to ask the GPU, and the CPU waits for the answer.
#
# **A launch for each expert.** Again the lengths are needed on the CPU, or else each launch must be large enough for all rows. And
# there are e launches in place of one, each of which takes its time to start. What is worse: a few rows make few tiles, and a GPU
# has more than a hundred multiprocessors.
#
# **Predict.** One expert has 20 rows, and its matrix has 4096 columns. A tile has 64 rows and 128 columns. How many programs does the
# launch for this expert have?

# %%
predict("programs_of_a_small_expert", None)

# %%
for rows in (20, 64, 65, 1000):
    programs = triton.cdiv(rows, 64) * triton.cdiv(4096, 128)
    print(f"{rows:4} rows: {programs:3} programs, for the 132 multiprocessors of an H200")

# %% [markdown]
# Launches behind one another do not fill the gaps, unless somebody gives them streams of their own. So: all tiles of all experts in
# one launch.
#
# ## Tiles
#
# Lesson 08 cut the rows of the result into tiles of BLOCK_M. Do the same here, without regard to the experts, and look:

# %%
expert_tiles([7, 2, 0, 6], block=4, by_expert=False)

# %% [markdown]
# Tiles 1 and 2 lie across two experts. A `tl.dot` multiplies *all* rows of its tile by the same tile of weights. So the rows that are
# marked get the matrix of somebody else's expert. No shape is wrong, and nothing crashes.
#
# Now each expert has tiles of its own. The first begins at the expert's first row, and the last one may not be full:

# %%
expert_tiles([7, 2, 0, 6], block=4)

# %% [markdown]
# An empty lane is masked off: `rows < end`, with the end of the *expert*. Behind it lie rows of the next one, and a lane that is
# not masked would store over them.
#
# **Predict.** 70, 5, 130 and 33 rows in tiles of 32. How many tiles are there?

# %%
predict("tiles_of_four_experts", None)

# %%
lengths, block = (70, 5, 130, 33), 32
tiles = [triton.cdiv(length, block) for length in lengths]
print(f"tiles of each expert: {tiles}, in all {sum(tiles)}")
print(f"tiles if all {sum(lengths)} rows belonged to one: {triton.cdiv(sum(lengths), block)}")

# %% [markdown]
# **Try it.** Give `expert_tiles` other groups: all of them multiples of 4, with `by_expert=False`. Why would a test with such groups
# find nothing?
#
# ## Which expert has tile number 4?
#
# A program knows its number, and that is all. The tiles are dealt out in order: first all tiles of expert 0, then those of expert 1, and so
# on. Add up how many there are: a **prefix sum**. Of the tiles above these are 3, 4, 9, 11. So the first two experts have 4 tiles
# together, and these are the tiles 0, 1, 2 and 3.
#
# **Predict.** To which expert does tile 4 belong?

# %%
predict("expert_of_tile_4", None)

# %% [markdown]
# **Mend it.** The expert is the *number of sums that lie behind us*. The line below is wrong at each edge: tile 3 belongs to expert 1, and
# tile 4 to the expert that you predicted. One sign is missing.

# %%
sums = list(accumulate(tiles))
for tile in range(sums[-1]):
    expert = sum(total < tile for total in sums)
    print(f"tile {tile:2}: expert {expert}")

# %% [markdown]
# With `<=` all is well. And an expert without rows? It adds no tile, its sum is the same as the one before, and both lie behind us at the
# same time. It is skipped without a word. Try `lengths = (70, 0, 130, 33)` two cells further up.
#
# In a kernel this is a block of lanes, one for each expert, and three lines: `tl.cdiv` of the lengths, `tl.cumsum`, and the sum of a
# comparison. Every program does it for itself. There are other ways, and all of them are right:
#
# - **Walk** through the experts with a counter, until the tile lies in the present one. Simple, and slow where there are many experts:
#   each step waits for a load.
# - **Halve** the range again and again, a binary search in the sums. It needs the sums in memory.
# - A grid of **(experts, most tiles)**. Nothing has to be searched, but one expert may have all rows, so each of them needs `cdiv(t,
#   BLOCK_M)` programs. Nearly all of these end at once.
#
# Then the place within the expert: how many tiles have gone before? Tile 5 of the launch is the *second* tile of its expert, because 4
# tiles came before that expert, and so it begins one BLOCK_M behind the expert's first row.
#
# ## How many programs?
#
# The launcher decides about the grid, and it cannot read `offsets`: these numbers lie on the GPU. What it knows is t, the number of all rows,
# and e, the number of experts.
#
# Cut t rows into tiles: `cdiv(t, BLOCK_M)`. Each expert may end in a tile that is not full, so there are up to e more. A
# launch of `cdiv(t, BLOCK_M) + e` tiles is always enough. A program whose number is too large finds that all sums lie behind it, and ends.
#
# **Predict.** The groups are 100, 20, 3 and 5 rows, and BLOCK_M is 32. How many programs of a launch with so many tiles (and one tile of
# columns) have nothing to do?

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
# All tiles are of the same size, and so is their work. A program of an expert with 1000 rows takes no longer than one of an expert with 10. That
# is the balance that one launch gives you. What it cannot give: a tile with two rows takes as long as a full one.
#
# **Predict.** 64 experts with 2 rows each, and BLOCK_M is 64. What share of the rows that are multiplied, in percent, are rows of x?

# %%
predict("share_of_useful_rows", None)

# %%
for block in (16, 32, 64, 128):
    print(f"BLOCK_M {block:3}: {2 / block:5.1%} of the rows are real")

# %% [markdown]
# So a smaller BLOCK_M helps when there are few rows. But there is another limit. Each expert that has a row at all needs its whole matrix,
# and that matrix comes from memory.
#
# **Predict.** An expert has 8 rows, and its weights are float16, two bytes each. How many operations does it do for each byte of
# its matrix? (A multiplication and an addition are two.)

# %%
predict("operations_per_byte", None)

# %%
for rows in (1, 8, 64, 512):
    print(f"{rows:3} rows: {2 * rows / 2:3.0f} operations for each byte of the expert's matrix")

# %% [markdown]
# In lesson 03 you saw how many a GPU could do in the time of one byte: more than a hundred. An expert with a few rows waits for its weights, whatever the tile.
# More tokens in a batch help. So does a router that spreads them evenly, which is why many models are trained with a penalty for
# uneven groups.
#
# ## Exercise: `grouped_gemm`
#
# **The contract.** `grouped_gemm(x, w, offsets)` returns `x[offsets[i]:offsets[i + 1]] @ w[i]` for all experts i, one below the other.
#
# - x is (t, k), its rows ordered by expert. w is (e, k, n), with e ≥ 1. Both have the same dtype: float32, float16 or bfloat16. Any
#   strides, and each has its own.
# - offsets is (e + 1,), int32, contiguous, and lies where x lies. It begins with 0, ends with t, and never falls. Experts without rows
#   are legal; so are t, k and n of 0.
# - The sum is fp32, and exact to fp32 for fp32 (`input_precision="ieee"`). The result (t, n) is new and contiguous, in the dtype of x.
# - One launch of one kernel. The launcher never sees what offsets holds.
#
# The launcher is given. Two functions are yours: `rows_of_tile` finds the expert of a tile and where the tile begins, and the
# kernel multiplies. `hint("grouped_gemm")` helps.

# %% exercise="grouped_gemm"

# %% [markdown]
# ## What it loads
#
# Three routings of 96 rows to four experts, in your kernel. Before you run the cell: which of them loads the most bytes of w?

# %%
x, w = torch.randn(96, 32), torch.randn(4, 32, 64)
for lengths in ((24, 24, 24, 24), (93, 1, 1, 1), (96, 0, 0, 0)):
    bounds = torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)
    print(lengths, explore.measure(grouped_gemm, x, w, bounds), sep="\n", end="\n\n")

# %% [markdown]
# (Before your kernel is written there is nothing to see.) Every tile of rows loads its expert's whole matrix, 8,192 bytes, be it full or not.
# With 93 rows expert 0 has three tiles, and the others have one each. For an expert without rows nothing is loaded at all.
#
# ## Quiz

# %%
quiz("experts")

# %% [markdown] case_study="expert-that-never-spoke" points=6
# ## Case study: the expert that never spoke
#
# A team replaces its batched product by a kernel of its own. Their test has three experts with 64, 128 and 192 rows, and it passes. In
# production the model gets worse, and nobody finds an error in any log. Parts of the code, with BLOCK_M = 64:
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
# 2. Three experts have 100, 28 and 60 rows. Which rows get the matrix of which expert, and which expert is never used?
# 3. Their first repair pads each group with zeros to a multiple of 64 rows. What does the CPU have to know for that? With 64 experts of 8
#    rows each, which share of the rows is real?
# 4. Their second repair gives each expert tiles of its own, in the kernel, and leaves the grid as it is. Which rows of the example in 2
#    are missing now, and what do they hold?
# 5. Which grid is right, and which test would have shown all of this?
#
# Answer in about 180 words.

# %%
answer("expert-that-never-spoke")

# %% [markdown] model_answer="expert-that-never-spoke"
# 1. All groups end at multiples of 64, so no tile lies across two experts, and the expert of the first row is that of all rows.
# 2. Tile 0 has rows 0 to 63, tile 1 rows 64 to 127. The first row of each belongs to expert 0, so rows 100 to 127, which are all rows
#    of expert 1, are multiplied by w[0]. Tile 2 begins with row 128, where expert 2 begins, and is right. Expert 1 is never used.
# 3. It has to know how many rows each group has, because the padded x must be allocated and filled: so the CPU waits for the GPU in each
#    layer. 64 experts of 8 rows are 512 rows in 4096, which is one in eight.
# 4. The experts have 2, 1 and 1 tiles, which is 4, and `cdiv(188, 64)` is 3. The tile of expert 2 has no program: rows 128 to 187
#    hold whatever lay in that memory, which may even be the right result of an earlier call.
# 5. `cdiv(T, BLOCK_M) + e` tiles; programs without a tile end at once. A test with groups that are no multiples of BLOCK_M, some of them
#    smaller than a tile, one without rows, and an output that is filled with NaN before.
#
# **Rubric (6 points)**
#
# - 1 point: in the test each group ends where a tile ends.
# - 1 point: rows 100 to 127 get w[0], and expert 1 is never used.
# - 1 point: lengths on the CPU, and so a wait; one row in eight.
# - 1 point: the last tile has no program, so rows 128 to 187 are missing.
# - 1 point: they hold what lay in memory, not zeros and not an error.
# - 1 point: `cdiv(T, BLOCK_M) + e`, and a test with ragged, small and empty groups.

# %% [markdown]
# ## For the GPU
#
# Three ways to the same result: yours, a launch for each expert, and padding. The second and the third know the lengths already, which
# spares them the wait. Look at how the order changes as the rows grow.

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
# Where there are many rows, cuBLAS may win by its better tiles: yours are small and plain. Lessons 09, 11 and 16 say what to do, and all
# of it fits in here: tiles in groups, so that neighbours share a matrix; block sizes that are measured; programs that stay and take
# tile after tile.
#
# Measured on an NVIDIA H200 in bf16, with 64 uneven experts, 32,768 rows, k = 2048 and n = 4096: the model solution took
# {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | plain | ms} ms, `torch._grouped_mm` {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | torch._grouped_mm | ms} ms, and the course's fast form, which does all of the above,
# {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | fast | ms} ms. A launch for each expert took {h200: grouped_gemm bf16, 64 uneven experts, 32768×4096×2048 | torch | ms} ms, and varied by a factor of three from round to
# round; the groups had new sizes in each.
#
# ## What you take with you
#
# - Groups of unequal size in one launch: tiles belong to experts, and a prefix sum says which tile belongs to whom.
# - Three ends that are easy to mistake for each other: of the tile, of the expert, of x. The mask of the rows is the expert's.
# - The launcher knows shapes and no values. It launches the most that there can be, and what is too much ends at once.
# - Test with groups that are ragged, tiny and empty. Those that fit the tiles prove nothing.

# %%
progress()
