# %% [markdown]
# # Capstone: a language model on your kernels
#
# In this lesson you write the last two kernels that a language model needs: its loss, and the backward pass of the loss.
# Then a small character model trains on your kernels from four lessons of this course, and writes a few sentences.
#
# It takes about 95 minutes. Lessons 07 (reductions), 08 (matmul) and 14 (gradients) come first. The training at the end
# takes less than a minute on a CPU.

# %% setup
import math

from triton_util import explore, time_beside
from triton_util.capstone import grammar
from triton_util.capstone.model import LARGE, TINY
from triton_util.capstone.operations import operations, table
from triton_util.capstone.training import train, write
from triton_util.environment import interpreting
from triton_util.figures.training import loss_curves, row_gradient

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## How wrong was the guess?
#
# A language model gives each possible next character a number, its **logit**. Softmax turns logits into probabilities. The
# character that really comes next is the **target**. The **loss** measures how badly the model predicted it: minus the
# logarithm of the target's probability. A probability of 1 gives a loss of 0, and a probability near 0 gives a large loss.
#
# **Predict.** Our texts have 23 different characters. A model that knows nothing gives each the same probability. What is
# its loss?

# %%
predict("loss_of_knowing_nothing", None)

# %% [markdown]
# **Fix it.** You can compute the logarithm of a probability without the probability. The probability is exp(x) of the
# target, divided by the sum of all exp, so the loss is
#
# $$\log\Bigl(\sum_j e^{x_j}\Bigr) - x_{\text{target}}$$
#
# Run the cell. The second row overflows: exp(1000) is too large for float32. Subtract the row's maximum from the whole row
# first, as in a softmax, and look again.

# %%
rows = torch.tensor([[2.0, 1.0, 0.0], [1000.0, 999.0, 998.0]])
for row in rows:
    shifted = row - 0.0
    print(f"loss for target 1: {torch.log(torch.exp(shifted).sum()) - shifted[1]:.4f}")

# %% [markdown]
# With `row - row.max()` both rows have the same loss: only differences between logits count. But you must use the maximum
# consistently. Either subtract it from the target's logit too, or add it after the logarithm:
#
# $$\max + \log\Bigl(\sum_j e^{x_j - \max}\Bigr) - x_{\text{target}}$$
#
# **Predict.** A row holds 500, 500, 500, 500, and the target is any of them. What is the loss?

# %%
predict("loss_of_four_alike", None)

# %%
print(f"{torch.nn.functional.cross_entropy(torch.full((1, 4), 500.0), torch.tensor([0])):.4f}")

# %% [markdown]
# ## The largest tensor of a language model
#
# Our 23 characters fit into any block. A large model has words and parts of words instead. Llama 3 has 128,256 of them.
#
# **Predict.** A text has 8192 positions, each with 128,256 logits in bfloat16 (2 bytes). How many gigabytes (10⁹ bytes) do
# the logits take?

# %%
predict("gigabytes_of_logits", None)

# %% [markdown]
# Often this is the largest tensor in training. In eager mode PyTorch computes the loss in two steps. `log_softmax` reads
# all logits and writes as many logarithms. Then a second kernel picks one number from each row. You will read the logits
# once and write one number per row.
#
# A row of that length does not fit into a block. So you need the first pass of the softmax of long rows from lesson 07:
# keep the maximum so far, and the sum of exp(x - maximum so far). When the maximum grows, multiply the old sum by exp(old -
# new). This is **online softmax**.
#
# **Predict.** The maximum so far is 1 and the sum is 3. The next block holds 2 and 1. What is the sum after that block?

# %%
predict("sum_after_the_second_block", None)

# %%
old_max, old_sum, block = 1.0, 3.0, torch.tensor([2.0, 1.0])
new_max = max(old_max, block.max().item())
print(f"{old_sum * math.exp(old_max - new_max) + torch.exp(block - new_max).sum():.4f}")

