# %% [markdown]
# # Matrix multiplication: work worth the journey
#
# So far your kernels waited for memory. Matrix multiplication is the operation that need not:
# it does so much arithmetic on each number that a GPU can be kept busy. At the end of this
# lesson you have written it in tiles, for any shape and any strides, and you have fused a whole
# neural-network layer into one kernel.
#
# It takes about 45 minutes. Lessons 04 (strides) and 05 (tiles) come first.

# %% setup
from triton_util import explore, figures, interpreted, time_beside
from triton_util.environment import interpreting
from triton_util.interpreter import KernelFault, interpret, unguarded_launches

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## More work than data
#
# `c = a @ b` for two N×N matrices: each of the N² results is a sum of N products. That makes
# 2N³ operations (a multiplication and an addition per product), on 3N² numbers that must travel
# at least once. Work divided by bytes is called **arithmetic intensity**.
#
# **Predict.** N = 4096, in fp16 (2 bytes per number). How many operations per byte, at best?

# %%
predict("matmul_operations_per_byte", None)

# %% [markdown]
# The figure grows with N. An H200 can do about 989,000 billion fp16 operations per second
# in its tensor cores and fetch 4,800 billion bytes: it needs 206 operations per byte to be
# busy. ReLU offers it 0.25 in fp16, at every size. A large matmul offers plenty. That is why
# language models are built of it.
#
# *At best*, though. The next question is whether each number really travels only once.
#
# ## Tiles
#
# The plain way: one program per element of `c` reads a row of `a` and a column of `b`. Then
# each element of `a` is loaded once for *every column of b*: N times.
#
# Now let one program compute a **tile** of `c`, say 64 rows by 64 columns. It loads 64 rows of
# `a` and 64 columns of `b`, piece by piece, and uses each number 64 times while it has it.
#
# **Predict.** 256×256 matrices, tiles of 32×32. How often is each element of `a` loaded, in all?

# %%
predict("times_loaded", None)

# %%
figures.tile_reuse((1, 16, 32, 64, 128), n=4096)

# %% [markdown]
# Each program that works on the same rows loads them once, and there is one such program per
# column of tiles. Larger tiles, fewer loads; until a tile no longer fits into
# registers and shared memory. (Lesson 09 lets the cache help; lesson 11 chooses the tile.)
#
# A row of `a` is K long, and K may be thousands. So a program walks along K in steps, too:

# %%
figures.matmul_tiles()

# %% [markdown]
# The work is cut three ways: over **M** by `program_id(0)`, over **N** by `program_id(1)`, and
# over **K** by a loop inside the program. Programs run side by side; the steps of the loop run
# one after another and add up in one **accumulator**.
#
# **Try it.** Walk with one program through its steps. For which programs and steps are all
# lanes inside the matrices? When are only the *K* lanes outside?

# %%
explore.matmul_walk(pid_m=0, pid_n=0, step=2)

# %%
# The same without controls:
print(explore.matmul_walk_text(pid_m=1, pid_n=2, step=2))

# %% [markdown]
# ## The pieces
#
# **A tile of pointers** is a column of row offsets and a row of column offsets, each times its
# stride, broadcast together. Code that appears several times may go into a function of its
# own, which must be a `@triton.jit` function as well:

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
# **`tl.dot`** multiplies two tiles, on the tensor cores of an A100 and of all later GPUs. The side
# over which it sums, K, must be at least 16 in fp16 and bf16 and at least 8 in fp32; with Triton 3.9
# the other two may be as short as 1, though tensor cores fill up from 16 on.
# `tl.dot(a, b, accumulator)` adds the product to the accumulator.
#
# **The accumulator is float32**, also when the inputs are fp16. The next cell says why.
# **Predict**: add 1 to an fp16 zero, 4,096 times. What comes out?

# %%
predict("sum_of_4096_ones", None)

# %%
total = torch.zeros((), dtype=torch.float16)
for _ in range(4096):
    total += 1
print(total.item())

# %% [markdown]
# A sum of many small terms is exactly what a matmul is. So: sum in float32, and round *once*, at
# the store.
#
# **`input_precision`.** For float32 inputs a GPU may take them as **TF32**, which has 10 bits of
# fraction in place of 23, because its tensor cores are faster that way. Triton does so by default,
# and does not even round: the other 13 bits are cut off. Here is what both do to a product:

