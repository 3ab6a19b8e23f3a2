# %% [markdown]
# # Memory or arithmetic: what is a kernel waiting for?
#
# Two numbers limit how fast a kernel can be: how many operations it does, and how many bytes it moves. In
# this lesson you learn to count both and to see which one the kernel waits for. Then you know which
# improvements are worth making before you make them. You also write a launcher, and fuse two kernels into
# one.
#
# It takes about 55 minutes. Do lesson 01 first.

# %% setup
from triton_util import explore, figures, interpreted, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Count first
#
# This kernel doubles 1,000 numbers of 4 bytes, in blocks of 256. **Predict.** How many bytes does it load and store in
# all? Then run the second cell: it runs the kernel in the interpreter, which counts them.

# %%
predict("double_bytes", None)

# %%
@triton.jit
def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def double(x):
    output = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 256),)](x, output, x.numel(), BLOCK_SIZE=256)
    return output


print(explore.measure(double, torch.ones(1000)))

# %% [markdown]
# Now change `torch.ones(1000)` to `torch.ones(1000, dtype=torch.float16)`, and run the cell again. Bytes are one of
# the two numbers of this lesson. Operations are the other: here 1,000 multiplications. An addition, a
# multiplication or a comparison of two floating-point numbers is one **FLOP** (*floating-point operation*), and a
# TFLOP/s is a million million of them in a second.
#
# ## Two limits
#
# A GPU computes and moves data at the same time. While some warps wait for memory, others compute. So a
# kernel takes at least as long as the *slower* of the two:
#
# $$\begin{aligned}\text{time} \ge \max\Bigl(&\frac{\text{bytes}}{\text{bytes per second}},\\
# &\frac{\text{operations}}{\text{operations per second}}\Bigr)\end{aligned}$$
#
# A kernel's operations divided by its bytes are its **arithmetic intensity**. A GPU's operations per second
# divided by its bytes per second are its **ridge point**. Below the ridge point a kernel is *limited by
# memory*, above it *by arithmetic*. Here are data-sheet figures (without sparsity; a multiply-add counts as
# two operations):

# %%
print("GPU                GB/s   fp32 TFLOP/s   fp16 TFLOP/s   ridge fp32   ridge fp16")
for gpu in explore.GPUS.values():
    print(
        f"{gpu.name:15s} {gpu.gbytes_per_second:7,} {gpu.fp32_tflops:14g} {gpu.fp16_tflops:14g} "
        f"{gpu.ridge(tensor_cores=False):12.1f} {gpu.ridge(tensor_cores=True):12.1f}"
    )

# %% [markdown]
# (The fp16 figures are for the tensor cores, units that only multiply small matrices.)
#
# **Predict.** ReLU, `max(x, 0)`, in fp32: one operation for each element. The kernel loads each element and
# stores its result. What is its arithmetic intensity, in operations per byte?

# %%
predict("relu_intensity", None)

# %% [markdown]
# The lowest fp32 ridge point in the table is 9.6, so memory limits ReLU on all of these GPUs. Both limits drawn
# together make the **roofline**. The picture is drawn for **fp16**, with the roofs of the tensor cores. There an element
# has 2 bytes, so ReLU has 1 operation for 4 bytes, 0.25:

# %%
figures.roofline({"ReLU": 0.25, "matmul N = 64": 64 / 3, "matmul N = 4096": 4096 / 3})

# %% [markdown]
# In the rising part memory is the limit, in the flat part arithmetic. A matmul of N×N matrices does
# 2N³ operations on 3N² numbers. In fp16 that is N/3 operations per byte, so it moves towards the flat part as
# N grows. The intensity of ReLU is the same at every size.
#
# **Try it.** How many operations per element does an elementwise fp32 kernel need before arithmetic limits it
# on an H200? And on a T4?

# %%
explore.roofline(gpu="H200", operations=1, bytes_moved=8)

# %%
# The same without controls:
print(explore.roofline_text(gpu="T4", operations=1, bytes_moved=8))

# %% [markdown]
# ## Exercise: `relu2d`
#
# **The contract.** `relu2d(x)` returns `max(x, 0)`, element by element.
#
# - `x` is a two-dimensional, *contiguous* tensor of float32, float16 or bfloat16.
# - The result is a new tensor of the same shape and dtype.
# - Where `x` is NaN, the result may be NaN or 0.
# - Empty matrices are legal.
#
# A contiguous matrix is one line of memory whose rows follow one another without a gap (lesson 04 is about
# the others). An operation on single elements does not need rows and columns: treat the matrix as a vector,
# as in lesson 01. You can write ReLU with `tl.maximum(a, b)` or with `tl.where(condition, a, b)`.
#
# **You write the launcher, too, with less help than in lesson 01**: allocate the result, count the elements, choose
# a block size and the grid, launch. `x.numel()` is the number of elements of a matrix. `hint("relu2d")` helps.

# %% exercise="relu2d"

