# %% [markdown]
# # Vector addition: your first kernel
#
# In this lesson you write a GPU kernel that adds two vectors of any length, and you learn what each of
# its lines does. A laptop without a GPU is enough.
#
# The lesson takes about 65 minutes. Run the cells from top to bottom. If a cell asks for a
# *prediction*, make one before you run the next cell: you learn more from a wrong guess that you
# remember than from a correct answer that you read. `progress()` keeps your first guesses.

# %% setup
from triton_util import catch, explore, figures, interpreted, time_beside, trace
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# Here is a **kernel**, a function that runs on the GPU, and its **launcher**, the Python function that
# starts it. Together they should change the sign of every number. Run the cell. You need not understand
# it yet.

# %%
@triton.jit
def negate_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)


def negate(x):
    output = torch.empty_like(x)  # not zeros: the kernel writes every element
    n_elements = output.numel()
    grid = (triton.cdiv(n_elements, 4),)  # how many programs: a tuple, also for one axis
    negate_kernel[grid](x, output, n_elements, BLOCK_SIZE=4)
    return output  # the launch itself returns nothing useful


# %%
numbers = torch.arange(1.0, 8.0)
others = [(torch.randn(n),) for n in (0, 1, 4, 5, 100)]
catch("one_token", negate, numbers, right=torch.neg, others=others)

# %% [markdown]
# The kernel stores the numbers that it loaded. **Fix it**: one `-` in the last line of the kernel is
# enough. Run that cell again, then the one above this text. When the card is green, you have fixed your
# first kernel.
#
# Now to what its lines mean.
#
# ## Cutting a vector into blocks
#
# A GPU does not run your kernel once. It runs many copies of it, called **programs**, in parallel. Each
# program works on a **block**, here a piece of the vector. Each position in a block is called a
# **lane**. A program knows its own number, its `pid` (program id).
#
# We have 7 elements and use blocks of 4. Then `7 / 4`, rounded up, makes 2 programs:

# %%
figures.blocks_1d(7, 4)

# %% [markdown]
# Three lines of arithmetic give each program its elements:
#
# ```python
# pid = tl.program_id(axis=0)
# offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)   # a block of integers
# mask = offsets < n_elements                             # a block of booleans
# ```
#
# Program 1 has the offsets 4, 5, 6 and 7. Element 7 does not exist, and the memory past the end of the
# vector is not ours. The **mask** says which lanes may access memory.
#
# **Predict.** 6 elements in blocks of 4: how many lanes does the mask switch off in all? And for 8
# elements? Put a number in place of each `None`.

# %%
predict("lanes_off_6", None)
predict("lanes_off_8", None)

# %%
figures.blocks_1d(6, 4)

# %%
figures.blocks_1d(8, 4)

# %% [markdown]
# **Try it.** Move the controls (with the mouse, or with Tab and the arrow keys) and answer: for which
# `n_elements` between 1 and 40 does `BLOCK_SIZE = 8` mask off exactly one lane? What happens to the
# number of masked-off lanes when you make the blocks larger?

# %%
explore.blocks_1d(n_elements=7, BLOCK_SIZE=4, pid=1)

# %%
# The same without controls, for a terminal or a notebook that shows no widgets:
print(explore.blocks_1d_text(n_elements=7, BLOCK_SIZE=4, pid=1))

# %% [markdown]
# ## Why not blocks of 3?
#
# Blocks of three would cover the seven elements as well: `0 1 2`, `3 4 5`, `6`. The next cell tries
# it with the smallest possible kernel. **Predict** what happens.

# %%
@triton.jit
def count_to_three_kernel(output_ptr):
    offsets = tl.arange(0, 3)
    tl.store(output_ptr + offsets, offsets)


try:
    count_to_three_kernel[(1,)](torch.zeros(3, dtype=torch.int32, device=DEVICE))
except Exception as error:
    print(error)

