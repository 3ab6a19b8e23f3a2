# %% [markdown]
# # Randomness: numbers that are counted, not drawn
#
# Dropout sets randomly chosen elements of a tensor to 0, and the backward pass must use the very same choice. Do you have
# to keep the choice in memory? No. On a GPU a random number is computed from a seed and a *counter*, so any program with
# both can compute it again. In this lesson you write dropout with a residual. The same kernel then serves as its backward
# pass.
#
# It takes about 65 minutes. Lessons 04 (strides), 06 (fusion) and 14 (gradients) come first.

# %% setup
from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.masks import masks

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Dropout
#
# While a network is trained, each element of a tensor is **dropped**, which means set to 0, with probability p. The network
# then cannot rely on any single element, and learns more robustly. In inference nothing is dropped.
#
# **Predict.** x holds 100,000 ones, and p is 0.25. What is the mean, approximately, after a quarter has been set to 0?

# %%
predict("mean_without_scale", None)

# %%
x, p = torch.ones(100_000), 0.25
keep = torch.rand(100_000, generator=torch.Generator().manual_seed(0)) >= p
print(f"mean: {torch.where(keep, x, 0.0).mean().item():.3f}")

# %% [markdown]
# So the next layer gets smaller inputs than in inference, where nothing is dropped. **Inverted dropout** compensates: it
# divides the kept elements by 1 - p, the probability of being kept.
#
# **Fix it.** Change `x` inside the `torch.where` above, so that the mean is that of x again. Try it with p = 0.9, too.
#
# **Predict.** An element is 3, it is kept, and p is 0.25. What is its value after dropout?

# %%
predict("what_becomes_of_3", None)

# %%
for share in (0.1, 0.25, 0.9):
    print(f"p = {share}: 3 becomes {3 / (1 - share):.4g}")

# %% [markdown]
# ## Random numbers without a state
#
# The generators of a CPU usually have a **state**. Each number changes the state, and the next number comes from the
# changed state. So the numbers come one after the other, and the millionth one needs all numbers before it.
#
# A GPU runs thousands of programs at once, in any order. With one shared state they would have to wait for each other. With
# a state for each thread, the state would have to be stored and loaded again, and it may be larger than the data.
#
# Triton's generator has no state. `tl.rand(seed, counter)` is a mathematical function: the same two integers always give
# the same number, from 0 to below 1, in float32. The **seed** is one integer for the launch. The **counter** is a block of
# integers, and the result is a block of as many numbers.
#
# **Predict.** How many calls of `tl.rand` does it take to get number 1,000,000 of a seed?

# %%
predict("steps_to_the_millionth", None)

# %%
@triton.jit
def numbers_kernel(output_ptr, seed, first, COUNT: tl.constexpr):
    """Store the numbers `first`, `first + 1`, ... of this seed."""
    lanes = tl.arange(0, COUNT)
    tl.store(output_ptr + lanes, tl.rand(seed, first + lanes))


def numbers(seed, first, count=4):
    """Return `count` random numbers of this seed, from number `first` on."""
    output = torch.empty(count, device=DEVICE)
    numbers_kernel[(1,)](output, seed, first, COUNT=count)
    return [round(number, 4) for number in output.tolist()]


print("seed 7, from 0 on:        ", numbers(7, 0))
print("seed 7, from 2 on:        ", numbers(7, 2))
print("seed 7, from 1,000,000 on:", numbers(7, 1_000_000))
print("seed 8, from 0 on:        ", numbers(8, 0))

