# %% [markdown]
# # Reductions: many numbers become one
#
# A maximum, a sum, a mean: each takes a whole row and gives one number. At the end of this lesson you have written
# softmax and layer norm, and you know the three places where such kernels go wrong: the lanes that do not exist,
# numbers that are too large, and numbers that nearly cancel.
#
# It takes about 45 minutes. Lessons 04 (strides) and 06 (fusion) come first.

# %% setup
from triton_util import explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## A row per program
#
# All elements of a row are needed for its sum, and rows do not need each other. So let one program take one row,
# in a block as long as the next power of two. Here are 4 rows of 7, in blocks of 8:

# %%
figures.tiles_2d(4, 7, 1, 8)

# %% [markdown]
# `tl.max(x, axis=0)` and `tl.sum(x, axis=0)` turn a block into one number. They take **all** lanes of the block,
# also those that the mask switched off at the load. What a lane holds that loaded nothing is up to you: it is the
# `other` of `tl.load`. Without `other` it is anything, on a GPU.
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
# The right `other` is the number that changes nothing: **-inf for a maximum, 0 for a sum**. With rows of positive numbers the mistake would not have shown.
#
# ## Softmax
#
# Softmax turns a row into shares that are positive and add up to 1:
#
# $$\text{softmax}(x)_j = \frac{e^{x_j}}{\sum_k e^{x_k}}$$
#
# **Predict.** What does that formula give in fp32 for the row 100, 100? (On paper each share is 0.5.)

# %%
predict("share_of_100", None)

# %%
powers = torch.exp(torch.tensor([100.0, 100.0]))
print(powers, powers / powers.sum())

# %% [markdown]
# Subtract the row's maximum first. That multiplies numerator and denominator by the same
# factor and changes nothing, and then the largest exponent is 0: nothing can overflow.
#
# So a softmax kernel does: load with `other=-inf`, maximum, subtract, `tl.exp`, sum, divide, store. (What becomes of
# the lanes with -inf? e to the minus infinity is 0, just right for the sum.) In eager PyTorch steps that would be
# five kernels. Here it is one load and one store.
#
# ## Rows longer than a block
#
# A block lives in registers, so it cannot be as long as you like. For long rows a program walks through the row in
# pieces. The plain way walks three times: for the maximum, for the sum, for the result. The **online** way needs two.
# In the first walk it keeps *two* numbers: the maximum so far, and the sum of exp(x - maximum so far). When a
# piece brings a larger maximum, the old sum is too large by a known factor, and is rescaled:
#
# $$\begin{aligned}\text{sum} \leftarrow {} &\text{sum} \cdot e^{\text{old max} - \text{new max}}\\
# &+ \sum_{\text{piece}} e^{x - \text{new max}}\end{aligned}$$
#
# **Try it.** Walk through the row block by block. In which steps is the old sum rescaled? Does the block size change
# the end?

# %%
explore.online_softmax(blocks=2, BLOCK_SIZE=2)

# %%
# The same without controls:
print(explore.online_softmax_text(blocks=4, BLOCK_SIZE=2))

# %% [markdown]
# One trap: a piece may hold nothing but -inf (a masked part of a score). Then the maximum is still `-inf`, and
# `-inf - (-inf)` is NaN. Subtract 0 in place of the maximum as long as it is `-inf`. The same idea, kept running over
# blocks of keys, is the heart of the attention kernel of lesson 13.
#
# ## Exercise: `softmax`
#
# **The contract.** `softmax(x)` returns the softmax of each row.
#
# - `x` is two-dimensional, any strides, float32, float16 or bfloat16; the result has its dtype and shape, and is new
#   and contiguous. (Elements lie within 2³¹ elements of the first one: the far views of lesson 04 are not tried here.)
# - -inf may appear, but never in a whole row. Large numbers must not overflow.
# - Rows may be shorter or much longer than a block. Empty inputs are legal.
# - Compute in float32.
#
# The launcher is given. It takes the first kernel for rows that fit into one block, the second for longer ones.
# Write the first one first and check it: then only the cases with long rows are left. `hint("softmax")` helps.

# %% exercise="softmax"

# %% [markdown]
# **Predict.** How many bytes does your kernel move for each fp32 element of a short row? And for each of a row of
# 20,000, which needs the second kernel?

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
# Two traps wait here. **The first: cancellation.** The variance is the mean of (x - mean)². There is a formula that needs
# only one walk: mean of x², minus the square of the mean. **Predict** what it gives in fp32 for the row 9,999 and
# 10,001, whose variance is 1.

# %%
predict("variance_in_one_walk", None)

# %%
x = torch.tensor([9999.0, 10001.0])
print("one walk: ", ((x * x).mean() - x.mean() ** 2).item())
print("two walks:", ((x - x.mean()) ** 2).mean().item())

# %% [markdown]
# Subtract the mean first, then square.
#
# **The second: padding, again.** The mean is a sum over *existing* elements, divided by their number, and with `other=0.0`
# that works out. But then comes `x - mean`.
#
# **Predict.** The row 3, 3, 3 in a block of 4, `other=0.0`. Its mean is 3, its variance 0. What does
# `tl.sum((x - mean) * (x - mean)) / 3` give?

# %%
predict("variance_with_padding", None)