# %% [markdown]
# The target's logit is a single number, and the kernel knows its address: `row * stride_row + target * stride_col`. One
# load is enough, without a loop.
#
# ## Rows that are ignored
#
# Texts in a batch have different lengths, and the shorter ones are padded. The model's predictions in the padding must not
# affect the loss. By convention such a row has the target **-100**, and its loss is 0.
#
# **Predict.** Three rows have the losses 2, 4 and, with the target -100, 0. Which mean does PyTorch report?

# %%
predict("mean_of_rows_that_count", None)

# %%
logits = torch.tensor([[0.0, 2.0], [3.0, 0.0], [5.0, 5.0]])
targets = torch.tensor([0, 1, -100])
print("each:", torch.nn.functional.cross_entropy(logits, targets, reduction="none").tolist())
print("mean:", torch.nn.functional.cross_entropy(logits, targets).item())

# %% [markdown]
# PyTorch divides by the number of rows that are not ignored. Your kernel need not do that: it returns one loss per row. But
# a kernel that uses -100 as a class index reads 100 elements *before* its row. In most rows those are logits of other rows,
# so nothing crashes.
#
# ## Exercise: `cross_entropy`
#
# **The contract.** `cross_entropy(logits, targets)` returns log(sum(exp(row))) - row[target] for each row.
#
# - logits is (t, v): float32, float16 or bfloat16, any strides. v may be longer than a block. Some logits may be -inf, but
#   not that of the target.
# - targets is (t,), int64, contiguous: 0 to v - 1, or -100 for an ignored row. Its loss is 0.
# - Empty inputs are legal. (Without classes all targets are -100.)
# - The result is new, (t,), and float32 for every dtype of the logits. Compute in float32.
#
# The launcher is given. `hint("cross_entropy")` helps.

# %% exercise="cross_entropy"

# %% [markdown]
# ## What it reads
#
# There are three rows of 5000 logits in fp32, and the second row is ignored. How many bytes of logits must be loaded at
# least?

# %%
logits, targets = torch.randn(3, 5000), torch.tensor([7, -100, 4999])
print(explore.measure(cross_entropy, logits, targets))

# %% [markdown]
# (Before your kernel is written, it shows nothing.) The least is two rows of 20,000 bytes, and two single logits. The model
# solution does not load the ignored row. The contract does not require that.
#
# ## The backward pass
#
# How does the loss change if one logit grows a little? The derivative of log(sum(exp(x))) by x_i is e^(x_i) / sum, which is
# the *probability* of class i. The loss also subtracts the target's logit, so its derivative is smaller by 1. Together:
#
# $$dx_i = \bigl(\text{probability}_i - [i = \text{target}]\bigr) \cdot dloss$$
#
# You need neither the matrix of derivatives of softmax nor another sum. The second term of the bracket
# is called **one-hot**: 1 at the target, 0 elsewhere.

# %%
row_gradient([2.0, 1.0, 0.0, -1.0], target=1)

# %% [markdown]
# A training step moves *against* the gradient. So it raises the target's logit and lowers all others, each by an amount
# proportional to its probability.
#
# **Predict.** The target has a probability of 0.9, and dloss is 2. What is the gradient of its logit?

# %%
predict("gradient_at_the_target", None)

# %% [markdown]
# **Predict.** What is the sum of each row of softmax - one-hot?

# %%
predict("sum_of_a_row", None)

# %%
x = torch.randn(1, 23, requires_grad=True)
torch.nn.functional.cross_entropy(x, torch.tensor([5])).backward()
print(f"sum of the row: {x.grad.sum().item():.6f}")

