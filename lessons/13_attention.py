# %% [markdown]
# # Attention: softmax between two products
#
# A language model spends much of its time in one formula: a matrix product, a softmax, and another matrix product. In
# this lesson you write all three as *one* kernel. The large matrix in the middle never reaches memory. You also learn
# which tiles a causal mask lets you skip, and how to test such a kernel so that a wrong mask shows.
#
# The algorithm is known as **FlashAttention**. The lesson takes about 130 minutes. Lessons 07 (reductions) and 08
# (matmul) come first.

# %% setup
from triton_util import explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## What it computes
#
# There are m **queries**, n **keys** and n **values**, each a row of d numbers. The dot product of a query with each
# key gives n **scores**. The softmax of the scores gives n **weights** that add up to 1. The result for this query is
# the average of the values with these weights:
#
# $$\text{attention}(q, k, v) = \text{softmax}\left(\frac{q\,k^T}{\sqrt{d}}\right) v$$
#
# (A score is a sum of d products, so it grows with d. The factor 1/√d compensates for that.) Here are three queries and
# four keys, with one number for each value. Which key gets most of query 0's weight, and why?

# %%
few_queries = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
few_keys = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, -1.0]])
few_values = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
few_weights = torch.softmax(few_queries @ few_keys.T / 2**0.5, dim=1)
print("weights: a row for each query, a column for each key")
print(few_weights.round(decimals=3))
print("averages of the values:", (few_weights @ few_values).flatten())

# %% [markdown]
# In a model this happens for many **heads** at a time, each with its own queries, keys and values, and for many texts
# at a time, the **batch**. Heads and texts are independent of each other, so they can run in parallel.
#
# ## The matrix in the middle
#
# Three separate kernels would write the scores to memory, read them for the softmax, write the weights, and read them
# for the second product.
#
# **Predict.** A batch of 4, 32 heads, 4,096 queries and as many keys, d = 128, in fp16, two bytes a number. How many
# gigabytes (10⁹ bytes) are the scores? And how many are q, k, v and the output, all four together?

# %%
predict("gigabytes_of_scores", None)
predict("gigabytes_of_the_rest", None)

# %% [markdown]
# The matrix in the middle is far larger than everything else together, and it crosses the memory bus four times. It is
# neither an input nor an output.
#
# **Predict.** How many milliseconds do these four trips take alone, at the 4,800 GB/s that an H200's memory has on
# paper?

# %%
predict("milliseconds_of_trips", None)

# %% [markdown]
# Measured on an NVIDIA H200 ({h200: versions}): cuDNN's kernel, which keeps the scores on the chip, needs
# {h200: attention B4 H32 S4096 D128 full | torch cuDNN | ms} ms for *everything*. The model solution of this lesson
# needs {h200: attention B4 H32 S4096 D128 full | plain | ms} ms. Both finish before the four trips alone would be over.
# So the plan is: one program computes a tile of scores, uses it, and discards it.
#
# ## Online softmax, block by block
#
# The difficulty is the softmax. It needs the maximum and the sum of a *whole* row of scores, and a program sees that
# row block by block. Lesson 07 solved this with the **online softmax**: keep a running maximum and a running sum. When
# a block raises the maximum, rescale the old sum by exp(old maximum - new maximum).
#
# Attention keeps one more thing: the **accumulator**, the running sum of weight · value. Its weights refer to the same
# old maximum as those in the sum. So it needs the same rescaling. Only at the very end do you divide the accumulator by
# the sum.
#
# **Predict**, with pencil and paper. The first key has the score 0 and the value 10. After it the maximum is 0, the sum
# 1, the accumulator 10. The second key has the score ln 4 = 1.386… and the value 20. (So the factor is exp(0 - ln 4), a
# quarter.) What is the accumulator now? And what is the result, accumulator / sum?

# %%
predict("accumulator_then", None)
predict("result_then", None)

# %%
old_max, row_sum, accumulator = 0.0, 1.0, 10.0
new_max = torch.tensor(4.0).log().item()
rescale = 2.718281828459045 ** (old_max - new_max)
row_sum = row_sum * rescale + 1.0
accumulator = accumulator * rescale + 1.0 * 20.0
weights = torch.softmax(torch.tensor([0.0, new_max]), dim=0)
print(f"step by step: {accumulator / row_sum:.4f}")
print(f"all at once:  {(weights * torch.tensor([10.0, 20.0])).sum():.4f}")