# %% [markdown]
# Numbers 2 and 3 are the same in the first two lines: it does not matter which call computes them. Another seed has other
# numbers.
#
# **Try it.** Run the cell again. Then ask for number 5 of seed 7 in three ways: with `first` 5, 4 and 2.
#
# ## Inside the generator
#
# The generator is called **Philox**. It takes a counter of four 32-bit words and a key of two, which is the seed. Then it
# mixes them in ten rounds:
#
# 1. It multiplies two of the four words by a large constant each. A product of two 32-bit numbers has 64 bits.
# 2. The low half of each product becomes a new word. It combines the high half with another word and with a word of the key
#    by exclusive or, and the result is a new word too.
# 3. It adds a constant to each word of the key.
#
# High halves depend on *all* bits of the factors. After some rounds each bit of the result depends on each bit of the
# counter. Every round can be inverted, so two different counters with the same key never give the same four words.
#
# **Predict.** Counters 2 and 3 differ in one bit. In how many of 32 bits do their random integers differ, on average?

# %%
predict("bits_that_change", None)

# %%
@triton.jit
def integers_kernel(output_ptr, seed, COUNT: tl.constexpr):
    """Store the random integers of the counters 0, 1, 2, ..."""
    lanes = tl.arange(0, COUNT)
    tl.store(output_ptr + lanes, tl.randint(seed, lanes))


integers = torch.empty(2048, dtype=torch.int32, device=DEVICE)
integers_kernel[(1,)](integers, 7, COUNT=2048)
pairs = [(int(a) % 2**32, int(b) % 2**32) for a, b in integers.reshape(-1, 2).tolist()]
for a, b in pairs[:3]:
    print(f"{a:032b}\n{b:032b}: {bin(a ^ b).count('1')} bits differ\n")
print(f"on average {sum(bin(a ^ b).count('1') for a, b in pairs) / len(pairs):.1f}")

# %% [markdown]
# So consecutive counters are good enough: 0, 1, 2 and so on. `tl.rand` makes its number from the first of the four words
# and ignores the other three; `tl.rand4x` returns numbers from all four.
#
# Random means here that the usual statistical tests find no pattern. It does not mean secret: anyone who has the seed can
# compute every number.
#
# ## Which counter?
#
# `tl.rand` computes one number for each counter. Which counter should an *element* have?
#
# The next kernel makes a mask with one of two counters: the number of the element in the tensor, or the lane, its position
# within the block.

# %%
@triton.jit
def mask_kernel(mask_ptr, n, p, seed, BY_LANE: tl.constexpr, BLOCK: tl.constexpr):
    """Store 1 where an element is kept and 0 where it is dropped."""
    lanes = tl.arange(0, BLOCK)
    places = tl.program_id(0) * BLOCK + lanes
    counters = lanes if BY_LANE else places
    tl.store(mask_ptr + places, (tl.rand(seed, counters) >= p).to(tl.int32), mask=places < n)


def mask_of(n, p, seed, block, by_lane=False):
    """Return which of n elements are kept."""
    mask = torch.empty(n, dtype=torch.int32, device=DEVICE)
    mask_kernel[(triton.cdiv(n, block),)](mask, n, p, seed, BY_LANE=by_lane, BLOCK=block)
    return mask.bool().tolist()


# %% [markdown]
# **Predict.** There are 16 elements in two blocks of 8 lanes, and the lane is the counter. How many *different* masks do
# the two blocks have?

# %%
predict("same_lanes", None)

# %%
masks(
    {
        "by element, blocks of 8": mask_of(16, 0.4, 7, 8),
        "by element, blocks of 4": mask_of(16, 0.4, 7, 4),
        "by lane, blocks of 8": mask_of(16, 0.4, 7, 8, by_lane=True),
        "by lane, blocks of 4": mask_of(16, 0.4, 7, 4, by_lane=True),
    }
)

