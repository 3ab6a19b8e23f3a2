# %% [markdown]
# # Vector addition: your first kernel
#
# At the end of this lesson you have written a GPU kernel that adds two vectors of any length,
# and you can say what each of its lines does. A laptop without a GPU is enough.
#
# It takes about 35 minutes. Run the cells from top to bottom. Where a cell asks for a
# *prediction*, make one before you run on: a wrong guess that you remember teaches more than
# a right answer that you read. `progress()` keeps your first guesses.

# %% setup
from triton_util import catch, explore, figures, interpreted, time_beside, trace
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# Here is a whole **kernel**, a function for the GPU, and its **launcher**, the Python function that starts
# it. Together they should change the sign of every number. Run the cell; you need not understand it yet.

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
# It stores what it loaded. **Mend it**: one `-` in the last line of the kernel is enough. Run that cell again, then
# the one above this text. When the card is green, you have repaired your first kernel.
#
# Now to what its lines mean.
#
# ## Cutting a vector into blocks
#
# A GPU does not run your kernel once. It runs many copies of it, called **programs**, side by side. Each one
# works on a **block**, a piece of the vector, and each place in a block is called a **lane**. A program knows its
# own number, its `pid` (program id).
#
# We have 7 elements and take blocks of 4. Then `7 / 4`, rounded up, makes 2 programs:

# %%
figures.blocks_1d(7, 4)

# %% [markdown]
# Three lines of arithmetic give each program its elements:
#
# ```python
# pid = tl.program_id(axis=0)
# offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)   # a block of numbers
# mask = offsets < n_elements                             # a block of yes and no
# ```
#
# Program 1 has the offsets 4, 5, 6 and 7. There is no element 7, and the memory behind the
# vector belongs to somebody else. The **mask** says which lanes may touch memory.
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
# **Try it.** Move the controls (with the mouse, or with Tab and the arrow keys) until you can
# answer: for which `n_elements` between 1 and 40 does `BLOCK_SIZE = 8` switch off exactly one
# lane? What happens to the number of idle lanes when you make the blocks larger?

# %%
explore.blocks_1d(n_elements=7, BLOCK_SIZE=4, pid=1)

# %%
# The same without controls, for a terminal or a notebook that shows no widgets:
print(explore.blocks_1d_text(n_elements=7, BLOCK_SIZE=4, pid=1))

# %% [markdown]
# ## Why not blocks of 3?
#
# Seven elements in blocks of three would do as well: `0 1 2`, `3 4 5`, `6`. The next cell tries
# it with the smallest kernel there is. **Predict** what happens.

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
# Triton refuses: the length of `tl.arange` must be a **power of two**. The compiler deals a
# block out to the GPU's threads by halving it again and again, and that
# comes out even only for powers of two. You lose nothing: take the next power of two, and let
# the mask switch off the rest.
#
# ## A kernel, line by line
#
# Look again at `negate_kernel`, which you mended. Everything you need for the exercise is in it.
#
# - `@triton.jit` makes the function a kernel: it is compiled when it is first launched. Inside
#   it you write Triton's language, which looks like Python but is only a part of it.
# - `x_ptr` is a **pointer**. The launcher passes a tensor, and the kernel receives the address
#   of its first element. It knows neither shape nor length; hence `n_elements`.
# - `BLOCK_SIZE: tl.constexpr` is fixed when the kernel is compiled. It must be, because it is
#   the length of blocks. Each new value makes the compiler run again. Such numbers, which change how a
#   kernel works and not what it computes, are called **meta-parameters**. Ordinary arguments such
#   as `n_elements` are plain numbers at run time and carry no type.
# - `tl.program_id(axis=0)` is the number of this program. A grid can have up to three axes.
# - `tl.arange(0, BLOCK_SIZE)` is the block `0, 1, …, BLOCK_SIZE - 1`.
# - `x_ptr + offsets` is a pointer plus a block of numbers: a block of *pointers*. Nothing is
#   read yet.
# - `tl.load(pointers, mask=mask)` reads one number through each pointer whose mask is true. A
#   lane that is switched off holds *nothing you may rely on*.
# - `tl.store(pointers, values, mask=mask)` writes. It has a mask of its own, because it has
#   addresses of its own.
# - There is no `return`. A kernel leaves its result in memory.
#
# The **launcher** is ordinary Python on the CPU. It allocates the output, decides how many programs run, and
# launches. `triton.cdiv(a, b)` divides and rounds up. The square brackets take the **grid**: the number of
# programs along each axis, as a tuple. It may also be a function that receives the meta-parameters of the launch:
#
# ```python
# def grid(meta):
#     return (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
# ```
#
# That form pays off when somebody else chooses `BLOCK_SIZE`, as the autotuner of lesson 11 will.
#
# **Watch it run.** `trace` launches a kernel in the interpreter and keeps each access. Move to
# program 1 and look at its two steps: which lanes are switched off? (`print(watch().steps_text(1))` gives the
# steps of program 1 as text.)