# %% [markdown]
# Triton refuses: the length of `tl.arange` must be a **power of two**. The compiler distributes a block
# over the GPU's threads by halving it repeatedly, which works only for powers of two. You lose nothing:
# take the next power of two, and let the mask switch off the rest.
#
# ## A kernel, line by line
#
# Look again at `negate_kernel`, which you fixed. It contains everything you need for the exercise.
#
# - `@triton.jit` makes the function a kernel: Triton compiles it when you first launch it. Inside
#   it you write Triton's language, a small subset of Python.
# - `x_ptr` is a **pointer**. The launcher passes a tensor, and the kernel receives the address
#   of its first element and the element type. It does not receive the shape, so you pass `n_elements`.
# - `BLOCK_SIZE: tl.constexpr` is a constant at compile time. It must be one, because it is the length
#   of a block. Each new value compiles the kernel again. Such numbers, which change how a kernel works
#   but not what it computes, are called **meta-parameters**.
# - `n_elements` is an ordinary argument, a plain number at run time. Triton infers its type (int32 or
#   int64) from the value.
# - `tl.program_id(axis=0)` is the number of this program. A grid can have up to three axes.
# - `tl.arange(0, BLOCK_SIZE)` is the block `0, 1, …, BLOCK_SIZE - 1`.
# - `x_ptr + offsets` is a pointer plus a block of integers: a block of *pointers*. It reads nothing yet.
# - `tl.load(pointers, mask=mask)` reads one number through each pointer whose mask is true. The value
#   of a masked-off lane is *undefined*.
# - `tl.store(pointers, values, mask=mask)` writes. It needs the mask too, because a store without one
#   writes in every lane.
# - A kernel has no `return` value. It leaves its result in memory.
#
# The **launcher** is ordinary Python on the CPU. It allocates the output, decides how many programs run,
# and launches the kernel. `triton.cdiv(a, b)` divides and rounds up. The square brackets take the
# **grid**: the number of programs along each axis, as a tuple. The grid may also be a function that
# receives the meta-parameters of the launch:
#
# ```python
# def grid(meta):
#     return (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
# ```
#
# You need that form when the autotuner of lesson 11 chooses `BLOCK_SIZE`.
#
# **Watch it run.** `trace` launches a kernel in the interpreter and records each memory access. Move to
# program 1 and look at its two steps: which lanes are masked off? (`print(watch().steps_text(1))` gives
# the steps of program 1 as text.)

# %%
def watch():
    x = torch.arange(1.0, 8.0)
    return trace(negate_kernel)[(2,)](x, torch.empty(7), 7, BLOCK_SIZE=4)


interpreted(watch)

# %% [markdown]
# (On a machine with a GPU, `interpreted` also runs this in the interpreter, in a separate process.)
#
# **Predict.** What happens if we launch too few programs? The cell below launches *one* program with a
# block of 4 for a vector of 7. It fills the output with 99 first, so that you see what the kernel wrote.
# How many of the 7 numbers stay 99?

# %%
predict("never_stored", None)

# %%
x = torch.arange(1.0, 8.0, device=DEVICE)
output = torch.full_like(x, 99.0)
negate_kernel[(1,)](x, output, 7, BLOCK_SIZE=4)
print(output.tolist())

# %% [markdown]
# You get no error and no warning for a program that was never launched. With `torch.empty_like` the
# last three elements would contain whatever was in that memory before. Often that is the correct result
# of your previous run, so such bugs are hard to see. The judge of this course fills outputs with
# poison values, so that it finds them.
#
# ## Exercise: `vector_add`
#
# **The contract.** `vector_add(x, y)` returns `x + y`.
#
# - `x` and `y` are one-dimensional and contiguous, of the same shape and dtype.
# - The dtype is float32, float16 or bfloat16. The result has the dtype of `x`.
# - The result is a new tensor; `x` and `y` stay as they are.
# - Any length works, including 0 and 1.
# - Triton does the adding. The launcher only allocates, counts and launches.
#
# Fill in both functions below. The numbered comments are a plan; keep or delete them. If you are stuck,
# call `hint("vector_add")` in a new cell: it gives a nudge, a second call a clearer hint, and a third
# one nearly the line.
#
# The card that `check` shows lists five **gates** through which your code goes. The judge *reads* it,
# *compiles* it, *interprets* it on many inputs, counts its memory *traffic*, and runs it on the *GPU* if
# there is one. Compiling needs no GPU. Its targets are `sm_80`, the generation of the A100, and `sm_90`,
# that of the H100 and H200.

# %% exercise="vector_add"

# %% [markdown]
# ## Look again
#
# When `check(vector_add)` passes, break your kernel on purpose, one change at a time. Predict what the
# check will say, run the two cells above, then undo the change:
#
# 1. Remove the mask from the two loads. Then remove it from the store as well.
# 2. Write `offsets = tl.arange(0, BLOCK_SIZE)`, without the `pid`.
# 3. Use `n_elements // block_size` for the grid.
#
# The next cell calls your function:

