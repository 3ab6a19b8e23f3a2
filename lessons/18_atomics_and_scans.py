# %% [markdown]
# # Atomics and scans: when many programs add to one result
#
# Until now exactly one program stored each element of a result. Some results cannot be divided like that. In a histogram
# any program may have to add to any count. And a running sum needs the sums of all earlier blocks.
#
# This lesson has the tools for both: atomic additions and scans. At the end you have a histogram, a running sum of rows of
# any length, and a matrix product whose sum is shared by several programs.
#
# It takes about 100 minutes. Lessons 07 (reductions) and 08 (matrix products) come first.

# %% setup
from triton_util import explore, time_beside
from triton_util.environment import interpreting
from triton_util.figures.scans import scans

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Load, add, store
#
# The next kernel counts sixteen numbers from 0 to 3. Each lane takes one number, loads the count of that number, adds 1,
# and stores it.
#
# **Predict.** Each of the four numbers occurs four times. All counts start from 0, and one block takes all sixteen. What is
# the count of number 0 afterwards?

# %%
predict("count_after_load_add_store", None)

# %%
@triton.jit
def count_kernel(x_ptr, counts_ptr, ATOMIC: tl.constexpr, BLOCK: tl.constexpr):
    """Count BLOCK numbers: with an atomic addition, or with a load and a store."""
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if ATOMIC:
        tl.atomic_add(counts_ptr + x, 1)
    else:
        count = tl.load(counts_ptr + x)
        tl.store(counts_ptr + x, count + 1)


numbers = torch.tensor([0, 1, 2, 3] * 4, dtype=torch.int32, device=DEVICE)
counts = torch.zeros(4, dtype=torch.int32, device=DEVICE)
count_kernel[(1,)](numbers, counts, ATOMIC=False, BLOCK=16)
print(counts.tolist())

# %% [markdown]
# All four lanes with a 0 loaded the same count. All four added 1 to it, and all four stored the same sum. Three additions
# are lost. The same happens between two programs: after one has loaded and before it stores, another one can load too.
#
# This is a **race**: the result depends on the order in which programs run. So a GPU may count differently each time.
#
# **Fix it.** Put `ATOMIC=True` into the cell above, and run it again.
#
# ## Atomic additions
#
# `tl.atomic_add(pointers, values, mask=...)` loads, adds and stores. The L2 cache performs this as one indivisible step: an
# **atomic** operation. It returns the old value. There are also `tl.atomic_max`, `tl.atomic_min`, and some more.
#
# Remember three things about it: it adds to what is in memory, its order is open, and it rounds.
#
# **It adds to what is in memory.** A store replaces the old value; an addition does not. So the memory must be 0 before the
# first addition: use `torch.zeros`, never `torch.empty`. Memory from `torch.empty` may be 0 by chance, and then your test
# passes. The kernel cannot set it to 0 itself either: while one program does so, another one may already have added.
#
# ## The order is open
#
# Programs run in any order. Does a sum depend on it? For integers it does not. Floating-point numbers are rounded after
# each addition.
#
# **Predict.** In float32: what is 2**24 + 1?

# %%
predict("two_to_the_24_plus_1", None)

# %%
@triton.jit
def add_numbers_kernel(x_ptr, sum_ptr):
    """Each program adds one number."""
    tl.atomic_add(sum_ptr, tl.load(x_ptr + tl.program_id(0)))


def atomic_sum(x):
    """The sum of x, by as many programs as x has numbers."""
    total = torch.zeros(1, dtype=x.dtype, device=DEVICE)
    add_numbers_kernel[(x.numel(),)](x, total)
    return total.item()


large_first = torch.tensor([2.0**24] + [1.0] * 16, device=DEVICE)
print("large number first:", atomic_sum(large_first))
print("large number last: ", atomic_sum(large_first.flip(0)))