# %% [markdown]
# The rescaling found the result without reading the first key again.
#
# **Try it.** Step through six keys in blocks of 1. In which steps is the factor 1, so that nothing changes? Why is it 0
# in the first step? Does the block size change the result?

# %%
explore.attention_walk(blocks=1, BLOCK_N=2)

# %%
# The same without controls:
print(explore.attention_walk_text(blocks=3, BLOCK_N=2))

# %% [markdown]
# ## One program, one block of queries
#
# Each program of your kernel computes a *block* of `BLOCK_M` queries of one head. It loads them once and loops over
# that head's keys and values in blocks of `BLOCK_N`. All queries of the block go through this loop together. The scores
# are a tile of `BLOCK_M` × `BLOCK_N` that one `tl.dot` makes. Maximum and sum are vectors with one number for each
# query. A second `tl.dot` adds weights @ values to the accumulator.

# %%
figures.attention_walk(blocks=5, step=2)

# %% [markdown]
# In numbers, for one step:
#
# | | shape | how |
# |---|---|---|
# | `scores` | (BLOCK_M, BLOCK_N) | `tl.dot(q, k.T)`, times the scale |
# | `new_max` | (BLOCK_M,) | `tl.maximum(row_max, tl.max(scores, axis=1))` |
# | `weights` | (BLOCK_M, BLOCK_N) | exp(scores - new_max), a column vector subtracted: `new_max[:, None]` |
# | `rescale` | (BLOCK_M,) | exp(row_max - new_max) |
#
# **Predict.** Programs do not share keys: each block of queries loads all of them again. With 4,096 queries in blocks
# of 64, how many times is each key of a head loaded? And with blocks of 128?

# %%
predict("loads_of_a_key_64", None)
predict("loads_of_a_key_128", None)

# %% [markdown]
# This is the reuse of lesson 08 again: a larger block of queries gets more work out of each loaded key. The keys of one
# head are only 1 MiB here, so most of these loads hit the **L2 cache**, the cache that all multiprocessors share. The
# loads still cost time, and you will measure yours.
#
# ## The edge: keys that do not exist
#
# Take 129 queries and 127 keys, in blocks of 64 and 32. The last block of queries holds *one* query, and the last block
# of keys has one key too few. A missing query does no harm: the program computes its row and does not store it. A
# missing *key* is different. Loaded with `other=0.0`, its score is 0 · query = 0. Is that harmless?
#
# **Predict.** A query has three real keys, all with the score -2, in a block of 4. How much of the weight, in percent,
# goes to the key that does not exist?

# %%
predict("percent_for_nobody", None)

# %%
for missing in (0.0, float("-inf")):
    print(f"score {missing}:", torch.softmax(torch.tensor([-2.0, -2.0, -2.0, missing]), dim=0))

# %% [markdown]
# A score of 0 counts like any other score. The mask at the load keeps you from reading memory that is not yours. A
# second mask, `tl.where(exists, scores, -inf)`, keeps the missing keys out of the softmax. You need both. Where real
# scores are above 0, or keys are many, the error is small, so a careless test does not see it.
#
# ## Causal: no query sees the future
#
# A model that predicts the next word must not see it. With a **causal** mask query i sees only keys 0 to i. The scores
# of all other keys become -inf, as for missing keys. The mask compares positions in the whole text, not lanes in a
# block (a **lane** is one place of a block): query `start_m + lane` against key `start_n + lane`.
#
# Most tiles need no such comparison: either all of their keys are in the past of all of their queries, or all are in
# the future.
#
# **Predict.** 256 queries and keys, `BLOCK_M` 64, `BLOCK_N` 32: 4 programs and 8 blocks of keys, 32 tiles. How many
# tiles must be computed? And in how many of these does the mask hide at least one key?

# %%
predict("tiles_computed", None)
predict("tiles_with_a_mask", None)

# %%
figures.causal_tiles(256, 64, 32)

