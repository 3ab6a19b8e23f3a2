# %% [markdown]
# # Strides: where a matrix really lies
#
# Memory has no rows and no columns. At the end of this lesson you can say at which address
# element `(i, j)` of any 2D view lies, and you have written two kernels that are right for
# every view that PyTorch can make: sliced, transposed, stretched, overlapping. You pass the strides yourself.
#
# It takes about 40 minutes. Run the cells from top to bottom, and predict where you are asked.

# %% setup
from triton_util import explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## A right kernel, a wrong number
#
# Here is a kernel that copies a matrix row by row. It takes for granted that a row is as far from the next one as it is
# wide. For this matrix it is right:

# %%
@triton.jit
def trusting_copy_kernel(x_ptr, output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    values = tl.load(x_ptr + row * n_cols + cols, mask=mask)
    tl.store(output_ptr + row * n_cols + cols, values, mask=mask)


def trusting_copy(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    trusting_copy_kernel[(n_rows,)](x, output, n_cols, BLOCK_SIZE=16)
    return output


x = torch.arange(24, device=DEVICE).view(3, 8)
print("right for this matrix:", torch.equal(trusting_copy(x), x))

# %% [markdown]
# Now hand it the left half, whose rows start with 0, 8 and 16. **Predict.** With what number will the *second* row of
# the copy start?

# %%
predict("second_row_starts_with", None)

# %%
print(trusting_copy(x[:, :4]))

# %% [markdown]
# Nothing failed, and the result is wrong. To see why, look at how a matrix lies in memory.
#
# ## One line of memory
#
# A tensor owns, or shares, a stretch of memory: a plain line of numbers. What makes it a matrix
# is three small facts that PyTorch keeps beside it:
#
# - the **shape**: how many rows and columns;
# - the **strides**: how far to walk in memory for one step down, and for one step right,
#   counted in elements;
# - the **offset**: where element `(0, 0)` lies.
#
# With these, element `(i, j)` lies at
#
# $$\text{offset} + i \cdot \text{stride}_0 + j \cdot \text{stride}_1$$
#
# and nothing else is ever needed. Here are 24 numbers seen as a 3×8 matrix:

# %%
x = torch.arange(24).view(3, 8)
figures.memory(x)

# %% [markdown]
# One step down is 8 elements, one step right is 1. A matrix whose rows follow one another like
# this, without a gap, is called **contiguous**.
#
# ## Views move nothing
#
# Slicing, transposing and expanding do not touch the numbers. They only make new facts about
# the same memory. **Predict**: how far is one step *down*, counted in elements, in each of these four?
#
# - `x[:, :4]`, the left half
# - `x.T`, the transposed matrix
# - `x[::2]`, every second row
# - `x[1:2].expand(4, 8)`, row 1 repeated four times

# %%
predict("step_down_left_half", None)
predict("step_down_transposed", None)
predict("step_down_every_second_row", None)
predict("step_down_expanded", None)

# %%
views = {
    "x": x,
    "x[:, :4]": x[:, :4],
    "x.T": x.T,
    "x[::2]": x[::2],
    "x[:, ::2]": x[:, ::2],
    "x[1:2].expand(4, 8)": x[1:2].expand(4, 8),
}
for name, view in views.items():
    print(
        f"{name:20s} shape {tuple(view.shape)!s:8s} strides {view.stride()!s:8s} "
        f"starts at {view.storage_offset():2d}   contiguous: {view.is_contiguous()}"
    )

# %% [markdown]
# The left half has the shape `(3, 4)`, but its stride is still 8: from one row to the next you
# must walk over the half that was sliced away. Its memory has *gaps*.

# %%
figures.memory(x[:, :4])

# %% [markdown]
# The transposed matrix is the same memory with its two strides swapped. And the expanded one
# has the stride **0**: a step down does not move at all. 32 elements live in 8 places.

# %%
figures.memory(x[1:2].expand(4, 8))

# %% [markdown]
# **Try it.** Choose a view, and move through its rows and columns (mouse, or Tab and arrow
# keys). Find an element of `v.unfold(0, 6, 3)`, sliding windows over the 24 numbers, that
# shares its memory with another one. Which view uses the fewest places in memory?

# %%
explore.strides(view="x[:, :4]", row=1, col=2)

# %%
# The same without controls:
print(explore.strides_text("v.unfold(0, 6, 3)", row=1, col=2))

# %% [markdown]
# ## The stride trap
#
# A kernel gets a pointer, and knows nothing of shapes and strides unless you pass them. The kernel at the top took the
# width for the stride.

# %%
figures.stride_trap()

# %% [markdown]
# It read the part of row 0 that had been sliced away: **ghost data**. Nothing failed.
# The addresses lay inside memory that the tensor owns, so no hardware and no memory guard of a
# GPU could complain. With an expanded view, which shows more elements than its memory holds, the
# same mistake walks beyond the end: then come garbage, NaN, or an illegal access.
#
# The mend is not "do not slice". It is the address formula, with the strides passed in:
#
# | | address of element `(i, j)` | right for |
# |---|---|---|
# | the trap | `x_ptr + i * n_cols + j` | contiguous matrices only |
# | half a mend | `x_ptr + i * stride_row + j` | views whose columns lie side by side |
# | right | `x_ptr + i * stride_row + j * stride_col` | every view |
#
# The offset is missing in the last line on purpose: the pointer that a kernel receives already
# points to element `(0, 0)` of the view.
#
# ## A kernel that knows its strides
#
# This one takes column `col` out of any view. One step down a column is `stride_row` elements; the column itself starts
# `col * stride_col` behind the first element.

# %%
@triton.jit
def column_kernel(x_ptr, output_ptr, n_rows, col, stride_row, stride_col, BLOCK_SIZE: tl.constexpr):
    rows = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = rows < n_rows
    values = tl.load(x_ptr + rows * stride_row + col * stride_col, mask=mask)
    tl.store(output_ptr + rows, values, mask=mask)


def column(x: torch.Tensor, col: int) -> torch.Tensor:
    n_rows = x.shape[0]
    output = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 4),)
    column_kernel[grid](x, output, n_rows, col, x.stride(0), x.stride(1), BLOCK_SIZE=4)
    return output


