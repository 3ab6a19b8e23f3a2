# %% [markdown]
# # Debugging: find it on the CPU first
#
# A kernel has thousands of programs, and most of its bugs are wrong *indices*. At the end of this lesson you
# can look into single programs while they run, you have caught and mended three bugs that everybody makes once, and
# you can write a test that such bugs do not pass.
#
# It takes about 35 minutes. Lesson 01 comes first.

# %% setup
from triton_util import catch, explore, figures, interpreted, print_if
from triton_util.environment import interpreting
from triton_util.interpreter import KernelFault, interpret, unguarded_launches

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Catch one now
#
# This kernel should copy a vector in blocks of 2. Its author tried it with two numbers, and the copy was right.

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
# It has a bug. **Catch it**: put a vector in place of `None` whose copy is wrong, such as `torch.tensor([7, 8])`
# (which does not catch it).

# %%
x_1 = None
lengths = [(torch.arange(1, n + 1),) for n in range(10)]
catch("bug_1", copy_1, x_1, right=torch.clone, others=lengths)

# %% [markdown]
# Look at the table that the kernel printed: one line for each program, with its offsets and its mask. Which column
# should differ from line to line, and does not? **Mend the kernel**, run its cell, then run `catch` again until the
# card is green.
#
# ## The interpreter
#
# How can a kernel print? With `TRITON_INTERPRET=1` kernels do not go to the GPU. They run as ordinary Python on the
# CPU, one program after another, and you can print and stop inside them. What decides is the variable at the moment
# when `@triton.jit` meets your function:
#
# | the variable is set | what happens (Triton 3.9) |
# |---|---|
# | before `import triton` | everything is interpreted |
# | after the import, before `@triton.jit` | this kernel is interpreted; parts of Triton that were set up by then are not |
# | after `@triton.jit` | the kernel stays compiled; without a GPU its launch says "0 active drivers" |
#
# So set it **before Triton is imported**; then nothing is half one and half the other.

# %%
if interpreting():
    print("Kernels run in the interpreter here.")
else:
    print("Kernels are compiled for the GPU here, where nobody can print from inside one. What needs the")
    print("interpreter, `catch` and `interpreted`, runs it in a process of its own.")

# %% [markdown]
# ## Print from chosen programs
#
# A plain `print` in a kernel prints for *every* program. `print_if(text, conditions)` asks first. There is one
# condition for each axis of the grid, separated by commas; an empty one accepts every id:
#
# | conditions | prints in |
# |---|---|
# | `""` | every program |
# | `"=0"` | programs with id 0 on axis 0 |
# | `",>1"` | programs with an id above 1 on axis 1 |
# | `">=1,=0"` | axis 0 at least 1, *and* axis 1 exactly 0 |
# | `"!=2"` | all but id 2 on axis 0 |
#
# **Predict**: how many programs of a (4, 3) grid does `">=1,!=1"` choose?

# %%
predict("programs_chosen", None)

# %% [markdown]
# **Try it.** Choose exactly the programs on the right edge. Then write something that is no condition, and read
# the message.

# %%
explore.conditions(">=1,=0", n_0=4, n_1=3)

# %%
# The same without controls:
print(explore.conditions_text(">=1,!=1", n_0=4, n_1=3))

# %% [markdown]
# ## Stop inside a program
#
# `breakpoint_if(conditions)` does not print, but stops in the debugger, inside the kernel. Here somebody put
# `breakpoint_if("=2")` behind the offsets of a right copy kernel, and copied 5 numbers in blocks of 2:
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
# `p` prints a value, `n` goes to the next line, `c` continues, `q` quits. Try it in a kernel of yours, with
# `from triton_util import breakpoint_if`. It is not called here, because a notebook that runs from top to bottom has
# nobody to type.
#
# ## The second bug
#
# Another author uses the `pid`. **Predict** first: 6 elements in blocks of 2; what should the first offset of program 1
# be? Then read the kernel, find an input that catches it, and mend it.

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
# The third author's copy of 6 elements in blocks of 2 is right, and so is that of 4,096. Catch it, and mend it. (It
# prints nothing: there is no mask to print. Put a `print_if` in, if you like.)

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
# The checked interpreter of this course stopped the third kernel, because it knows where each tensor ends. Triton
# itself does not, on a GPU as well as in its own interpreter: **neither notices**. (Some texts say that Triton's
# interpreter catches accesses out of bounds. It does not.)
#
# The next cell shows what happens then. It holds the third kernel as it was. Five elements are the front part of a
# longer memory, whose other part belongs to somebody else. **Predict.** After the copy of the *five* elements, what is in
# the sixth element of the output's memory, which held 42 and is none of our business?

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
    print("the copy:  ", output.tolist(), "- right!")
    print("the memory:", output_memory.tolist())
    try:
        with interpret():  # the checked interpreter, which every launch of this notebook uses
            hasty_copy_kernel[(3,)](x, output, BLOCK_SIZE=2)
    except KernelFault as fault:
        print(fault)


interpreted(copy_five)

# %% [markdown]
# The copy is right, a test would pass, and somebody else's number is gone. Here we arranged for the neighbour to be
# ours. In real life it may be another tensor, or the bookkeeping of the memory allocator; then the program dies later,
# somewhere else.
#
# ## The three side by side
#
# This is how it should look:

# %%
figures.touches(6, [[0, 1], [2, 3], [4, 5]], title="wanted: 6 elements in blocks of 2")

# %% [markdown]
# And these are the three kernels as they were. Two of them leave the same result, [1, 2, -1, -1, -1, -1], and yet they
# are different bugs. The table of pid, offsets and mask tells them apart.

