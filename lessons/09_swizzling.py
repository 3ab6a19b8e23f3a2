# %% [markdown]
# # Swizzling: the order of the tiles
#
# Your matmul is right. It is not yet as fast as it could be, and the reason does not lie inside the
# programs, but in the *order* in which they take their tiles. At the end of this lesson you can change
# that order, prove that no tile is lost, and measure what it saves.
#
# It takes about 35 minutes. Lesson 08 (matmul) comes first.

# %% setup
from triton_util import explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Neighbours in time
#
# Between the SMs and the global memory sits the **L2 cache**, shared by all SMs. What one program has
# fetched, another one finds there, if it comes soon enough. So programs that run *at the same time*
# should need the same data.
#
# Who orders what? Inside a block Triton orders the memory accesses, and you need not think of it.
# Between blocks nobody does it for you. The hardware starts programs roughly in the order of their
# ids, as many as fit. Which *tile* belongs to which id is your decision.
#
# Take a product of 9×9 tiles, with K also 9 blocks long. A tile of `c` needs a row of 9 blocks of `a`
# and a column of 9 blocks of `b`. Suppose that nine programs run at a time.
#
# **Predict.** In row-major order (along the first row of `c`) the first nine programs need one row of
# `a` and nine columns of `b`. How many different blocks is that? And how many do nine programs need
# that take a square of 3×3 tiles?

# %%
predict("blocks_row_major", None)
predict("blocks_square", None)

# %%
figures.launch_orders(9, 9, group=3, first=9)

# %% [markdown]
# The same nine tiles' worth of work, with far fewer blocks. The order on the right goes down
# three rows, then one column to the right, and so on to the end of the matrix; then come the next
# three rows. It is called **grouped** order, and changing ids in this way **swizzling**.
#
# **Try it.** For 9 programs, which group needs the fewest blocks? For 16 programs on 8×8 tiles? What
# happens when the group is as large as the matrix?

# %%
explore.orders(n_rows=9, n_cols=9, group=3, first=9)

# %%
# The same without controls:
print(explore.orders_text(n_rows=8, n_cols=8, group=4, first=16))

# %% [markdown]
# ## Changing an id
#
# A program cannot choose when it runs. But it can choose what it *does*: it takes its id, computes
# another number from it, and goes on as if that were its id. Here are five items and such a function.
# **Predict**: which items are processed, in which order?

# %%
def backwards(old_id):
    return 5 - old_id


print([backwards(pid) for pid in range(5)])

# %% [markdown]
# Backwards it is, but item 0 was never processed, and item 5 does not exist. `4 - old_id` was meant.
# That is the danger of remapping: **every tile must be taken exactly once**. Mathematicians say that
# the mapping must be a *bijection*. A tile taken twice costs time. A tile taken by nobody is a hole in
# the result, and with luck it is filled with old numbers that look right. So always test it:

# %%
def is_bijection(new_ids, n):
    return sorted(new_ids) == list(range(n))


print(is_bijection([5 - pid for pid in range(5)], 5), is_bijection([4 - pid for pid in range(5)], 5))

# %% [markdown]
# Triton brings a function for grouped order, `tl.swizzle2d`. Let it swizzle 5×4 tiles in groups of 3.
# Each program of a 5×4 grid writes its own number where `tl.swizzle2d` sends it. **Predict** the first
# column before you run it, and mind that 5 is not a multiple of 3.

# %%
@triton.jit
def swizzle_demo_kernel(output_ptr, n_rows, n_cols, GROUP: tl.constexpr):
    row, col = tl.program_id(axis=0), tl.program_id(axis=1)
    my_number = row * n_cols + col
    new_row, new_col = tl.swizzle2d(row, col, n_rows, n_cols, GROUP)
    tl.store(output_ptr + new_row * n_cols + new_col, my_number)


numbers = torch.full((5, 4), -1, dtype=torch.int32, device=DEVICE)
swizzle_demo_kernel[(5, 4)](numbers, 5, 4, GROUP=3)
for row in numbers.tolist():
    print(" ".join(f"{number:3d}" for number in row))