# %%
def cut_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """Keep 10 of the 23 bits of the fraction, as Triton's default does."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def round_to_tf32(x: torch.Tensor) -> torch.Tensor:
    """The same, rounded to the nearest."""
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
# A thousand times worse, often good enough for training, and not what this exercise asks for.
# `tl.dot(..., input_precision="ieee")` keeps full float32. (Older texts write
# `allow_tf32=False`.) The interpreter computes in full float32 either way; on a GPU you would
# see the difference.
#
# ## A kernel that is right on most days
#
# Here is a dot product, one program, in steps of 8 along K. It has no masks; "K is always a
# multiple of 8 here", said its author. Then K was 20. The vectors below are the first 20
# elements of longer ones, all ones. **Predict** the sum that it returns when the four elements
# behind `a` are 0, and when they are 100:

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
with unguarded_launches():  # as Triton itself runs it: this notebook stops such kernels
    long_a[20:] = 0.0
    print("zeros behind:   ", hasty_dot(long_a[:20], long_b[:20]).item())
    long_a[20:] = 100.0
    print("hundreds behind:", hasty_dot(long_a[:20], long_b[:20]).item())

# %% [markdown]
# What lies behind the vector joins the sum. If it is zero, all is well, and fresh memory is often zero. So the kernel is right in the test, right
# in the demonstration, and wrong on some days in production, and nobody can reproduce it.
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
# In a matmul the tile can stick out over *three* edges: below the last row, right of the last
# column, and beyond the end of K. The mask of the store saves you from the first two, if no
# illegal access happens before. Nothing saves you from the third: lanes beyond K are summed into
# *every* element of the tile. Load them as zeros, `other=0.0`; a product with zero adds nothing.
#
# ## Exercise: `matmul`
#
# **The contract.** `matmul(a, b)` returns `a @ b`.
#
# - `a` is `(m, k)`, `b` is `(k, n)`: any sizes, 0 and 1 included. If k is 0, the result is zeros.
# - Any strides: sliced, transposed, expanded. Elements lie within 2³¹ elements of the first one:
#   the far views of lesson 04 are not tried here.
# - Both have the same dtype, float32, float16 or bfloat16, and the result has it too.
# - Sums are made in float32. For float32 inputs the result is exact to float32: no TF32.
# - The result is a new contiguous tensor of shape `(m, n)`.
#
# The launcher is given; the kernel is yours. `hint("matmul")` helps in three steps.

# %% exercise="matmul"

# %% [markdown]
# ## What did your kernel move?
#
# The launcher takes tiles of 64×64 with steps of 32. **Predict**: for 256×256 matrices in fp32,
# how many bytes of `a` do all programs load together? (`a` itself has 262,144 bytes.)

# %%
predict("bytes_of_a", None)

# %%
traffic = explore.measure(matmul, torch.ones(256, 256), torch.ones(256, 256))
if traffic.total:
    print(traffic)

# %% [markdown]
# **Try it.** Change the tile in your launcher to 32×32 and predict again. Then to 128×16: `a`
# and `b` are no longer loaded equally often. Which of the two is loaded more, and why?
#
# ## Exercise: `linear_bias_relu`
#
# A layer of a neural network is `relu(x @ w.T + b)`. As three kernels, the product would be
# stored, loaded, stored, loaded and stored again. In one kernel the bias and the ReLU happen
# while the tile is still in registers, just before the only store.
#
# **Predict.** `x` and `w` are 4096×4096 in fp16. How many bytes of traffic does the fusion save?
# (Count what the two extra kernels would have loaded and stored.)

# %%
predict("bytes_saved_by_fusion", None)

# %% [markdown]
# On an H200, which copies about 4,200 GB/s, that is some 32 microseconds. The product itself
# takes {h200: grouped_matmul 4096 | torch | µs} µs there (cuBLAS, measured: {h200: grouped_matmul 4096 | torch | TFLOP/s} TFLOP/s). For narrower
# layers the saved share is larger.
#
# **The contract.** `linear_bias_relu(x, w, b)` returns `relu(x @ w.T + b)`.
#
# - `x` is `(m, k)`, `w` is `(n, k)`, `b` is `(n,)`; any sizes, any strides, one dtype for all
#   three: float32, float16 or bfloat16.
# - Product, bias and ReLU stay in float32 until the one store. No TF32.
# - The result is a new contiguous `(m, n)` tensor with the dtype of `x`.
# - One kernel does it all.
#
# `w` has one row per *output*. You need `w.T`, and a transposed matrix is only a matter of
# strides: no copy, no `tl.trans`. `hint("linear_bias_relu")` helps.

# %% exercise="linear_bias_relu"

# %% [markdown]
# ## Quiz

# %%
quiz("matmul")

# %% [markdown] case_study="wrong-on-some-days" points=6
# ## Case study: wrong on some days
#
# A team's matmul kernel has tiles of 64×64 and steps of 32 along K. Its *store* is masked, its
# loads are not. It passes a test with 512×512 matrices every night. In the service it multiplies
# `(1000, 300) @ (300, 200)`. Most answers are right. Some are slightly wrong, once there were
# NaN, and when the same input is run again alone in a fresh process, the answer is right.
#
# 1. How many products too many are in each element of the result? Which elements of the result
#    does that affect?
# 2. Rows beyond 1,000 and columns beyond 200 are loaded without a mask as well. Why do these not
#    harm the numbers in the result, and why should they be masked nevertheless?
# 3. Explain "most answers are right" and "right when run again alone".
# 4. A colleague proposes to wrap the offsets round, `offs_m % M`, `offs_n % N` and
#    `offs_k % K`, so that every address is legal. For which of the three is that a correct
#    mend, and why not for the others?
#
# Answer in about 150 words.

# %%
answer("wrong-on-some-days")

# %% [markdown] model_answer="wrong-on-some-days"
# 1. Ten steps of 32 cover 320 inner indices, and K is 300: 20 products too many, in *every*
#    element of the result, because every element is a sum over the whole of K.
# 2. A row beyond the end of `a` only enters the same row of the tile of `c`, and the masked store
#    throws that row away; likewise columns of `b`. But the loads touch memory that does not
#    belong to the matrix: an illegal access may stop the program, and a memory checker rightly
#    complains.
# 3. What lies behind the valid part decides: for `a`, reading past the end of a row gives the
#    start of the next row (wrong by a little, multiplied by whatever stands in for `b`); for
#    `b`, reading past its last row gives memory of other tensors. If that memory is zero, the
#    extra products are zero and the answer is right. Fresh processes get fresh, often zeroed
#    memory; a busy service reuses memory that holds old numbers, sometimes NaN or infinities
#    (and 0 · NaN is NaN).
# 4. For M and N: the wrapped rows and columns are computed from legal numbers, and the masked
#    store throws them away. Not for K: the wrapped indices give real products that are counted a
#    second time, so every sum is wrong, now reproducibly. Along K the lanes must be loaded as
#    zero: `mask=offs_k < K, other=0.0`, for both factors, or at least for one whose
#    counterpart is surely finite.
#
# **Rubric (6 points)**
#
# - 1 point: 20 products too many.
# - 1 point: every element of the result is affected.
# - 1 point: rows and columns outside are thrown away by the masked store.
# - 1 point: out-of-bounds loads may fault all the same.
# - 1 point: the content of foreign memory (zero or not) explains the chance.
# - 1 point: wrapping is right for M and N, wrong for K, with the reason.

# %% [markdown]
# ## For the GPU
#
# **Predict.** What share of cuBLAS's speed will your kernel reach in fp16 at 4096×4096?
#
# Measured on an NVIDIA H200 at 4096 in fp16: cuBLAS {h200: grouped_matmul 4096 | torch | TFLOP/s} TFLOP/s,
# this course's model solution, with the tiles of your launcher, {h200: matmul 4096 | plain | TFLOP/s}. The same
# arithmetic with tiles of 128×256×64, 8 warps and the grouped order of lesson 09 reached
# {h200: order 128×256×64 at 4096 | GROUP 8 | TFLOP/s}. The next lessons close the gap.

# %% gpu
if ON_GPU:
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    b = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    others = {"cuBLAS (torch)": torch.matmul}
    time_beside(matmul, others, a, b, operations=2 * 4096**3, atol=0.5)
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - O(N³) work on O(N²) data: matmul can be limited by arithmetic, if tiles reuse what they load.
# - Masks on every edge, and zeros along K, because K is summed.
# - Accumulate in float32, round once; and do what follows before the store.

# %%
progress()
