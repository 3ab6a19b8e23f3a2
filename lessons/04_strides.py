# %% [markdown]
# # Strides: where a matrix is stored
#
# Memory has no rows and no columns. In this lesson you learn at which address the element `(i, j)` of any 2D
# view is stored. You write two kernels that are correct for every view that PyTorch can make: sliced,
# transposed, expanded, overlapping. You pass the strides yourself.
#
# It takes about 80 minutes. Run the cells from top to bottom, and predict where the lesson asks you to.

# %% setup
from triton_util import explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## A correct kernel, a wrong number
#
# This kernel copies a matrix row by row. It assumes that the distance from one row to the next is the width of the
# matrix. For this matrix the copy is correct:

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
print("correct for this matrix:", torch.equal(trusting_copy(x), x))

# %% [markdown]
# Now pass it the left half, whose rows start with 0, 8 and 16. **Predict.** With what number will the *second* row of
# the copy start?

# %%
predict("second_row_starts_with", None)

# %%
print(trusting_copy(x[:, :4]))

# %% [markdown]
# The kernel raised no error, and the result is wrong. To see why, look at how memory stores a matrix.
#
# ## One line of memory
#
# A tensor owns or shares a piece of memory: a line of numbers. PyTorch keeps three facts that make it a
# matrix:
#
# - the **shape**: how many rows and columns it has;
# - the **strides**: how many elements to move in memory for one step down, and for one step right;
# - the **offset**: the position of element `(0, 0)`.
#
# With these, element `(i, j)` is at
#
# $$\text{offset} + i \cdot \text{stride}_0 + j \cdot \text{stride}_1$$
#
# You never need anything else. Here are 24 numbers seen as a 3×8 matrix:

# %%
x = torch.arange(24).view(3, 8)
figures.memory(x)

# %% [markdown]
# One step down is 8 elements, one step right is 1. A matrix whose rows follow one another like
# this, without a gap, is called **contiguous**.
#
# ## Views move nothing
#
# Slicing, transposing and expanding do not touch the numbers. They make a **view**: a new shape, new strides
# and a new offset for the same memory. **Predict**: how far is one step *down*, counted in elements, in each
# of these four?
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
# The left half has the shape `(3, 4)`, but its stride is still 8: a step to the next row passes over the
# half that was sliced away. Its memory has *gaps*.

# %%
figures.memory(x[:, :4])

# %% [markdown]
# The transposed matrix is the same memory with its two strides exchanged. The expanded one has the stride
# **0**: a step down does not move at all. Its 32 elements share 8 places in memory.

# %%
figures.memory(x[1:2].expand(4, 8))

# %% [markdown]
# **Try it.** Choose a view, and move through its rows and columns (mouse, or Tab and arrow
# keys). In `v.unfold(0, 6, 3)`, sliding windows over the 24 numbers, find an element that
# shares its memory with another one. Which view uses the fewest places in memory?

# %%
explore.strides(view="x[:, :4]", row=1, col=2)

# %%
# The same without controls:
print(explore.strides_text("v.unfold(0, 6, 3)", row=1, col=2))

# %% [markdown]
# ## The stride trap
#
# A kernel gets a pointer. It knows shapes and strides only if you pass them. The kernel at the top used the
# width as the stride.

# %%
figures.stride_trap()

# %% [markdown]
# It read the part of row 0 that had been sliced away, which this course calls **ghost data**. There was no
# error: the addresses were inside memory that the tensor owns, so the hardware had nothing to report. An
# expanded view shows more elements than its memory has. With such a view the same bug reads past the end, and
# you get garbage, NaN, or an illegal access.
#
# You need not avoid slices. The fix is the address formula, with the strides passed to the kernel:
#
# | | address of element `(i, j)` | correct for |
# |---|---|---|
# | the trap | `x_ptr + i * n_cols + j` | contiguous matrices only |
# | half a fix | `x_ptr + i * stride_row + j` | views whose columns are contiguous (column stride 1) |
# | the fix | `x_ptr + i * stride_row + j * stride_col` | every view |
#
# The last line has no offset, because the pointer that a kernel receives already points to element `(0, 0)`
# of the view.
#
# ## A kernel that knows its strides
#
# This kernel copies column `col` of any view. One step down a column is `stride_row` elements. The column starts
# `col * stride_col` elements after the first element.

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
    print(f"{name:20s} column 1: {column(view, 1).tolist()} correct: {torch.equal(column(view, 1), view[:, 1])}")