# %% [markdown]
# The first group has three rows, and is numbered downwards: 0 1 2, then 3 4 5, and so on. The last
# group has only two rows left, and goes on with 12 13, 14 15. Nothing is left out.
#
# ## The arithmetic
#
# In the exercise you write this mapping yourself. Given a `pid` from 0 to n_rows · n_cols - 1:
#
# 1. A whole group has `group * n_cols` tiles. Dividing `pid` by that gives the number of the group,
#    and so its first row.
# 2. The group has `group` rows, but the last one may have fewer: what is left from its first row to
#    the end.
# 3. The remainder of the division in step 1 counts tiles within the group. Those go down first: one
#    more division, by the number of rows *of this group*.
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
# - `n_rows` and `n_cols` say how many rows and columns of *tiles* there are; `group` is 1 or more, and
#   may be larger than `n_rows`.
# - The result is an int32 tensor of shape `(n_rows * n_cols, 2)`: line `pid` holds the row and the
#   column of the tile that program `pid` takes, in grouped order.
# - Every tile appears exactly once. No tiles at all is legal.
#
# The launcher starts one program per tile. Write the arithmetic yourself, without `tl.swizzle2d`
# (which numbers a two-dimensional grid; here there is one number). `hint("swizzle_ids")` helps.

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
    shown = "The picture comes when every tile is taken exactly once."
shown

# %% [markdown]
# ## What a cache makes of it
#
# Now for larger sizes. A real L2 is complicated; this model of it is simple, and stated: 16 programs
# run together and step along K together. Every block that they need is either in the cache, a **hit**,
# or is fetched from global memory. The cache holds the 64 blocks that were used last. The product has
# 16×16 tiles, and K is 16 blocks long.
#
# **Predict.** In row-major order, which share of the loads hits the cache, in percent? And in groups
# of 4? (Each step of 16 programs makes 32 loads. How many *different* blocks are among them?)

# %%
predict("percent_of_hits_row_major", None)
predict("percent_of_hits_grouped", None)

# %%
size = {"n_inner": 16, "concurrent": 16, "capacity": 64}
hits_row_major = explore.hit_rate(explore.row_major(16, 16), **size)
hits_grouped = explore.hit_rate(explore.grouped(16, 16, 4), **size)
print(f"row-major: {hits_row_major:.1%} hits, in groups of 4: {hits_grouped:.1%}")

# %% [markdown]
# More hits, less traffic. Now the same model with *your* order, for several groups. Before you run it: which group will be best,
# and why is a very large group no better than none?

# %%
for group in (1, 2, 4, 8, 16):
    order = [tuple(tile) for tile in swizzle_ids(16, 16, group).tolist()]
    if sorted(order) != explore.row_major(16, 16):
        print("Your order does not take every tile exactly once yet.")
        break
    rate = explore.hit_rate(order, **size)
    print(f"group {group:2d}: {rate:6.1%} hits")

# %% [markdown]
# Do not take the capacity for granted. With a cache of 1,000 blocks everything fits, and the order
# hardly matters. **Try it**: change `size["capacity"]` to 1000 and run the last cell again. It is the
# same on a GPU. The next cell asks the course's table of hardware.

# %%
for name in ("A100", "H100", "H200"):
    print(f"{name}: {explore.GPUS[name].l2_bytes / 2**20:.0f} MiB of L2")
for n in (2048, 4096, 8192):
    print(f"two {n}×{n} matrices in fp16: {2 * n * n * 2 / 2**20:,.0f} MiB")

# %% [markdown]
# Where both matrices fit into the L2, the order changes little; where they are many times as large, it counts.
#
# ## Exercise: `grouped_matmul`
#
# **The contract.** `grouped_matmul(a, b)` returns `a @ b`. It is the contract of `matmul` in lesson 08:
# any sizes and strides, float32, float16 or bfloat16, sums in float32, no TF32. The tiles are taken in
# grouped order.
#
# The grid has *one* axis now, with as many programs as there are tiles. In the kernel, find out how
# many tiles there are along each side (`tl.cdiv` works in kernels), compute the row and the column of
# your tile from `pid`, and go on as in lesson 08. `hint("grouped_matmul")` helps.

# %% exercise="grouped_matmul"