# %% [markdown]
# The interpreter runs program 0 first, then program 1, and so on. That is why you see both orders. A GPU guarantees no
# order: the same call may give one sum today and the other one tomorrow. Here the numbers were chosen to make the sums
# differ by 16. With usual numbers only the last bits change.
#
# For this reason some of PyTorch's own functions are **nondeterministic** on a GPU, and
# `torch.use_deterministic_algorithms(True)` makes them slower or refuses them. Do you need the same bits each time? Then
# let each program store its part in its own place, and let a second kernel add the parts in a fixed order.
#
# **Try it.** Put the large number into the middle. Then make the numbers integers: `large_first.to(torch.int32)`.
#
# ## It rounds
#
# An atomic addition to float16 memory rounds to float16, at each step.
#
# **Predict.** 3,000 lanes add 1.0 to one float16 number, which starts from 0. What is its value at the end?

# %%
predict("ones_in_float16", None)

# %%
@triton.jit
def add_ones_kernel(sum_ptr, n, BLOCK: tl.constexpr):
    """n lanes add 1 to the same place."""
    lanes = tl.arange(0, BLOCK)
    ones = tl.full((BLOCK,), 1.0, sum_ptr.dtype.element_ty)
    tl.atomic_add(sum_ptr + lanes * 0, ones, mask=lanes < n)


for dtype in (torch.float32, torch.float16):
    total = torch.zeros(1, dtype=dtype, device=DEVICE)
    add_ones_kernel[(1,)](total, 3000, BLOCK=4096)
    print(f"{dtype}: {total.item():g}")

# %% [markdown]
# float16 has 11 significant bits. From 2048 on it has only even numbers. 2049 is halfway between two of them and is rounded
# to the even one, 2048: the sum stops growing. bfloat16 has 8 significant bits and stops at 256. So add in float32, and
# convert the finished sum once.
#
# ## Numbers as addresses
#
# In a histogram a *number* from the input becomes an address: `counts_ptr + x`. Until now offsets came from `tl.arange`,
# and you knew how large they were. x comes from the caller:
#
# - A number below 0 points to memory before the counts, and `x < n_bins` is true for it.
# - A number of n_bins or more points past the counts.
# - A number of 64 bits may not fit into 32: 2**32 + 3 becomes 3, which has a bin.
#
# So the mask of the addition has three conditions: the lane is not past the end of x, the number is not below 0, and it is
# below n_bins.
#
# **Contention.** Additions to *different* addresses run at the same time. Additions to one address run one after the other.
# If all numbers are equal, all lanes of all programs wait for one count. Real data is often like that: think of the zeros
# after a ReLU.
#
# The remedy is to count twice. Each program first counts its own block privately. Then it adds its counts to the shared
# counts: one atomic addition for each *bin*, and not for each number. `tl.histogram(x, BINS, mask=...)` counts a block.
# BINS must be a power of two. Versions of Triton differ in what they do with numbers outside of the bins, so mask them.
#
# **Predict.** There are a million numbers, blocks of 1024, and 256 bins. How many additions reach memory if each program
# counts its block first and then adds all of its 256 counts?

# %%
predict("additions_of_blocks", None)

# %%
blocks = triton.cdiv(1_000_000, 1024)
print(f"number by number: 1,000,000 additions; block by block: {blocks} blocks, {blocks * 256:,} additions")

# %% [markdown]
# With 4096 bins it would be four million, more than one for each number. So it depends on the bins and on the data, and
# only measuring tells which way is faster. In the exercise you may use either.
#
# ## Exercise: `histogram`
#
# **The contract.** `histogram(x, n_bins)` returns how often each of the numbers 0 to n_bins - 1 occurs in x.
#
# - `x` has one axis, any stride, and any integer dtype: int8, int16, int32, int64 or uint8. It may be empty.
# - Numbers below 0, and numbers of n_bins or more, are not counted.
# - The result is new, has the shape (n_bins,) and the dtype int32, for every dtype of x.
# - `n_bins` is 1 or more. It need not be a power of two, and it may be larger than any number of the dtype of x.
#
# Look at the launcher: you write a line of it, too. `hint("histogram")` helps.