square = torch.arange(36, device=DEVICE).view(6, 6)
for name, view in {"whole": square, "every second column": square[:, ::2], "transposed": square.T}.items():
    print(f"{name:20s} column 1: {column(view, 1).tolist()} right: {torch.equal(column(view, 1), view[:, 1])}")

# %% [markdown]
# **Try it.** Swap `x.stride(0)` and `x.stride(1)` in the launch. **Predict** first: with which number does "column 1" of
# the whole square then end? Run the cell, look at the three lines, and swap them back.

# %%
predict("swapped_column_ends_with", None)

# %% [markdown]
# Look at where the strides are used: in the *load*, because the input is a view. The output is
# a fresh contiguous vector, so its offsets need none.
#
# ## From one number to a row and a column
#
# To copy a whole matrix it is handy to walk through the **output**. It is contiguous, so its
# elements are numbered 0, 1, 2, … in memory, and the `pid`, `offsets` and `mask` of lesson 01
# do the walking. Then ask of each number: which row and which column is that?
#
# **Predict.** An output has 8 columns. In which row and column is its element number 21?

# %%
predict("row_of_21", None)
predict("col_of_21", None)

# %% [markdown]
# Divide by the number of columns: the whole part is the row, the remainder is the column.
# Blocks divide like numbers, so in a kernel `offsets // n_cols` and `offsets % n_cols` are a
# block of rows and a block of columns. That is the complete idea of both exercises:
#
# 1. offsets in the output;
# 2. row and column of each;
# 3. address in the input by its strides;
# 4. load there, store here.
#
# Why walk through the output, and not through the input? Because an expanded or overlapping
# input has several elements at one address, and an output never has. Every output element is
# then stored exactly once, and no two programs write to the same place.
#
# ## Exercise: `strided_copy`
#
# **The contract.** `strided_copy(x)` returns a contiguous copy of `x`.
#
# - `x` is two-dimensional, of any dtype, integers and bool included.
# - Its strides may be anything: sliced, transposed, stepped, expanded (stride 0), overlapping;
#   with addresses that lie more than 2³¹ elements behind the first one.
# - The result is a new, contiguous tensor of the same shape and dtype, equal bit for bit.
# - Empty views are legal. Do not call `.contiguous()` or its relatives: you are writing it.
#
# The launcher allocates and counts. **The launch is yours**: pass what the kernel asks for, the strides among it.
# `hint("strided_copy")` helps in three steps.
#
# About the 2³¹: `tl.program_id` is a 32-bit number, and a product of 32-bit numbers that grows
# too large wraps round to a negative one, without a word. Turn the first number of the chain
# into 64 bits, `tl.program_id(axis=0).to(tl.int64)`, and all that follows from it is 64 bits.
# The judge tries such views in this lesson and in lesson 17. In all others "any strides" means that
# every element lies within 2³¹ elements of the first one; the model solutions use 64 bits all the same.