# %% [markdown]
# A test can check that property without a reference. It finds a forgotten one-hot, and probabilities that are not
# normalised.
#
# What do you save for the backward pass? The probabilities would be another tensor as large as the logits. So compute them
# again: repeat the first pass over the row, then store in a second pass. And dloss is one number for each row. After a
# `mean()` or `sum()` it is one *expanded* number, with stride 0. You know that trap from lesson 14.
#
# Ignored rows have the gradient 0, in every column. A kernel that forgets them stores the probabilities times dloss,
# because no column has the number -100. PyTorch gives 0 even if dloss is NaN in such a row, and your kernel must do so too:
# 0 · NaN would be NaN.
#
# ## Exercise: `cross_entropy_backward`
#
# **The contract.** `cross_entropy_backward(logits, targets, dloss)` returns (softmax - one-hot) * dloss, row by row.
#
# - logits and targets are as above.
# - dloss is (t,), float32, with any stride, 0 too.
# - Rows with the target -100 are 0, whatever dloss holds there.
# - The result is new and contiguous, (t, v), in the dtype of the logits. Compute in float32.
#
# The launcher is given. `hint("cross_entropy_backward")` helps.

# %% exercise="cross_entropy_backward"

# %% [markdown]
# Now check the property with your kernel:

# %%
x = torch.randn(5, 300, device=DEVICE)
found = cross_entropy_backward(x, torch.arange(5, device=DEVICE) * 70, torch.ones((), device=DEVICE).expand(5))
print(f"largest sum of a row: {found.sum(dim=1).abs().max().item():.1e}")

# %% [markdown]
# ## A text
#
# The course generates its own text: 2000 sentences of a small grammar, the same each time.

# %%
text = grammar.text()
print(text[:150], "...", sep="\n")
print(f"{len(text):,} characters, {len(grammar.LETTERS)} of them different; {len(grammar.WORDS)} words")

# %% [markdown]
# ## A model
#
# The model sees 8 characters and predicts the ninth. It looks up each character in a table of 8 numbers, which makes 64
# inputs. Then there are two layers:
#
# | | computes | kernels in the forward pass | in the backward pass |
# |---|---|---|---|
# | hidden | relu(x @ w.T + b), 64 numbers | `linear_bias_relu` | `linear_bias_relu_backward` |
# | logits | hidden @ w, 23 numbers | `matmul` | `matmul`, twice |
# | loss | the loss of each row | `cross_entropy` | `cross_entropy_backward` |
#
# PyTorch does the look-up, the mean of the losses and the update of the parameters (Adam). When the model writes, `softmax`
# turns the logits into probabilities.
#
# **Predict.** How many numbers does the model learn? (The table, the weights and the bias of the hidden layer, the weights
# of the last one.)

# %%
predict("numbers_that_are_learned", None)

# %% [markdown]
# **Predict.** How many kernels does one training step launch, not counting those of PyTorch? `linear_bias_relu_backward`
# launches two, all others one.

# %%
predict("launches_of_a_step", None)

# %% [markdown]
# ## Which kernels does it use?
#
# `check` saves the code of each exercise that passes, on this machine, with your progress. `operations` looks for each
# kernel in three places: the functions that you pass here, the code that passed in an earlier lesson, and the model
# solution. It tries each on a small input, and uses the first one that agrees with PyTorch. So the model works even if you
# skipped a lesson.
#
# (Kernels that passed on another machine, or before the course saved them, are missing. Run the `check` of that lesson
# again.)

# %%
kernels, whose = operations(cross_entropy, cross_entropy_backward, device=DEVICE)
print(table(whose))

# %% [markdown]
# ## Train
#
# The next cell trains the same model twice: once on these kernels, once with PyTorch. Text, initial weights and batches are
# the same. On a CPU the kernels run in the interpreter, so this takes between ten seconds and a minute. (Does it take
# longer on your machine? Reduce the number of steps with `dataclasses.replace(TINY, steps=40)`.)

# %%
own = train(TINY, kernels, DEVICE)
by_torch = train(TINY, None, DEVICE)
apart = max(abs(a - b) / b for a, b in zip(own.losses, by_torch.losses))
print(f"last loss: {own.losses[-1]:.4f} on these kernels, {by_torch.losses[-1]:.4f} by torch")
print(f"furthest apart in any step: {apart:.1e} of the loss")

# %%
loss_curves({"these kernels": own.losses, "torch": by_torch.losses})

