# %% [markdown]
# # Tiles: blocks with two sides
#
# A picture has rows and columns, and so has a matrix. In this lesson your programs work on rectangular
# **tiles** instead of one-dimensional blocks. You choose the grid yourself, turn a picture grey, and fuse a
# bias and a ReLU. You also see why tiles make it possible to reuse data.
#
# It takes about 85 minutes. Do lesson 04 (strides) first.

# %% setup
from triton_util import explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## A grid with two axes
#
# This kernel writes the number of the program into each element of a matrix: ten times its number on axis 0, plus its
# number on axis 1. The **grid** has two numbers, one for each axis, and the second one is wrong for 4 rows and 7 columns in
# tiles of 2×2. Change the `1` in it until no -1 is left.

# %%
@triton.jit
def sign_kernel(output_ptr, height, width, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    row, col = tl.program_id(axis=0), tl.program_id(axis=1)
    rows, cols = row * BLOCK_H + tl.arange(0, BLOCK_H), col * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (rows[:, None] < height) & (cols[None, :] < width)
    tl.store(output_ptr + rows[:, None] * width + cols[None, :], 10 * row + col, mask=mask)


signed = torch.full((4, 7), -1, dtype=torch.int32, device=DEVICE)
sign_kernel[(2, 1)](signed, 4, 7, BLOCK_H=2, BLOCK_W=2)
print(signed)

# %% [markdown]
# Here is a matrix with 4 rows and 7 columns, cut into tiles of 2×2. The grid now has two axes, and
# each program has two numbers: `tl.program_id(axis=0)` counts tiles downwards, `tl.program_id(axis=1)`
# to the right.

# %%
figures.tiles_2d(4, 7, 2, 2)

# %% [markdown]
# **Predict.** The same matrix in tiles of 4×4: how many programs, and how many lanes are masked off in all?

# %%
predict("programs_4x4", None)
predict("lanes_off_4x4", None)

# %% [markdown]
# The launcher counts the tiles along each axis, rounded up as in lesson 01. You write that line in the last two
# exercises. The kernel and the launcher must agree on which axis counts the rows. Use axis 0 for the rows: a GPU allows 2³¹ − 1
# programs along axis 0, but only 65,535 along the other two axes. A matrix may have more tiles than that downwards.
#
# ## From a pointer to a tile of pointers
#
# In one dimension a block of offsets was a start plus `tl.arange`. In two dimensions you need row
# numbers and column numbers:
#
# ```python
# rows = tl.program_id(axis=0) * BLOCK_H + tl.arange(0, BLOCK_H)
# cols = tl.program_id(axis=1) * BLOCK_W + tl.arange(0, BLOCK_W)
# ```
#
# `rows[:, None]` makes the row numbers a column of shape `(BLOCK_H, 1)`. `cols[None, :]` makes the column
# numbers a row of shape `(1, BLOCK_W)`. When you add the two, Triton repeats the column to the right and the
# row downwards until the shapes match. This is called **broadcasting**. Each pair of a row and a column gets
# its sum, which is the address formula of lesson 04 for a whole tile.

# %%
figures.pointer_tile(rows=(2, 3), cols=(3, 4, 5, 6), stride_row=7, stride_col=1)

# %% [markdown]
# The mask is made the same way, with `&`:
#
# ```python
# mask = (rows[:, None] < height) & (cols[None, :] < width)
# ```
#
# A lane may access memory only if its row *and* its column exist. (Write `&`, not Python's `and`. Python's `and`
# needs a single boolean, and a block has many. Triton still treats it as `&`, and warns that this will change.)
#
# **Try it.** Look at the programs on the right edge. What is the offset of a lane that is one column
# too far to the right? Which element is at that offset?

# %%
explore.tiles_2d(pid_0=0, pid_1=3)

# %%
# The same without controls:
print(explore.tiles_2d_text(pid_0=0, pid_1=3))

# %% [markdown]
# One column too far to the right is the first element of the *next row*. Without the column mask the kernel also
# works on elements of another program, and no error shows it. Only the last row has no next row: the tile in the
# lower right corner reaches for element 28 of 28, past the end of the matrix. You need both facts for the case study.
#
# ## Exercise: `outer_sum`
#
# This is a drill of about five minutes: broadcasting and the mask, without strides.
#
# **The contract.** `outer_sum(x, y)` returns the matrix of all sums `x[i] + y[j]`.
#
# - `x` is `(m,)`, `y` is `(n,)`. Both are contiguous and have the same dtype: float32, float16 or bfloat16.
# - The result is a new contiguous tensor of shape `(m, n)` with that dtype.
# - Empty vectors are legal.
#
# The launcher is given. **You write the kernel**: a program loads one block of `x` and one block of `y`, and broadcasting
# makes a tile of them. `hint("outer_sum")` helps.

# %% exercise="outer_sum"

# %% [markdown]
# ## A kernel on a picture
#
# The course makes its own picture, three channels (red, green, blue) of bytes:

# %%
picture = figures.lake().to(DEVICE)
print("shape", tuple(picture.shape), "strides", picture.stride(), picture.dtype)
figures.show(picture, titles=("a lake at sunset",))

# %% [markdown]
# This kernel mirrors one channel, left to right. It loads each tile from its place and stores it at the
# mirrored columns. Only the column offsets of the store change.

# %%
@triton.jit
def mirror_kernel(
    x_ptr, output_ptr, height, width, stride_row, stride_col, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr
):
    rows = tl.program_id(axis=0) * BLOCK_H + tl.arange(0, BLOCK_H)
    cols = tl.program_id(axis=1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (rows[:, None] < height) & (cols[None, :] < width)
    tile = tl.load(x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask)
    mirrored_cols = width - 1 - cols
    tl.store(output_ptr + rows[:, None] * width + mirrored_cols[None, :], tile, mask=mask)


def mirror(channel: torch.Tensor) -> torch.Tensor:
    height, width = channel.shape
    output = torch.empty((height, width), dtype=channel.dtype, device=channel.device)
    grid = (triton.cdiv(height, 16), triton.cdiv(width, 32))
    mirror_kernel[grid](channel, output, height, width, *channel.stride(), BLOCK_H=16, BLOCK_W=32)
    return output


half_and_half = torch.where(torch.arange(150, device=DEVICE) < 75, picture[0], 0)
figures.show(half_and_half, mirror(half_and_half), titles=("red channel, left half", "mirrored"))

# %% [markdown]
# ## Exercise: `rgb2grey`
#
# The eye sees green as brighter than red, and red as brighter than blue. A grey picture is a weighted sum:
#
# $$\begin{aligned}\text{grey} = {} &0.2989 \cdot \text{red} + 0.5870 \cdot \text{green}\\
# &+ 0.1140 \cdot \text{blue}\end{aligned}$$
#
# **The contract.** `rgb2grey(img)` returns the picture in grey.
#
# - `img` has the shape `(3, h, w)`, channel first, and **any strides**. (Pictures from files are often
#   stored pixel by pixel; as `(3, h, w)` they have the strides `(1, 3 * w, 3)`.)
# - The dtype is uint8, float32, float16 or bfloat16. The result has the same dtype.
# - The result is a new contiguous tensor of shape `(h, w)`. A uint8 result may be off by 1.
# - Empty pictures are legal.
#
# Compute in float32: convert what you load with `.to(tl.float32)`, and convert the result to the output's
# dtype, `output_ptr.dtype.element_ty`, before the store. **Predict** first: how far apart in memory are the
# red and the green of one pixel, in the picture above? In the launcher **you write the grid and the launch**;
# `hint("rgb2grey")` helps.

# %%
predict("red_to_green", None)

# %% exercise="rgb2grey"

# %%
grey = rgb2grey(picture)
red, green, blue = picture.float()
wanted = 0.2989 * red + 0.5870 * green + 0.1140 * blue
solved = grey is not None and grey.shape == wanted.shape and (grey - wanted).abs().max() <= 1
grey_or_colour = (picture, grey) if solved else (picture,)
figures.show(*grey_or_colour, titles=("colour" if solved else "still in colour", "your grey"))

# %% [markdown]
# ## Loaded once, used often
#
# A tile also lets you reuse data. What a program has loaded stays in **registers** (each thread's own storage)
# or in shared memory, and the program can use it again without another load.
#
# Take `relu(x + bias)`, where `bias` has one number per *column*. All rows of a tile need the same
# biases. A program loads `BLOCK_N` of them once, and broadcasting repeats them for every row.
#
# **Predict.** `x` is 64×256 in fp32, tiles are 16×64. How many bytes of `bias` do all programs load
# together? (And how many would it be if each element loaded its own bias?)

# %%
predict("bias_bytes", None)

# %% [markdown]
# You will measure it with your own kernel.
#
# ## Exercise: `bias_relu`
#
# **The contract.** `bias_relu(x, bias)` returns `relu(x + bias)`.
#
# - `x` is `(m, n)`, `bias` is `(n,)`, any strides, also for `bias`.
# - Both have the same dtype, float32, float16 or bfloat16, and the result has it too.
# - The result is a new contiguous tensor of shape `(m, n)`; empty inputs are legal.
# - Add and clip in float32, and store once.
#
# You write the grid and the launch again. `hint("bias_relu")` helps.

# %% exercise="bias_relu"

# %%
traffic = explore.measure(bias_relu, torch.ones(64, 256), torch.ones(256))
if traffic.total:
    print(traffic)

# %% [markdown]
# A taller tile reuses each bias more often. In lesson 08 this reuse decides the speed.
#
# This exercise also uses **fusion**. Two kernels, one for the bias and one for the ReLU, would store `x + bias`
# and load it again. Here it never leaves the registers.
#
# ## Tiles and the direction of reading
#
# The transpose of lesson 04 was slow: it passes along the rows of its output, so it reads down the columns of
# its input and fetches a 32-byte sector for each number. A tile solves this. Load a tile along its rows,
# transpose it inside the SM, and store it along its rows:
#
# ```python
# tile = tl.load(x_ptr + rows[:, None] * width + cols[None, :], mask=...)
# tl.store(output_ptr + cols[:, None] * height + rows[None, :], tl.trans(tile), mask=...)
# ```
#
# Loads and stores are both coalesced now (neighbouring lanes access neighbouring addresses). The transposing
# happens in shared memory.
#
# **Predict.** A 32×32 tile in fp32: how many sectors of 32 bytes are fetched to load it along rows? Now a warp
# of 32 lanes reads each of its 32 columns downwards, in a wide matrix. How many requests for a sector does
# that make?

# %%
predict("sectors_along_rows", None)
predict("sectors_down_columns", None)

# %% [markdown]
# (The cache may serve a part of these requests if the sectors are still there when the warp reads the next column. Do
# not rely on it.)
#
# ## Quiz

# %%
quiz("tiles_2d")

# %% [markdown] case_study="the-flat-mask" points=6
# ## Case study: the flat mask
#
# A colleague likes short code. For contiguous matrices of shape (m, n) all of her kernels compute
# `offsets = rows[:, None] * n + cols[None, :]` and use the mask `offsets < m * n`. Tiles are 16×64.
#
# Her greyscale kernel has been used for a year, for pictures of every width, and every output was
# correct. She copies the scheme into `bias_relu`, loads the bias with
# `tl.load(bias_ptr + cols)`, and the results are wrong for n = 100, though not always in the same
# places. For n = 128 they are correct.
#
# 1. n = 100: a lane in row 3 has column 110. Which element of the matrix is at its offset? Does
#    the mask stop it?
# 2. Why was the greyscale kernel correct all the same? What did the mistake cost there?
# 3. Why is `bias_relu` wrong, and why not always in the same places?
# 4. Why is n = 128 correct? Give the correct masks for `x`, `bias` and the output.
#
# Answer in about 150 words.

# %%
answer("the-flat-mask")

# %% [markdown] model_answer="the-flat-mask"
# 1. The offset is 3 · 100 + 110 = 410, which is element (4, 10). It is below m · n, so the mask lets it
#    through (except in the last row of the matrix).
# 2. In the greyscale kernel everything depends on the offset alone: the lane loads pixel (4, 10), turns
#    it grey, and stores it at (4, 10). The correct value goes to the correct place; another program does
#    the same. The cost is work and traffic done twice, 128 instead of 100 columns, and a race in which
#    both programs write the same value.
# 3. The bias depends on the *column*. The lane adds `bias[110]`, which does not exist (an out-of-bounds
#    read), and stores at (4, 10), where another program stores the correct value with `bias[10]`. The
#    program that stores last decides the result, and the order changes from run to run.
# 4. 128 is a multiple of the tile's 64 columns, so no lane is after the last column. Correct:
#    `(rows[:, None] < m) & (cols[None, :] < n)` for `x` and for the output, and `cols < n` for the bias.
#
# **Rubric (6 points)**
#
# - 1 point: element (4, 10), and the mask lets it through.
# - 1 point: greyscale depends only on the offset, so the correct value arrives at the correct place.
# - 1 point: what it cost: double work, or a race with equal values.
# - 1 point: wrong or out-of-bounds bias (`bias[110]`).
# - 1 point: two programs store different values at one place; the order decides.
# - 1 point: 128 is a multiple of 64, and masks in both directions, for the bias as well.

# %% [markdown]
# ## For the GPU
#
# **Predict.** On a large picture of bytes, on an H200, how many times faster is one kernel than the PyTorch
# line `0.2989 * r + 0.5870 * g + 0.1140 * b`? Count the kernels in that line, and the bytes that each
# moves (its intermediate results are fp32).

# %%
predict("grey_speed_up", None)

# %% [markdown]
# Measured on an NVIDIA H200 ({h200: versions}): a grey picture of 4096×4096 took {h200: rgb2grey 3×4096×4096 | plain | µs} µs with the model
# solution's one kernel, {h200: rgb2grey 3×4096×4096 | torch line | µs} µs with the PyTorch line.
#
# The kernel below is the transpose in tiles. Measured on an NVIDIA H200 ({h200: versions}), for 16384×16384 in
# fp32: {h200: tile_transpose fp32, 16384² | tiles | GB/s} GB/s in tiles,
# {h200: transpose fp32, 16384² | plain | GB/s} GB/s with the model solution of lesson 04,
# {h200: transpose fp32, 16384² | torch | GB/s} GB/s with PyTorch's own.

# %%
@triton.jit
def tile_transpose_kernel(x_ptr, output_ptr, height, width, BLOCK: tl.constexpr):
    rows = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(axis=1) * BLOCK + tl.arange(0, BLOCK)
    inside = (rows[:, None] < height) & (cols[None, :] < width)
    tile = tl.load(x_ptr + rows[:, None] * width + cols[None, :], mask=inside)
    inside_output = (cols[:, None] < width) & (rows[None, :] < height)
    tl.store(output_ptr + cols[:, None] * height + rows[None, :], tl.trans(tile), mask=inside_output)


def tile_transpose(x: torch.Tensor, block: int = 64) -> torch.Tensor:
    height, width = x.shape
    output = torch.empty((width, height), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(height, block), triton.cdiv(width, block))
    tile_transpose_kernel[grid](x, output, height, width, BLOCK=block)
    return output


x = torch.arange(35, device=DEVICE).view(5, 7)
print("transposed in tiles, correct:", torch.equal(tile_transpose(x, 4), x.T))

# %% gpu
def torch_grey(img):
    r, g, b = img
    return (0.2989 * r + 0.5870 * g + 0.1140 * b).to(img.dtype)


if ON_GPU:
    large = torch.randint(0, 256, (3, 4096, 4096), device="cuda", dtype=torch.uint8)
    time_beside(rgb2grey, {"torch": torch_grey}, large, atol=1, n_bytes=4 * 4096**2, title="grey")
    x = torch.randn(8192, 8192, device="cuda")
    flip = {"torch": lambda x: x.T.contiguous()}
    time_beside(tile_transpose, flip, x, n_bytes=2 * x.nbytes, title="transpose", label="in tiles")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# `speed` compares the other exercise, `bias_relu`, with the roofline. On a GPU it times your kernel against PyTorch's two.
# Without a GPU it times nothing, and computes what the bytes allow. What is the smallest possible number of bytes per
# element?

# %%
speed(bias_relu)

# %% [markdown]
# ## What you take with you
#
# - `rows[:, None] * stride_row + cols[None, :] * stride_col` is a tile of offsets.
# - Write a mask for each axis, joined with `&`. A flat mask lets lanes access the next row.
# - A program loads a tile once and uses it often. The next lessons depend on this.
#
# When you have passed an exercise, call `practice()` for puzzles made from it.

# %%
progress()