# %% exercise="strided_copy"

# %% [markdown]
# **Try it.** When the check is content, make two mistakes on purpose, one at a time, and predict
# what it will say: leave out `stride_col`; then divide by `n_rows` in place of `n_cols`.
#
# ## Exercise: `transpose`
#
# You could now transpose for nothing, by `strided_copy(x.T)`. Write the kernel that does the
# turning itself.
#
# **The contract.** `transpose(x)` returns the transposed matrix.
#
# - `x` has the shape `(n, m)`, any dtype and any strides.
# - The result is a new, contiguous tensor of shape `(m, n)`, equal bit for bit to `x.T`.
# - Empty matrices are legal.
#
# **Predict** before you write: `x` has 3 rows and 8 columns. The output has 8 rows of 3. By
# which number do you divide an output offset to get the output's row? Then write it; `hint("transpose")` helps.

# %%
predict("divide_by", None)

# %% exercise="transpose"

# %% [markdown]
# Both at work, if you have solved them:

# %%
x = torch.arange(24, device=DEVICE).view(3, 8)
jobs = (
    ("strided_copy(x[:, :4])", strided_copy(x[:, :4]), x[:, :4]),
    ("transpose(x)", transpose(x), x.T),
)
for name, result, wanted in jobs:
    right = result is not None and torch.equal(result, wanted)
    print(f"{name}:", result.tolist() if right else "not yet what it should be")

# %% [markdown]
# ## Right is not yet fast
#
# Strides are correct at any size. They are not free. A GPU fetches memory in **sectors** of 32
# bytes, that is 8 fp32 numbers, whether you want all of them or one.
#
# **Predict.** The 32 lanes of a warp read fp32 numbers that lie 8 elements apart, as in a
# column of a contiguous matrix with 8 columns. How many sectors are fetched?

# %%
predict("sectors_fetched", None)

# %%
figures.sectors((1, 2, 8))

# %% [markdown]
# The interpreter counts the sectors of your own kernels. **Predict.** When your `transpose` reads a
# 256×256 matrix of fp32, how many percent of the fetched bytes does it want?

# %%
predict("percent_wanted", None)

# %%
for name, launcher, view in (
    ("transpose", transpose, torch.ones(256, 256)),
    ("strided_copy of a left half", strided_copy, torch.ones(256, 256)[:, :128]),
):
    moved = explore.measure(launcher, view)
    if moved.total:
        print(f"{name}: {moved.percent_used('x_ptr'):g} percent of the bytes of x")

# %% [markdown]
# Reads of neighbours by neighbours are called **coalesced**. Your `strided_copy` stores
# coalesced, and loads as the view demands. Your `transpose` must be bad on one side: walking
# along rows of the output is walking down columns of the input. Lesson 05 shows the remedy,
# tiles that are read along rows and written along rows.
#
# And `x.contiguous()` first, then a simple kernel? That is right as well. It reads and writes
# the whole tensor once more, so it is worth it when the copy is used many times, and not when
# it is used once.
#
# ## Quiz

# %%
quiz("strides")