# %% [markdown]
# **Try it.** Exchange `x.stride(0)` and `x.stride(1)` in the launch. **Predict** first: with which number does "column 1"
# of the whole square then end? Run the cell, look at the three lines, and exchange the strides again.

# %%
predict("swapped_column_ends_with", None)

# %% [markdown]
# Look at where the kernel uses the strides: in the *load*, because the input is a view. The output is
# a new contiguous vector, so its address needs no strides.
#
# ## From one number to a row and a column
#
# To copy a whole matrix, number the elements of the **output**. It is contiguous, so its elements have the
# numbers 0, 1, 2, … in memory, and you can use the `pid`, `offsets` and `mask` of lesson 01. Then compute the
# row and the column of each number.
#
# **Predict.** An output has 8 columns. In which row and column is its element number 21?

# %%
predict("row_of_21", None)
predict("col_of_21", None)

# %% [markdown]
# Divide by the number of columns: the integer part is the row, the remainder is the column. In a kernel,
# `offsets // n_cols` and `offsets % n_cols` work on a whole block and give a block of rows and a block of
# columns. Both exercises follow this plan:
#
# 1. offsets in the output;
# 2. row and column of each;
# 3. address in the input by its strides;
# 4. load from there, store at the offsets.
#
# Why number the output, and not the input? An expanded or overlapping input has several elements at one
# address, and an output never has. So each output element is stored exactly once, and two programs never
# write to the same place.
#
# ## Exercise: `strided_copy`
#
# **The contract.** `strided_copy(x)` returns a contiguous copy of `x`.
#
# - `x` is two-dimensional, of any dtype, including integers and bool.
# - Its strides may be anything: sliced, transposed, stepped, expanded (stride 0), overlapping.
#   Elements may be more than 2³¹ elements after the first one.
# - The result is a new, contiguous tensor of the same shape and dtype, equal bit for bit.
# - Empty views are legal. Do not call `.contiguous()` or similar methods: you are writing one.
#
# The launcher allocates and counts. **You write the launch**: pass what the kernel's signature names, including the
# strides. `hint("strided_copy")` helps in three steps.
#
# About the 2³¹: `tl.program_id` is a 32-bit number. A product of 32-bit numbers that is too large overflows
# and becomes negative, without an error. Convert the first number to 64 bits with
# `tl.program_id(axis=0).to(tl.int64)`, and everything computed from it has 64 bits. The judge tries such views
# in this lesson and in lesson 17. In all other lessons "any strides" means that every element is within 2³¹
# elements of the first one. The model solutions always use 64 bits.

# %% exercise="strided_copy"

# %% [markdown]
# **Try it.** When the check passes, make two mistakes on purpose, one at a time, and predict what the check will say:
# leave out `stride_col`; then divide by `n_rows` instead of `n_cols`.
#
# ## Exercise: `transpose`
#
# You could now call `strided_copy(x.T)`. Write a kernel that does the transposing itself instead.
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
# The next cell runs both, if you have solved them:

# %%
x = torch.arange(24, device=DEVICE).view(3, 8)
jobs = (
    ("strided_copy(x[:, :4])", strided_copy(x[:, :4]), x[:, :4]),
    ("transpose(x)", transpose(x), x.T),
)
for name, result, wanted in jobs:
    right = result is not None and torch.equal(result, wanted)
    print(f"{name}:", result.tolist() if right else "not correct yet")