# %%
figures.touches(6, [[0, 1], [0, 1], [0, 1]], title="bug 1: every program has the offsets of the first")

# %%
figures.touches(6, [[0, 1], [], []], title="bug 2: programs too far apart; the mask hides it")

# %%
figures.touches(5, [[0, 1], [2, 3], [4, 5]], title="bug 3: no mask; 5 elements in blocks of 2")

# %% [markdown]
# ## Exercise: `copy`
#
# Now write the kernel from the empty page, with none of the three.
#
# **The contract.** `copy(x)` returns a copy of `x` in memory of its own.
#
# - `x` is one-dimensional and contiguous, of *any* dtype, integers and bool included.
# - The result is equal bit for bit. (So load and store, and convert nothing.)
# - Any length, 0 and 1 included. Do not use `.clone()` or its relatives.
#
# The launcher is given. `hint("copy")` helps. Use `print_if` while you work, and take it out at the end: compiled
# for a GPU, a kernel cannot call it.

# %% exercise="copy"

# %% [markdown]
# ## The golden reference
#
# How do you know that a kernel is right? Compare it with something that you trust and that was written by
# somebody else: a **golden reference**, PyTorch for instance. Agreement proves that the kernel is right *for the
# inputs you tried*, so everything depends on the inputs.
#
# | choose | because |
# |---|---|
# | numbers that are all different, with both signs | equal numbers hide every exchange and every shift |
# | lengths 0, 1, one below and above a block, several blocks | mistakes live at edges |
# | an output filled with poison beforehand (NaN, -1) | elements never written show |
# | views with gaps whose gaps hold poison | wrong strides show |
# | a tolerance that follows from the number format | too wide passes bugs, too narrow fails right code |
#
# **Predict.** Which of the three bugs does this test find: 4,096 elements that are all 1, `BLOCK_SIZE` 4,096,
# compared with `torch.equal`? How many of the three?

# %%
predict("bugs_found", None)

# %% [markdown]
# ## Helpers that do not help
#
# Tools have bugs, too. Here are three small helpers, as one finds them in real notebooks. Each has a bug. Read them,
# **predict** what the cell below will say of each, run it, and mend the helpers until all three are right.

# %%
def assert_ready(tensor):
    assert tensor.is_contiguous, "the tensor is not contiguous"
    return "ready"


def read_condition(condition):
    operator, number = condition[0], int(condition[1:])
    return operator, number


def reversed_id(old_id):
    return 5 - old_id  # turns the ids 0 ... 4 round


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
# Three kinds of mistake that are common in tools:
#
# - A method is written without its parentheses. A method counts as true, so the assertion can never fail. A check that
#   cannot fail is worse than none, because you rely on it.
# - A parser takes *one* character for something that may have two, and was tested with the short form only.
# - When ids are mapped to ids, every one must come out exactly once. Test that, and not two examples.
#
# (A fourth kind: an error message that itself fails, because it names a variable that does not exist. Error paths
# are code that nobody runs. Run yours once.) `check_tensors_gpu_ready` of the course calls the method:

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
# 1. Name four weaknesses of this test. For each, name a bug in the kernel that it lets through.
# 2. Which of these bugs could corrupt *other* tensors? Why did the interpreter not complain?
# 3. Rewrite the test, in code or in words, so that none of the bugs passes.
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
#    - *An output of `torch.empty`*: it may hold an earlier right result, so a kernel that writes nothing may pass.
#    - *One dtype and one (positive) value*: lost signs and roundings pass.
# 2. The missing mask: lanes behind the end of the vector write into foreign memory. Triton's own interpreter checks
#    no bounds, and with a length of exactly one block there is nothing out of bounds to find. A checked
#    interpreter, with a ragged length, stops it.
# 3. For lengths such as 0, 1, 1023, 1025 and 5000: `x = torch.randn(n)` (all different, signed); the output filled
#    with NaN beforehand; the launcher's own grid with `triton.cdiv`; compare with `2 * x` exactly (doubling is exact
#    in floating point) or with a tolerance of a few units in the last place; run in an interpreter that checks
#    memory, and again on the GPU.
#
# **Rubric (6 points)**
#
# - 2 points: four weaknesses (half a point each).
# - 1 point: each of them with a bug that fits.
# - 1 point: the missing mask corrupts other memory.
# - 1 point: the stock interpreter checks no bounds (or: at this length nothing is out of bounds).
# - 1 point: a test with several ragged lengths, distinct values, a poisoned output and a fitting tolerance.

# %% [markdown]
# ## For the GPU
#
# The interpreter runs programs one after another; a GPU runs them side by side and in any order. So a kernel whose
# programs disturb each other can be right here and wrong there. The checked interpreter looks for such races, and
# `check` runs small cases in other orders as well. What remains is for the GPU itself: NVIDIA's
# `compute-sanitizer python your_script.py` finds accesses out of bounds there.
#
# Does your copy agree on the GPU for a length that is no multiple of anything?

# %% gpu
if ON_GPU:
    x = torch.randn(1_000_003, device="cuda")
    print("equal:", torch.equal(copy(x), x))
else:
    print("Not run: there is no GPU here, or this notebook uses the interpreter.")

# %% [markdown]
# ## What you take with you
#
# - Make a table of pid, offsets and mask for a *tiny* input. It tells bugs apart that look the same from outside.
# - Ignored pid, wrong distance, missing mask: look for these three first.
# - A test is as good as its inputs. All different, ragged, poisoned.

# %%
progress()
