# %% [markdown]
# # Memory or arithmetic: what is a kernel waiting for?
#
# Two numbers say how fast a kernel can be at best: how many operations it does, and how many bytes
# it moves. At the end of this lesson you can find both, tell from them what the kernel waits for,
# and know which improvements are worth making before you make them. And you have written a
# launcher, and fused two kernels into one.
#
# It takes about 35 minutes. Lesson 01 comes first.

# %% setup
from triton_util import explore, figures, interpreted, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Count first
#
# This kernel doubles 1,000 numbers of 4 bytes, in blocks of 256. **Predict.** How many bytes does it load and store in
# all? Run the second cell when you have guessed: it runs the kernel in the interpreter, which counts.

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
# Now change `torch.ones(1000)` to `torch.ones(1000, dtype=torch.float16)`, and run it again. These bytes are one of
# the two numbers of this lesson. The other one is the operations: here 1,000 multiplications. An addition, a
# multiplication or a comparison of two floating-point numbers is one **FLOP** (*floating-point operation*), and a
# TFLOP/s is a million million of them in a second.
#
# ## Two limits
#
# A GPU computes and moves data at the same time. While some warps wait for memory, others
# calculate. So a kernel takes about as long as the *slower* of the two:
#
# $$\begin{aligned}\text{time} \ge \max\Bigl(&\frac{\text{bytes}}{\text{bytes per second}},\\
# &\frac{\text{operations}}{\text{operations per second}}\Bigr)\end{aligned}$$
#
# Divide a kernel's operations by its bytes and you get its **arithmetic intensity**. Divide the
# GPU's operations per second by its bytes per second and you get the **ridge point**. Below the
# ridge point a kernel is *limited by memory*, above it *by arithmetic*. Here are data-sheet
# figures (without sparsity, a multiply-add counted as two operations):

# %%
print("GPU                GB/s   fp32 TFLOP/s   fp16 TFLOP/s   ridge fp32   ridge fp16")
for gpu in explore.GPUS.values():
    print(
        f"{gpu.name:15s} {gpu.gbytes_per_second:7,} {gpu.fp32_tflops:14g} {gpu.fp16_tflops:14g} "
        f"{gpu.ridge(tensor_cores=False):12.1f} {gpu.ridge(tensor_cores=True):12.1f}"
    )

# %% [markdown]
# (fp16 on the tensor cores, which do nothing but multiply small matrices.)
#
# **Predict.** ReLU, `max(x, 0)`, in fp32: one operation for each element; each element is loaded
# and the result is stored. What is its arithmetic intensity, in operations per byte?

# %%
predict("relu_intensity", None)

# %% [markdown]
# The lowest fp32 ridge point in the table is 9.6. ReLU is far on the memory side on all of these GPUs. Both limits drawn
# together make the **roofline**. The picture is drawn for **fp16**, with the roofs of the tensor cores. There an element
# has 2 bytes, so ReLU has 1 operation for 4 bytes, 0.25:

# %%
figures.roofline({"ReLU": 0.25, "matmul N = 64": 64 / 3, "matmul N = 4096": 4096 / 3})

# %% [markdown]
# In the rising part memory is the limit, in the flat part arithmetic. A matmul of N×N matrices does
# 2N³ operations on 3N² numbers. In fp16 that is N/3 operations per byte: it climbs to the flat
# part as N grows. ReLU stays where it is, at every size.
#
# **Try it.** How many operations per element does an elementwise fp32 kernel need before an H200 is
# limited by its arithmetic? And a T4?

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
# A contiguous matrix is one line of memory whose rows follow one another without a gap (lesson 04
# is about the others). For an operation on each element alone, rows and columns do not matter: walk
# along the line, as in lesson 01. `tl.maximum(a, b)` and `tl.where(condition, a, b)` are two ways
# to write a ReLU.
#
# **This time you write the launcher, too**: allocate the result, count the elements, choose a block size and the grid,
# launch. `x.numel()` is the number of elements of a matrix. `hint("relu2d")` helps.

# %% exercise="relu2d"

# %% [markdown]
# ## Measure your own
#
# **Predict.** A 100×30 matrix in fp32. How many bytes does your kernel load and store in all?
# (Blocks are 1,024 long, and 3,000 is not a multiple of that. Does it matter?)

# %%
predict("relu_bytes", None)

# %%
traffic = explore.measure(relu2d, torch.ones(100, 30))
if traffic.total:
    print(traffic)
    print(f"intensity: {3000 / traffic.total} operations per byte")