# %% [markdown] case_study="contiguity-crisis" points=6
# ## Case study: the contiguity crisis
#
# A team has written its own Triton kernel for a linear layer, and passes
# `x_ptr, w_ptr, output_ptr, n_rows, hidden`. Inside, the address of an input element is
# `x_ptr + i * hidden + j`. For months of training every comparison with PyTorch was perfect.
#
# In production the model uses only half of the hidden features, and calls
# `layer(x[:, :hidden // 2])`, with `hidden // 2` passed as `hidden`. Now the outputs are full
# of noise, in some requests NaN.
#
# 1. Explain what the kernel reads instead of the second row of the slice, and why training
#    never showed it.
# 2. Row 0 of the output is always right. Why?
# 3. Where can the NaN come from?
# 4. Write the address arithmetic that is right for every view, and say what the launcher must
#    pass. Name one other honest solution, and what it costs.
#
# Answer in about 150 words.

# %%
answer("contiguity-crisis")

# %% [markdown] model_answer="contiguity-crisis"
# 1. `x[:, :hidden // 2]` is a view: its shape is half as wide, but its row stride is still
#    `hidden`. The kernel takes the width for the stride. For row 1 it reads from
#    `x_ptr + hidden // 2`, the second half of row 0 that was sliced away: ghost data. In
#    training the input was contiguous, so width and stride were the same number, and the wrong
#    formula gave the right address.
# 2. For `i = 0` the stride is multiplied by zero; only `j` counts, and columns lie side by side.
# 3. The kernel reads numbers that the model never meant to be used. The sliced-away half may
#    be unset memory (`torch.empty`), or hold NaN or infinities from another computation. And
#    one NaN in a row makes the whole output row NaN, because a linear layer sums over it. (The
#    addresses here stay *inside* the original tensor, since the assumed stride is too small. No
#    memory guard can notice.)
# 4. `x_ptr + i * stride_m + j * stride_n`, with `x.stride(0)` and `x.stride(1)` passed by the
#    launcher. The same holds for the weights and the output. The other solution is
#    `x.contiguous()` in the launcher, which costs one more read and write of the tensor. A
#    refusal, an error when `not x.is_contiguous()`, is honest too: it costs convenience, but
#    never an answer. (`assert x.is_contiguous`, without the call, is always true and checks
#    nothing.)
#
# **Rubric (6 points)**
#
# - 1 point: a slice changes the shape and keeps the strides.
# - 1 point: row 1 is read from the sliced-away half of row 0 (or: from address `hidden // 2`
#   instead of `hidden`).
# - 1 point: in training width and stride were equal.
# - 1 point: row 0 is right because `0 * stride` is 0.
# - 1 point: a source of NaN that fits (unset memory or foreign values in the other half); a
#   claim that the reads lie beyond the end of the tensor does not fit this slice.
# - 1 point: both strides in the formula and passed by the launcher, and one alternative with
#   its cost.

# %% [markdown]
# ## For the GPU
#
# **Predict.** On a large fp32 matrix, how many times as many gigabytes per second does the strided copy of a left half
# move as the transpose, with this course's model solutions on an H200?

# %%
predict("copy_over_transpose", None)

# %% [markdown]
# Measured on an NVIDIA H200 with this course's model solutions:
# {h200: strided_copy fp32, left half of 16384×32768 | plain | GB/s} GB/s for the strided copy of half of a 16384×32768
# matrix, {h200: transpose fp32, 16384² | plain | GB/s} GB/s for the transpose of a 16384×16384 one,
# {h200: transpose fp32, 16384² | torch | GB/s} GB/s for PyTorch's own transpose. A transpose in tiles, as in lesson 05,
# reached {h200: tile_transpose fp32, 16384² | tiles | GB/s} GB/s.

# %% gpu
if ON_GPU:
    x = torch.randn(8192, 8192, device="cuda")
    left = x[:, :4096]
    as_rows = {"torch": torch.Tensor.contiguous}
    time_beside(strided_copy, as_rows, left, n_bytes=2 * left.numel() * 4, title="copy of x[:, :4096]")
    as_columns = {"torch": lambda x: x.T.contiguous()}
    time_beside(transpose, as_columns, x, n_bytes=2 * x.nbytes, title="transpose of x")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - A view is shape, strides and offset over one line of memory; making one moves nothing.
# - `base + i * stride_row + j * stride_col`. Never the width in place of the stride.
# - Test kernels with views, not only with fresh tensors: fresh tensors forgive this mistake.

# %%
progress()