# %% exercise="histogram"

# %% [markdown]
# ## A scan
#
# The second tool is the scan. A **scan** of a block returns as many numbers as it gets: each one is the sum of all elements
# up to that position. The scan of 3, 1, 4, 1 is 3, 4, 8, 9. (If an element is left out of its own sum, the scan is called
# *exclusive*: 0, 3, 4, 8.)
#
# It looks as if each step must wait for the one before it. But a scan can run in parallel.
#
# **Predict.** In each round every lane adds the value that is some distance to its left: distance 1 in the first round,
# then 2, then 4, and so on. After how many rounds is a block of 1024 lanes done?

# %%
predict("rounds_of_a_scan", None)

# %%
values, distance, rounds = torch.ones(1024, dtype=torch.int64), 1, 0
while distance < 1024:
    shifted = torch.cat([torch.zeros(distance, dtype=torch.int64), values[:-distance]])
    values, distance, rounds = values + shifted, distance * 2, rounds + 1
print(f"{rounds} rounds; the last number is {values[-1]}")

# %% [markdown]
# This works because (a + b) + c equals a + (b + c): it does not matter how neighbours are grouped. An
# operation with that property is called **associative**. Triton accepts any such operation:
# `tl.associative_scan(x, axis, combine_fn)`, where `combine_fn` is a `@triton.jit` function of two values. (`tl.cumsum` is
# the scan with addition.) Does regrouping change the result, as with a - b? Then the result of the scan depends on how
# Triton divides the block.

# %%
@triton.jit
def larger(left, right):
    """The larger of two values: associative, too."""
    return tl.maximum(left, right)


@triton.jit
def running_maximum_kernel(x_ptr, output_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(output_ptr + lanes, tl.associative_scan(x, 0, larger))


x = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6], dtype=torch.int32, device=DEVICE)
output = torch.empty_like(x)
running_maximum_kernel[(1,)](x, output, BLOCK=8)
print(output.tolist())

# %% [markdown]
# **Try it.** Write another operation in place of `larger`: the smaller value, the product, or the left value.
#
# ## Carrying sums from block to block
#
# A row may be longer than a block. Then the program scans each block alone and adds *one* number to all of its elements:
# the sum of all earlier blocks, which is called the **carry**.
#
# **Predict.** The numbers are 3, 1, 4, 1, 5, 9, 2, 6, in blocks of 4. What is carried into the second block?

# %%
predict("carried_into_second_block", None)

# %%
scans([3, 1, 4, 1, 5, 9, 2, 6], 4)

# %% [markdown]
# Run the picture with blocks of 2. The carry grows from block to block. It is the sum of *all* earlier blocks, not of the
# last one alone.
#
# If there are many rows, a program takes a row and loops over its blocks, with the carry in a variable. That reads each
# element once and stores it once.
#
# If there are few rows and they are long, such a loop leaves most of the GPU idle. Then the blocks of a row go to different
# programs. **In general, a program must not wait for another program of the same launch**: that program may not have
# started, and its result may not be there yet. Several launches are safe, because a launch begins when the one before it is
# done. The first kernel stores the *sum* of each block. The second one scans these few sums. The third one scans each block
# and adds the carry.
#
# **Predict.** The dtype is float32, and the block sums are too few to matter. How many bytes does this way load and store
# for each element?

# %%
predict("bytes_sums_first", None)

# %%
print(f"for the sums of the blocks: 4; for the scan: 4; for the result: 4; in all {4 + 4 + 4}")

# %% [markdown]
# ## Exercise: `cumsum`
#
# **The contract.** `cumsum(x)` returns the running sums of each row: element j of a row is the sum of its elements 0 to j.
#
# - `x` has two axes and any strides; float32, float16 or bfloat16. Rows may be longer than a block. Empty tensors are
#   legal.
# - Sum in float32, whatever the dtype of x.
# - The result is new and contiguous, in the dtype of x.
#
# `add` is given, and so is the launcher. `hint("cumsum")` helps.