# %% [markdown]
# ## Correct is not yet fast
#
# Strides give correct results at any size, but some are slow. A GPU fetches memory in **sectors** of 32
# bytes, that is 8 fp32 numbers, whether you need all of them or one.
#
# **Predict.** The 32 lanes of a warp read fp32 numbers that are 8 elements apart, as in a column of a
# contiguous matrix with 8 columns. How many sectors does the GPU fetch?

# %%
predict("sectors_fetched", None)

# %%
figures.sectors((1, 2, 8))

# %% [markdown]
# The interpreter counts the sectors of your own kernels. **Predict.** When your `transpose` reads a
# 256×256 matrix of fp32, what percentage of the fetched bytes does it use?

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
# A load or store is **coalesced** if neighbouring lanes access neighbouring addresses. Your `strided_copy`
# stores coalesced, and the view decides how it loads. Your `transpose` cannot be coalesced on both sides: a
# row of the output is a column of the input. Lesson 05 shows the remedy: tiles that are read along rows and
# written along rows.
#
# You could also call `x.contiguous()` first and then use a simple kernel. That is correct as well. It reads
# and writes the whole tensor once more, so it pays off only if you use the copy many times.
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
# 2. Row 0 of the output is always correct. Why?
# 3. Where can the NaN come from?
# 4. Write the address arithmetic that is correct for every view, and say what the launcher must
#    pass. Name one other correct solution, and what it costs.
#
# Answer in about 150 words.

# %%
answer("contiguity-crisis")

# %% [markdown] model_answer="contiguity-crisis"
# 1. `x[:, :hidden // 2]` is a view: its shape is half as wide, but its row stride is still
#    `hidden`. The kernel uses the width as the stride. For row 1 it reads from
#    `x_ptr + hidden // 2`, the second half of row 0 that was sliced away: ghost data. In
#    training the input was contiguous, so width and stride were the same number, and the wrong
#    formula gave the correct address.
# 2. For `i = 0` the stride is multiplied by zero. Only `j` counts, and the columns are contiguous.
# 3. The kernel reads numbers that the model never meant to use. The sliced-away half may
#    be uninitialised memory (`torch.empty`), or contain NaN or infinities from another
#    computation. One NaN in a row makes the whole output row NaN, because a linear layer sums
#    over it. (The addresses here stay *inside* the original tensor, since the assumed stride is
#    too small. So a memory checker sees no fault.)
# 4. `x_ptr + i * stride_m + j * stride_n`, with `x.stride(0)` and `x.stride(1)` passed by the
#    launcher, and the same for the weights and the output. The other solution is
#    `x.contiguous()` in the launcher, which costs one more read and write of the tensor. An error
#    when `not x.is_contiguous()` is correct too: it is less convenient, but it never gives a wrong
#    result. (`assert x.is_contiguous`, without the call, is always true and checks nothing.)
#
# **Rubric (6 points)**
#
# - 1 point: a slice changes the shape and keeps the strides.
# - 1 point: row 1 is read from the sliced-away half of row 0 (or: from address `hidden // 2`
#   instead of `hidden`).
# - 1 point: in training width and stride were equal.
# - 1 point: row 0 is correct because `0 * stride` is 0.
# - 1 point: a source of NaN that fits (uninitialised memory or unrelated values in the other
#   half); a claim that the reads are past the end of the tensor does not fit this slice.
# - 1 point: both strides in the formula and passed by the launcher, and one alternative with
#   its cost.

# %% [markdown]
# ## For the GPU
#
# **Predict.** On a large fp32 matrix, compare the strided copy of a left half with the transpose, for this course's model
# solutions on an H200. How many times as many gigabytes per second does the copy move?

# %%
predict("copy_over_transpose", None)

# %% [markdown]
# Measured on an NVIDIA H200 ({h200: versions}) with this course's model solutions:
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
# - Use `base + i * stride_row + j * stride_col`. Never use the width as the stride.
# - Test kernels with views as well: with fresh tensors, a missing stride gives correct results.
#
# When you have passed an exercise, call `practice()` for puzzles made from it.

# %%
progress()