# %% [markdown]
# To *skip* tiles, end the loop early. The last query of block `pid` is number (pid + 1) · BLOCK_M - 1, so the loop ends
# at key min(n, (pid + 1) · BLOCK_M). This only saves work. It does not replace the mask: a tile on the diagonal has
# both visible and hidden keys.
#
# **Try it.** Make n larger with tiles of 32 × 32: what fraction of the tiles is computed? Why does it never get as low
# as 50 %? And what do 129 queries add to 128?

# %%
explore.causal_tiles(n=129, BLOCK_M=32, BLOCK_N=32)

# %%
# The same without controls:
print(explore.causal_tiles_text(n=129, BLOCK_M=64, BLOCK_N=32))

# %% [markdown]
# Lesson 07 showed the next trap. If a query sees *no* key in the blocks so far, its maximum is still -inf. Then
# exp(-inf - (-inf)) is NaN, and the NaN stays. If your loop starts at key 0, this cannot happen: every query sees key
# 0, so after the first block every maximum is a number. With another order you must handle this case yourself.
#
# ## Strides as tuples
#
# The tensors have up to four dimensions, (batches, heads, rows, d), and each tensor has its own strides. In a model,
# heads are often a view: a projection gives (batch, row, head, d), and `.transpose(1, 2)` moves the heads to the front
# without copying anything.
#
# **Predict.** `x` has the shape (2, 10, 3, 16): 2 texts, 10 rows, 3 heads, d = 16. In the view `x.transpose(1, 2)`, how
# many elements apart are two neighbouring rows of the same head?

# %%
predict("stride_between_rows", None)

# %%
heads_in_front = torch.empty(2, 10, 3, 16).transpose(1, 2)
print("shape", tuple(heads_in_front.shape), "strides", heads_in_front.stride())

# %% [markdown]
# Four tensors with four strides each would be sixteen parameters. A kernel also takes **tuples**: the launcher passes
# `q.stride()` as it is, and the kernel uses `q_strides[0]` to `q_strides[3]`. The index must be a constant. Triton
# specialises each number of a tuple as it specialises a parameter (it compiles in a stride of 1, or a multiple of 16),
# so tuples cost no speed.
#
# ## Exercise: `attention`
#
# **The contract.** `attention(q, k, v, causal)` returns softmax(q @ k.T / √d) @ v.
#
# - `q` is (…, m, d), `k` and `v` are (…, n, d), with the same leading dimensions: none, or heads, or batches and heads,
#   or more. Any strides, with every element within 2³¹ elements of the first one. One dtype for all: float32, float16
#   or bfloat16.
# - d is a power of two, 16 or more. m and n can have any size, for example 129 queries with 127 keys, or one of each.
#   There may be no queries; if there are queries, there is at least one key.
# - With `causal` (only where m = n) query i sees the keys 0 to i.
# - Scores may be large, or all far below zero: subtract the maximum. Maximum, sum and accumulator are float32; no TF32
#   for float32 inputs (`input_precision="ieee"`).
# - The result is new and contiguous, with the shape and dtype of `q`.
#
# The launcher and two helpers that make pointers are given. For fp16 and bf16 the weights must have the dtype of the
# values before the second product: `weights.to(v.dtype)`. The weights are between 0 and 1, so this cast costs a little
# precision and cannot overflow.
#
# First write it for `causal=False` and check: then only the causal cases fail. `hint("attention")` helps.

# %% exercise="attention"

# %% [markdown]
# ## What your kernel reads
#
# 256 queries and 256 keys in fp32, d = 16. The launcher takes blocks of 64 queries and 32 keys.
#
# **Predict.** How many times is `k` read in all, without and with `causal`? (Reading all its bytes once counts as 1.
# The picture of the tiles helps.)

# %%
predict("k_read_full", None)
predict("k_read_causal", None)

# %%
q, k, v = (torch.ones(256, 16) for _ in range(3))
full = explore.measure(attention, q, k, v, False)
causal = explore.measure(attention, q, k, v, True)
if full.total and causal.total:
    print(f"yours reads k {full.loaded['k_ptr'] / k.nbytes:g} times,", end=" ")
    print(f"with causal {causal.loaded['k_ptr'] / k.nbytes:g} times")

