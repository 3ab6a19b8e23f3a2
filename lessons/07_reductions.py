# %% [markdown]
# # Reductions: many numbers become one
#
# A **reduction** turns many numbers into one: a maximum, a sum, a mean. In this lesson you write softmax and layer norm.
# You also learn the three places where such kernels go wrong: lanes that are masked off, numbers that overflow, and
# numbers that nearly cancel.
#
# It takes about 105 minutes. Softmax is a good place for a break. Lessons 04 (strides) and 06 (fusion) come first.

# %% setup
from triton_util import catch, explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# This kernel should compute the sum of each row of a matrix. Each program handles one row. Run both cells.

# %%
@triton.jit
def sum_of_row_kernel(x_ptr, output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=1.0)
    tl.store(output_ptr + row, tl.sum(x, axis=0))


def sum_of_row(x):
    n_rows, n_cols = x.shape
    sums = torch.empty(n_rows)
    sum_of_row_kernel[(n_rows,)](x, sums, n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return sums



# %%
matrix = torch.arange(12.0).reshape(2, 6)
others = [(torch.arange(float(m * n)).reshape(m, n),) for m, n in ((1, 1), (3, 4), (2, 13))]
catch("sum_of_row", sum_of_row, matrix, right=lambda x: x.sum(dim=1), others=others)

# %% [markdown]
# Each sum is too large by 2. A row has 6 elements and the block 8 lanes, so two lanes are masked off. **Fix it**: change one
# number in the line of the load. Run that cell again, then the one above this text, until the card is green.
#
# ## A row per program
#
# The sum of a row needs all elements of that row, and nothing from other rows. So one program handles one row. Its block
# is as long as the next power of two. Here are 4 rows of 7, in blocks of 8:

# %%
figures.tiles_2d(4, 7, 1, 8)

# %% [markdown]
# `tl.max(x, axis=0)` and `tl.sum(x, axis=0)` reduce a block to one number. They use **all** lanes of the block, also the
# lanes that the load's mask switched off. You choose what those masked-off lanes contain: it is the argument `other` of
# `tl.load`. Without `other`, their values are undefined on a GPU.
#
# **Predict.** The row is -5, -3, -4, in a block of 4, and the load says `other=0.0`. What is the maximum?

# %%
predict("maximum_with_zero", None)

# %%
@triton.jit
def row_max_kernel(x_ptr, output_ptr, n, other, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=other)
    tl.store(output_ptr, tl.max(x, axis=0))


def row_max(x: torch.Tensor, other: float) -> float:
    output = torch.empty(1, device=x.device)
    row_max_kernel[(1,)](x, output, x.numel(), other, BLOCK_SIZE=4)
    return output.item()


row = torch.tensor([-5.0, -3.0, -4.0], device=DEVICE)
for other in (0.0, float("-inf")):
    print(f"with other={other}:", row_max(row, other))

# %% [markdown]
# Choose the `other` that cannot change the result: **-inf for a maximum, 0 for a sum**. With rows of positive numbers,
# this bug would not have shown.
#
# ## Softmax
#
# Softmax turns a row into probabilities: positive numbers that add up to 1.
#
# $$\text{softmax}(x)_j = \frac{e^{x_j}}{\sum_k e^{x_k}}$$
#
# **Predict.** What does that formula give in fp32 for the row 100, 100? (On paper each probability is 0.5.)

# %%
predict("share_of_100", None)

# %%
powers = torch.exp(torch.tensor([100.0, 100.0]))
print(powers, powers / powers.sum())

# %% [markdown]
# The fix is to subtract the row's maximum first. This multiplies numerator and denominator by the same factor, so the
# result stays the same. The largest exponent is now 0, and nothing can overflow.
#
# So a softmax kernel takes these steps: load with `other=-inf`, take the maximum, subtract it, `tl.exp`, sum, divide,
# store. The lanes with -inf add e^(-inf) = 0 to the sum, as they should. Eager PyTorch would need five kernels for these
# steps. Here it is one load and one store.
#
# ## Rows longer than a block: a loop over the data
#
# A block is kept in **registers**, the small storage next to the arithmetic units, so its length is limited. For a long
# row the program loops over the row, one block at a time. This kernel computes the maximum of each row:

# %%
@triton.jit
def long_row_max_kernel(x_ptr, output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0)
    biggest = float("-inf")
    for start in range(0, n_cols, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("-inf"))
        biggest = tl.maximum(biggest, tl.max(x, axis=0))
    tl.store(output_ptr + row, biggest)


x = -1.0 - torch.arange(20.0, device=DEVICE).reshape(2, 10)
maxima = torch.empty(2, device=DEVICE)
long_row_max_kernel[(2,)](x, maxima, 10, BLOCK_SIZE=4)
print("kernel:", maxima.tolist(), " torch:", x.amax(dim=1).tolist())

# %% [markdown]
# Read it line by line:
#
# - `range(0, n_cols, BLOCK_SIZE)` gives the first column of each block: 0, 4, 8.
# - The offsets, the mask and the load belong inside the loop, because they change with `start`. Only the last block has
#   masked-off lanes: here the columns 10 and 11.
# - `biggest` is a **loop-carried value**: it is set before the loop, and each pass over the loop's body updates it.
# - A loop-carried value keeps the type and the shape that it has before the loop. For a maximum start with
#   `float("-inf")`, for a sum with `0.0`: a plain `0` is an integer, and the compiler refuses it.
# - The store comes after the loop, when `biggest` is complete.
#
# **Try it.** Write `biggest = tl.max(x, axis=0)` and run the cell again. Which part of the row decides now? Then change it
# back.
#
# A loop-carried value may also be a block: `sums = tl.zeros((BLOCK_SIZE,), tl.float32)` before the loop, `sums += x`
# inside, and one `tl.sum(sums, axis=0)` after it. Then each lane adds up its own columns. The reduction across lanes,
# which needs an exchange between threads, happens only once.
#
# ## Exercise: `row_sum`
#
# This is a drill of about five minutes: the loop, with a sum in place of the maximum.
#
# **The contract.** `row_sum(x)` returns the sum of each row.
#
# - `x` is two-dimensional, `(m, n)`, with any strides, in float32, float16 or bfloat16. Rows may be longer than a block.
# - The result is a new tensor of shape `(m,)` with the dtype of `x`. Add up in float32.
# - Empty inputs are legal. A row without elements has the sum 0.
#
# The launcher is given. `hint("row_sum")` helps.

# %% exercise="row_sum"

# %% [markdown]
# ## Online softmax, block by block
#
# The simple softmax of a long row passes over it three times: for the maximum, for the sum, for the result. **Online
# softmax** needs two passes. Its first pass carries *two* values: the maximum so far, and the sum of
# exp(x - maximum so far). When a block brings a larger maximum, the old sum is too large by a known factor. So the kernel
# rescales it:
#
# $$\begin{aligned}\text{sum} \leftarrow {} &\text{sum} \cdot e^{\text{old max} - \text{new max}}\\
# &+ \sum_{\text{block}} e^{x - \text{new max}}\end{aligned}$$
#
# **Try it.** Go through the row block by block. In which steps is the old sum rescaled? Does the block size change the
# result?

# %%
explore.online_softmax(blocks=2, BLOCK_SIZE=2)

# %%
# The same without controls:
print(explore.online_softmax_text(blocks=4, BLOCK_SIZE=2))

# %% [markdown]
# One trap: a block may contain nothing but -inf, for example a masked part of a row of attention scores. Then the maximum
# so far is still `-inf`, and `-inf - (-inf)` is NaN. While the maximum is `-inf`, subtract 0 instead. Attention (lesson
# 13) uses the same algorithm over blocks of keys.
#
# ## Exercise: `softmax`
#
# **The contract.** `softmax(x)` returns the softmax of each row.
#
# - `x` is two-dimensional, with any strides, in float32, float16 or bfloat16. The result has its dtype and shape, and is
#   new and contiguous. (All elements are within 2³¹ elements of the first one. The judge does not test the far views of
#   lesson 04 here.)
# - -inf may occur, but never in a whole row. Large numbers must not overflow.
# - Rows may be shorter or much longer than a block. Empty inputs are legal.
# - Compute in float32.
#
# The launcher is given. It uses `softmax_kernel` for rows that fit into one block, and `softmax_long_kernel` for longer
# rows. Write `softmax_kernel` first and check it: only the cases with long rows then remain. `softmax_long_kernel` has
# the loop of `row_sum_kernel` twice. `hint("softmax")` helps.

# %% exercise="softmax"

# %% [markdown]
# **Predict.** How many bytes does your kernel move for each fp32 element of a short row? How many for each element of a
# row of 20,000, which needs the second kernel?

# %%
predict("bytes_short", None)
predict("bytes_long", None)

# %%
short = explore.measure(softmax, torch.ones(8, 500))
long = explore.measure(softmax, torch.ones(2, 20_000))
if short.total and long.total:
    print(f"your kernels move {short.total / (8 * 500):g} bytes for each element of a short row,", end=" ")
    print(f"{long.total / (2 * 20_000):g} of a long one")

# %% [markdown]
# ## Mean and variance
#
# Layer norm shifts and scales each row to mean 0 and variance 1, and then applies a weight and a bias per column:
#
# $$\begin{aligned}y = {} &\frac{x - \text{mean}}{\sqrt{\text{variance} + \varepsilon}} \cdot \text{weight}\\
# &+ \text{bias}\end{aligned}$$
#
# There are two traps. **The first is cancellation.** The variance is the mean of (x - mean)². Another formula needs only
# one pass: the mean of x², minus the square of the mean. **Predict** what it gives in fp32 for the row 9,999 and 10,001,
# whose variance is 1.

# %%
predict("variance_in_one_walk", None)

# %%
x = torch.tensor([9999.0, 10001.0])
print("one pass:  ", ((x * x).mean() - x.mean() ** 2).item())
print("two passes:", ((x - x.mean()) ** 2).mean().item())

# %% [markdown]
# Subtract the mean first, then square.
#
# **The second is padding.** The mean is the sum of the *existing* elements, divided by their number. With `other=0.0`
# that is correct. But the next step is `x - mean`, and it changes the masked-off lanes, too.
#
# **Predict.** The row is 3, 3, 3 in a block of 4, loaded with `other=0.0`. Its mean is 3, its variance 0. What does
# `tl.sum((x - mean) * (x - mean)) / 3` give?

# %%
predict("variance_with_padding", None)

# %% [markdown]
# After any step that can change a masked-off lane's 0, mask again: `tl.where(mask, x - mean, 0.0)`.
#
# ## Exercise: `layernorm`
#
# **The contract.** `layernorm(x, weight, bias, eps)` normalises each row.
#
# - `x` is `(m, n)`, `weight` and `bias` are `(n,)`. All have any strides and one dtype: float32, float16 or bfloat16.
# - The variance is the biased one (divided by n). The mean may be far larger than the spread.
# - Rows may be longer than a block. Empty inputs are legal.
# - The result is a new contiguous tensor of the shape and dtype of `x`. Compute in float32.
#
# The launcher is given, and there are two kernels again. The long one loops over the row three times: for the mean, for
# the variance, for the result. `hint("layernorm")` helps.

# %% exercise="layernorm"

# %% [markdown]
# ## One pass for mean and variance
#
# `layernorm` passes over a long row three times: for the mean, for the variance, for the result. The first two passes can
# be one, without the formula that cancels. Three numbers describe any part of a row: its number of elements n, their
# mean, and the sum S of their squared distances from that mean. From these numbers you can combine two parts a and b
# (Chan, Golub and LeVeque):
#
# $$\begin{aligned}n &= n_a + n_b\\
# \delta &= \text{mean}_b - \text{mean}_a\\
# \text{mean} &= \text{mean}_a + \delta \, \frac{n_b}{n}\\
# S &= S_a + S_b + \delta^2 \, \frac{n_a n_b}{n}\end{aligned}$$
#
# Where b is a single element, this is **Welford's** method. Two large means may be subtracted here, but before
# squaring, so little is lost. The formula that cancels subtracts two large *squares*. In Triton each lane carries its
# own three numbers through the loop. At the end `tl.reduce` combines the lanes, with your function in place of a sum or
# a maximum:
#
# ```python
# @triton.jit
# def merged(n_a, mean_a, s_a, n_b, mean_b, s_b):
#     n = n_a + n_b
#     fraction = n_b / tl.maximum(n, 1.0)  # for two empty lanes: 0 / 1, not 0 / 0
#     delta = mean_b - mean_a
#     return n, mean_a + delta * fraction, s_a + s_b + delta * delta * n_a * fraction
#
#
# @triton.jit
# def moments_kernel(x_ptr, output_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
#     n = tl.zeros((BLOCK_SIZE,), tl.float32)
#     mean = tl.zeros((BLOCK_SIZE,), tl.float32)
#     s = tl.zeros((BLOCK_SIZE,), tl.float32)
#     for start in range(0, n_cols, BLOCK_SIZE):
#         cols = start + tl.arange(0, BLOCK_SIZE)
#         inside = cols < n_cols
#         x = tl.load(x_ptr + cols, mask=inside, other=0.0).to(tl.float32)
#         one = tl.where(inside, 1.0, 0.0)  # a masked-off lane is a part without elements
#         n, mean, s = merged(n, mean, s, one, x, tl.zeros_like(x))
#     n, mean, s = tl.reduce((n, mean, s), 0, merged)
#     tl.store(output_ptr, mean)
#     tl.store(output_ptr + 1, s / n)
# ```
#
# `tl.reduce` may combine the lanes in any grouping. So the function must be *associative*: regrouping must not change the
# result, up to rounding. This kernel saves one of three loads of a long row. It costs one division per element, and
# registers for three numbers in each lane.

# %% [markdown]
# ## Quiz

# %%
quiz("reductions")

# %% [markdown] case_study="shares-that-do-not-add-up" points=6
# ## Case study: probabilities that do not add up
#
# A softmax kernel loads rows of 1,000 into blocks of 1,024, with `other=0.0`. The rest is correct: it subtracts the
# maximum. The team's test draws rows from a normal distribution and calls
# `torch.allclose(result, expected, atol=1e-3)`. The test passes. In the model the scores are around -20, and the
# probabilities of a row add up to almost nothing.
#
# 1. What do the masked-off lanes contribute to the maximum and to the sum?
# 2. For normally distributed rows the sum of all e^x is about 1,650. By how many percent are the probabilities wrong?
#    Why does the test pass?
# 3. Why do the probabilities nearly vanish when the scores are around -20?
# 4. Give the fix, and two properties of a softmax that a test can check without a reference.
#
# Answer in about 120 words.

# %%
answer("shares-that-do-not-add-up")

# %% [markdown] model_answer="shares-that-do-not-add-up"
# 1. 24 lanes contain 0. The maximum becomes at least 0, and the sum gets 24 additional terms e^(0 - maximum).
# 2. The factor e^(-maximum) cancels. So the sum is 1,650 + 24, and all probabilities are too small by about 1.4 percent.
#    A probability is about 1/1,000, so the error is about 1e-5, far below `atol=1e-3`. That tolerance is as large as the
#    numbers themselves: even a result of zeros would nearly pass.
# 3. The maximum is now the 0 of the masked-off lanes. The true terms are about e^-20, two billionths each, against 24
#    terms of 1. Nearly all of the probability goes to lanes that do not exist.
# 4. `other=float("-inf")`. Each row must add up to 1 (within the format's precision), and adding a constant to a row must
#    not change the result. (Also: probabilities are positive, and larger inputs get larger ones.)
#
# **Rubric (6 points)**
#
# - 1 point: 24 terms enter the sum, and a 0 enters the maximum.
# - 1 point: about 1.4 percent.
# - 1 point: an absolute tolerance as large as the probabilities.
# - 1 point: at -20 the masked-off lanes dominate.
# - 1 point: `other=float("-inf")`.
# - 1 point: two properties (sum 1, shift invariance, order, positive).

# %% [markdown]
# ## For the GPU
#
# Below the **ridge point** (lesson 03) memory limits a kernel, above it arithmetic does.
#
# **Predict.** Softmax does a handful of operations per element, with one load and one store. On which side of the ridge
# is it? How close to a plain copy can its speed come?
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16 at 65536×4096: this course's model softmax, with a row per program,
# {h200: softmax 65536×4096 | plain | GB/s} GB/s, PyTorch's own {h200: softmax 65536×4096 | torch | GB/s} GB/s, a copy
# {h200: softmax 65536×4096 | copy | GB/s} GB/s. Layer norm: {h200: layernorm 65536×4096 | plain | GB/s} GB/s for the model
# solution, {h200: layernorm 65536×4096 | fast | GB/s} GB/s for the course's fast form, and
# {h200: layernorm 65536×4096 | torch | GB/s} GB/s for PyTorch's own.

# %% gpu
if ON_GPU:
    x = torch.randn(16384, 4096, device="cuda", dtype=torch.float16)
    others = {"torch": lambda x: torch.softmax(x, dim=1)}
    time_beside(softmax, others, x, n_bytes=2 * x.nbytes, atol=1e-5, title="softmax")
else:
    print("Not run: there is no GPU here, and the interpreter's time does not predict a GPU's.")

# %% [markdown]
# ## What you take with you
#
# - A reduction uses every lane. Choose what the masked-off lanes contain: -inf for a maximum, 0 for a sum. Mask again
#   after each step that changes them.
# - Subtract the maximum before exp, and the mean before squaring.
# - A loop over a long row carries values from block to block. Online softmax rescales such a value. Attention uses it
#   again.
#
# To practise, call `practice()`. It draws a puzzle from an exercise that you have passed: put the lines of a kernel in
# order, or find the wrong line.

# %%
progress()