# %% [markdown]
# After *every* step that makes something of nothing, put the idle
# lanes back: `tl.where(mask, x - mean, 0.0)`.
#
# ## Exercise: `layernorm`
#
# **The contract.** `layernorm(x, weight, bias, eps)` normalises each row.
#
# - `x` is `(m, n)`, `weight` and `bias` are `(n,)`; any strides, one dtype for all: float32, float16 or bfloat16.
# - The variance is the biased one (divided by n). The mean may be far above the spread.
# - Rows may be longer than a block. Empty inputs are legal.
# - The result is a new contiguous tensor of the shape and dtype of `x`. Compute in float32.
#
# The launcher is given, and there are two kernels again. `hint("layernorm")` helps.

# %% exercise="layernorm"

# %% [markdown]
# ## One walk for mean and variance
#
# `layernorm` walks through a long row three times: for the mean, for the variance, for the result. The first two can be
# one, without the formula that cancels. Three numbers are enough to know of any piece of a row: how many elements it
# has (n), their mean, and the sum of their squared distances from it (S). Two pieces a and b are put together from
# these alone (Chan, Golub and LeVeque):
#
# $$\begin{aligned}n &= n_a + n_b\\
# \delta &= \text{mean}_b - \text{mean}_a\\
# \text{mean} &= \text{mean}_a + \delta \, \frac{n_b}{n}\\
# S &= S_a + S_b + \delta^2 \, \frac{n_a n_b}{n}\end{aligned}$$
#
# Where b is a single element this is **Welford's** method. Means are near each other, so no large number is subtracted
# from another. In Triton each lane keeps three numbers of its own while the blocks go by. At the end `tl.reduce` puts the
# lanes together, with a function of yours in place of the sum or the maximum:
#
# ```python
# @triton.jit
# def merged(n_a, mean_a, s_a, n_b, mean_b, s_b):
#     n = n_a + n_b
#     share = n_b / tl.maximum(n, 1.0)  # two empty lanes make an empty one, and no division by 0
#     delta = mean_b - mean_a
#     return n, mean_a + delta * share, s_a + s_b + delta * delta * n_a * share
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
#         one = tl.where(inside, 1.0, 0.0)  # a lane outside is a piece without elements
#         n, mean, s = merged(n, mean, s, one, x, tl.zeros_like(x))
#     n, mean, s = tl.reduce((n, mean, s), 0, merged)
#     tl.store(output_ptr, mean)
#     tl.store(output_ptr + 1, s / n)
# ```
#
# `tl.reduce` may put the lanes together in any order. So the function must be *associative*: (a with b) with c is the same
# as a with (b with c), up to rounding. The walk that is saved is one of three loads of a long row. It costs a division for
# each element, and registers for three numbers in each lane.

# %% [markdown]
# ## Quiz

# %%
quiz("reductions")

# %% [markdown] case_study="shares-that-do-not-add-up" points=6
# ## Case study: shares that do not add up
#
# A softmax kernel loads rows of 1,000 into blocks of 1,024, with `other=0.0`; the rest is right, the maximum is
# subtracted. The team's test draws rows from a normal distribution and calls
# `torch.allclose(result, expected, atol=1e-3)`. It passes. In the model the scores lie around -20, and the shares of a row
# add up to almost nothing.
#
# 1. What do the idle lanes contribute to the maximum and to the sum?
# 2. For normally distributed rows the sum of all e^x is about 1,650. By how many percent are the shares wrong? Why does
#    the test pass?
# 3. Why do the shares nearly vanish when the scores are around -20?
# 4. Give the mend, and two properties of a softmax that a test can check without any reference.
#
# Answer in about 120 words.

# %%
answer("shares-that-do-not-add-up")

# %% [markdown] model_answer="shares-that-do-not-add-up"
# 1. 24 lanes hold 0. The maximum becomes at least 0, and the sum gets 24 terms of e^(0 - maximum).
# 2. Seen without the maximum (it cancels), the sum is 1,650 + 24, so all shares are too small by about 1.4 percent. A
#    share is about 1/1,000, so the error is about 1e-5, far below `atol=1e-3`. That tolerance is as large as the
#    numbers themselves: a result of zeros would nearly pass, too.
# 3. The maximum is now the 0 of the idle lanes. The true terms are about e^-20, two billionths each, against 24 terms of
#    1. Nearly everything goes to lanes that do not exist.
# 4. `other=float("-inf")`. Each row must add up to 1 (within the format's precision), and adding a constant to a row must
#    change nothing. (Also: shares are positive, larger inputs get larger shares.)
#
# **Rubric (6 points)**
#
# - 1 point: 24 terms join the sum, and a 0 the maximum.
# - 1 point: about 1.4 percent.
# - 1 point: an absolute tolerance as large as the shares.
# - 1 point: at -20 the idle lanes dominate.
# - 1 point: `other=float("-inf")`.
# - 1 point: two properties (sum 1, shift invariance, order, positive).

# %% [markdown]
# ## For the GPU
#
# **Predict.** Softmax does a handful of operations per element, and one load and one store. Which side of the ridge is it
# on, and how close to a plain copy can it come?
#
# Measured on an NVIDIA H200 in fp16 at 65536×4096: this course's model softmax, with a row per program,
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
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - A reduction takes every lane. Decide what the idle ones hold: -inf for a maximum, 0 for a sum; and put them back after
#   each step.
# - Subtract the maximum before exp, and the mean before squaring.
# - Long rows need running numbers that can be rescaled. That idea comes back in attention.

# %%
progress()