# %% [markdown]
# If your causal kernel reads as much as the full one, it is correct and does twice the work: end the loop earlier.
#
# ## Tests that catch a wrong mask
#
# One way to test is to compare with a reference. **Properties** that every correct attention has need no reference.
# Here are four:
#
# 1. Values that are all 1 give a result that is all 1, because the weights add up to 1.
# 2. With `causal`, query 0 sees key 0 alone: its result is the first value.
# 3. With `causal`, changing the keys and values *after* position i does not change the results of the queries up to i.
# 4. Without `causal`, shuffling keys together with their values changes nothing.
#
# **Predict.** A mask is off by one: query i sees the keys 0 to i + 1. How many of the four properties fail?

# %%
predict("properties_that_notice", None)

# %%
def reference(q, k, v, causal, reach=0):
    """Attention by torch; a causal query sees `reach` keys more than it should."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        future = torch.ones_like(scores, dtype=torch.bool).triu(1 + reach)
        scores = scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


def properties(attend, n=70, d=16):
    """Which of four properties hold, by their names."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, d, generator=generator).to(DEVICE) for _ in range(3))
    shuffled, middle = torch.randperm(n, generator=generator).to(DEVICE), n // 2
    later_k, later_v = k.clone(), v.clone()
    later_k[middle + 1 :], later_v[middle + 1 :] = 50.0, 50.0
    causal, ones = attend(q, k, v, True), torch.ones_like(v)
    pairs = {
        "values of 1 give 1": (attend(q, k, ones, True), ones),
        "query 0 sees key 0 alone": (causal[0], v[0]),
        "later keys change nothing": (
            attend(q, later_k, later_v, True)[: middle + 1],
            causal[: middle + 1],
        ),
        "the order of the keys does not matter": (
            attend(q, k[shuffled], v[shuffled], False),
            attend(q, k, v, False),
        ),
    }
    return {name: torch.allclose(a, b, atol=1e-4) for name, (a, b) in pairs.items()}


off_by_one = properties(lambda q, k, v, causal: reference(q, k, v, causal, reach=1))
for name, holds in off_by_one.items():
    print("holds  " if holds else "NOTICED", name)

# %% [markdown]
# Properties 1 and 4 also hold for many wrong kernels: the weights still add up to 1 when one key too many gets a
# weight. So check several properties, at sizes that are not multiples of the block. In property 3 the later values are
# large and *finite*. With NaN there, even a correct kernel may fail: on the diagonal a hidden key has the weight 0, and
# 0 · NaN is NaN.
#
# Now test yours:

# %%
for n in (1, 2, 63, 65, 70, 129):
    held = properties(attention, n)
    broken = ", ".join(name for name in held if not held[name])
    print(f"n = {n:3d}:", f"broken: {broken}" if broken else "all four hold")

# %% [markdown]
# ## One number more: the log-sum-exp
#
# Your kernel discards the maximum and the sum of each query. They are worth keeping, combined into one number for each
# query, the **log-sum-exp** (lse):
#
# $$\text{lse} = \log \sum_j e^{s_j} = \text{maximum} + \log(\text{sum}).$$
#
# From it you get every weight back: the weight of a key is exp(its score - lse). So the backward pass recomputes the
# weights block by block instead of saving m × n of them. (Lesson 14 discusses what to save and what to recompute.)
#
# **Predict.** A query sees four keys, all with the score 0. What is its lse? And what is it when all four scores are
# 100?

# %%
predict("lse_of_zeros", None)
predict("lse_of_hundreds", None)

# %% [markdown]
# The sum of exp(score - maximum) is the same in both cases, so you must add the maximum.
#
# ## Exercise: `attention_lse`
#
# **The contract.** `attention_lse(q, k, v, causal)` returns two tensors: what `attention` returns, and the lse of each
# query.
#
# - The contract of `attention` holds for the inputs and for the first result. There is at least one key.
# - The second is float32, whatever the dtype of `q`, new and contiguous, of shape (…, m). It is the natural logarithm
#   of the sum of exp(score) over the keys that the query sees, with scores that include 1/√d.
# - Scores, maximum and sum are float32, for half-precision inputs too. Scale the float32 scores, not `q` in its own
#   dtype: that would round once more.
#
# The launcher is given; it passes one more pointer. Start with a copy of your kernel's body. `hint("attention_lse")`
# helps.