# %% [markdown]
# The first loss is what you predicted for a model that knows nothing. Then the loss falls, and the two curves coincide.
# Each step starts from the result of the last one, so most errors in a gradient would separate them. A constant factor
# would hardly show: Adam divides by the size of the gradients.
#
# The loss does not fall to 0, and no model could make it. The grammar chooses at random whether a cat or a kernel comes
# next.
#
# Now the model writes:

# %%
sample = write(own, kernels, 100 if DEVICE == "cpu" else 400)
print(sample)
known, words = grammar.known_words(sample)
print(f"\n{known} of {words} whole words are words of the grammar")

# %% [markdown]
# The model was never given a list of words. It saw eight characters at a time, and had a loss.
#
# **Try it.** Break your `cross_entropy_backward` a little: multiply the probability by 1.1, or leave out the 1 in every
# second row. Pass it to `train` in a dictionary, `{**kernels, "cross_entropy_backward": broken}`. How long does the curve
# look healthy?
#
# ## Quiz

# %%
quiz("capstone")

# %% [markdown] case_study="the-loss-that-knew-too-much" points=6
# ## Case study: the loss that was too large
#
# A team replaces PyTorch's loss by its own kernel: one program per row, in blocks of 4096 columns. Parts of the code:
#
# ```python
# m, s, x_t = float("-inf"), 0.0, 0.0
# for start in range(0, V, 4096):
#     cols = start + tl.arange(0, 4096)
#     x = tl.load(row_ptr + cols, mask=cols < V, other=float("-inf")).to(tl.float32)
#     m_new = tl.maximum(m, tl.max(x))
#     s = s + tl.sum(tl.exp(x - m_new))
#     x_t += tl.sum(tl.where(cols == target, x, 0.0))
#     m = m_new
# tl.store(losses_ptr + row, m + tl.log(s) - x_t)
#
# loss = losses.mean()
# ```
#
# Unit tests with V = 4000, random logits and random targets pass. The model has V = 128,256, and its batches are padded: a
# third of all rows has the target -100. The backward kernel is correct for the other rows and gives 0 for rows with the
# target -100.
#
# 1. What is wrong in the loop, and why do the tests not show it? Is the loss then too large or too small?
# 2. What does the kernel store for a row with the target -100? Does anything crash?
# 3. `losses.mean()` divides by all rows. By which factor is the gradient of a row that is not ignored too small, compared
#    with PyTorch's mean? What would you see in training?
# 4. Except for that factor the gradients are correct, and the model learns. Why is a wrong loss dangerous all the same?
# 5. Fix kernel and mean, and name a test for each mistake.
#
# Answer in about 180 words.

# %%
answer("the-loss-that-knew-too-much")

# %% [markdown] model_answer="the-loss-that-knew-too-much"
# 1. The sum is not rescaled when the maximum grows: it needs `s * tl.exp(m - m_new)`. With V = 4000 there is only one
#    block. Terms of earlier blocks refer to a smaller maximum and are too large, so the sum and the loss are too large.
# 2. No column is -100, so x_t stays 0, and the kernel stores the row's log-sum-exp. Nothing crashes, since nothing is
#    loaded at -100.
# 3. Two thirds of the rows are not ignored, so each of their gradients is 2/3 of PyTorch's. Training is slower, as with a
#    smaller learning rate. With Adam you would hardly see anything, because it divides by the size of the gradients. The
#    factor changes from batch to batch.
# 4. People decide by the loss: when to stop, which model is better, whether a change helped. Here the loss depends on the
#    amount of padding, and on where in a row the maximum is. Two runs cannot be compared.
# 5. Rescale the sum. Store 0 where the target is -100. Use `losses.sum() / (targets != -100).sum()`. Test V above the
#    block, with the largest logit in the last block; rows with -100 among others; and the mean against PyTorch's with a
#    third of the rows ignored.
#
# **Rubric (6 points)**
#
# - 1 point: the sum is not rescaled, and the loss is too large.
# - 1 point: the tests have one block only.
# - 1 point: the log-sum-exp is stored for -100, and nothing crashes.
# - 1 point: the factor 2/3, and its effect in training.
# - 1 point: a wrong loss misleads decisions although the gradients have the correct direction.
# - 1 point: the fixes, and tests with several blocks, with ignored rows, and of the mean.