# %% exercise="cumsum"

# %% [markdown]
# **Predict.** How many bytes does your kernel load and store for each element, in float32?

# %%
predict("bytes_of_the_walk", None)

# %%
moved = explore.measure(cumsum, torch.ones(4, 3000))
if moved.total:
    print(f"your kernel: {moved.total / (4 * 3000):g} bytes for each element")

# %% [markdown]
# ## A sum shared by programs
#
# In lesson 08 one program computed each tile of c. That works well if there are many tiles.
#
# **Predict.** a is (64, 65536), b is (65536, 64), and a tile is 64 × 64. How many programs does the kernel of lesson 08
# launch?

# %%
predict("programs_of_a_small_result", None)

# %%
print("programs:", triton.cdiv(64, 64) * triton.cdiv(64, 64), "- and an H100 SXM has 132 multiprocessors")

# %% [markdown]
# Almost all of the work is along k, so divide k: **split-K**. `splits` programs work on each tile, each of them sums over a
# part of k, and the parts are added. The grid gets a third axis.
#
# **Which part?** k is seldom a multiple of splits times BLOCK_K. `k // splits` elements for each part would lose the rest.
# It is easiest to distribute the blocks like cards: part 0 takes blocks 0, splits, 2 · splits, ..., part 1 takes blocks 1,
# splits + 1, and so on. A part may get one block less than another. If there are more parts than blocks, some parts get no
# block and add 0.
#
# **Predict.** k = 300, BLOCK_K = 32, four parts. How many blocks does part 3 get?

# %%
predict("blocks_of_part_3", None)

# %%
for part in range(4):
    print(f"part {part}: blocks start at {list(range(part * 32, 300, 4 * 32))}")

# %% [markdown]
# **How are the parts added?** There are three ways to think about:
#
# - Plain stores to the same tile keep only the part of the last program. That is wrong.
# - Atomic additions go to *float32* memory that was set to 0, and the launcher converts the finished sum once.
# - Or each part goes to its own scratch memory, `(splits, m, n)` in float32, and a second kernel adds the parts in a fixed
#   order. That is deterministic, and needs more memory. Then each part must store its tile, even if it got no block.
#
# Splitting has a price: each tile of sums goes to memory `splits` times. If there are already enough tiles for all
# multiprocessors, splitting only adds work.
#
# ## Exercise: `split_k_matmul`
#
# **The contract.** `split_k_matmul(a, b, splits)` returns a @ b, and `splits` programs share the sum over k for each tile.
#
# - `a` is (m, k) and `b` is (k, n), any strides, of the same dtype: float32, float16 or bfloat16. Empty ones are legal; the
#   sum over an empty k is 0.
# - `splits` is 1 or more. It may be larger than the number of blocks, or of elements, of k.
# - Sum in float32, the parts too. float32 inputs need `input_precision="ieee"`, as in lesson 08.
# - The result is new, contiguous, and in the dtype of a. It does not depend on earlier contents of the memory.
#
# Atomics and scratch memory are both correct. The given launcher is made for atomics, and you may change it.
# `hint("split_k_matmul")` helps.

# %% exercise="split_k_matmul"

# %% [markdown]
# ## Waiting for another program
#
# What does an atomic addition guarantee about *other* memory? Suppose a program stores its part and then adds 1 to a
# counter. A program that reads the counter must then also see the part. The default of `tl.atomic_add`, `sem="acq_rel"`,
# guarantees this: stores before the addition are visible to a program that reads the counter afterwards. Plain counts need
# no such guarantee, and `sem="relaxed"` is enough.
#
# (Inside a program, all threads must have finished their stores before one of them adds to the counter. Triton 3.9 inserts
# that barrier itself before an atomic with release semantics. `tl.debug_barrier()` states it explicitly.)
#
# With such a counter the *last* program of a tile can add up all parts in the same launch. But never wait for a program
# that may not have started: the GPU runs as many programs as fit at a time, in an order that is not guaranteed. **Decoupled
# look-back**, a scan in one launch, waits only for programs that took an earlier number from an atomic counter, so they
# have all started.
#
# ## Quiz