# %% exercise="attention_lse"

# %% [markdown]
# ## Merging two halves
#
# With the lse you can merge attentions of the same queries to *different* keys. Each part gets the weight exp(lse of
# the part - lse), where lse is the log-sum-exp of the parts' lse. So many programs can each take a part of the keys of
# a very long text. Lesson 17 does that.
#
# **Predict.** One query, two halves of the keys. The first half gives the value 10 with the lse 0, the second the value
# 20 with the lse ln 3 = 1.0986…. What do they give together?

# %%
predict("merged_value", None)

# %% [markdown]
# The plain average of the halves is wrong as soon as one half holds more of the weight. Here is yours, with 90 keys
# split at 50:

# %%
q, k, v = (torch.randn(n, 16).to(DEVICE) for n in (40, 90, 90))
parts = [attention_lse(q, k[cut].contiguous(), v[cut].contiguous(), False) for cut in (slice(50), slice(50, None))]
together = torch.logaddexp(parts[0][1], parts[1][1])
merged = sum(output * torch.exp(lse - together)[:, None] for output, lse in parts)
whole, lse_of_whole = attention_lse(q, k, v, False)
print(f"outputs differ by {(merged - whole).abs().max().item():.1e} at most,", end=" ")
print(f"log-sum-exps by {(together - lse_of_whole).abs().max().item():.1e}")

# %% [markdown]
# ## Correct, and not yet fast
#
# Two resources limit a tile.
#
# - **Registers**, the storage inside a multiprocessor that holds a thread's variables. `scores` and `accumulator` are
#   both fp32 and both are in registers, distributed over 32 · num_warps threads. Each thread can have 255 registers. A
#   **warp** is a group of 32 threads that run together.
# - **Exponentials**, one for each score. A multiprocessor (**SM**) of an H200 computes 16 of them per clock.
#
# **Predict.** `BLOCK_M` = `BLOCK_N` = d = 128 and 4 warps: how many registers do scores and accumulator take in each
# thread? And for the large problem from the beginning (4 · 32 · 4,096² scores): how many milliseconds do the
# exponentials take alone, on 132 SMs at 1.98 GHz?

# %%
predict("registers_of_a_thread", None)
predict("milliseconds_of_exp", None)

# %% [markdown]
# The tiles do not fit with 4 warps. With 8 warps each thread holds half as many numbers, and they fit.
#
# Compare the exponentials with the products at the same clock. A score costs 4 · 128 = 512 operations in the two
# products. The tensor cores of an SM do 4,096 fp16 operations per clock, so a score takes 1/8 of a clock there and 1/16
# of a clock for its exponential. The exponentials alone take half as long as both products.
#
# In a kernel like yours a warp waits for a product, computes its exponentials, and waits for the next product.
# Meanwhile the tensor cores are idle. The fastest kernels split the work: one group of warps computes exponentials
# *while* another group multiplies. This is called **warp specialization**.
#
# Smaller changes help as well: `tl.exp2` with log2(e) multiplied into the scale, a mask only in tiles on the diagonal,
# and loads through tensor descriptors (lesson 16).
#
# ## Quiz

# %%
quiz("attention")

# %% [markdown] case_study="slower-than-cudnn" points=8
# ## Case study: correct, then 40 % slower than cuDNN
#
# A team has written a fused attention. Its tests compare it with PyTorch at 128×128, 256×256 and 1024×1024, full and
# causal, in fp16 with `atol=1e-2`, and all pass. `BLOCK_M` and `BLOCK_N` are 128, with 4 warps and 2 stages, on every
# GPU.
#
# Then two reports come in. In a search service, 129 queries attend to the 127 keys of a document, and the answers are
# slightly off. And on an H100 the kernel, at 4,096 tokens and d = 128, reaches 60 % of cuDNN's TFLOP/s.
#
# 1. Name three mistakes in masks that the tests *cannot* show, and say why not.
# 2. Plan the tests that would have found them, on a laptop without a GPU: sizes, values, properties, tolerance. What
#    does `TRITON_INTERPRET=1` alone not tell you about a load past the end, and what do you do about it?
# 3. Which meta-parameters do you search on the H100, with which values, and which limits do you check first? A
#    colleague wants `BLOCK_K` in the list as well. What do you say?
# 4. Before the team tunes for a week: how do you make sure that the 60 % are true? And what remains when tuning gains
#    only a few percent?
#
# Answer in about 200 words.