# %%
x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], device=DEVICE)
y = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], device=DEVICE)
print("x + y            =", (x + y).tolist())
result = vector_add(x, y)
print("vector_add(x, y) =", "nothing yet" if result is None else result.tolist())

# %% [markdown]
# One detail for later: `pid * BLOCK_SIZE` is a 32-bit number. Above 2³¹ elements it overflows and becomes
# negative. A vector that long needs 8 GiB in fp32, which a large GPU has. `pid.to(tl.int64) *
# BLOCK_SIZE` is safe at any length.
#
# ## The machine behind it
#
# Think of a lake with many boathouses.
#
# | on the lake | on the GPU | what matters |
# |---|---|---|
# | a rower | a **thread** | does the arithmetic of one or more lanes |
# | a boat of 32 rowers and *one* cox | a **warp** | 32 threads execute the same instruction, so they share one control unit |
# | a club whose boats share a jetty | a **thread block** | its warps can wait for one another and share fast memory |
# | a boathouse | a **streaming multiprocessor** (SM) | runs several thread blocks at once, with its own small, fast memory |
# | the lake | the **GPU** | many SMs, and one large memory far away from all of them |
#
# The cox calls one stroke for the whole boat. If half of the rowers must do something else, the cox calls
# the two strokes one after the other, and half of the boat rests each time. So a warp is fastest when its
# 32 threads do the same thing.
#
# Each SM has many simple arithmetic units (NVIDIA calls them CUDA cores) and holds far more warps than
# it can serve at once. When a warp waits for memory, the **warp scheduler** of the SM runs another one.
# This is how a GPU hides the time that a load takes.
#
# Thread blocks may run in any order, on any SM, at the same time or not. Because of that freedom the same
# kernel runs on a GPU with 40 SMs and on one with 132.

# %%
figures.machine()

# %% [markdown]
# ## Threads with scalars, programs with blocks
#
# Here is vector addition in CUDA C++, for you to read. Each **thread** has *one* number:
#
# ```cpp
# __global__ void add(const float* x, const float* y, float* z, int n) {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;  // one number: my element
#     if (i < n)                                      // one boolean
#         z[i] = x[i] + y[i];
# }
# ```
#
# In Triton you do not write code for threads. You write a **program** that works on a whole *block* of
# numbers: it loads a block, adds two blocks, and stores a block. Many programs run, each on its own
# block. Each one asks for its number, the **program id** or `pid`.

# %%
figures.scalars_or_blocks()

# %% [markdown]
# The GPU still runs threads. Triton turns each program into one thread block, by default of 4 warps, and
# distributes the elements of your blocks over those 128 threads. CUDA calls the thread block just
# "block"; in this course a *block* is always Triton's block of numbers.
#
# ## Where the time goes
#
# The time of a GPU program has three parts:
#
# - **compute**: the arithmetic itself;
# - **memory**: moving numbers to the arithmetic units and back;
# - **overhead**: everything else, such as Python, PyTorch choosing a kernel, and the launch.
#
# Find out which part is the largest before you improve anything. A GPU with twice the arithmetic does
# not help a program that waits for memory.
#
# Numbers move through channels of very different bandwidth:

# %%
figures.moving_costs()

# %% [markdown]
# **Predict.** Adding two vectors of fp32 numbers: for each element a kernel loads 4 bytes of
# `x` and 4 bytes of `y`, and stores 4 bytes of the result. An H200 moves about 4,800 gigabytes
# per second between global memory and its SMs, and can do about 67,000 billion fp32 operations
# per second. How many additions could it do in the time that it needs to move the bytes of one?

# %%
predict("additions_possible", None)

# %% [markdown]
# The arithmetic units wait nearly all of the time: vector addition is *limited by memory*. (A data sheet
# counts a multiply-add as two operations, so the number for plain additions is half of that. The
# conclusion is the same.)
#
# There are two remedies for waiting on memory:
#
# - **Reuse**: load a number once into fast memory, and use it many times. Matrix multiplication
#   depends on this (lesson 08).
# - **Fusion**: do several steps in one kernel, so that intermediate results never go to memory.
#   Below: `y = relu(x @ W)` as two kernels and as one.

# %%
figures.fusion_trips()

