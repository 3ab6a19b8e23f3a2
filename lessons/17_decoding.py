# %% [markdown]
# # Decoding: one query, and a cache in pages
#
# A language model writes one token after another. For each new token it reads the keys and values of all earlier tokens,
# and that takes most of the time. In this lesson you write the kernel that serving engines use for this. It finds keys and
# values through a table, lets several query heads share them, and splits a long text among many programs.
#
# It takes about 90 minutes. Lessons 03 (memory or arithmetic), 04 (strides) and 13 (attention) come first.

# %% setup
from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.pages import pages

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token after another
#
# In lesson 13 all m queries of a text came at once. With a causal mask, query i saw the keys 0 to i. A model reads a prompt
# like that. Then it generates: it produces one **token** (a word, or a piece of one), appends it, and produces the next.
# This is called **decoding**. The new token has one query for each head. The keys and values of earlier tokens have not
# changed since they were computed, so the model keeps them. That store is the **KV cache**, here called the cache.
#
# The next cell computes attention for a text of six tokens. Then it computes attention for the last token alone, with five
# keys from the cache and one new key.

# %%
generator = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(6, 16, generator=generator) for _ in range(3))
scores = (q @ k.T / 16**0.5).masked_fill(torch.ones(6, 6).triu(1).bool(), float("-inf"))
whole = torch.softmax(scores, dim=1) @ v
k_cache, v_cache = k[:5], v[:5]
k_cache, v_cache = torch.cat([k_cache, k[5:]]), torch.cat([v_cache, v[5:]])  # the new token
last = torch.softmax(q[5] @ k_cache.T / 16**0.5, dim=0) @ v_cache
print(f"the last row differs by {(whole[5] - last).abs().max().item():.1e}")

# %% [markdown]
# No mask is needed any more: the new token may see all keys.
#
# **Predict.** A model has 32 layers, 8 key heads in each, and d = 128. For each of them it keeps a key and a value in fp16,
# two bytes a number. How many KiB (1,024 bytes) does *one* token take in the cache? And how many GiB does a conversation of
# 32,768 tokens take?

# %%
predict("kib_of_a_token", None)
predict("gib_of_a_conversation", None)

# %% [markdown]
# The model reads all of that again for each new token.
#
# ## Why memory is the limit
#
# Take one query head and n keys. A score is a sum of d products, which is 2 · d operations, and there are n scores. The
# weighted average of the values takes as many again: 4 · n · d in all. (The exponentials are few in comparison.) The kernel
# reads n keys and n values of d numbers each.
#
# **Predict.** In fp16, how many operations does the kernel perform for each byte that it reads? This is the **arithmetic
# intensity** of lesson 03.

# %%
predict("intensity_of_decoding", None)

# %%
ridge = explore.GPUS["H200"].ridge(True)
print(f"An H200 computes {ridge:.0f} operations in the time in which it reads a byte (datasheet).")

# %% [markdown]
# With m queries, as in lesson 13, each key that was loaded serves m queries. Here it serves one, and the arithmetic units
# wait. Faster arithmetic would not make this kernel faster. Two things matter: how few bytes it reads, and whether enough
# programs read at the same time.
#
# ## Heads that share keys
#
# Many models therefore let several query heads share one key head. Neighbouring query heads form a **group**. With `hq`
# query heads and `hkv` key heads, a group has hq / hkv query heads. Query head h uses key head h // (hq / hkv). This is
# called **grouped-query attention** (GQA), and with a single key head **multi-query attention** (MQA).
#
# **Predict.** A model has 8 query heads and 2 key heads. Which key head does query head 3 use? And if each query head has a
# program of its own that reads its keys, how many times is a key loaded?

# %%
predict("key_head_of_3", None)
predict("times_a_key_is_loaded", None)