# %%
answer("slower-than-cudnn")

# %% [markdown] model_answer="slower-than-cudnn"
# 1. All sizes are multiples of the blocks, and m = n. So no lane is ever masked off, and three mistakes stay hidden:
#    (a) missing keys that stay in the softmax with the score 0, (b) a load or store without a mask, (c) a loop over `n
#    // BLOCK_N` blocks, which drops the last one, or a mask that takes m for n. Besides, at 1,024 keys a result is an
#    average of many random values, about 0.05 in size: `atol=1e-2` forgives an error of a fifth.
# 2. Sizes next to the blocks, and m ≠ n: 129×127, 127×129, 1×65, 65×1, 1×1; causal at 1, 63, 65, 129. Signed values;
#    scores that are all far below zero, so that a missing key with the score 0 takes nearly all the weight; large
#    scores. Properties: values of 1 give 1; query 0 gives the first value; later keys, made large, change nothing.
#    Output filled with NaN before the launch; a tolerance that follows from the dtype, relative to the values. The
#    stock interpreter does not stop at a load past the end: it returns whatever is in memory there. Put inputs into a
#    larger tensor full of NaN, or use an interpreter that checks bounds, as this course's does.
# 3. `BLOCK_M` 64, 128; `BLOCK_N` 32, 64, 128; `num_warps` 4, 8; `num_stages` 2, 3, 4; keyed by d, the dtype, causal and
#    a coarse length. Limits: scores and accumulator in registers (128×128 with d = 128 wants 256 registers a thread
#    with 4 warps: it spills; take 8 warps or a smaller `BLOCK_N`), stages of k and v in 227 KiB of shared memory, 64
#    rows for each four warps. Look at the spills that the compiler reports. `BLOCK_K` does not exist here: d is short,
#    and the kernel loads all of it, because a score needs all of it.
# 4. Same dtype, layout, causal flag, scale and count of operations (causal: half) for both; warm-up, fresh inputs, cold
#    L2, medians, in turns. What remains are differences in kind: masks only on the diagonal, longest causal programs
#    first, exp2 in place of exp, loads by TMA, and warp specialization (some warps multiply while others compute
#    exponentials).
#
# **Rubric (8 points)**
#
# - 1 point: multiples of the block, m = n: no block is ragged.
# - 1 point: three mistakes that this hides (score 0 for missing keys; missing mask; lost block or m for n).
# - 1 point: telling sizes, with m ≠ n and 1, for full and for causal.
# - 1 point: telling values or properties (scores below zero, the future changed, values of 1), and a tolerance from the
#   dtype.
# - 1 point: the stock interpreter does not report a read past the end; poison around the inputs or a checking one.
# - 1 point: the four meta-parameters with sensible values, and no BLOCK_K, with the reason.
# - 1 point: registers (spills) and shared memory as limits.
# - 1 point: a fair comparison first; then what tuning cannot give (overlap, masks on the diagonal only, TMA).