# %% [markdown]
# If the lane is the counter, the mask repeats from block to block. Worse, it depends on the block size. An autotuner may
# pick another block size on another GPU, and then training gives other results. A backward kernel with its own block size
# drops other elements than the forward pass did. A test that checks only the fraction of dropped elements cannot find that.
#
# **Try it.** Ask for 16 elements of the first mask with blocks of 2 and of 16. Then use seed 8.
#
# So the counter must depend on the element and on nothing else:
#
# - It is not the lane, which depends on the block.
# - It is not the **address**, which depends on the strides: `x.t()`, a slice of x and a copy of it may hold the same
#   elements.
# - It is not the column alone, or every row has the same mask.
# - The seed does not change with the program, because that depends on the block size again.
#
# The number of an element, counted row after row through the whole tensor, is the same for every block, grid and view.
#
# ## Keep the mask, or compute it again?
#
# Take y = residual + dropout(x). A **residual** connection goes around a layer: it adds the input of the layer to the
# layer's output, and it is never dropped. In the backward pass the gradient dy comes in. The gradient of the residual is
# dy. The gradient of x is dy / (1 - p) where x was kept, and 0 where it was dropped. So the backward pass needs the mask
# and not x.
#
# PyTorch keeps the mask on a GPU in memory, with one byte for each element. It occupies that memory from the forward pass
# until the backward pass reaches the layer.
#
# **Predict.** A model has 32 layers with two dropouts in each, on tensors of 8 · 2048 tokens by 4096 numbers. How many GiB
# do all masks take (1 GiB is 2³⁰ bytes)? And how many bytes do the seeds take, 8 for each dropout?

# %%
predict("bytes_of_masks", None)
predict("bytes_of_seeds", None)

# %%
elements, dropouts = 8 * 2048 * 4096, 32 * 2
print(f"masks: {elements * dropouts / 2**30:g} GiB; seeds: {8 * dropouts} bytes")

# %% [markdown]
# The mask also costs traffic: a byte stored, and a byte loaded again. To compute it costs ten rounds of about ten integer
# operations each. Lesson 03 asked what a kernel waits for. Dropout waits for its data, so it has time for arithmetic. Only
# measuring on your GPU tells how much of the arithmetic is hidden; the memory is saved in any case.
#
# ## Exercise: `dropout_residual`
#
# **The contract.** `dropout_residual(x, residual, p, seed)` returns residual + dropout of x.
#
# - `x` and `residual` have the same shape, of one axis or more, and the same dtype: float32, float16 or bfloat16. Any
#   strides, and each has its own. Empty tensors are legal.
# - Element number i, counted row after row, is kept where `tl.rand(seed, i) >= p`. There the result is residual + x / (1 -
#   p).
# - Elsewhere the result is residual, whatever x holds there, even NaN.
# - 0 ≤ p < 1. With p = 0 everything is kept. p = 1 is not legal, because 1 - p would be 0. p is compared in float32.
# - `seed` is an integer, 0 ≤ seed < 2⁶³.
# - Compute in float32. The result is new and contiguous, in the dtype of x.
#
# The mask must be the same for every block size, and it must not be stored in memory. The launcher is given. So is
# `places_of`, which returns the offsets of elements in a view, as in lesson 04. `hint("dropout_residual")` helps.

# %% exercise="dropout_residual"

# %% [markdown]
# ## The backward pass is the same kernel
#
# Look at the gradient of x: dy / (1 - p) where x was kept, and 0 elsewhere. That is the dropout of dy, with the same p and
# the same seed, and a residual of zeros. So there is nothing new to write, and you save only two numbers for the backward
# pass.

# %%
class DropoutResidual(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, p, seed):
        ctx.p, ctx.seed = p, seed  # all that is saved
        return dropout_residual(x, residual, p, seed)

    @staticmethod
    def backward(ctx, dy):
        nothing = torch.zeros((), dtype=dy.dtype, device=dy.device).expand(dy.shape)
        return dropout_residual(dy, nothing, ctx.p, ctx.seed), dy, None, None


x, residual = torch.ones(6, 8, device=DEVICE, requires_grad=True), torch.zeros(6, 8, device=DEVICE)
y = DropoutResidual.apply(x, residual, 0.25, 7)
y.sum().backward()
print("kept in the forward pass:", int((y != 0).sum()), "of", y.numel())
print("the same elements in the backward pass:", torch.equal(y != 0, x.grad != 0))

