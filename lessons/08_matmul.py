# %% [markdown]
# # Matrix multiplication: enough arithmetic for each byte
#
# So far your kernels waited for memory. A matrix multiplication need not: it does so much arithmetic per number that it can
# keep a GPU busy. In this lesson you write it in tiles, for any shape and any strides. Then you fuse a whole layer of a
# neural network into one kernel.
#
# It takes about 90 minutes. Lessons 04 (strides), 05 (tiles) and 07 (a loop over the data) come first.

# %% setup
from triton_util import catch, explore, figures, interpreted, time_beside
from triton_util.environment import interpreting
from triton_util.interpreter import KernelFault, interpret, unguarded_launches

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# This kernel should multiply a matrix of 16 rows by a matrix of 16 columns. `tl.dot` multiplies two small matrices. One
# program goes along the shared side, 16 at a time. Run both cells.

# %%
@triton.jit
def strip_kernel(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k_start in range(0, K, BLOCK):
        offs_k = k_start + offs
        a = tl.load(a_ptr + offs[:, None] * K + offs_k[None, :])
        b = tl.load(b_ptr + offs_k[:, None] * BLOCK + offs[None, :])
        total = tl.dot(a, b)
    tl.store(c_ptr + offs[:, None] * BLOCK + offs[None, :], total)


def strip(a, b):
    c = torch.empty(16, 16)
    strip_kernel[(1,)](a, b, c, a.shape[1], BLOCK=16)
    return c



# %%
pairs = [(torch.ones(16, k), torch.arange(16.0).expand(k, 16).contiguous()) for k in (48, 16, 32, 80)]
catch("every_step", strip, *pairs[0], right=torch.matmul, others=pairs[1:])

# %% [markdown]
# The result is a third of what it should be: of the three steps, only the last one counts. **Fix it**: one character in the
# line with `tl.dot` is missing. Run that cell again, then the one above this text, until the card is green. You have
# repaired the core of a matrix multiplication.
#
# ## More work than data
#
# Take `c = a @ b` for two N×N matrices. Each of the N² results is a sum of N products. That makes 2N³ operations (a
# multiplication and an addition per product) on 3N² numbers, each of which must move at least once. Operations divided by
# bytes are the **arithmetic intensity**.
#
# **Predict.** N = 4096, in fp16 (2 bytes per number). How many operations per byte, at best?

# %%
predict("matmul_operations_per_byte", None)

# %% [markdown]
# The arithmetic intensity grows with N. An H200 does about 989,000 billion fp16 operations per second on its **tensor
# cores**, the units that multiply small matrices, and moves 4,800 billion bytes per second. So it needs 206 operations per
# byte to be busy. ReLU has 0.25 in fp16, at every size. A large matmul has more than enough. That is one reason why
# language models consist mostly of matmuls.
#
# That is the best case. Does each number really move only once?
#
# ## Tiles
#
# In the simplest kernel, one program per element of `c` reads a row of `a` and a column of `b`. Then each element of `a` is
# loaded once for *every column of b*: N times.
#
# Now let one program compute a **tile** of `c`, say 64 rows by 64 columns. It loads 64 rows of `a` and 64 columns of `b`,
# block by block, and uses each loaded number 64 times.
#
# **Predict.** 256×256 matrices, tiles of 32×32. How many times is each element of `a` loaded, in all?

# %%
predict("times_loaded", None)

# %%
figures.tile_reuse((1, 16, 32, 64, 128), n=4096)

# %% [markdown]
# Each program that works on the same rows loads them once, and there is one such program per column of tiles. So larger
# tiles need fewer loads. The limit is the space for a tile in registers and **shared memory**, the fast memory that the
# threads of a program share. (Lesson 09 uses the cache; lesson 11 chooses the tile.)
#
# A row of `a` has K elements, and K may be thousands. So a program loops along K, too:

# %%
figures.matmul_tiles()

# %% [markdown]
# The work is split in three ways: over **M** by `program_id(0)`, over **N** by `program_id(1)`, and over **K** by a loop
# inside the program. Programs run in parallel. The steps of the loop run one after another, and add up in one
# **accumulator**, the block that carries the sum from step to step.
#
# **Try it.** Follow one program through its steps. For which programs and steps are all lanes inside the matrices? When are
# only the *K* lanes outside?

# %%
explore.matmul_walk(pid_m=0, pid_n=0, step=2)

# %%
# The same without controls:
print(explore.matmul_walk_text(pid_m=1, pid_n=2, step=2))

# %% [markdown]
# ## The pieces
#
# **A tile of pointers** adds a column of row offsets and a row of column offsets, each times its stride. Broadcasting makes
# a tile of them. Code that occurs several times can go into a function of its own, which must be a `@triton.jit` function,
# too:

# %%
@triton.jit
def tile_pointers(base_ptr, rows, cols, stride_row, stride_col):
    return base_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col


@triton.jit
def one_tile_kernel(a_ptr, b_ptr, c_ptr, stride, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a = tl.load(tile_pointers(a_ptr, offs, offs, stride, 1))
    b = tl.load(tile_pointers(b_ptr, offs, offs, stride, 1))
    c = tl.dot(a, b)
    tl.store(tile_pointers(c_ptr, offs, offs, stride, 1), c)


a = torch.ones(16, 16, device=DEVICE)
b = torch.arange(16.0, device=DEVICE).expand(16, 16).contiguous()
c = torch.empty(16, 16, device=DEVICE)
one_tile_kernel[(1,)](a, b, c, 16, BLOCK=16)
print(c[0].tolist())

# %% [markdown]
# **`tl.dot`** multiplies two tiles, on the tensor cores of an A100 and of all later GPUs. The side over which it sums,
# K, must be at least 16 in fp16 and bf16 and at least 8 in fp32. With Triton 3.9 the other two may be as short as 1, but
# tensor cores work on at least 16. `tl.dot(a, b, accumulator)` adds the product to the accumulator.
#
# **The accumulator is float32**, also when the inputs are fp16. The next cell shows why.
# **Predict**: add 1 to an fp16 zero, 4,096 times. What is the result?

# %%
predict("sum_of_4096_ones", None)

# %%
total = torch.zeros((), dtype=torch.float16)
for _ in range(4096):
    total += 1
print(total.item())

# %% [markdown]
# A matmul is such a sum of many small terms. So sum in float32, and round *once*, at the store.
#
# **`input_precision`.** For float32 inputs the tensor cores can use **TF32**, which has 10 bits of fraction instead of 23
# and is faster. Triton uses it by default, and does not even round: the other 13 bits are cut off. This cell shows the
# error of both:

# %%
def cut_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Keep 10 of the 23 bits of the fraction, as Triton's default does."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def round_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Round to the nearest number with 10 bits of fraction."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


generator = torch.Generator().manual_seed(0)
a = torch.randn(256, 256, generator=generator)
b = torch.randn(256, 256, generator=generator)
exact = a.double() @ b.double()
products = {
    "float32": a @ b,
    "TF32, rounded": round_to_tf32(a) @ round_to_tf32(b),
    "TF32, cut off": cut_to_tf32(a) @ cut_to_tf32(b),
}
for name, product in products.items():
    print(f"{name}: largest error {(product - exact).abs().max():.1e}")

# %% [markdown]
# TF32 is a thousand times less exact. That is often good enough for training, but this exercise asks for full float32:
# `tl.dot(..., input_precision="ieee")`. (Older texts write `allow_tf32=False`.) Triton's own interpreter computes in full
# float32 either way. The judge cuts off the 13 bits as a GPU does, so `check` shows a missing `"ieee"` even without a GPU.
#
# ## A kernel that is correct on most days
#
# Here is a dot product, in one program, in steps of 8 along K. It has no masks. Its author said: "K is always a multiple
# of 8 here." Then K was 20. The vectors below are the first 20 elements of longer ones, all ones. **Predict** the sum when
# the four elements after the 20 of `a` are 0, and when they are 100:

# %%
predict("with_zeros_behind", None)
predict("with_hundreds_behind", None)

# %%
@triton.jit
def hasty_dot_kernel(a_ptr, b_ptr, output_ptr, K: tl.constexpr, BLOCK_K: tl.constexpr):
    partial_sums = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K)
        partial_sums += tl.load(a_ptr + offs_k) * tl.load(b_ptr + offs_k)
    tl.store(output_ptr, tl.sum(partial_sums, axis=0))


def hasty_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    output = torch.empty(1, device=a.device)
    hasty_dot_kernel[(1,)](a, b, output, K=a.numel(), BLOCK_K=8)
    return output


long_a, long_b = torch.ones(24, device=DEVICE), torch.ones(24, device=DEVICE)
with unguarded_launches():  # as Triton itself runs it; the course's interpreter would stop this kernel
    long_a[20:] = 0.0
    print("followed by zeros:   ", hasty_dot(long_a[:20], long_b[:20]).item())
    long_a[20:] = 100.0
    print("followed by hundreds:", hasty_dot(long_a[:20], long_b[:20]).item())

# %% [markdown]
# The sum includes whatever follows the vector in memory. If that is zero, the result is correct, and fresh memory is often
# zero. So the kernel is correct in the test and in the demonstration, and wrong on some days in production. Such a bug is
# hard to reproduce.
#
# You need not wait for such a day. The course's interpreter knows where each argument ends:

# %%
def step_over_the_end():
    try:
        with interpret():
            hasty_dot(torch.ones(20), torch.ones(20))
    except KernelFault as fault:
        print(fault)


interpreted(step_over_the_end)

# %% [markdown]
# In a matmul a tile can cross *three* edges: the last row, the last column, and the end of K. The mask of the store drops
# the rows and columns outside, provided that their loads cause no illegal access. It cannot help with K: lanes past the
# end of K are summed into *every* element of the tile. Load them as zeros with `other=0.0`: a product with zero adds
# nothing.
#
# ## Exercise: `dot_tile`
#
# This is a drill of about five minutes: one program, one tile, no loop. What is left are the masks.
#
# **The contract.** `dot_tile(a, b)` returns `a @ b` for matrices that fit into one tile of 32×32.
#
# - `a` is `(m, k)`, `b` is `(k, n)`. Each of m, k and n is at most 32; 0 is legal, and if k is 0 the result is zeros.
# - Both are contiguous and have the same dtype, float32, float16 or bfloat16. So a row of `a` has k elements, and a row
#   of `b` has n.
# - The result is a new contiguous tensor of shape `(m, n)` with that dtype. Use full float32 precision, not TF32.
#
# The launcher is given. `hint("dot_tile")` helps.

# %% exercise="dot_tile"

# %% [markdown]
# ## Exercise: `matmul`
#
# **The contract.** `matmul(a, b)` returns `a @ b`.
#
# - `a` is `(m, k)`, `b` is `(k, n)`: any sizes, 0 and 1 included. If k is 0, the result is zeros.
# - Any strides: sliced, transposed, expanded. All elements are within 2³¹ elements of the first one. The judge does not
#   test the far views of lesson 04 here.
# - Both have the same dtype, float32, float16 or bfloat16. The result has that dtype, too.
# - Sum in float32. For float32 inputs use full float32 precision, not TF32.
# - The result is a new contiguous tensor of shape `(m, n)`.
#
# The launcher is given; you write the kernel. `hint("matmul")` helps in three steps.

# %% exercise="matmul"

# %% [markdown]
# ## What did your kernel move?
#
# The launcher uses tiles of 64×64 with steps of 32. **Predict**: for 256×256 matrices in fp32, how many bytes of `a` do
# all programs load together? (`a` itself has 262,144 bytes.)

# %%
predict("bytes_of_a", None)

# %%
traffic = explore.measure(matmul, torch.ones(256, 256), torch.ones(256, 256))
if traffic.total:
    print(traffic)

# %% [markdown]
# **Try it.** Change the tile in your launcher to 32×32 and predict again. Then try 128×16: `a` and `b` are no longer loaded
# equally often. Which of the two is loaded more, and why?
#
# ## Exercise: `linear_bias_relu`
#
# A layer of a neural network computes `relu(x @ w.T + b)`. With three kernels, the product would be stored, loaded, stored,
# loaded and stored again. One kernel adds the bias and applies the ReLU while the tile is still in registers, just
# before the only store.
#
# **Predict.** `x` and `w` are 4096×4096 in fp16. How many bytes of traffic does the fusion save? (Count what the two
# additional kernels would have loaded and stored.)

# %%
predict("bytes_saved_by_fusion", None)

# %% [markdown]
# On an H200, which copies about 4,200 GB/s, that saves some 32 microseconds. The product itself takes
# {h200: grouped_matmul 4096 | torch | µs} µs there (cuBLAS, measured: {h200: grouped_matmul 4096 | torch | TFLOP/s} TFLOP/s). For narrower layers the saved
# part is larger.
#
# **The contract.** `linear_bias_relu(x, w, b)` returns `relu(x @ w.T + b)`.
#
# - `x` is `(m, k)`, `w` is `(n, k)`, `b` is `(n,)`: any sizes, any strides, one dtype for all three (float32, float16 or
#   bfloat16).
# - Product, bias and ReLU stay in float32 until the one store. Do not use TF32.
# - The result is a new contiguous `(m, n)` tensor with the dtype of `x`.
# - One kernel does all of it.
#
# `w` has one row per *output*. You need `w.T`, and transposing a matrix only exchanges its strides: you need no copy and
# no `tl.trans`. `hint("linear_bias_relu")` helps.

# %% exercise="linear_bias_relu"

# %% [markdown]
# ## Quiz

# %%
quiz("matmul")

# %% [markdown] case_study="wrong-on-some-days" points=6
# ## Case study: wrong on some days
#
# A team's matmul kernel has tiles of 64×64 and steps of 32 along K. Its *store* is masked, its loads are not. It passes a
# test with 512×512 matrices every night. In the service it multiplies `(1000, 300) @ (300, 200)`. Most answers are
# correct. Some are slightly wrong, and once there were NaN. When the same input runs again, alone in a fresh process, the
# answer is correct.
#
# 1. How many products too many are in each element of the result? Which elements does that affect?
# 2. Rows beyond 1,000 and columns beyond 200 are loaded without a mask as well. Why do these not change the numbers in the
#    result, and why should they be masked nevertheless?
# 3. Explain "most answers are correct" and "correct when it runs again alone".
# 4. A colleague proposes to wrap the offsets, `offs_m % M`, `offs_n % N` and `offs_k % K`, so that every address is
#    legal. For which of the three is that a correct fix, and why not for the others?
#
# Answer in about 150 words.

# %%
answer("wrong-on-some-days")

# %% [markdown] model_answer="wrong-on-some-days"
# 1. Ten steps of 32 cover 320 indices, and K is 300: 20 products too many. They affect *every* element of the result,
#    because every element is a sum over the whole of K.
# 2. A row past the end of `a` only enters the same row of the tile of `c`, and the masked store drops that row. The same is
#    true for columns of `b`. But these loads touch memory outside the matrix: an illegal access may stop the program, and a
#    memory checker rightly complains.
# 3. The memory after the valid part decides. For `a`, reading past the end of a row gives the start of the next row. For
#    `b`, reading past its last row gives memory of other tensors. If that memory is zero, the additional products are zero
#    and the answer is correct. A fresh process gets fresh memory, which is often zero. A busy service reuses memory with old
#    numbers, sometimes NaN or infinities (and 0 · NaN is NaN).
# 4. For M and N: the wrapped rows and columns are computed from legal numbers, and the masked store drops them. Not for K:
#    the wrapped indices give real products that are counted a second time, so every sum is wrong, now reproducibly. Along K
#    load the lanes as zero: `mask=offs_k < K, other=0.0`, for both factors, or at least for one whose counterpart is
#    surely finite.
#
# **Rubric (6 points)**
#
# - 1 point: 20 products too many.
# - 1 point: every element of the result is affected.
# - 1 point: the masked store drops rows and columns outside.
# - 1 point: out-of-bounds loads may fault all the same.
# - 1 point: the content of the memory outside (zero or not) explains the chance.
# - 1 point: wrapping is correct for M and N, wrong for K, with the reason.

# %% [markdown]
# ## For the GPU
#
# **Predict.** What fraction of cuBLAS's speed will your kernel reach in fp16 at 4096×4096?
#
# Measured on an NVIDIA H200 ({h200: versions}) at 4096 in fp16: cuBLAS {h200: grouped_matmul 4096 | torch | TFLOP/s} TFLOP/s,
# this course's model solution, with the tiles of your launcher, {h200: matmul 4096 | plain | TFLOP/s}. The same
# arithmetic with tiles of 128×256×64, 8 warps and the grouped order of lesson 09 reached
# {h200: order 128×256×64 at 4096 | GROUP 8 | TFLOP/s}. The next lessons close most of this gap.

# %% gpu
if ON_GPU:
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    b = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    others = {"cuBLAS (torch)": torch.matmul}
    time_beside(matmul, others, a, b, operations=2 * 4096**3, atol=0.5)
else:
    print("Not run: there is no GPU here, and the interpreter's time does not predict a GPU's.")

# %% [markdown]
# ## What you take with you
#
# - A matmul does O(N³) work on O(N²) data. Arithmetic can be its limit, if tiles reuse what they load.
# - Mask every edge, and load zeros past the end of K, because the kernel sums over K.
# - Accumulate in float32 and round once. Do what follows (bias, activation) before the store.
#
# To practise, call `practice()`. It draws a puzzle from an exercise that you have passed.

# %%
progress()