# %% [markdown]
# ## For the GPU
#
# **Predict.** What fraction of cuDNN's speed will your kernel reach? And how many times as fast is it with `causal`,
# which computes about half of the tiles?
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16, batch 4, 32 heads, 4,096 queries and keys, d = 128:
#
# | | full | causal |
# |---|---|---|
# | model solution of this lesson | {h200: attention B4 H32 S4096 D128 full | plain | TFLOP/s} TFLOP/s | {h200: attention B4 H32 S4096 D128 causal | plain | TFLOP/s} TFLOP/s |
# | PyTorch, flash backend (FlashAttention-2) | {h200: attention B4 H32 S4096 D128 full | torch flash | TFLOP/s} TFLOP/s | {h200: attention B4 H32 S4096 D128 causal | torch flash | TFLOP/s} TFLOP/s |
# | PyTorch, cuDNN backend | {h200: attention B4 H32 S4096 D128 full | torch cuDNN | TFLOP/s} TFLOP/s | {h200: attention B4 H32 S4096 D128 causal | torch cuDNN | TFLOP/s} TFLOP/s |
# | the course's fast form, in Gluon | {h200: attention B4 H32 S4096 D128 full | fast | TFLOP/s} TFLOP/s | {h200: attention B4 H32 S4096 D128 causal | fast | TFLOP/s} TFLOP/s |
#
# (Causal counts half of the operations.) FlashAttention-2 was written for the A100. FlashAttention-3 is the version for
# Hopper GPUs such as the H200; it is not in this table.
#
# The model solution has some forty lines and reaches
# {h200: attention B4 H32 S4096 D128 full | plain | % of torch cuDNN} % of cuDNN on that H200, much like the kernel of
# the case study. Plain Triton can do better. In a trial on an H200, a kernel with `tl.exp2`, tensor descriptors and
# tiles of 64×64 reached about 440 TFLOP/s. With `tl.range(..., warp_specialize=True)` added, Triton 3.9 reached about
# 510, and cuDNN 663 in the same trial.
#
# The course's fast form computes the same with explicit warp specialization, in Gluon. One warp only loads, and two or
# three groups of four warps alternate between products and exponentials. It is persistent: it launches as many programs
# as there are multiprocessors (lesson 16).
#
# The best block sizes differ from shape to shape. With its own sizes for each, and without `causal`, the fast form
# reaches {h200: attention B4 H32 S4096 D64 full | fast | % of torch cuDNN} % of cuDNN's speed at d = 64 (the other
# sizes as above), {h200: attention B8 H32 S1024 D128 full | fast | % of torch cuDNN} % at d = 128 with 8 × 32 heads of
# 1,024 tokens, and {h200: attention B4 H16 S4096 D256 full | fast | % of torch cuDNN} % at d = 256 with 4 × 16 heads of
# 4,096 tokens.

# %% gpu
if ON_GPU:
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (torch.randn(4, 32, 4096, 128, device="cuda", dtype=torch.float16) for _ in range(3))
    for causal in (False, True):
        operations = 4 * 4 * 32 * 4096**2 * 128 / (2 if causal else 1)
        time_beside(
            lambda: attention(q, k, v, causal),
            {"torch": lambda: scaled_dot_product_attention(q, k, v, is_causal=causal)},
            operations=operations,
            atol=2e-3,
            title=f"causal={causal}",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# `speed` measures a smaller problem with more care: cold caches, new inputs, every result checked, and the roofline
# beside it. Without a GPU it measures no time and reports what the bytes and the operations allow. **Predict:** is
# attention limited by memory or by arithmetic, once the scores stay on the chip?

# %%
speed(attention)

# %% [markdown]
# ## What you take with you
#
# - A matrix that is neither input nor output need not go through memory. Here it was nearly all of the traffic.
# - The online softmax works block by block: when the maximum grows, rescale *all* running sums.
# - Missing keys and hidden keys need the score -inf. A mask at the load alone is not enough.
# - Skip whole tiles in the future; on the diagonal, compare positions.
# - The log-sum-exp, one number for each query, gives all weights back and merges partial attentions.
# - Test masks at ragged sizes, with m ≠ n, with scores below zero, and by properties.
#
# Papers and other code use other names:
#
# | in this course | elsewhere |
# |---|---|
# | `row_max`, `row_sum`, `accumulator` | `m_i`, `l_i`, `acc` (Triton tutorial 06) |
# | `rescale` | `alpha` |
# | `weights` | `p`, probabilities |
# | `scale` | `sm_scale`, `softmax_scale` |
# | lse | LSE, `softmax_lse`, `M` in the tutorial |
#
# References:
#
# - [Fused Attention](https://triton-lang.org/main/getting-started/tutorials/06-fused-attention.html) (Triton
#   tutorial 06)
# - Milakov, Gimelshein: [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867) (2018)
# - Dao, Fu, Ermon, Rudra, Ré: [FlashAttention](https://arxiv.org/abs/2205.14135) (2022)
# - Dao: [FlashAttention-2](https://arxiv.org/abs/2307.08691) (2023)
# - Shah et al.: [FlashAttention-3](https://arxiv.org/abs/2407.08608) (2024)
#
# To repeat in a few days what you wrote here, call `practice()`: it draws a puzzle from an exercise that you have
# passed.

# %%
progress()
