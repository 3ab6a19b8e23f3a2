# %% [markdown]
# # Decoding: one query, and a cache in pages
#
# A language model writes one token after another. For each of them it asks all that was written before, once, and most of the
# time goes into fetching it. At the end of this lesson you have written the kernel that does this in a serving engine: it finds
# keys and values through a table, lets several query heads share them, and splits a long text among many programs.
#
# It takes about 45 minutes. Lessons 03 (memory or arithmetic), 04 (strides) and 13 (attention) come first.

# %% setup
from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.pages import pages

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token after another
#
# In lesson 13 all m queries of a text came at once, and with a causal mask query i saw the keys 0 to i. A model reads a prompt
# like that. Then it writes: it makes one **token** (a word, or a piece of one), appends it, and makes the next. This is called
# **decoding**. The new token has one query for each head. Keys and values of the tokens before have not changed since they were
# made, so they are kept. That is the **cache**.
#
# Here a text of six tokens is attended to as a whole, and then its last token alone, with five keys from the cache and one new.

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
# There is no mask left: a new token may see all there is.
#
# **Predict.** A model has 32 layers, 8 key heads in each, and d = 128. It keeps a key and a value for each, in fp16, two bytes a
# number. How many KiB (1,024 bytes) does *one* token take in the cache? And how many GiB a conversation of 32,768 tokens?

# %%
predict("kib_of_a_token", None)
predict("gib_of_a_conversation", None)

# %% [markdown]
# All that is read again for each new token.
#
# ## Why memory is the limit
#
# Take one query head and n keys. A score is a sum of d products, 2 · d operations, and there are n of them. The average of the
# values takes as many again: 4 · n · d in all. (The exponentials are few beside that.) What is read are n keys and n values of d
# numbers each.
#
# **Predict.** In fp16, how many operations come on each byte that is read? Lesson 03 called that the arithmetic intensity.

# %%
predict("intensity_of_decoding", None)

# %%
ridge = explore.GPUS["H200"].ridge(True)
print(f"An H200 computes {ridge:.0f} operations in the time in which it reads a byte (datasheet).")

# %% [markdown]
# With m queries, as in lesson 13, each key that was fetched serves m of them. Here it serves one, and the arithmetic units wait.
# Faster arithmetic would not make this kernel faster. What counts is how few bytes it reads, and whether enough programs read at
# the same time.
#
# ## Heads that share keys
#
# So models were changed: several query heads share one key head. The heads 0, 1, 2, ... of a **group** are neighbours. With `hq`
# query heads and `hkv` key heads a group has hq / hkv of them, and query head h belongs to key head h // (hq / hkv). (Names for
# it: grouped-query attention; with a single key head, multi-query attention.)
#
# **Predict.** 8 query heads, 2 key heads. To which key head does query head 3 belong? And if each query head has a program of its
# own that reads its keys, how many times is a key loaded?

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
# One program for each *key* head can take the queries of its group together: `group` rows instead of one. Then a key is loaded
# once and serves them all, and the scores are a product of two tiles, which `tl.dot` computes. Tensor cores want rows in larger
# lots, so fill up: 16 rows, of which `group` exist, and a mask that says so. The rows that do not exist cost arithmetic, and of
# that there is plenty.
#
# (Where four programs load the same keys at nearly the same time, three of them may find the keys in the L2 cache, which lesson 09
# was about. That helps, and it is luck. To load once is no luck.)
#
# ## Why pages
#
# Where does the cache lie? Nobody knows beforehand how long a text will become. The simple way: reserve room for the longest text
# that is allowed, for each sequence.
#
# **Predict.** Three sequences have 300, 77 and 1,100 tokens, and room for 2,048 is reserved for each. How many per cent of the
# reserved room are not used?

# %%
predict("percent_unused", None)