# %% [markdown]
# Masked lanes move nothing. So a well-masked kernel moves exactly what it must, 8 bytes per
# element, and the prediction from the formula and the count agree. In fp16 it is half the bytes, and
# for a kernel that waits for memory half the bytes is half the time. That, and
# not faster arithmetic, is why fp16 speeds up elementwise kernels.
#
# ## Fuse two steps yourself
#
# A layer scales its input by 1.5, then takes the ReLU. Here it is as two kernels; what lies between them travels to
# memory and back.

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
# **Predict.** How many bytes does it move for 1,000 fp32 numbers as it is? And how many when both steps are one kernel?

# %%
predict("two_kernels_bytes", None)
predict("one_kernel_bytes", None)

# %% [markdown]
# **Now fuse them**: change the cell above the question so that one launch does it all. The next cell says whether the
# result is right, and what it costs.

# %%
x = torch.arange(-500.0, 500.0)
right = torch.equal(interpreted(scale_relu, x), (1.5 * x).clamp(min=0))
moved = explore.measure(scale_relu, x)
print(f"right: {right}; launches: {len(moved.launches)}; bytes: {moved.total:,}")

# %% [markdown]
# ## Three kernels or one
#
# Here is a kernel with a knob. It applies `x * 1.001 + 0.5` as often as `STEPS` says, two
# operations each time, and keeps `x` in registers meanwhile:

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
# The same arithmetic and the same result, for more bytes. On a GPU these three kernels
# take as many times as long, although they compute nothing more. This is what **fusion** saves, and
# why it is the first thing to look for.
#
# Now turn the knob the other way.
#
# **Predict.** From how many `STEPS` on, about, does an H200 stop waiting for memory here? Each step
# has 2 operations, each element moves 8 bytes, and the fp32 ridge point stands in the first table.

# %%
predict("steps_at_the_ridge", None)

# %% [markdown]
# Up to that number of steps, more work costs *nothing*: all these operations take as long as one.
# It sounds like a riddle, but you can watch it on a GPU at the end of this lesson.
#
# So, before you improve a kernel, ask which side of the ridge it stands on:
#
# | limited by | what helps | what does not |
# |---|---|---|
# | memory | fewer bytes: fuse, smaller dtypes, load once and reuse | fewer or faster operations |
# | arithmetic | tensor cores, less work, better instruction mix | fewer bytes |
# | neither (tiny sizes) | fewer launches | both of the above |
#
# The third row is real. Launching a kernel takes a few microseconds. An H200 moves 20 megabytes in
# the time of one launch of 5 µs, so for small tensors the launch is all there is.
#
# ## Why matmul is the heart
#
# Everything elementwise stands at the foot of the roofline, for ever. In a matrix multiplication
# each number takes part in N products; the larger the matrices, the more work per byte. So a
# language model is built of matmuls, with as few bytes as possible moved between them. You write
# one in lesson 08.
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
#    for memory. Moving 6.4 GB takes at least 6.4 / 3,350 s = 1.91 ms; at 2.0 ms it runs at 95 % of the
#    memory's limit. The kernel itself can hardly get better.
# 2. The card with more arithmetic: still 2.0 ms. The H200: at least 1.33 ms, about 1.4 ms at the
#    same 95 %.
# 3. Only that some kernel was running all of the time. It says nothing about how much of the memory
#    bandwidth or the arithmetic was in use; the arithmetic is at 1.6 of 67 TFLOP/s, 2.4 %.
# 4. Fuse the kernel with its neighbours, so that its input or output does not travel: if one of the
#    two disappears, about 1 ms; if both do, it is nearly free. Or keep the data in fp16 or bf16: half
#    the bytes, about 1 ms. (Both together go further.)
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
# The knob, with a clock. For your card: up to which number of steps will the time stay flat? And how many GB/s will your
# ReLU reach?
#
# Measured on an NVIDIA H200: 1, 4 and 16 steps took {h200: steps 2^26 fp32 | 1 | ms}, {h200: steps 2^26 fp32 | 4 | ms} and
# {h200: steps 2^26 fp32 | 16 | ms} ms, 64 steps {h200: steps 2^26 fp32 | 64 | ms} ms, 256 steps
# {h200: steps 2^26 fp32 | 256 | ms} ms. The ReLU ran at {h200: relu2d fp32, 8192² | plain | GB/s} GB/s, of 4,800 in the data
# sheet. Now compare with your prediction for the ridge.

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
# And where does your ReLU stand under the roofline? `speed` times it against PyTorch in one run, with cold caches
# and new inputs each time, and checks every result. On a machine without a GPU it times nothing: it says what the
# bytes and the operations allow on GPUs that are known. Guess the least time for one of them first.

# %%
speed(relu2d)

# %% [markdown]
# ## What you take with you
#
# - Count bytes and operations; compare their ratio with the ridge point. Then you know the limit.
# - Below the ridge only bytes count: fuse, shrink, reuse.
# - A prediction from bytes is so good that a measurement far from it means a bug, in the kernel or in
#   the measurement.

# %%
progress()