# %%
quiz("atomics_and_scans")

# %% [markdown] case_study="monday-and-tuesday" points=6
# ## Case study: Monday and Tuesday
#
# A team has written the gradient of an embedding table. Many tokens use the same row of the table, so their gradients are
# added:
#
# ```python
# @triton.jit
# def embedding_backward_kernel(tokens_ptr, dy_ptr, dw_ptr, D, BLOCK: tl.constexpr):
#     token = tl.load(tokens_ptr + tl.program_id(0))
#     d = tl.arange(0, BLOCK)
#     dy = tl.load(dy_ptr + tl.program_id(0) * D + d, mask=d < D, other=0.0)
#     tl.atomic_add(dw_ptr + token * D + d, dy, mask=d < D)
#
# def embedding_backward(tokens, dy, vocabulary):
#     dw = torch.empty((vocabulary, dy.shape[1]), dtype=dy.dtype, device=dy.device)
#     embedding_backward_kernel[(tokens.numel(),)](tokens, dy, dw, dy.shape[1], BLOCK=1024)
#     return dw
# ```
#
# They report:
#
# - All tests pass. In a long training run NaN appears after some hours, in rows of tokens that are hardly ever used.
# - In bfloat16 the rows of the most frequent tokens learn too slowly. In float32 they do not.
# - Two runs with the same seed differ in the last bits from the first step on, on the same GPU.
# - Padding has the token -1.
#
# 1. Where does the NaN come from, and why not in the tests?
# 2. Why are frequent tokens too slow, and only in bfloat16?
# 3. Why do the runs differ? How would you get the same bits each time, and what does it cost?
# 4. What does token -1 do?
#
# Answer in about 180 words.

# %%
answer("monday-and-tuesday")

# %% [markdown] model_answer="monday-and-tuesday"
# 1. dw comes from `torch.empty`, and an atomic addition adds to what is in memory. In a fresh process that memory is often
#    0. Later the allocator returns memory that held something else. Rows without a token keep the old contents, and other
#    rows have gradients added to them. `torch.zeros` fixes it.
# 2. dw is bfloat16, and each atomic addition rounds to its 8 significant bits. A row that many tokens add to soon has a
#    large sum, and small gradients are rounded away. Rows with few additions hardly show it. Add into float32 memory and
#    convert once at the end.
# 3. Programs run in any order, and floating-point sums depend on it. The same bits need a fixed order: sort the tokens, so
#    that one program adds up all gradients of its row, or store parts separately and add them in a second kernel. That
#    costs a sort, or memory and another launch.
# 4. -1 points to the row before dw: memory that belongs to something else. A number from the data that becomes an address
#    needs a mask: `(token >= 0) & (token < vocabulary)`.
#
# **Rubric (6 points)**
#
# - 1 point: `torch.empty` under an atomic addition; zeros are needed.
# - 1 point: fresh memory is often 0, so tests pass by chance.
# - 1 point: each addition rounds to bfloat16, and long sums lose small terms.
# - 1 point: sum in float32 memory, and convert once.
# - 1 point: the order of programs is open; a fixed order (sort, or parts and a second kernel) and its price.
# - 1 point: token -1 writes in front of the table; a mask by the value.