# %%
lengths, page_size = [300, 77, 1100], 16
slots = sum(-(-length // page_size) * page_size for length in lengths)
print(f"in pages of {page_size} slots: {1 - sum(lengths) / slots:.1%} are not used")

# %% [markdown]
# The room that is not used could hold other conversations, and each of them would be served in the same step. So serving engines
# do what operating systems do with memory: they cut the cache into **pages** of a fixed number of **slots**, 16 for example, and
# a slot holds the key (or the value) of one token, for all key heads. A sequence gets a page when it needs one, whichever is free.
# Which pages it has, and in which order, stands in its row of a **table**. (The idea became known with vLLM: Kwon and others,
# *Efficient memory management for large language model serving with PagedAttention*, 2023.)
#
# Here pages have 4 slots. The row of sequence A is 5, 2, 7, and A has 10 keys.
#
# **Predict.** In which page does key 9 of A lie, and in which slot of that page? (All count from 0.)

# %%
predict("page_of_key_9", None)
predict("slot_of_key_9", None)

# %%
pages([[5, 2, 7], [0, 6, 3], [4, 1, 0]], lengths=[10, 7, 3], page_size=4, n_pages=8)

# %% [markdown]
# So key i of sequence s lies here:
#
# ```
# page = block_table[s, i // page_size]
# slot = i % page_size
# ```
#
# and its numbers at `k_ptr + page * stride_page + slot * stride_slot + kv_head * stride_head + offs_d * stride_d`. Up to now an
# address followed from the program id and from strides. Here a part of it is *loaded*. The table is a pointer, made by hand: two
# loads, of which the second one waits for the first.
#
# A block of keys need not be a page. `keys // page_size` and `keys % page_size` are right for any block of `keys`, and each lane
# finds its page by itself.
#
# ## What lies behind the end
#
# Look at the picture again. The last page of a sequence is seldom full, and the table is as wide as the longest sequence may need.
# What stands in those slots and entries? Whatever was left there: keys of somebody whose text has ended, NaN, a page number that
# has not been valid for an hour. It is garbage, and nothing of it may have an effect.
#
# In lesson 13 a key that does not exist got the score -inf, so its weight was 0. Is that enough here?

# %%
weight, value_in_an_empty_slot = 0.0, float("nan")
print("weight 0 times garbage:", weight * value_in_an_empty_slot)

# %% [markdown]
# It is not. A masked load with `other=0.0` keeps garbage out of the tile of *values*, and the same mask belongs to the load from
# the table: an entry behind the end may be any number, and the page it names may lie outside of all memory that you own.
#
# ## A page number in 32 bits
#
# The table is int32, and so is what you load from it. A page has `page_size` · `hkv` · d numbers.
#
# **Predict.** Pages of 16 slots, 8 key heads, d = 128. From which page number on does page · stride_page no longer fit into a
# signed integer of 32 bits (2³¹ and more)?

# %%
predict("first_page_beyond", None)

# %%
bytes_of_a_page = 16 * 8 * 128 * 2
print(f"pages in 16 GiB of keys, in fp16: {16 * 2**30 // bytes_of_a_page:,}")

# %% [markdown]
# Where one tensor holds the pages of all layers, that is soon reached: a GPU of 80 GB has room for 16 GiB of keys, as much of
# values, and a model. So convert, *before* you multiply: `page.to(tl.int64)`.
#
# ## Too few programs
#
# **Predict.** One conversation, 8 key heads, a program for each key head. An H200 has 132 multiprocessors. How many per cent of
# them have something to do?

# %%
predict("percent_at_work", None)

# %% [markdown]
# One multiprocessor alone cannot keep the memory busy, however long the text is. In lesson 13 there were blocks of queries to hand
# out. Here there is one query, so hand out the *keys*: part 0 has the first 512, part 1 the next, and so on, each with a program of
# its own. Each part gives an attention to its keys alone. (This is known as split-KV, or Flash-Decoding.)
#
# How many parts? The lengths lie on the GPU, and the launcher must not read them: to fetch a number from there it would have to
# wait until all kernels before have ended. What it knows are shapes. The table has `most_pages` columns, so no sequence has more
# than `most_pages * page_size` keys. Launch for that. A program whose part begins behind the length ends at once.
#
# ## Merging parts
#
# A part of the keys has a maximum, a sum of exp(score - maximum), and an output. In lesson 13 you stored
# $\text{lse} = \text{maximum} + \log(\text{sum})$, the log-sum-exp. Now it is needed. exp(lse) is the sum of exp(score) over the
# part, with nothing subtracted: how much all keys of the part count together. So the outputs $o_p$ of the parts, each divided by its
# own sum, are averaged with those weights:
#
# $$o = \frac{\sum_p e^{\text{lse}_p}\, o_p}{\sum_p e^{\text{lse}_p}}$$
#
# As always the largest lse is subtracted from all before exp, and the quotient stays the same.
#
# **Predict**, with pencil and paper. Part 0 has the lse ln 3 and the output 10; part 1 has the lse ln 1 = 0 and the output 20. What
# is the merged output? (Their mean is 15.)

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
# A short sequence beside a long one leaves parts without any key. Their lse is -inf, their weight 0. Here is what may happen on
# the way, and it happens twice: within such a part, and in the merge of a sequence whose length is 0.

# %%
nothing = torch.tensor(float("-inf"))
print("exp(-inf - (-inf)) =", torch.exp(nothing - nothing).item())

# %% [markdown]
# So a part without keys is either left out of the merge, or stored with an output of 0, and never is -inf subtracted from -inf.
#
# ## Exercise: `decode_attention`
#
# **The contract.** `decode_attention(q, k_pages, v_pages, block_table, lengths)` returns one attention for each query head of each
# sequence: softmax(q · kᵀ / √d) · v over the keys of that sequence.
#
# - `q` is (b, hq, d), and `k_pages` and `v_pages` are (p, page_size, hkv, d), all three of one dtype: float32, float16 or bfloat16.
#   hq is a multiple of hkv, and query head h belongs to key head h // (hq / hkv). d is a power of two, 16 or more. `page_size` may
#   be any number.
# - `block_table` is (b, most_pages) and `lengths` is (b,), both int32. Key i of sequence s lies in slot i % page_size of page
#   `block_table[s, i // page_size]`. Sequences may share pages. No length is larger than most_pages · page_size.
# - What lies behind a length, in the table and in the pages, is garbage. So is a page that is in no row.
# - A sequence of length 0 gets zeros. There may be no sequences, no columns and no pages.
# - q, pages and table may have any strides, each its own, and elements more than 2³¹ from the first one. `lengths` is contiguous.
# - Sums are accumulated in float32. float32 is multiplied as float32 (no TF32). The result is new and contiguous, (b, hq, d), in
#   the dtype of q.
#
# Split the keys among several programs, and load each key once for its group. (Neither is tested by the values. The card has a
# remark where it is not so.) The launcher is given; `hint("decode_attention")` helps.

# %% exercise="decode_attention"

# %% [markdown]
# ## What it moves
#
# **Predict.** One sequence of 512 keys, 8 query heads, 2 key heads, d = 64, in float32. How many KiB are its keys and values
# together?

# %%
predict("kib_of_keys_and_values", None)

# %%
shape = (40, 16, 2, 64)  # 40 pages, of which 32 are used
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
# What comes on top are the table, read once for each *key* rather than for each page, the queries, and the parts, which are stored
# in float32 and loaded again by the merge. The more parts, the more of that; so a part should not be too short.
#
# **Try it.** Change the length of a part in your launcher, and measure again.
#
# ## Quiz

# %%
quiz("decoding")

# %% [markdown] case_study="wrong-in-company" points=6
# ## Case study: right alone, wrong in company
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
#         ...                                       # maximum, rescaling, sum and accumulator: right
#     tl.store(parts_ptr + ..., accumulator / total)
#     tl.store(maxima_ptr + ..., maximum)
#
# # merge: weights = exp(maxima - maxima.max()); the sum of weights * parts, divided by the sum of weights
# ```
#
# The test has one sequence of 200 tokens, PART = 256, and a new cache made by `torch.zeros`. It passes. In service, short texts are
# right at first, long ones are slightly wrong, some sequences become NaN after a day, and on a large server, where one tensor of
# 40 GiB holds the keys of all layers, the kernel stops with an illegal memory access or reads what is not its own.
#
# 1. What is wrong with the merge, and why does the test not show it?
# 2. Where does NaN come from, and why not on the first day?
# 3. Which line points somewhere else, and from which page number on?
# 4. How often is each key loaded from memory or a cache, and how would you change that?
# 5. Which test would have shown 1 to 3?
#
# Answer in about 200 words.

# %%
answer("wrong-in-company")

# %% [markdown] model_answer="wrong-in-company"
# 1. A part is weighted by exp(maximum) alone. What is missing is its sum: exp(lse) = exp(maximum) · sum. Two parts with the same
#    best key count alike, though one may have many good keys and the other only that one. 200 tokens are one part of 256, and with
#    one part any weight is right.
# 2. The last page is loaded as a whole. A slot behind the length has the weight 0, and 0 · NaN is NaN. (Its score does no harm:
#    `tl.where` replaces it.) A new cache holds zeros; after a day pages are used again, and what is left in them may be NaN or
#    infinite. The loads need `mask=(first + slots < length)[:, None], other=0.0`.
# 3. `page * stride_page` is computed in 32 bits. A page has 16 · 8 · 128 = 16,384 numbers, so from page 131,072 on the product is
#    2³¹ or more and wraps around. 40 GiB in fp16 are 1,310,720 pages. `page.to(tl.int64)` first.
# 4. Four times: each of the four query heads of a group has a program of its own. One program for each key head, with the four
#    queries as rows of a tile, loads each key once.
# 5. Several sequences with lengths such as 0, 37 and 700, so that there are several parts and a last page that is not full; slots
#    and entries behind the lengths filled with NaN and with an invalid number; and a view whose pages lie more than 2³¹ elements
#    apart. All compared with a plain reference.
#
# **Rubric (6 points)**
#
# - 1 point: the sum of a part is missing in its weight.
# - 1 point: the test has a single part.
# - 1 point: weight 0 times NaN from a slot behind the length, in a page that was used before.
# - 1 point: the product in 32 bits, from page 131,072 on.
# - 1 point: four times; one program for each key head.
# - 1 point: a test with several parts, garbage behind the lengths, and far pages.

# %% [markdown]
# ## For the GPU
#
# Your kernels beside PyTorch's attention, which gets the same keys densely, without pages (it needs no table, so this is no fair
# race). The figure is the bytes of keys and values, divided by the time: compare it with what the memory of your GPU can do. Then
# change the number of parts, and look at the first line, the single conversation.
#
# Measured on an NVIDIA H200 in fp16, with 64 conversations of 8,192 keys each, 32 heads, 8 key heads and d = 128: the model solution
# took {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | plain | µs} µs, and a copy of as many bytes {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | copy of as many bytes | µs} µs. The course's
# fast form, which asks for the next keys while it computes, took {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | fast | µs} µs. PyTorch, when it has to gather the pages
# first, took {h200: decode_attention b64, 32 heads, 8 kv heads, 8192 keys, D128 | torch | µs} µs.

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
        k, v = (  # each conversation's keys in a row, as its pages have them
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
# - With one query, each byte of the cache serves few operations. Decoding is bound by memory: read little, read once, read with
#   many programs.
# - Heads of a group share their keys. One program for the group loads them once.
# - A table of pages is a pointer by hand. Divide, take the remainder, convert to 64 bits, and mask what lies behind the end, also
#   where its weight would be 0.
# - Parts are merged by weights of exp(lse). A part without keys must not reach -inf - (-inf).

# %%
progress()