# %%
def watch():
    x = torch.arange(1.0, 8.0)
    return trace(negate_kernel)[(2,)](x, torch.empty(7), 7, BLOCK_SIZE=4)


interpreted(watch)

# %% [markdown]
# (On a machine with a GPU, `interpreted` runs this in the interpreter all the same, in a process of its own.)
#
# **Predict.** What happens if we launch too few programs? The cell below launches *one* program
# with a block of 4 for a vector of 7, and fills the output with 99 beforehand, so that we see
# what the kernel wrote. How many of the 7 numbers stay 99?

# %%
predict("never_stored", None)

# %%
x = torch.arange(1.0, 8.0, device=DEVICE)
output = torch.full_like(x, 99.0)
negate_kernel[(1,)](x, output, 7, BLOCK_SIZE=4)
print(output.tolist())

# %% [markdown]
# No error, no warning: a program that was never launched never complains. With
# `torch.empty_like` the last three elements would hold whatever was in that memory before,
# which is, often enough, the right answer of your previous run. Such bugs hide well. The judge
# of this course fills outputs with poison, so that they cannot.
#
# ## Exercise: `vector_add`
#
# **The contract.** `vector_add(x, y)` returns `x + y`.
#
# - `x` and `y` are one-dimensional and contiguous, of the same shape and dtype.
# - The dtype is float32, float16 or bfloat16. The result has the dtype of `x`.
# - The result is a new tensor; `x` and `y` stay as they are.
# - Any length works, 0 and 1 included.
# - Triton does the adding. The launcher only allocates, counts and launches.
#
# Fill in both functions below. The numbered comments are a plan; keep or delete them. If you
# are stuck, `hint("vector_add")` in a cell of your own gives a nudge, a second call a clearer
# one, a third nearly the line.
#
# The card that `check` shows lists five **gates** through which your code goes: it is *read*, *compiled*
# (for `sm_80`, the generation of the A100, and `sm_90`, that of the H100 and H200; no GPU is needed for that),
# *interpreted* on many inputs, its memory *traffic* is counted, and, where there is one, it runs on the *GPU*.

# %% exercise="vector_add"

# %% [markdown]
# ## Look again
#
# When `check(vector_add)` is content, break your kernel on purpose, one change at a time.
# Predict what the check will say, run the two cells above, then mend it again:
#
# 1. Take the mask out of the two loads only. Then out of the store as well.
# 2. Write `offsets = tl.arange(0, BLOCK_SIZE)`, without the `pid`.
# 3. Use `n_elements // block_size` for the grid.
#
# You can also just use it:

# %%
x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], device=DEVICE)
y = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], device=DEVICE)
print("x + y            =", (x + y).tolist())
result = vector_add(x, y)
print("vector_add(x, y) =", "nothing yet" if result is None else result.tolist())

# %% [markdown]
# One detail for later: `pid * BLOCK_SIZE` is a 32-bit number, and above 2³¹ elements it would
# wrap round to a negative one. A vector that long needs 8 GiB in fp32, which a large GPU has.
# `pid.to(tl.int64) * BLOCK_SIZE` is safe at any length.
#
# ## The machine behind it
#
# Think of a lake with many boathouses.
#
# | on the lake | on the GPU | what matters |
# |---|---|---|
# | a rower | a **thread** | does the arithmetic of one lane |
# | a boat of 32 rowers and *one* cox | a **warp** | one instruction is fetched for 32 threads; that saves 31 control units |
# | a club whose boats share a jetty | a **block** | its warps can wait for one another and share fast memory |
# | a boathouse | a **streaming multiprocessor** (SM) | runs several blocks at once, with its own small, fast memory |
# | the lake | the **GPU** | many SMs, one large memory far away from all of them |
#
# The cox calls one stroke for the whole boat. If half of the rowers must do something else,
# the cox calls the two strokes one after the other, and each time the other half rests. So a
# warp is fastest when its 32 threads do the same thing.
#
# Blocks know nothing of each other. They may run in any order, on any SM, at the same time or
# not. That freedom is why the same kernel runs on a GPU with 40 SMs and on one with 132.

# %%
figures.machine()

# %% [markdown]
# ## Threads with scalars, programs with blocks
#
# Here is vector addition in CUDA C++, to read, not to run. Each **thread** holds *one* number:
#
# ```cpp
# __global__ void add(const float* x, const float* y, float* z, int n) {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;  // one number: my element
#     if (i < n)                                      // one yes or no
#         z[i] = x[i] + y[i];
# }
# ```
#
# In Triton there are no threads to write about. You write a **program** that holds a whole
# *block* of numbers, and the operations work on the block: load a block, add two blocks, store
# a block. Many programs run, each on its own block; each one asks for its number, the
# **program id**, or `pid`.

# %%
figures.scalars_or_blocks()