# %% [markdown]
# (Before your kernel is written, these lines show old contents of the memory.) The dy of a `sum` is a single number,
# expanded, and so are the zeros: strides of 0, as in lesson 14. With the address as the counter, all elements of dy would
# have the same random number.
#
# ## What it moves
#
# **Predict.** Your kernel in fp32: how many bytes does it load and store for each element, in all?

# %%
predict("bytes_for_each_element", None)

# %%
moved = explore.measure(dropout_residual, torch.ones(8, 512), torch.ones(8, 512), 0.1, 7)
if moved.total:
    print(f"your kernel: {moved.total / (8 * 512):.0f} bytes for each element")

# %% [markdown]
# Two kernels would move more. Dropout alone loads x and stores a result and a mask, 4 + 4 + 1 bytes; the addition loads two
# numbers and stores one, 12 more. That is 21 bytes in the forward pass.
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp32 at 32768×4096:
#
# - the model solution took {h200: dropout_residual fp32 32768×4096 | plain | µs} µs;
# - PyTorch's dropout and addition took {h200: dropout_residual fp32 32768×4096 | torch | µs} µs;
# - a copy of as many bytes as yours moves took {h200: dropout_residual fp32 32768×4096 | copy of as many bytes | µs} µs.
#
# In fp16 twice as many elements are as many bytes, but they need twice as many random numbers. Then the numbers take longer
# than the bytes. Measured on an NVIDIA H200 ({h200: versions}) in fp16 at 65536×4096:
#
# - the model solution took {h200: dropout_residual 65536×4096 | plain | µs} µs;
# - PyTorch took {h200: dropout_residual 65536×4096 | torch | µs} µs;
# - the course's fast form, with fewer instructions for a number, took {h200: dropout_residual 65536×4096 | fast | µs} µs.
#
# `tl.rand4x` would help more: it computes four numbers in one call of Philox. But it gives element i a number other than
# `tl.rand(seed, i)`, so our contract does not allow it. In your own model you may choose the other contract, if the forward
# and the backward pass both use it.
#
# ## Seeds in a model
#
# One seed and one set of counters make one mask. Two layers of the same shape need two seeds, or they drop the same
# elements. Two training steps need two seeds as well. A simple rule: draw a new seed for each call from a generator on the
# CPU, and keep it for the backward pass.
#
# Seeds also matter for **checkpointing**, where a layer is *computed again* to save memory. The second run must drop the
# same elements as the first. With a counter, the seed is enough. `torch.utils.checkpoint` restores the state of PyTorch's
# generators for this purpose (`preserve_rng_state`).
#
# PyTorch's generator on a GPU is Philox, too. But PyTorch does not specify which thread works on which element, and it does
# not guarantee the same numbers on another platform or in another release. Your function does, because its contract says
# which counter each element has.
#
# ## Quiz

# %%
quiz("randomness")

# %% [markdown] case_study="two-block-sizes" points=6
# ## Case study: two block sizes
#
# A team trains with its own dropout kernel. The loss falls, but more slowly than with PyTorch's dropout, and on one of two
# kinds of GPU it is clearly worse. Parts of the code:
#
# ```python
# @triton.autotune(configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 2048})], key=["n"])
# @triton.jit
# def forward_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
#     pid = tl.program_id(0)
#     offsets = pid * BLOCK + tl.arange(0, BLOCK)
#     keep = tl.rand(seed + pid, tl.arange(0, BLOCK)) > p
#     ...
#
# # backward_kernel has the same line, and is always launched with BLOCK=512
#
# for step in range(steps):
#     for number, layer in enumerate(layers):
#         x = layer(x, seed=step + number)
# ```
#
# Their test drops elements of a vector of 400 ones with p = 0.1. It checks that the fraction of zeros is near 10 %, and
# compares the gradient with the mask.
#
# 1. On which of the two kinds of GPU is the gradient correct, and which elements have the correct mask on the other kind?
# 2. Why does the test pass on both?
# 3. Which masks do `seed + pid` and `step + number` use more than once?
# 4. Fix it. Which test would have shown the mistake on every GPU?
#
# Answer in about 180 words.