# %%
hq, hkv = 8, 2
group = hq // hkv
for key_head in range(hkv):
    members = [head for head in range(hq) if head // group == key_head]
    print(f"key head {key_head}: query heads {members}; operations on each byte: {len(members)}")

# %% [markdown]
# **Try it.** Set `hkv` to 1, to 4 and to 8.
#
# One program for each *key* head can handle all queries of its group: `group` rows instead of one. Then it loads a key once
# for all of them, and the scores are a product of two tiles, which `tl.dot` computes. The smallest fp16 instruction of the
# tensor cores multiplies 16 rows. So pad the tile to 16 rows, of which `group` exist, and mask the others. The padding
# costs arithmetic, and this kernel has arithmetic to spare.
#
# (If four programs load the same keys at nearly the same time, three of them may find the keys in the L2 cache (lesson 09).
# The cache may help; loading once always does.)
#
# ## Why pages
#
# Where should the cache of a sequence be? Its final length is not known in advance. The simple way is to reserve room for
# the longest text that is allowed, for each sequence.
#
# **Predict.** Three sequences have 300, 77 and 1,100 tokens, and room for 2,048 is reserved for each. What percentage of
# the reserved room is unused?

# %%
predict("percent_unused", None)

# %%
lengths, page_size = [300, 77, 1100], 16
slots = sum(-(-length // page_size) * page_size for length in lengths)
print(f"in pages of {page_size} slots: {1 - sum(lengths) / slots:.1%} are not used")

# %% [markdown]
# The unused room could hold other conversations, and the same step would serve them too. So serving engines do what
# operating systems do with memory: they cut the cache into **pages** with a fixed number of **slots**, for example 16. A
# slot holds the key (or the value) of one token, for all key heads. When a sequence needs a page, it gets any free one. Its
# row of the **block table** lists its pages in order. (vLLM made the idea known under the name PagedAttention.)
#
# Here pages have 4 slots. The row of sequence A is 5, 2, 7, and A has 10 keys.
#
# **Predict.** Which page holds key 9 of A, and which slot of that page? (All count from 0.)

# %%
predict("page_of_key_9", None)
predict("slot_of_key_9", None)

# %%
pages([[5, 2, 7], [0, 6, 3], [4, 1, 0]], lengths=[10, 7, 3], page_size=4, n_pages=8)

# %% [markdown]
# So this is where key i of sequence s is:
#
# ```
# page = block_table[s, i // page_size]
# slot = i % page_size
# ```
#
# Its numbers are at `k_ptr + page * stride_page + slot * stride_slot + kv_head * stride_head + offs_d * stride_d`. Up to
# now an address followed from the program id and from strides. Here a part of the address is *loaded*. That takes two
# loads, and the second one must wait for the first.
#
# A block of keys need not be a page. `keys // page_size` and `keys % page_size` are correct for any block of `keys`,
# because each lane finds its own page.
#
# ## Past the end of a sequence
#
# Look at the picture again. The last page of a sequence is seldom full, and the table is as wide as the longest sequence
# may need. The unused slots and entries hold whatever was left there: keys of a conversation that has ended, NaN, an
# outdated page number. This is garbage, and it must not affect the result.
#
# In lesson 13 a key that does not exist got the score -inf, so its weight was 0. Is that enough here?

# %%
weight, value_in_an_empty_slot = 0.0, float("nan")
print("weight 0 times garbage:", weight * value_in_an_empty_slot)

# %% [markdown]
# It is not enough. A masked load with `other=0.0` keeps garbage out of the tile of *values*. The load from the table needs
# the same mask. An entry past the end may be any number, and the page it names may be outside of your memory.
#
# ## A page number in 32 bits
#
# The table is int32, so the page number that you load is int32 too. A page has `page_size` · `hkv` · d numbers.
#
# **Predict.** Pages have 16 slots, 8 key heads, and d = 128. What is the first page number for which page · stride_page
# does not fit into a signed integer of 32 bits (2³¹ or more)?

# %%
predict("first_page_beyond", None)

# %%
bytes_of_a_page = 16 * 8 * 128 * 2
print(f"pages in 16 GiB of keys, in fp16: {16 * 2**30 // bytes_of_a_page:,}")

# %% [markdown]
# Where one tensor holds the pages of all layers, that limit is soon reached: a GPU of 80 GB has room for 16 GiB of keys, 16
# GiB of values, and a model. So convert *before* you multiply: `page.to(tl.int64)`.
#
# ## Too few programs
#
# **Predict.** There is one conversation with 8 key heads, and a program for each key head. An H200 has 132 multiprocessors.
# What percentage of them have something to do?

# %%
predict("percent_at_work", None)

# %% [markdown]
# One multiprocessor cannot use the whole memory bandwidth, however long the text is. In lesson 13 each program took a block
# of queries. Here there is one query, so split the *keys*: part 0 has the first 512, part 1 the next 512, and so on, and
# each part has a program of its own. Each program computes the attention to its own keys. This is called **split-KV** or
# **Flash-Decoding**.
#
# How many parts should there be? The lengths are in GPU memory, and the launcher should not read them: it would have to
# wait until all earlier kernels have ended. It does know the shapes. The table has `most_pages` columns, so no sequence has
# more than `most_pages * page_size` keys. Launch for that number. A program whose part begins past the end of its sequence
# returns at once.
#
# ## Merging parts
#
# A part of the keys has a maximum, a sum of exp(score - maximum), and an output. In lesson 13 you stored the log-sum-exp,
# `lse = maximum + log(sum)`. Here you need it. exp(lse) is the sum of exp(score) over the part, without subtracting a
# maximum: the total weight of the keys of the part. The output of each part is already divided by the part's own sum. The
# merged output is the average of these outputs with the weights exp(lse):
#
# $$o = \frac{\sum_p e^{\text{lse}_p}\, o_p}{\sum_p e^{\text{lse}_p}}$$
#
# As always, subtract the largest lse from all of them before exp; the quotient stays the same.
#
# **Predict**, with pencil and paper. Part 0 has the lse ln 3 and the output 10; part 1 has the lse ln 1 = 0 and the output
# 20. What is the merged output? (Their mean is 15.)

# %%
predict("merged_output", None)

# %%
keys, values, query = torch.randn(100, 16), torch.randn(100, 16), torch.randn(16)
parts, lses = [], []
for part in (slice(0, 64), slice(64, 100)):
    s = keys[part] @ query / 16**0.5
    parts.append(torch.softmax(s, dim=0) @ values[part])
    lses.append(torch.logsumexp(s, dim=0))
weights = torch.softmax(torch.stack(lses), dim=0)
merged = (weights[:, None] * torch.stack(parts)).sum(dim=0)
right = torch.softmax(keys @ query / 16**0.5, dim=0) @ values
print("weights of the parts:", weights)
print(f"off by {(merged - right).abs().max().item():.1e}")

# %% [markdown]
# **Try it.** Cut the keys into three parts. Then set all weights to the same number, and see how far off the result is.
#
# If a short sequence is in the same batch as a long one, some of its parts have no keys. Their lse is -inf, and their
# weight is 0. The computation of that 0 can go wrong in two places: in such a part, and in the merge of a sequence whose
# length is 0.

# %%
nothing = torch.tensor(float("-inf"))
print("exp(-inf - (-inf)) =", torch.exp(nothing - nothing).item())

# %% [markdown]
# So either leave a part without keys out of the merge, or store an output of 0 for it, and never subtract -inf from -inf.
#
# ## Exercise: `decode_attention`
#
# **The contract.** `decode_attention(q, k_pages, v_pages, block_table, lengths)` returns one attention for each query head
# of each sequence: softmax(q · kᵀ / √d) · v over the keys of that sequence.
#
# - `q` is (b, hq, d), and `k_pages` and `v_pages` are (p, page_size, hkv, d). All three have the same dtype: float32,
#   float16 or bfloat16. hq is a multiple of hkv, and query head h belongs to key head h // (hq / hkv). d is a power of two,
#   16 or more. `page_size` may be any number.
# - `block_table` is (b, most_pages) and `lengths` is (b,), both int32. Key i of sequence s is in slot i % page_size of page
#   `block_table[s, i // page_size]`. Sequences may share pages. No length is larger than most_pages · page_size.
# - Everything past a length, in the table and in the pages, is garbage. So is a page that is in no row.
# - A sequence of length 0 gets zeros. There may be no sequences, no columns and no pages.
# - q, pages and table may have any strides, each its own, and elements more than 2³¹ from the first one. `lengths` is
#   contiguous.
# - Sums are accumulated in float32. float32 is multiplied as float32 (no TF32). The result is new and contiguous, (b, hq,
#   d), in the dtype of q.
#
# Split the keys among several programs, and load each key once for its group. The values of the result cannot show whether
# you did. The card makes a remark if a single launch handles all keys, or if keys are loaded more than once. The launcher
# is given; `hint("decode_attention")` helps.

# %% exercise="decode_attention"

# %% [markdown]
# ## What it moves
#
# **Predict.** One sequence has 512 keys, 8 query heads and 2 key heads, with d = 64, in float32. How many KiB are its keys
# and values together?

# %%
predict("kib_of_keys_and_values", None)

# %%
shape = (40, 16, 2, 64)  # 40 pages; the sequence uses 32
example = (
    torch.randn(1, 8, 64),
    torch.randn(shape),
    torch.randn(shape),
    torch.randperm(40, dtype=torch.int32)[None],
    torch.tensor([512], dtype=torch.int32),
)
moved = explore.measure(decode_attention, *example)
if moved.total:
    print(f"your kernels load and store {moved.total / 1024:.0f} KiB")

# %% [markdown]
# The rest is the table, the queries and the parts. The kernel reads the table once for each *key*, not for each page. It
# stores the parts in float32, and loads them again for the merge. More parts mean more of that traffic, so a part should
# not be too short.
#
# **Try it.** Change the length of a part in your launcher, and measure again.
#
# ## Quiz

# %%
quiz("decoding")

# %% [markdown] case_study="wrong-in-company" points=6
# ## Case study: correct alone, wrong in company
#
# A team serves a model with 32 query heads, 8 key heads and d = 128, in pages of 16. Parts of the code:
#
# ```python
# @triton.jit
# def part_kernel(..., PART: tl.constexpr, D: tl.constexpr):
#     part, head, sequence = tl.program_id(0), tl.program_id(1), tl.program_id(2)
#     length = tl.load(lengths_ptr + sequence)
#     slots = tl.arange(0, 16)
#     for first in range(part * PART, tl.minimum((part + 1) * PART, length), 16):
#         page = tl.load(table_ptr + sequence * stride_table + first // 16)
#         offsets = page * stride_page + slots[:, None] * stride_slot + head // 4 * stride_head + offs_d[None, :]
#         k, v = tl.load(k_ptr + offsets), tl.load(v_ptr + offsets)
#         scores = tl.where(first + slots < length, tl.sum(q[None, :] * k, axis=1) * scale, float("-inf"))
#         ...                                       # maximum, rescaling, sum and accumulator: correct
#     tl.store(parts_ptr + ..., accumulator / total)
#     tl.store(maxima_ptr + ..., maximum)
#
# # merge: weights = exp(maxima - maxima.max()); the sum of weights * parts, divided by the sum of weights
# ```
#
# The test has one sequence of 200 tokens, PART = 256, and a new cache made by `torch.zeros`. It passes. In service, short
# texts are correct at first and long ones are slightly wrong. After a day some sequences become NaN. On a large server one
# tensor of 40 GiB holds the keys of all layers. There the kernel stops with an illegal memory access, or reads memory of
# other tensors.
#
# 1. What is wrong with the merge, and why does the test not show it?
# 2. Where does NaN come from, and why not on the first day?
# 3. Which line computes a wrong address, and from which page number on?
# 4. How often is each key loaded from memory or a cache, and how would you change that?
# 5. Which test would have shown 1 to 3?
#
# Answer in about 200 words.

# %%
answer("wrong-in-company")

# %% [markdown] model_answer="wrong-in-company"
# 1. A part is weighted by exp(maximum) alone. Its sum is missing: exp(lse) = exp(maximum) · sum. Two parts with the same
#    best key get the same weight, though one may have many good keys and the other only that one. 200 tokens are one part
#    of 256, and with one part any weight gives the correct result.
# 2. The kernel loads the whole last page. A slot past the length has the weight 0, and 0 · NaN is NaN. (Its score does no
#    harm: `tl.where` replaces it.) A new cache holds zeros. After a day pages are used again, and the numbers left in them
#    may be NaN or infinite. The loads need `mask=(first + slots < length)[:, None], other=0.0`.
# 3. `page * stride_page` is computed in 32 bits. A page has 16 · 8 · 128 = 16,384 numbers, so from page 131,072 on the
#    product is 2³¹ or more and wraps around. 40 GiB in fp16 are 1,310,720 pages. Write `page.to(tl.int64)` first.
# 4. Four times: each of the four query heads of a group has a program of its own. One program for each key head, with the
#    four queries as rows of a tile, loads each key once.
# 5. Use several sequences with lengths such as 0, 37 and 700, so that there are several parts and a last page that is not
#    full. Fill slots and entries past the lengths with NaN and with an invalid number. Add a view whose pages are more than
#    2³¹ elements apart. Compare everything with a plain reference.
#
# **Rubric (6 points)**
#
# - 1 point: the sum of a part is missing in its weight.
# - 1 point: the test has a single part.
# - 1 point: weight 0 times NaN from a slot past the length, in a page that was used before.
# - 1 point: the product in 32 bits, from page 131,072 on.
# - 1 point: four times; one program for each key head.
# - 1 point: a test with several parts, garbage past the lengths, and far pages.

# %% [markdown]
# ## For the GPU
#
# The next cell times your kernels beside PyTorch's attention. PyTorch gets the same keys densely, without pages, so it
# needs no table: the comparison favours PyTorch. The figure is the bytes of keys and values, divided by the time. Compare
# it with the memory bandwidth of your GPU. Then change the number of parts, and look at the first line, the single
# conversation.
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16, with 64 conversations of 8,192 keys each, 32 heads, 8 key heads and d = 128:
#
# - the model solution took {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | plain | µs} µs;
# - a copy of as many bytes took
#   {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | copy of as many bytes | µs} µs;
# - the course's fast form, which requests the next keys while it computes, took
#   {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | fast | µs} µs;
# - PyTorch, which has to gather the pages first, took
#   {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | torch | µs} µs.

# %% gpu
if ON_GPU:
    heads, kv_heads, d, size = 32, 8, 128, 16
    for count, length in ((1, 32_768), (16, 8_192), (64, 2_048)):
        n_pages = count * length // size
        k_pages, v_pages = (
            torch.randn(n_pages, size, kv_heads, d, device="cuda", dtype=torch.float16) for _ in range(2)
        )
        table = torch.randperm(n_pages, device="cuda", dtype=torch.int32).reshape(count, -1)
        lengths = torch.full((count,), length, device="cuda", dtype=torch.int32)
        q = torch.randn(count, heads, d, device="cuda", dtype=torch.float16)
        k, v = (  # the keys of each conversation, in order
            pages[table.long()].reshape(count, length, kv_heads, d).transpose(1, 2)
            for pages in (k_pages, v_pages)
        )
        sdpa = torch.nn.functional.scaled_dot_product_attention
        time_beside(
            lambda: decode_attention(q, k_pages, v_pages, table, lengths),
            {"PyTorch, dense": lambda: sdpa(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]},
            n_bytes=4 * k_pages.numel(),  # two bytes for a number, of keys and of values
            title=f"{count} x {length:,} keys",
            label="yours, in pages",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - With one query, each byte of the cache serves few operations. Decoding is memory-bound: read little, read once, and read
#   with many programs.
# - Heads of a group share their keys. One program for the group loads them once.
# - A block table turns the position of a key into an address: divide, take the remainder, and convert to 64 bits. Mask
#   everything past the end, even where its weight would be 0.
# - Merge parts with the weights exp(lse). A part without keys must not reach -inf - (-inf).
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `row_max`, `row_sum` | `m_i`, `l_i` |
# | `accumulator`, `rescale` | `acc`, `alpha` |
# | part, `n_parts` | KV split, `NUM_KV_SPLITS` |
# | page, slot | block, block offset (vLLM) |
# | key head, group | KV head, `kv_group_num` |
#
# References:
#
# - Kwon et al.: [Efficient Memory Management for Large Language Model Serving with
#   PagedAttention](https://arxiv.org/abs/2309.06180) (2023)
# - Dao, Haziza, Massa, Sizov: [Flash-Decoding for long-context
#   inference](https://pytorch.org/blog/flash-decoding/) (2023)
# - Ainslie et al.: [GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
#   Checkpoints](https://arxiv.org/abs/2305.13245) (2023)
# - Shazeer: [Fast Transformer Decoding: One Write-Head is All You Need](https://arxiv.org/abs/1911.02150) (2019)
# - [Fused Attention](https://triton-lang.org/main/getting-started/tutorials/06-fused-attention.html) (Triton
#   tutorial 06): the loop over keys, without pages
#
# This lesson leaves out caches in fp8, sliding windows, and multi-head latent attention (MLA). To practise, run
# `practice()`: it gives you a puzzle from an exercise that you have passed.

# %%
progress()