# %% [markdown]
# ## For the GPU
#
# The next cell first times the loss alone, at the size of a large model. Its GB/s count the least bytes: the forward pass
# reads the logits once; the backward pass reads them and writes as much. Then it trains the same network as above, but with
# two thousand hidden numbers and batches of eight thousand.
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16, the loss of 8,192 rows of 128,256 logits:
#
# - the model solution took {h200: cross_entropy 8192×128256 | plain | µs} µs;
# - PyTorch took {h200: cross_entropy 8192×128256 | torch | µs} µs;
# - Liger-Kernel took {h200: cross_entropy 8192×128256 | Liger-Kernel | µs} µs;
# - the course's fast form took {h200: cross_entropy 8192×128256 | fast | µs} µs;
# - a copy that moves as many bytes took {h200: cross_entropy 8192×128256 | copy of as many bytes | µs} µs.

# %% gpu
if ON_GPU:
    logits = torch.randn(8192, 128256, device="cuda", dtype=torch.bfloat16)
    targets = torch.randint(128256, (8192,), device="cuda")
    dloss = torch.full((), 1 / 8192, device="cuda").expand(8192)
    loss = {"torch": lambda: torch.nn.functional.cross_entropy(logits, targets, reduction="none")}
    mine = lambda: cross_entropy(logits, targets)
    time_beside(mine, loss, n_bytes=logits.nbytes, atol=0.1, title="forward, GB/s by the least bytes")
    # Softmax minus one-hot, by torch. The logits are in bfloat16, and so is the gradient.
    gradient = torch.softmax(logits, dim=1)
    gradient[torch.arange(8192, device="cuda"), targets] -= 1
    gradient /= 8192
    mine = lambda: cross_entropy_backward(logits, targets, dloss)
    time_beside(mine, {}, wanted=gradient, n_bytes=2 * logits.nbytes, atol=1e-9, rtol=5e-2, title="backward")
    del gradient
    del logits
    own, by_torch = train(LARGE, kernels, "cuda"), train(LARGE, None, "cuda")
    print(f"a training step: {own.milliseconds:.2f} ms on these kernels, {by_torch.milliseconds:.2f} ms by torch")
    print(f"last loss: {own.losses[-1]:.4f} and {by_torch.losses[-1]:.4f}\n\n{write(own, kernels, 400)}")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# In float32 PyTorch's own products are hard to beat: yours are those of lesson 08, exact and plain. `torch.profiler`
# (lesson 10) shows where the time goes. Lessons 09, 11 and 16 show what to do about it.
#
# ## What you take with you
#
# - The loss of a row is its log-sum-exp minus one logit. It needs one pass over the row, and never the probabilities.
# - Its gradient is softmax minus one-hot. Compute the probabilities again; do not save them.
# - Ignored rows carry the target −100, which is not a class index.
# - A model consists of a handful of kernels. You have written them, and each is checked by itself. That is why they work
#   together.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `row_max`, `sums` | `m`, `d` (Liger-Kernel); `m_i`, `l_i` in attention |
# | the target -100 | `ignore_index` |
# | dloss | `grad_output`, `dO` |
# | one loss per row | `reduction="none"` |
# | classes, v | vocabulary, `V` |
#
# References:
#
# - Milakov, Gimelshein: [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867) (2018)
# - Hsu et al.: [Liger Kernel: Efficient Triton Kernels for LLM Training](https://arxiv.org/abs/2410.10989) (2024)
# - Wijmans et al.: [Cut Your Losses in Large-Vocabulary Language Models](https://arxiv.org/abs/2411.09009)
#   (2024). It fuses the last product with the loss, so that the logits are never stored
# - [Fused Softmax](https://triton-lang.org/main/getting-started/tutorials/02-fused-softmax.html) (Triton tutorial
#   02)
#
# To practise, run `practice()`: it gives you a puzzle from an exercise that you have passed.

# %%
progress()