# %% [markdown]
# The threads have not gone. Triton turns each program into a CUDA block, by default of 4 warps,
# and deals the elements of your blocks out to those 128 threads. You just need not do it.
#
# ## Where the time goes
#
# The time of a GPU program has three parts:
#
# - **compute**: the arithmetic itself;
# - **memory**: moving numbers to where the arithmetic is done, and back;
# - **overhead**: everything else, such as Python, PyTorch choosing a kernel, launching it.
#
# You must know which part is the large one before you improve anything. A GPU with twice the
# arithmetic does not help a program that waits for memory.
#
# Numbers move through channels of very different width:

# %%
figures.moving_costs()

# %% [markdown]
# **Predict.** Adding two vectors of fp32 numbers: for each element a kernel loads 4 bytes of
# `x` and 4 bytes of `y`, and stores 4 bytes of the result. An H200 moves about 4,800 gigabytes
# per second between global memory and its SMs, and can do about 67,000 billion fp32 operations
# per second. For each addition that it does here, how many could it have done in the same time?

# %%
predict("additions_possible", None)

# %% [markdown]
# The arithmetic units wait nearly all of the time: vector addition is
# *limited by memory*. (A data sheet counts a multiply-add as two operations, so half of that
# for plain additions. It changes nothing.)
#
# There are two remedies against waiting for memory:
#
# - **Reuse**: load a number once into the fast memory, and use it many times. Matrix
#   multiplication lives on it (lesson 08).
# - **Fusion**: do several steps in one kernel, so that what lies between them never travels.
#   Below: `y = relu(x @ W)` as two kernels and as one.

# %%
figures.fusion_trips()

# %% [markdown]
# ## When to write a kernel at all
#
# Not first. Climb this ladder one step at a time, and stop as soon as the program is fast
# enough:
#
# | step | what you do | what it costs you |
# |---|---|---|
# | 0 | plain PyTorch | nothing |
# | 1 | `torch.compile(model)`: it fuses simple chains of operations by itself | one line; the first call is slow, and so may be the first call with a new shape |
# | 2 | rewrite the model so that `torch.compile` sees more of it: no `.item()`, no printing, no Python branch on values in the hot part | hours |
# | 3 | find the slow part and write a **Triton** kernel for it | days; you choose the blocks, and the compiler chooses threads, registers and shared memory |
# | 4 | write that part in **CUDA C++** | weeks; everything is in your hands, and everything is your task |
#
# (What `torch.compile` generates at step 1 is itself Triton. Being able to read it is one more
# reason to learn the language.)
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
# 2. The colleague changes `//` to `triton.cdiv`, and the customer's numbers are right. Why is
#    the kernel now *more* dangerous than before? Be exact about which bytes are touched
#    (fp32).
# 3. Name the mend, and the lengths that you would test so that this cannot come back.
#
# Answer in about 120 words.

# %%
answer("tested-with-4096")

# %% [markdown] model_answer="tested-with-4096"
# 1. `5000 // 1024` is 4 programs, which cover the elements 0 to 4,095. The 904 elements 4,096
#    to 4,999 are never stored. `torch.empty_like` does not clear memory, so they contain
#    whatever lay there before: anything, and sometimes an earlier right answer.
# 2. Now 5 programs run, and the last one covers 4,096 to 5,119. Its 120 lanes from 5,000 on
#    read 480 bytes behind `x` and, worse, *write* 480 bytes behind `output`. Those bytes may
#    belong to another tensor, which changes silently; or to nobody, and the GPU may report an
#    illegal access, later and elsewhere. The visible error has become an invisible one in
#    somebody else's data.
# 3. Pass `n_elements`, and use `mask = offsets < n_elements` in the load *and* in the store,
#    with `triton.cdiv` for the grid. Test 0, 1, one less and one more than the block, several
#    blocks exactly, and a length that is no multiple of anything; with the output poisoned
#    beforehand, and with a checker for out-of-bounds accesses.
#
# **Rubric (5 points)**
#
# - 1 point: the elements 4,096 to 4,999 (or "the last 904") are wrong.
# - 1 point: they are uninitialised memory, not zeros, and may look right by chance.
# - 1 point: the last block writes 120 elements, 480 bytes, behind the output.
# - 1 point: says why that is worse: silent damage to other data, error elsewhere or never.
# - 1 point: mask in load and store, and at least three telling lengths (off by one around the
#   block among them).

# %% [markdown]
# ## For the GPU
#
# If this machine has a GPU, you can see how close your kernel comes to the limit. Adding
# moves 12 bytes per fp32 element, so from the time follow the gigabytes per second.
#
# **Predict.** How many percent of an H200's memory bandwidth will a kernel of five lines reach?

# %%
predict("percent_of_bandwidth", None)

# %% [markdown]
# For comparison, measured on an NVIDIA H200 (data sheet: 4,800 GB/s): PyTorch's own addition
# {h200: vector_add fp32, 2^28 | torch | GB/s} GB/s, a Triton kernel like yours
# {h200: vector_add fp32, 2^28 | plain | GB/s} GB/s. There is no trick left: where memory is
# the limit, simple code that touches each byte once is as fast as anything.

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
# - The grid must cover every element, the mask must stop at the last one. Both, always.
# - Vector addition is limited by memory; the remedies are reuse and fusion.

# %%
progress()
