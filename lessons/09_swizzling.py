# %% [markdown]
# # Swizzling: the order of the tiles
#
# Your matmul is correct, but not yet as fast as it could be. One reason is the *order* in which the programs take their
# tiles. In this lesson you change that order, prove that each tile is still computed, and measure what it saves.
#
# It takes about 80 minutes. Lesson 08 (matmul) comes first.

# %% setup
from triton_util import catch, explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# Each program of this kernel stores the row and the column of the tile that it would take. The tiles should be taken column
# by column: down the first column, then down the second one. Run both cells.

# %%
@triton.jit
def by_columns_kernel(output_ptr, n_rows, n_cols):
    pid = tl.program_id(axis=0)
    tl.store(output_ptr + 2 * pid, pid % n_rows)
    tl.store(output_ptr + 2 * pid + 1, pid // n_cols)


def by_columns(n_rows, n_cols):
    tiles = torch.empty((n_rows * n_cols, 2), dtype=torch.int32)
    by_columns_kernel[(n_rows * n_cols,)](tiles, n_rows, n_cols)
    return tiles


def columns_first(n_rows, n_cols):
    tiles = [(row, col) for col in range(n_cols) for row in range(n_rows)]
    return torch.tensor(tiles, dtype=torch.int32)



# %%
catch("by_columns", by_columns, 2, 3, right=columns_first, others=[(1, 1), (3, 3), (4, 2), (1, 5)])

# %% [markdown]
# In the list, the row and the column of each program follow one another. Program 2 takes the tile in row 0 and column 0,
# which program 0 took before, and no program takes column 2. **Fix it**: change one name in the last line of the kernel. Run
# that cell again, then the one above this text, until the card is green.
#
# ## Programs that run at the same time
#
# Between the SMs and the global memory is the **L2 cache**, which all SMs share. If one program loads data, another one
# finds it in the L2 for some time. So programs that run *at the same time* should need the same data.
#
# The hardware starts programs roughly in the order of their ids, as many as fit. You decide which *tile* belongs to which
# id.
#
# Take a product of 9×9 tiles, with K also 9 blocks long. A tile of `c` needs a row of 9 blocks of `a` and a column of 9
# blocks of `b`. Suppose that nine programs run at a time.
#
# **Predict.** In row-major order (along the first row of `c`) the first nine programs need one row of `a` and nine columns
# of `b`. How many different blocks is that? How many do nine programs need if they compute a square of 3×3 tiles?

# %%
predict("blocks_row_major", None)
predict("blocks_square", None)

# %%
figures.launch_orders(9, 9, group=3, first=9)

# %% [markdown]
# The work is the same, with far fewer blocks. The order on the right goes down three rows, then one column to the right,
# and so on to the end of the matrix. Then come the next three rows. This is called **grouped** order, and changing ids in
# this way is called **swizzling**.
#
# **Try it.** For 9 programs, which group needs the fewest blocks? For 16 programs on 8×8 tiles? What happens when the group
# is as large as the matrix?

# %%
explore.orders(n_rows=9, n_cols=9, group=3, first=9)

# %%
# The same without controls:
print(explore.orders_text(n_rows=8, n_cols=8, group=4, first=16))

# %% [markdown]
# ## Changing an id
#
# A program cannot choose when it runs. But it can choose its tile: it computes a new number from its id, and uses that
# number instead. Here are five items and such a function. **Predict**: which items are processed, in which order?

# %%
def backwards(old_id):
    return 5 - old_id


print([backwards(pid) for pid in range(5)])

# %% [markdown]
# The order is backwards, but item 0 was not processed, and item 5 does not exist. The correct line is `4 - old_id`. This
# is the danger of remapping: **every tile must be taken exactly once**. Such a mapping is called a **bijection**. If two
# programs take the same tile, that costs time. If no program takes a tile, the result has a hole, which may contain old
# numbers that look correct. So always test the mapping:

# %%
def is_bijection(new_ids, n):
    return sorted(new_ids) == list(range(n))


print(is_bijection([5 - pid for pid in range(5)], 5), is_bijection([4 - pid for pid in range(5)], 5))

# %% [markdown]
# Triton has a function for grouped order, `tl.swizzle2d`. Let it swizzle 5×3 tiles in groups of 2. Each program of a 5×3
# grid writes its own number where `tl.swizzle2d` sends it. **Predict** the first column before you run it. Note that 5 is
# not a multiple of 2.

# %%
@triton.jit
def swizzle_demo_kernel(output_ptr, n_rows, n_cols, GROUP: tl.constexpr):
    row, col = tl.program_id(axis=0), tl.program_id(axis=1)
    my_number = row * n_cols + col
    new_row, new_col = tl.swizzle2d(row, col, n_rows, n_cols, GROUP)
    tl.store(output_ptr + new_row * n_cols + new_col, my_number)


numbers = torch.full((5, 3), -1, dtype=torch.int32, device=DEVICE)
swizzle_demo_kernel[(5, 3)](numbers, 5, 3, GROUP=2)
for row in numbers.tolist():
    print(" ".join(f"{number:3d}" for number in row))

# %% [markdown]
# The first group has two rows. It is numbered downwards: 0 1, then 2 3, then 4 5. The last group has only one row: 12 13
# 14. Each tile has a number.
#
# ## The arithmetic
#
# In the exercise you write this mapping yourself. Given a `pid` from 0 to n_rows · n_cols - 1:
#
# 1. A whole group has `group * n_cols` tiles. Divide `pid` by that: the quotient is the number of the group, which gives
#    its first row.
# 2. The group has `group` rows. The last one may have fewer: the rows from its first row to the end.
# 3. The remainder of the division in step 1 is the number of the tile within the group. Rows change fastest. So divide
#    once more, by the number of rows *of this group*.
#
# **Predict** by hand: 5×4 tiles, group 3. Which tile does program 14 take?

# %%
predict("row_of_14", None)
predict("col_of_14", None)

# %% [markdown]
# ## Exercise: `swizzle_ids`
#
# **The contract.** `swizzle_ids(n_rows, n_cols, group)` returns which tile each program takes.
#
# - `n_rows` and `n_cols` are the numbers of rows and columns of *tiles*. `group` is 1 or more, and may be larger than
#   `n_rows`. `group * n_cols` is below 2³¹.
# - The result is an int32 tensor of shape `(n_rows * n_cols, 2)`. Row `pid` of it names the tile that program
#   `pid` takes, in grouped order: first the tile's row, then its column.
# - Every tile occurs exactly once. An empty list of tiles is legal.
#
# The launcher starts one program per tile. Write the arithmetic yourself, without `tl.swizzle2d` (which numbers a
# two-dimensional grid; here there is one number). `hint("swizzle_ids")` helps.

# %% exercise="swizzle_ids"

# %% [markdown]
# Look at your own order, and test it:

# %%
mine = swizzle_ids(5, 4, 3).tolist()
flat = [row * 4 + col for row, col in mine]
right = is_bijection(flat, 20)
print("every tile exactly once:", right)
if right:
    shown = figures.launch_order(mine, first=9)
else:
    shown = "The picture appears when every tile is taken exactly once."
shown

# %% [markdown]
# ## Hits in a modelled cache
#
# Now for larger sizes. A real L2 is complicated, so we use a simple model. 16 programs run together and step along K
# together. Every block that they need is either in the cache, a **hit**, or is loaded from global memory. The cache keeps
# the 64 blocks that were used last. The product has 16×16 tiles, and K is 16 blocks long.
#
# **Predict.** What percentage of the loads hits the cache in row-major order? And in groups of 4? (Each step of 16 programs
# makes 32 loads. How many *different* blocks are among them?)

# %%
predict("percent_of_hits_row_major", None)
predict("percent_of_hits_grouped", None)

# %%
size = {"n_inner": 16, "concurrent": 16, "capacity": 64}
hits_row_major = explore.hit_rate(explore.row_major(16, 16), **size)
hits_grouped = explore.hit_rate(explore.grouped(16, 16, 4), **size)
print(f"row-major: {hits_row_major:.1%} hits, in groups of 4: {hits_grouped:.1%}")

# %% [markdown]
# More hits mean less traffic. Now use the same model with *your* order, for several groups. Before you run it: which group
# will be best? Why is a very large group no better than row-major order?

# %%
for group in (1, 2, 4, 8, 16):
    order = [tuple(tile) for tile in swizzle_ids(16, 16, group).tolist()]
    if sorted(order) != explore.row_major(16, 16):
        print("Your order does not take every tile exactly once yet.")
        break
    rate = explore.hit_rate(order, **size)
    print(f"group {group:2d}: {rate:6.1%} hits")

# %% [markdown]
# The result depends on the capacity. With a cache of 1,000 blocks all blocks fit, and the order has hardly any effect.
# **Try it**: change `size["capacity"]` to 1000 and run the last cell again. The same happens on a GPU. The next cell
# prints the sizes.

# %%
for name in ("A100", "H100", "H200"):
    print(f"{name}: {explore.GPUS[name].l2_bytes / 2**20:.0f} MiB of L2")
for n in (2048, 4096, 8192):
    print(f"two {n}×{n} matrices in fp16: {2 * n * n * 2 / 2**20:,.0f} MiB")

# %% [markdown]
# In this model the order has no effect if both matrices fit into the L2. On a GPU the effect is smaller then, but it can
# remain: the table at the end of this lesson has an example.
#
# ## Exercise: `grouped_matmul`
#
# **The contract.** `grouped_matmul(a, b)` returns `a @ b`. The contract is that of `matmul` in lesson 08: any sizes and
# strides, float32, float16 or bfloat16, sums in float32, no TF32. In addition, the programs take the tiles in grouped
# order.
#
# The grid now has *one* axis, with one program per tile. In the kernel, compute how many tiles there are along each side
# (`tl.cdiv` works in kernels). Then compute the row and the column of the tile from `pid`. The rest is as in lesson 08.
# `hint("grouped_matmul")` helps.

# %% exercise="grouped_matmul"

# %% [markdown]
# ## Your kernel in the modelled cache
#
# So far the model used only an order. Now it uses the loads of your kernel: 16×16 tiles of 64×64, in fp32, with K in 8 steps
# of 32. Again 16 programs run at a time, and the cache keeps 64 blocks of 8 KiB.
#
# **Predict** the percentage of hits for the group that your launcher uses. (The table above helps.)

# %%
predict("percent_of_hits_of_a_kernel", None)

# %%
moved = explore.measure(grouped_matmul, torch.ones(1024, 256), torch.ones(256, 1024))
if moved.total:
    hits = moved.l2_hit_rate(capacity_bytes=64 * 64 * 32 * 4, concurrency=16)
    print(f"your kernel: {hits:.1%} hits")

# %% [markdown]
# **Try it.** Change the group in your launcher to 4, then to 1, and measure again.

# %% [markdown]
# ## Quiz

# %%
quiz("swizzling")

# %% [markdown] case_study="the-last-group" points=6
# ## Case study: the last group
#
# A colleague's mapping lacks one line. It takes every group to have `group` rows:
#
# ```python
# first_row = pid // (group * n_cols) * group
# pid_in_group = pid % (group * n_cols)
# row = first_row + pid_in_group % group
# col = pid_in_group // group
# ```
#
# With this she computes a product of 8×3 tiles in groups of 4. It is correct. Then she computes one of 10×3 tiles (loads and
# stores are masked on every edge).
#
# 1. Which tiles do the programs 24 to 29 take? Which tiles of the result are never computed?
# 2. Nothing crashes, and no error is reported. Why?
# 3. What do the missing tiles contain when the output came from `torch.empty`? Why may a test with the same input twice in
#    a row not notice them?
# 4. Give the fix, and a test that finds such a mistake for *every* mapping without multiplying any matrices.
#
# Answer in about 120 words.

# %%
answer("the-last-group")

# %% [markdown] model_answer="the-last-group"
# 1. The third group starts at row 8. Programs 24 to 29 take (8, 0), (9, 0), (10, 0), (11, 0), (8, 1) and
#    (9, 1). The tiles (8, 2) and (9, 2) are never computed; rows 10 and 11 do not exist.
# 2. The tiles of rows 10 and 11 are completely outside the matrix, and the masks switch off all of their lanes. These
#    programs do nothing, correctly. And a missing program cannot report that it is missing.
# 3. They contain whatever was in that memory. PyTorch reuses freed memory. So the second run may get the memory of an
#    earlier *correct* result (of a reference, for instance), and the hole looks filled.
# 4. `rows_in_group = min(n_rows - first_row, group)`, used in both `%` and `//`. Test: run the mapping for all pids and
#    compare the sorted list of tiles with all tiles. Use sizes that are not multiples of the group, groups larger than
#    the matrix, and one row or column. (Fill outputs with NaN in tests of the product.)
#
# **Rubric (6 points)**
#
# - 1 point: the six tiles of programs 24 to 29.
# - 1 point: (8, 2) and (9, 2) are missing.
# - 1 point: masks make the surplus programs harmless and silent.
# - 1 point: uninitialised memory, which may contain an earlier correct result.
# - 1 point: the smaller last group, in both places.
# - 1 point: a test that the mapping is a bijection, with well-chosen sizes.

# %% [markdown]
# ## For the GPU
#
# **Predict.** At which size will your `grouped_matmul` gain most over the same kernel with `GROUP=1`?
# Time it, then set `GROUP=1` in your launcher, run the exercise cell and this one again, and compare.
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16: the kernel of this course's model solution, in TFLOP/s, without groups and in groups
# of 8.
#
# | tile | n | `GROUP=1` | `GROUP=8` |
# |---|---|---|---|
# | 64×64×32 | 2048 | {h200: order 64×64×32 at 2048 | GROUP 1 | TFLOP/s} | {h200: order 64×64×32 at 2048 | GROUP 8 | TFLOP/s} |
# | 64×64×32 | 4096 | {h200: order 64×64×32 at 4096 | GROUP 1 | TFLOP/s} | {h200: order 64×64×32 at 4096 | GROUP 8 | TFLOP/s} |
# | 64×64×32 | 8192 | {h200: order 64×64×32 at 8192 | GROUP 1 | TFLOP/s} | {h200: order 64×64×32 at 8192 | GROUP 8 | TFLOP/s} |
# | 128×256×64 | 2048 | {h200: order 128×256×64 at 2048 | GROUP 1 | TFLOP/s} | {h200: order 128×256×64 at 2048 | GROUP 8 | TFLOP/s} |
# | 128×256×64 | 4096 | {h200: order 128×256×64 at 4096 | GROUP 1 | TFLOP/s} | {h200: order 128×256×64 at 4096 | GROUP 8 | TFLOP/s} |
# | 128×256×64 | 8192 | {h200: order 128×256×64 at 8192 | GROUP 1 | TFLOP/s} | {h200: order 128×256×64 at 8192 | GROUP 8 | TFLOP/s} |
#
# With each tile, the order gains most at 8192, where the matrices are larger than the cache. With small tiles it also gains
# at 2048, where both matrices fit into the L2: there the modelled cache does not explain the gain. On this card the larger
# tile gains more than the order does. cuBLAS reaches {h200: grouped_matmul 4096 | torch | TFLOP/s} at 4096. Lesson 11 chooses
# tiles.

# %% gpu
if ON_GPU:
    for n in (1024, 2048, 4096, 8192):
        a = torch.randn(n, n, device="cuda", dtype=torch.float16)
        b = torch.randn(n, n, device="cuda", dtype=torch.float16)
        others = {"cuBLAS (torch)": torch.matmul}
        time_beside(grouped_matmul, others, a, b, operations=2 * n**3, atol=1.0, title=f"n = {n}")
else:
    print("Not run: there is no GPU here, and the interpreter's time does not predict a GPU's.")

# %% [markdown]
# `speed` measures more carefully: with cold caches, new inputs and every result checked, and it shows the roofline. On a
# machine without a GPU it times nothing, and computes the limit from bytes and operations. **Predict:** do bytes or
# operations limit the speed at 4096?

# %%
speed(grouped_matmul)

# %% [markdown]
# ## What you take with you
#
# - Programs that run at the same time should need the same data. A square of tiles shares more than a row of tiles.
# - You choose the mapping from ids to tiles. It must be a bijection, and the last group may be smaller.
# - A saving in a model depends on the model's capacity. State it together with the saving.
#
# To practise, call `practice()`. It draws a puzzle from an exercise that you have passed.

# %%
progress()