# %% [markdown]
# ## When to write a kernel at all
#
# A kernel of your own is not the first step. Climb this ladder one step at a time, and stop as soon as
# the program is fast enough:
#
# | step | what you do | what it costs you |
# |---|---|---|
# | 0 | plain PyTorch | nothing |
# | 1 | `torch.compile(model)`: it fuses simple chains of operations by itself | one line; the first call is slow, and so may be the first call with a new shape |
# | 2 | rewrite the model so that `torch.compile` sees more of it: no `.item()`, no printing, no Python branch on values in the hot part | hours |
# | 3 | find the slow part and write a **Triton** kernel for it | days; you choose the blocks, and the compiler chooses threads, registers and shared memory |
# | 4 | write that part in **CUDA C++** | weeks; you control everything, and you must do everything |
#
# (At step 1, `torch.compile` generates Triton for a GPU. Being able to read it is one more reason to
# learn the language.)
#
# ## Quiz

# %%
quiz("vector_add")

# %% [markdown] case_study="tested-with-4096" points=5
# ## Case study: tested with 4096
#
# A colleague writes a kernel that scales a vector, without any mask, with `BLOCK_SIZE = 1024`
# and this launcher:
#
# ```python
# output = torch.empty_like(x)
# scale_kernel[(x.numel() // 1024,)](x, output, BLOCK_SIZE=1024)
# ```
#
# It was tested with 4,096 and 8,192 elements and has been in use for a month. A customer's
# vector has 5,000.
#
# 1. Which elements of the result are wrong, and what do they contain?
# 2. The colleague changes `//` to `triton.cdiv`, and the customer's numbers are correct. Why is
#    the kernel now *more* dangerous than before? Say exactly which bytes it touches
#    (fp32).
# 3. Name the fix, and the lengths that you would test so that this bug cannot return.
#
# Answer in about 120 words.

# %%
answer("tested-with-4096")

# %% [markdown] model_answer="tested-with-4096"
# 1. `5000 // 1024` is 4 programs, which cover the elements 0 to 4,095. The 904 elements 4,096
#    to 4,999 are never stored. `torch.empty_like` does not clear memory, so they contain
#    whatever was there before, sometimes an earlier correct result.
# 2. Now 5 programs run, and the last one covers 4,096 to 5,119. Its 120 lanes from 5,000 on
#    read 480 bytes past the end of `x` and, worse, *write* 480 bytes past the end of `output`.
#    Those bytes may belong to another tensor, which changes silently. Or they are not allocated,
#    and the GPU may report an illegal access, later and elsewhere. A visible error has become
#    silent damage to other data.
# 3. Pass `n_elements`, and use `mask = offsets < n_elements` in the load *and* in the store,
#    with `triton.cdiv` for the grid. Test 0, 1, one less and one more than the block, several
#    blocks exactly, and a length that is not a multiple of a power of two. Poison the output
#    beforehand, and run under a checker for out-of-bounds accesses.
#
# **Rubric (5 points)**
#
# - 1 point: the elements 4,096 to 4,999 (or "the last 904") are wrong.
# - 1 point: they are uninitialised memory, not zeros, and may look correct by chance.
# - 1 point: the last block writes 120 elements, 480 bytes, past the end of the output.
# - 1 point: says why that is worse: silent damage to other data, an error elsewhere or never.
# - 1 point: mask in load and store, and at least three telling lengths (off by one around the
#   block among them).

# %% [markdown]
# ## For the GPU
#
# If this machine has a GPU, you can see how close your kernel comes to the limit. Adding moves 12 bytes
# per fp32 element, so you can compute gigabytes per second from the time.
#
# **Predict.** What percentage of an H200's memory bandwidth does a kernel of five lines reach?

# %%
predict("percent_of_bandwidth", None)

# %% [markdown]
# For comparison, measured on an NVIDIA H200 ({h200: versions}) (data sheet: 4,800 GB/s): PyTorch's own addition
# {h200: vector_add fp32, 2^28 | torch | GB/s} GB/s, a Triton kernel like yours
# {h200: vector_add fp32, 2^28 | plain | GB/s} GB/s. If memory is the limit, simple code that touches
# each byte once is already as fast as any other.

# %% gpu
if ON_GPU:
    x = torch.randn(2**26, device="cuda")
    y = torch.randn(2**26, device="cuda")
    time_beside(vector_add, {"torch": torch.add}, x, y, n_bytes=3 * x.nbytes)
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - A program works on a *block*; `pid`, `offsets` and `mask` say which one.
# - The grid must cover every element, and the mask must stop at the last one. You always need both.
# - Vector addition is limited by memory; the remedies are reuse and fusion.
#
# When you have passed the exercise, call `practice()`: it gives you puzzles made from kernels like yours.

# %%
progress()
