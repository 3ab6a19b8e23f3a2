# %% [markdown]
# # Debugging: find it on the CPU first
#
# A kernel has thousands of programs, and most of its bugs are wrong *indices*. In this lesson you look
# into single programs while they run, and you find and fix three bugs that nearly every beginner writes.
# Then you write a test that finds bugs which you cannot see.
#
# It takes about 85 minutes. Do lesson 01 first.

# %% setup
from triton_util import catch, explore, figures, interpreted, print_if
from triton_util.environment import interpreting
from triton_util.interpreter import KernelFault, interpret, unguarded_launches

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Catch one now
#
# This kernel should copy a vector in blocks of 2. Its author tried it with two numbers, and the copy was
# correct.

# %%
@triton.jit
def copy_kernel_1(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    print_if(f"pid {pid} | offsets {offsets} | mask {mask}", "<4")


def copy_1(x):
    output = torch.full_like(x, -1)  # so that you see what was never stored
    copy_kernel_1[(triton.cdiv(x.numel(), 2),)](x, output, x.numel(), BLOCK_SIZE=2)
    return output


print(interpreted(copy_1, torch.tensor([1, 2])).tolist())

# %% [markdown]
# The kernel has a bug. **Catch it**: replace `None` by a vector whose copy is wrong. Write it like
# `torch.tensor([7, 8])`, which does not catch the bug.

# %%
x_1 = None
lengths = [(torch.arange(1, n + 1),) for n in range(10)]
catch("bug_1", copy_1, x_1, right=torch.clone, others=lengths)

# %% [markdown]
# Look at the table that the kernel printed: one line for each program, with its offsets and its mask. Which
# column should differ from line to line, and does not? **Fix the kernel**, run its cell, then run `catch`
# again until the card is green.
#
# ## The interpreter
#
# How can a kernel print? With `TRITON_INTERPRET=1` kernels do not run on the GPU. They run as ordinary
# Python on the CPU, one program after another, so you can print and stop inside them. Triton reads the
# variable when `@triton.jit` meets your function:
#
# | the variable is set | what happens (Triton 3.9) |
# |---|---|
# | before `import triton` | everything is interpreted |
# | after the import, before `@triton.jit` | this kernel is interpreted; parts of Triton that were set up before are not |
# | after `@triton.jit` | the kernel stays compiled; without a GPU its launch says "0 active drivers" |
#
# So set it **before you import Triton**. Then everything is interpreted.

# %%
if interpreting():
    print("Kernels run in the interpreter here.")
else:
    print("Kernels are compiled for the GPU here, where Python's print and debugger do not work inside them.")
    print("`catch` and `interpreted` need the interpreter, so they run it in a process of their own.")

# %% [markdown]
# ## Print from chosen programs
#
# A plain `print` in a kernel prints for *every* program. `print_if(text, conditions)` prints only for the
# programs that you choose. You write one condition for each axis of the grid, separated by commas. An empty
# condition accepts every id:
#
# | conditions | prints in |
# |---|---|
# | `""` | every program |
# | `"=0"` | programs with id 0 on axis 0 |
# | `",>1"` | programs with an id above 1 on axis 1 |
# | `">=1,=0"` | axis 0 at least 1, *and* axis 1 exactly 0 |
# | `"!=2"` | all except id 2 on axis 0 |
#
# **Predict**: how many programs of a (4, 3) grid does `">=1,!=1"` choose?

# %%
predict("programs_chosen", None)

# %% [markdown]
# **Try it.** Choose exactly the programs on the right edge. Then write something that is not a condition,
# and read the message.

# %%
explore.conditions(">=1,=0", n_0=4, n_1=3)

# %%
# The same without controls:
print(explore.conditions_text(">=1,!=1", n_0=4, n_1=3))

# %% [markdown]
# ## What Triton itself prints and checks
#
# `print_if` works only in the interpreter. Triton has four functions that also work in a compiled kernel:
#
# | function | what it does |
# |---|---|
# | `tl.static_print("BLOCK is", BLOCK_SIZE)` | prints while Triton compiles the kernel: constants, shapes, dtypes |
# | `tl.static_assert(BLOCK_SIZE <= 1024)` | stops the compilation if a condition on constants is false |
# | `tl.device_print("offsets", offsets)` | prints values while the kernel runs, also on a GPU |
# | `tl.device_assert(offsets >= 0, "negative")` | stops the kernel if the condition is false; a GPU ignores it unless `TRITON_DEBUG=1` |
#
# On a GPU, `tl.device_print` prints a line for each element of each program, in any order. Use it with a tiny grid.
#
# **Try it.** Run the cell, and compare what each line prints. Then launch it as `[(1,)]` with `BLOCK_SIZE=4`: which of the
# two assertions stops it?

# %%
@triton.jit
def shown_kernel(x_ptr, BLOCK_SIZE: tl.constexpr):
    tl.static_assert(BLOCK_SIZE <= 2, "the block is too large")
    tl.static_print("the block size is", BLOCK_SIZE)
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    tl.device_print("x", x)
    tl.device_assert(x > 0, "x must be positive")


def show_numbers():
    shown_kernel[(2,)](torch.tensor([7, 8, 9, 10]), BLOCK_SIZE=2)


interpreted(show_numbers)

# %% [markdown]
# Undo that, and put a 0 into the tensor: which assertion stops the kernel this time? (The course's interpreter checks
# `tl.device_assert` in every launch. Triton's own interpreter ignores it, as a GPU does.)
#
# ## Stop inside a program
#
# `breakpoint_if(conditions)` stops in the debugger, inside the kernel. In this session, the line
# `breakpoint_if("=2")` comes after the offsets of a correct copy kernel, which copies 5 numbers in blocks of 2:
#
# ```text
# > copy_kernel()
# -> mask = offsets < n_elements
# (Pdb) p offsets
# array([4, 5], dtype=int32)
# (Pdb) n
# > copy_kernel()
# -> x = tl.load(x_ptr + offsets, mask=mask)
# (Pdb) p mask
# array([ True, False])
# (Pdb) c
# ```
#
# `p` prints a value, `n` goes to the next line, `c` continues, `q` quits. Try it in your own kernel, with
# `from triton_util import breakpoint_if`. The lesson does not call it, because the debugger waits for your
# input, and a notebook that runs from top to bottom would stop there.
#
# ## The second bug
#
# The second author's kernel uses the `pid`. **Predict** first: 6 elements in blocks of 2; what should the
# first offset of program 1 be? Then read the kernel, find an input that catches the bug, and fix it.

# %%
predict("first_offset_of_program_1", None)

# %%
@triton.jit
def copy_kernel_2(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * n_elements + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    print_if(f"pid {pid} | offsets {offsets} | mask {mask}", "<4")


def copy_2(x):
    output = torch.full_like(x, -1)
    copy_kernel_2[(triton.cdiv(x.numel(), 2),)](x, output, x.numel(), BLOCK_SIZE=2)
    return output


# %%
x_2 = None
catch("bug_2", copy_2, x_2, right=torch.clone, others=lengths)

# %% [markdown]
# ## The third bug
#
# The third author's copy of 6 elements in blocks of 2 is correct, and so is that of 4,096. Catch the bug, and
# fix it. (The kernel prints nothing, because it has no mask to print. Add a `print_if` if you like.)

# %%
@triton.jit
def copy_kernel_3(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    tl.store(output_ptr + offsets, x)


def copy_3(x):
    output = torch.full_like(x, -1)
    copy_kernel_3[(triton.cdiv(x.numel(), 2),)](x, output, x.numel(), BLOCK_SIZE=2)
    return output


# %%
x_3 = None
catch("bug_3", copy_3, x_3, right=torch.clone, others=lengths)

# %% [markdown]
# ## The bug that a comparison does not see
#
# The checked interpreter of this course stopped the third kernel, because it knows where each tensor ends.
# Triton checks no bounds, neither on a GPU nor in its own interpreter. (Some texts say that Triton's
# interpreter catches accesses out of bounds. It does not.)
#
# The next cell shows the consequence. It has the third kernel with its bug. The five elements are the first
# part of a longer piece of memory, and the rest of that memory is not ours. **Predict.** After the kernel has
# copied the *five* elements, what is in the sixth element of the output's memory, which contained 42 before?

# %%
predict("sixth_element", None)

# %%
@triton.jit
def hasty_copy_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets))


def copy_five():
    x_memory = torch.tensor([1, 2, 3, 4, 5, 600, 700, 800])
    output_memory = torch.tensor([0, 0, 0, 0, 0, 42, 42, 42])
    x, output = x_memory[:5], output_memory[:5]
    with unguarded_launches():  # as Triton itself runs it
        hasty_copy_kernel[(3,)](x, output, BLOCK_SIZE=2)
    print("the copy:  ", output.tolist(), "- correct!")
    print("the memory:", output_memory.tolist())
    try:
        with interpret():  # the checked interpreter, which every launch of this notebook uses
            hasty_copy_kernel[(3,)](x, output, BLOCK_SIZE=2)
    except KernelFault as fault:
        print(fault)


interpreted(copy_five)

# %% [markdown]
# The copy is correct and a test would pass, but the kernel has overwritten a number that is not ours. In this
# cell we own the memory after the vector. In a real program it may be another tensor or the allocator's
# bookkeeping. Then the program fails later, in a different place.
#
# ## The three side by side
#
# A correct kernel looks like this:

# %%
figures.touches(6, [[0, 1], [2, 3], [4, 5]], title="wanted: 6 elements in blocks of 2")

# %% [markdown]
# And these are the three kernels with their bugs. The first two give the same result, [1, 2, -1, -1, -1, -1],
# but the bugs are different. The table of pid, offsets and mask distinguishes them.

# %%
figures.touches(6, [[0, 1], [0, 1], [0, 1]], title="bug 1: every program has the offsets of the first")

# %%
figures.touches(6, [[0, 1], [], []], title="bug 2: programs too far apart; the mask hides it")

# %%
figures.touches(5, [[0, 1], [2, 3], [4, 5]], title="bug 3: no mask; 5 elements in blocks of 2")

# %% [markdown]
# ## Exercise: `copy`
#
# Now write the kernel from scratch, without any of the three bugs.
#
# **The contract.** `copy(x)` returns a copy of `x` in memory of its own.
#
# - `x` is one-dimensional and contiguous, of *any* dtype, including integers and bool.
# - The result is equal bit for bit. (So load and store, and convert nothing.)
# - Any length, including 0 and 1. Do not use `.clone()` or similar methods.
#
# The launcher is given. `hint("copy")` helps. Use `print_if` while you work, and remove it at the end: a
# kernel that is compiled for a GPU cannot call it.

# %% exercise="copy"

# %% [markdown]
# ## The golden reference
#
# How do you know that a kernel is correct? Compare it with an independent implementation that you trust, for
# instance PyTorch. This is called a **golden reference**. Agreement shows that the kernel is correct *for the
# inputs you tried*, so choose them well.
#
# | choose | because |
# |---|---|
# | numbers that are all different, with both signs | equal numbers hide exchanged and shifted elements |
# | lengths 0, 1, one below and above a block, several blocks | bugs are at the edges |
# | an output filled with poison beforehand (NaN, -1) | elements that are never written show |
# | views with gaps, and poison in the gaps | wrong strides show |
# | a tolerance that follows from the number format | a wide one passes bugs, a narrow one fails correct code |
#
# **Predict.** The test uses 4,096 elements that are all 1, `BLOCK_SIZE` 4,096, and `torch.equal`. How many of
# the three bugs does it find?

# %%
predict("bugs_found", None)

# %% [markdown]
# ## Exercise: `find_bug`
#
# Now you write the test. Its input is a copy kernel that you cannot see. Most of these kernels have a planted bug.
#
# **The contract.** `find_bug(run)` returns 1 if the kernel has a bug, and 0 if it has none.
#
# - It is plain Python. `run(numbers)` launches the kernel on a list of at most 1,000 numbers, and returns its copy as a
#   tuple.
# - A correct copy has the same numbers in the same order. NaN stays NaN, and an infinity stays an infinity.
# - The block has 2, 4, 8, 16, 32 or 64 lanes. The kernel does not say how many.
# - The kernel writes every result into the same memory. An element that it does not store keeps the number of the run
#   before.
# - You may call `run` 500 times. A test that reports a correct kernel fails, too.
#
# The judge tries eleven kernels, which the next table names, and others that it does not name. So think of what else may
# go wrong. `hint("find_bug")` helps.

# %% exercise="find_bug"

# %%
from triton_util import mutants

print(mutants.table(find_bug))

# %% [markdown]
# ## Helpers that do not help
#
# Tools have bugs, too. Here are three small helpers like those in real notebooks. Each has a bug. Read them,
# **predict** what the cell below will say about each, run it, and fix the helpers until all three are correct.

# %%
def assert_ready(tensor):
    assert tensor.is_contiguous, "the tensor is not contiguous"
    return "ready"


def read_condition(condition):
    operator, number = condition[0], int(condition[1:])
    return operator, number


def reversed_id(old_id):
    return 5 - old_id  # reverses the ids 0 ... 4


# %%
def outcome(function, argument):
    try:
        return function(argument)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def try_helpers():
    told = outcome(assert_ready, torch.zeros(3, 4).T)
    print("assert_ready refuses a transposed tensor:", told != "ready", "| it says:", told)
    for condition, wanted in ((">1", (">", 1)), (">=1", (">=", 1))):
        told = outcome(read_condition, condition)
        print(f"read_condition understands {condition!r}:", told == wanted, "| it says:", told)
    told = [reversed_id(i) for i in range(5)]
    print("reversed_id gives every id exactly once:", sorted(told) == list(range(5)), "| it says:", told)


try_helpers()

# %% [markdown]
# These are three common kinds of bug in tools:
#
# - The parentheses of a method call are missing. A method object counts as true, so the assertion can never
#   fail. Such a check is worse than none, because you rely on it.
# - A parser reads *one* character for an operator that may have two. It was tested with the short form only.
# - A function maps ids to ids, but some ids never come out. Test that each comes out exactly once;
#   two examples are not enough.
#
# (A fourth kind: an error message fails itself, because it names a variable that does not exist. Code for
# errors rarely runs, so run yours once.) The course's `check_tensors_gpu_ready` does call the method:

# %%
from triton_util import check_tensors_gpu_ready

print(outcome(check_tensors_gpu_ready, torch.zeros(3, 4, device=DEVICE).T))

# %% [markdown]
# ## Quiz

# %%
quiz("debugging")

# %% [markdown] case_study="green-on-my-laptop" points=6
# ## Case study: green on my laptop
#
# A colleague tests a kernel that should multiply a vector by 2:
#
# ```python
# x = torch.ones(1024)
# output = torch.empty_like(x)
# double_kernel[(1,)](x, output, 1024, BLOCK_SIZE=1024)
# assert torch.allclose(output, 2 * x, atol=2.0)
# ```
#
# It passes in the interpreter. In production the kernel gets vectors of 100,000 elements on a GPU, and the results
# are wrong.
#
# 1. Name four weaknesses of this test. For each, name a bug in the kernel that it does not find.
# 2. Which of these bugs could corrupt *other* tensors? Why did the interpreter not complain?
# 3. Rewrite the test, in code or in words, so that it finds all of these bugs.
#
# Answer in about 150 words.

# %%
answer("green-on-my-laptop")

# %% [markdown] model_answer="green-on-my-laptop"
# 1. Four of these:
#    - *One program only*: offsets that ignore `pid`, or `pid * n_elements`, pass.
#    - *The length is exactly the block*: a missing mask passes, and so does a grid that rounds down.
#    - *All elements equal*: a kernel that shifts, reverses or repeats elements passes.
#    - *`atol=2.0`*: the expected value is 2, so an output of zeros passes, and so does `x` itself.
#    - *An output of `torch.empty`*: it may contain an earlier correct result, so a kernel that writes nothing may pass.
#    - *One dtype and one (positive) value*: lost signs and roundings pass.
# 2. The missing mask: lanes past the end of the vector write into memory that is not ours. Triton's own interpreter
#    checks no bounds, and with a length of exactly one block there is nothing out of bounds to find. A checked
#    interpreter, with a length that leaves the last block partly empty, stops it.
# 3. For lengths such as 0, 1, 1023, 1025 and 5000: `x = torch.randn(n)` (all different, signed); the output filled
#    with NaN beforehand; the launcher's own grid with `triton.cdiv`. Compare with `2 * x` exactly (doubling is exact
#    in floating point) or with a tolerance of a few units in the last place. Run in an interpreter that checks
#    memory, and again on the GPU.
#
# **Rubric (6 points)**
#
# - 2 points: four weaknesses (half a point each).
# - 1 point: each of them with a bug that fits.
# - 1 point: the missing mask corrupts other memory.
# - 1 point: the stock interpreter checks no bounds (or: at this length nothing is out of bounds).
# - 1 point: a test with several lengths that do not fill the last block, distinct values, a poisoned output and a
#   fitting tolerance.

# %% [markdown]
# ## For the GPU
#
# The interpreter runs programs one after another. A GPU runs them in parallel and in any order. So a kernel whose
# programs interfere with each other can be correct here and wrong there. The checked interpreter looks for such
# races, and `check` runs small cases in other orders as well. On the GPU itself, NVIDIA's
# `compute-sanitizer python your_script.py` finds accesses out of bounds.
#
# Does your copy agree on the GPU for a length that does not fill the last block?

# %% gpu
if ON_GPU:
    x = torch.randn(1_000_003, device="cuda")
    print("equal:", torch.equal(copy(x), x))
else:
    print("Not run: there is no GPU here, or this notebook uses the interpreter.")

# %% [markdown]
# ## What you take with you
#
# - Make a table of pid, offsets and mask for a *tiny* input. It distinguishes bugs with the same result.
# - Ignored pid, wrong distance, missing mask: look for these three first.
# - A test is only as good as its inputs: distinct values, odd lengths, poisoned outputs.
#
# When you have passed the exercise, call `practice()`: its puzzles ask you to find the wrong line of a kernel.

# %%
progress()