# %% [markdown]
# ## For the GPU
#
# First time the histogram, for numbers that are spread over all bins and for numbers that are all equal. How much slower is
# the second case? Then count in blocks first, as described above, and measure again.
#
# Then time a product with a small result and a long k, with more and more parts. Where does it stop getting faster?
#
# Measured on an NVIDIA H200 ({h200: versions}), 2²⁶ spread numbers in 256 bins:
#
# - The model solution took {h200: histogram int32, 67108864 numbers in 256 bins | plain | ms} ms, because each number is an
#   atomic addition to one of the same 256 addresses.
# - `torch.bincount` took {h200: histogram int32, 67108864 numbers in 256 bins | torch | ms} ms.
# - The course's fast form counts in blocks, in persistent programs, and took
#   {h200: histogram int32, 67108864 numbers in 256 bins | fast | ms} ms.
#
# Measured on an NVIDIA H200 ({h200: versions}), running sums of as many fp32 numbers:
#
# - In 8,192 rows of 8,192: {h200: cumsum fp32, 8192×8192 | plain | ms} ms for the model solution,
#   {h200: cumsum fp32, 8192×8192 | torch | ms} ms for `torch.cumsum`.
# - In *one* row: {h200: cumsum fp32, 1×67108864 | plain | ms} ms for the model solution,
#   {h200: cumsum fp32, 1×67108864 | torch | ms} ms for `torch.cumsum`. One program loops over the row, and 131
#   multiprocessors have nothing to do. The fast form shares the row among programs, which pass on their sums:
#   {h200: cumsum fp32, 1×67108864 | fast | ms} ms.
#
# Measured on an NVIDIA H200 ({h200: versions}), a product of 512×16384 by 16384×512 in fp16, in 8 parts:
# {h200: split_k_matmul 512×512×16384 | plain | µs} µs for the model solution,
# {h200: split_k_matmul 512×512×16384 | fast | µs} µs for the fast form, {h200: split_k_matmul 512×512×16384 | torch | µs}
# µs for cuBLAS.

# %% gpu
if ON_GPU:
    n = 2**26
    spread = torch.randint(0, 256, (n,), device="cuda", dtype=torch.int32)
    for title, x in (("spread", spread), ("all equal", torch.zeros_like(spread))):
        others = {"torch.bincount": lambda x, bins: torch.bincount(x, minlength=bins)}
        time_beside(histogram, others, x, 256, n_bytes=4 * n, title=title)
    a = torch.randn(64, 2**17, device="cuda", dtype=torch.float16)
    b = torch.randn(2**17, 64, device="cuda", dtype=torch.float16)
    for splits in (1, 4, 16, 64, 128, 256, 512):
        time_beside(
            lambda: split_k_matmul(a, b, splits),
            {"cuBLAS": lambda: a @ b},
            operations=2 * a.numel() * 64,
            atol=4.0,
            title=f"{splits} parts",
        )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Load, add, store is three steps, and another program can run between them. An atomic addition is one step.
# - Atomics add to what is in memory, in any order, and round at each step. So start from zeros, use float32, and do not
#   expect the same last bits.
# - A number that becomes an address needs two bounds.
# - A scan regroups its elements, so its operation must be associative. In long rows, scan the block, add the carry, and let
#   the carry grow by the sum of the block.
# - Parts of a sum need atomics or places of their own, and together they must cover all of k.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `splits`, part | `SPLIT_K`, `pid_k` |
# | carry | prefix, running prefix |
# | sum of a block | block aggregate |
# | count in the block first | privatised histogram |
# | scratch memory, counter | workspace, lock or semaphore |
#
# References:
#
# - Blelloch: [Prefix Sums and Their Applications](https://www.cs.cmu.edu/~guyb/papers/Ble93.pdf) (1990)
# - Merrill, Garland: [Single-pass Parallel Prefix Scan with Decoupled
#   Look-back](https://research.nvidia.com/publication/2016-03_single-pass-parallel-prefix-scan-decoupled-look-back)
#   (2016)
# - Osama et al.: [Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the
#   GPU](https://arxiv.org/abs/2301.03598) (2023)
# - [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html) (PyTorch's notes)
# - [Layer Normalization](https://triton-lang.org/main/getting-started/tutorials/05-layer-norm.html) (Triton
#   tutorial 05): its backward pass adds partial sums under a lock
#
# To practise, run `practice()`: it gives you a puzzle from an exercise that you have passed.

# %%
progress()