# %% [markdown]
# ## Your kernel in the modelled cache
#
# So far the model saw only an order. Now it sees what your kernel really loads: 16×16 tiles of 64×64, in
# fp32, with K in 8 steps of 32. Again 16 programs run at a time, and the cache holds 64 blocks of 8 KiB.
#
# **Predict** the share of hits, in percent, for the group that your launcher uses. (The table above helps.)

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
# A colleague leaves one line out of the mapping. Every group is taken to have `group` rows:
#
# ```python
# first_row = pid // (group * n_cols) * group
# pid_in_group = pid % (group * n_cols)
# row = first_row + pid_in_group % group
# col = pid_in_group // group
# ```
#
# With this she computes a product of 8×3 tiles in groups of 4. It is right. Then the product has 10×3
# tiles (loads and stores are masked on every edge).
#
# 1. Which tiles do the programs 24 to 29 take? Which tiles of the result are never computed?
# 2. Nothing crashes, and no error is reported. Why?
# 3. What do the missing tiles contain when the output came from `torch.empty`? Why may a test with the
#    same input twice in a row fail to see it?
# 4. Give the mend, and a test that finds such a mistake for *every* mapping without multiplying any
#    matrices.
#
# Answer in about 120 words.

# %%
answer("the-last-group")

# %% [markdown] model_answer="the-last-group"
# 1. The third group starts at row 8. Programs 24 to 29 take (8, 0), (9, 0), (10, 0), (11, 0), (8, 1) and
#    (9, 1). The tiles (8, 2) and (9, 2) are never computed; rows 10 and 11 do not exist.
# 2. The programs of rows 10 and 11 lie wholly outside the matrix, and the masks switch off all of their
#    lanes. They do nothing, correctly. And a program that should exist and does not cannot complain.
# 3. Whatever was in that memory. PyTorch hands freed memory out again, so the second run may get the
#    memory of an earlier *right* result (of a reference, for instance), and the hole looks filled.
# 4. `rows_in_group = min(n_rows - first_row, group)`, used in both `%` and `//`. Test: run the mapping
#    for all pids and compare the sorted list of tiles with all tiles, for sizes that are no multiples of
#    the group, groups larger than the matrix, and one row or column. (Fill outputs with NaN in tests of
#    the product.)
#
# **Rubric (6 points)**
#
# - 1 point: the six tiles of programs 24 to 29.
# - 1 point: (8, 2) and (9, 2) are missing.
# - 1 point: masks make the surplus programs harmless and silent.
# - 1 point: uninitialised memory, which may hold an earlier right result.
# - 1 point: the smaller last group, in both places.
# - 1 point: a test that the mapping is a bijection, with telling sizes.

# %% [markdown]
# ## For the GPU
#
# **Predict.** At which size will your `grouped_matmul` gain most over the same kernel with `GROUP=1`?
# Time it, then set `GROUP=1` in your launcher, run the exercise cell and this one again, and compare.
#
# Measured on an NVIDIA H200 in fp16, the kernel of this course's model solution, in TFLOP/s, once without groups and
# once in groups of 8:
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
# The order gains most at 8192, where the matrices are larger than the cache. On this card the larger tile gains more
# than the order does. cuBLAS reaches {h200: grouped_matmul 4096 | torch | TFLOP/s} at 4096. Choosing tiles is the task of lesson 11.

# %% gpu
if ON_GPU:
    for n in (1024, 2048, 4096, 8192):
        a = torch.randn(n, n, device="cuda", dtype=torch.float16)
        b = torch.randn(n, n, device="cuda", dtype=torch.float16)
        others = {"cuBLAS (torch)": torch.matmul}
        time_beside(grouped_matmul, others, a, b, operations=2 * n**3, atol=1.0, title=f"n = {n}")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# `speed` does the same with more care: cold caches, new inputs, every result checked, and the roofline beside it. On
# a machine without a GPU it times nothing, and says what the bytes and the operations allow. **Predict:** which of
# the two is the limit at 4096?

# %%
speed(grouped_matmul)

# %% [markdown]
# ## What you take with you
#
# - Programs that run at the same time should need the same data; squares share more than lines.
# - The mapping from ids to tiles is yours. It must be a bijection, and the last group is smaller.
# - A saving in a model holds for the model's capacity. Say which one it was.

# %%
progress()