# %%
answer("two-block-sizes")

# %% [markdown] model_answer="two-block-sizes"
# 1. Where the tuner picks 512, the backward pass has the same blocks, and its masks are those of the forward pass. Where it
#    picks 2048, element i has the seed `seed + i // 2048` and the counter `i % 2048` in the forward pass, and
#    `seed + i // 512` and `i % 512` in the backward pass. They agree for the first 512 elements, and for the others only by
#    chance. So gradients go to elements that were dropped, and miss others that were kept.
# 2. 400 elements fit into the first block of either size: program 0, the same lanes, the same numbers. And the fraction is
#    correct for any counter.
# 3. Program 1 of seed 7 has the mask of program 0 of seed 8. Layer 1 in step 0 has the seed of layer 0 in step 1, and so
#    on: with `step + number` one seed serves as many pairs of layer and step as there are layers.
# 4. Use `tl.rand(seed, offsets)`, and one seed for each pair of layer and step, such as `step * len(layers) + number`. One
#    test has more elements than the largest block, launches the kernel with each block size and asks for equal masks.
#    Another test feeds ones through both passes and compares where the zeros are. (`>` for `>=` differs from this lesson's
#    contract. It does no harm if both passes use it.)
#
# **Rubric (6 points)**
#
# - 1 point: correct where 512 is picked, because both passes use the same blocks.
# - 1 point: on the other kind only the first 512 elements agree, apart from chance.
# - 1 point: the test has one block only, and the fraction is correct for any counter.
# - 1 point: neighbouring seeds share the masks of programs.
# - 1 point: `step + number` gives the same seed to several layers and steps.
# - 1 point: the number of the element as the counter, a separate seed for each layer and step, and a test with several
#   blocks and block sizes.

# %% [markdown]
# ## For the GPU
#
# The next cell times your kernel beside PyTorch's two kernels, in float16. The figure is the bytes that the problem needs
# (x, residual and result, two bytes each), divided by the time. Then replace `tl.rand` by a constant, so that Philox does
# not run, and see how much of the ten rounds was hidden.

# %% gpu
if ON_GPU:
    for n in (2**20, 2**24, 2**28):
        x, residual = (torch.randn(n, device="cuda", dtype=torch.float16) for _ in range(2))
        time_beside(
            lambda: dropout_residual(x, residual, 0.1, 7),
            {"PyTorch, two kernels": lambda: torch.nn.functional.dropout(x, 0.1) + residual},
            # The two generators drop different elements; compare the values of the kept ones.
            is_right=lambda y: torch.allclose(y, torch.where(y == residual, y, x / 0.9 + residual), atol=1e-2),
            n_bytes=6 * n,
            title=f"n = 2^{n.bit_length() - 1}",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - A counter-based generator is a function of seed and counter. It has no state, no order, and needs no waiting.
# - The counter is the number of the *element*. Lanes, addresses and programs depend on the blocks and the strides.
# - You need not keep what you can compute again: two numbers replace a mask.
# - Test a mask by comparing it with the mask from other block sizes, not by its fraction of zeros.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | counter | offset, `philox_offset`, subsequence |
# | drop, keep | mask, `keep_mask` |
# | p | `dropout_p`; in some libraries the probability of *keeping* |
# | dropout with a residual | fused dropout-add |
#
# References:
#
# - Salmon, Moraes, Dror, Shaw: [Parallel random numbers: as easy as 1, 2,
#   3](https://doi.org/10.1145/2063384.2063405) (2011), which describes Philox
# - Srivastava et al.: [Dropout: A Simple Way to Prevent Neural Networks from
#   Overfitting](https://jmlr.org/papers/v15/srivastava14a.html) (2014)
# - [Low-Memory Dropout](https://triton-lang.org/main/getting-started/tutorials/04-low-memory-dropout.html)
#   (Triton tutorial 04)
#
# To practise, run `practice()`: it gives you a puzzle from an exercise that you have passed.

# %%
progress()