# %% [markdown]
# ## Measure your own
#
# **Predict.** A 100×30 matrix in fp32. How many bytes does your kernel load and store in all? (Suppose that
# its blocks are 1,024 long. 3,000 is not a multiple of that. Does it matter?)

# %%
predict("relu_bytes", None)

# %%
traffic = explore.measure(relu2d, torch.ones(100, 30))
if traffic.total:
    print(traffic)
    print(f"intensity: {3000 / traffic.total} operations per byte")

# %% [markdown]
# Masked-off lanes move nothing. So a kernel with a correct mask moves exactly what it must, 8 bytes per
# element, and the count agrees with the formula. In fp16 it moves half the bytes. A kernel that waits for
# memory then takes half the time. This is why fp16 speeds up elementwise kernels, and not faster arithmetic.
#
# ## Fuse two steps yourself
#
# A layer scales its input by 1.5, then takes the ReLU. Here it is as two kernels. The intermediate result
# travels to memory and back.

# %%
@triton.jit
def scale_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, 1.5 * x, mask=mask)


@triton.jit
def clip_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, tl.maximum(x, 0.0), mask=mask)


def scale_relu(x):
    grid = (triton.cdiv(x.numel(), 256),)
    scaled, output = torch.empty_like(x), torch.empty_like(x)
    scale_kernel[grid](x, scaled, x.numel(), BLOCK_SIZE=256)
    clip_kernel[grid](scaled, output, x.numel(), BLOCK_SIZE=256)
    return output


# %% [markdown]
# **Predict.** How many bytes does it move for 1,000 fp32 numbers now? And how many if both steps are one kernel?

# %%
predict("two_kernels_bytes", None)
predict("one_kernel_bytes", None)

# %% [markdown]
# **Now fuse them**: change the cell above the question so that one launch does everything. The next cell says whether
# the result is correct, and how many bytes it moves.

# %%
x = torch.arange(-500.0, 500.0)
right = torch.equal(interpreted(scale_relu, x), (1.5 * x).clamp(min=0))
moved = explore.measure(scale_relu, x)
print(f"correct: {right}; launches: {len(moved.launches)}; bytes: {moved.total:,}")

# %% [markdown]
# ## Three kernels or one
#
# This kernel has a parameter for its work. It applies `x * 1.001 + 0.5` `STEPS` times, two operations each
# time. Meanwhile it keeps `x` in **registers**, the fastest memory, which belongs to each thread:

# %%
@triton.jit
def steps_kernel(x_ptr, output_ptr, n_elements, STEPS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    for _ in range(STEPS):
        x = x * 1.001 + 0.5
    tl.store(output_ptr + offsets, x, mask=mask)


def apply_steps(x: torch.Tensor, steps: int) -> torch.Tensor:
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    steps_kernel[grid](x, output, x.numel(), STEPS=steps, BLOCK_SIZE=1024)
    return output


def one_kernel(x: torch.Tensor) -> torch.Tensor:
    return apply_steps(x, 3)


def three_kernels(x: torch.Tensor) -> torch.Tensor:
    return apply_steps(apply_steps(apply_steps(x, 1), 1), 1)


x = torch.arange(3000.0, device=DEVICE)
print("same result:", torch.equal(one_kernel(x), three_kernels(x)))

# %% [markdown]
# **Predict.** How many times as many bytes do the three kernels move?

# %%
predict("times_the_bytes", None)

# %%
print(explore.measure(one_kernel, torch.ones(3000)))
print(explore.measure(three_kernels, torch.ones(3000)))

# %% [markdown]
# The arithmetic and the result are the same, but the bytes are not. The **L2 cache** is on-chip memory that all
# SMs of a GPU share. If the array is far larger than the L2 cache, the time grows with the bytes. A smaller
# array can stay in the L2 cache between the kernels, and then the loss is smaller. Saving these bytes is called
# **fusion**, and it is the first improvement to look for.
#
# Now increase the work instead.
#
# **Predict.** From about how many `STEPS` on does an H200 stop waiting for memory here? Each step has 2
# operations, each element moves 8 bytes, and the first table has the fp32 ridge point.

# %%
predict("steps_at_the_ridge", None)

# %% [markdown]
# Up to about that number of steps, more work costs almost *nothing*: the arithmetic runs while the memory is
# busy. You can measure it on a GPU at the end of this lesson.
#
# So, before you improve a kernel, ask which side of the ridge point it is on:
#
# | limited by | what helps | what does not |
# |---|---|---|
# | memory | fewer bytes: fuse, smaller dtypes, load once and reuse | fewer or faster operations |
# | arithmetic | tensor cores, less work, better instruction mix | fewer bytes |
# | neither (tiny sizes) | fewer launches | both of the above |
#
# The third row occurs often. Launching a kernel takes a few microseconds. An H200 can move 20 megabytes in
# 5 µs, the time of one launch, so for small tensors the launch decides the time.
#
# ## Why matmul matters most
#
# Elementwise kernels are always far below the ridge point. In a matrix multiplication each number takes part
# in N products, so larger matrices do more work per byte. A language model is therefore built of matmuls,
# with as few bytes as possible moved between them. You write one in lesson 08.
#
# ## Quiz

# %%
quiz("memory_vs_compute")

# %% [markdown] case_study="the-wrong-card" points=6
# ## Case study: the wrong card
#
# A service spends its time in one elementwise kernel, in fp32. A profiler reports for each call:
# 6.4 GB loaded and stored, 3.2 billion operations, 2.0 ms, on an H100 SXM (3,350 GB/s, 67 TFLOP/s in
# fp32). The monitoring shows "GPU utilisation 100 %". The team asks you:
#
# 1. What is the arithmetic intensity? What is the kernel waiting for, and how close to that limit
#    is it already?
# 2. One vendor offers a card with three times the fp32 arithmetic and the same memory. Another
#    offers an H200: the same arithmetic, 4,800 GB/s. How long would a call take on each?
# 3. What does "utilisation 100 %" tell you here?
# 4. Name two changes to the *program* that would help more than either card, with the time you
#    expect.
#
# Answer in about 120 words, with numbers.

# %%
answer("the-wrong-card")

# %% [markdown] model_answer="the-wrong-card"
# 1. 3.2 / 6.4 = 0.5 operations per byte. The ridge point is 67,000 / 3,350 = 20, so the kernel waits
#    for memory. Moving 6.4 GB takes at least 6.4 / 3,350 s = 1.91 ms; at 2.0 ms it reaches 95 % of the
#    memory bandwidth. The kernel itself can hardly become faster.
# 2. The card with more arithmetic: still 2.0 ms. The H200: at least 1.33 ms, about 1.4 ms at the
#    same 95 %.
# 3. Only that some kernel was running all of the time. It does not say how much of the memory
#    bandwidth or the arithmetic was in use; the arithmetic is at 1.6 of 67 TFLOP/s, 2.4 %.
# 4. Fuse the kernel with its neighbours, so that its input or output does not travel. If one of the
#    two disappears, it takes about 1 ms; if both do, almost nothing. Or keep the data in fp16 or
#    bf16: half the bytes, about 1 ms. (Both together save more.)
#
# **Rubric (6 points)**
#
# - 1 point: intensity 0.5 and below the ridge point (20), so limited by memory.
# - 1 point: 1.91 ms or 95 % of the bandwidth.
# - 1 point: unchanged on the card with more arithmetic.
# - 1 point: about 1.3 to 1.4 ms on the H200.
# - 1 point: utilisation says that a kernel was running, not that the limit is reached.
# - 1 point: two changes that reduce *bytes*, each with a time that follows from the bytes.

# %% [markdown]
# ## For the GPU
#
# Now measure the steps. Up to which number of steps does the time stay flat on your card? And how many GB/s does your
# ReLU reach?
#
# Measured on an NVIDIA H200 ({h200: versions}): 1, 4 and 16 steps took {h200: steps 2^26 fp32 | 1 | ms}, {h200: steps 2^26 fp32 | 4 | ms} and
# {h200: steps 2^26 fp32 | 16 | ms} ms, 64 steps {h200: steps 2^26 fp32 | 64 | ms} ms, 256 steps
# {h200: steps 2^26 fp32 | 256 | ms} ms. The ReLU ran at {h200: relu2d fp32, 8192² | plain | GB/s} GB/s, of 4,800 in the data
# sheet. Compare with your prediction for the ridge point.

# %% gpu
if ON_GPU:
    x = torch.randn(2**13, 2**13, device="cuda")
    for steps in (1, 4, 16, 64, 256, 1024):
        ms = triton.testing.do_bench(lambda: apply_steps(x, steps), return_mode="median")
        print(
            f"{steps:5d} steps: {ms:7.3f} ms, {2 * x.nbytes / ms * 1e-6:6,.0f} GB/s, "
            f"{2 * steps * x.numel() / ms * 1e-9:6.2f} TFLOP/s"
        )
    time_beside(relu2d, {"torch": torch.relu}, x, n_bytes=2 * x.nbytes, title="ReLU")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# `speed` times your ReLU against PyTorch in one run, with cold caches and new inputs each time, and checks every
# result. It also compares your ReLU with the roofline. Without a GPU it times nothing, and computes what bytes and
# operations allow on known GPUs. First guess the shortest time for one of them.

# %%
speed(relu2d)

# %% [markdown]
# ## What you take with you
#
# - Count bytes and operations, and compare their ratio with the ridge point. Then you know the limit.
# - Below the ridge point only bytes count: fuse, use smaller dtypes, reuse.
# - A prediction from bytes is accurate. If a measurement is far from it, look for a bug in the kernel or in
#   the measurement.
#
# When you have passed the exercise, call `practice()` for puzzles made from it.

# %%
progress()
