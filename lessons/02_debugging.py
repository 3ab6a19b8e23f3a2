# %% [markdown]
# # Debugging: find it on the CPU first
#
# A kernel has thousands of programs, and most of its bugs are wrong *indices*. At the end of this lesson you
# can look into single programs while they run, you have found three bugs that everybody makes once, and you
# can write a test that such bugs do not pass.
#
# It takes about 35 minutes. Lesson 01 comes first.

# %% setup
from triton_util import breakpoint_if, explore, figures, print_if
from triton_util.environment import interpreting
from triton_util.interpreter import KernelFault, interpret, unguarded_launches

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## The interpreter
#
# With `TRITON_INTERPRET=1` kernels do not go to the GPU. They run as ordinary Python on the CPU, one program
# after another, and you can print and stop inside them. The variable must be set **before Triton is
# imported**: Triton looks at it when it is imported and when `@triton.jit` meets your function. Setting it
# later changes nothing, and says nothing.

# %%
if interpreting():
    print("Kernels run in the interpreter. Everything in this lesson works.")
else:
    print("Kernels are compiled for the GPU here, where nobody can print from inside one.")
    print("For this lesson restart the notebook's kernel, run  %env TRITON_INTERPRET=1  in a new")
    print("cell at the very top, and go on from there.")

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
programs_chosen = None

# %%
explore.reveal(programs_chosen, 3 * 2, "programs")

# %% [markdown]
# **Try it.** Choose exactly the programs on the right edge. Then write something that is no condition, and read
# the message.

# %%
explore.conditions(">=1,=0", n_0=4, n_1=3)

# %%
# The same without controls:
print(explore.conditions_text(">=1,!=1", n_0=4, n_1=3))

# %% [markdown]
# `breakpoint_if(conditions)` does not print, but stops in the debugger, inside the kernel. Put it into a kernel
# of yours and try `p offsets` (print a value), `n` (next line), `c` (continue) and `q` (quit). It is not called
# here, because a notebook that runs from top to bottom has nobody to type.
#
# ## A copy kernel with three bugs
#
# The task: copy a vector of 6 elements, in blocks of 2. It should look like this:

# %%
figures.touches(6, [[0, 1], [2, 3], [4, 5]], title="wanted: 6 elements in blocks of 2")

# %% [markdown]
# The launcher below fills the output with -1 first, so that you see what was written.

# %%
def launch_copy(kernel, x, block_size):
    if not interpreting():
        print("Not run: this needs the interpreter.")
        return None
    output = torch.full_like(x, -1)
    with interpret():
        kernel[(triton.cdiv(x.numel(), block_size),)](x, output, x.numel(), BLOCK_SIZE=block_size)
    return output


numbers = torch.tensor([1, 2, 3, 4, 5, 6])

# %% [markdown]
# **The first bug.** Read the kernel. **Predict** how many elements of the output stay -1. Then run it and look at
# the table that it prints.

# %%
stay_minus_one = None

# %%
@triton.jit
def copy_kernel_1(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    print_if(f"pid {pid} | offsets {offsets} | mask {mask} | x {x}", "")


output = launch_copy(copy_kernel_1, numbers, block_size=2)
if output is not None:
    print(output)
    explore.reveal(stay_minus_one, (output == -1).sum().item(), "elements")

# %% [markdown]
# All three programs do the same: the offsets are 0 and 1, whatever `pid` says. **Offsets that do not depend on
# `pid` make every program work on the first block.** The first block is right, so a test with a single block
# passes.

# %%
figures.touches(6, [[0, 1], [0, 1], [0, 1]], title="bug 1: the offsets ignore pid")

# %% [markdown]
# **The second bug.** So the author adds the `pid`. **Predict** the offsets of program 1. Where is the mistake?

# %%
first_offset_of_program_1 = None

# %%
@triton.jit
def copy_kernel_2(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * n_elements + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x, mask=mask)
    print_if(f"pid {pid} | offsets {offsets} | mask {mask}", "")


output = launch_copy(copy_kernel_2, numbers, block_size=2)
if output is not None:
    print(output)
explore.reveal(first_offset_of_program_1, 1 * numbers.numel(), "is the offset")

# %% [markdown]
# The result is the same as before: [1, 2, -1, -1, -1, -1]. And yet it is a different bug. Programs are
# `n_elements` apart, and should be `BLOCK_SIZE` apart. Programs 1 and 2 start behind the end, where the mask
# silences them. Two bugs, one symptom; the table told them apart.

# %%
figures.touches(6, [[0, 1], [], []], title="bug 2: pid * n_elements; the mask hides it")

# %% [markdown]
# **The third bug.** `pid * BLOCK_SIZE` at last, and the copy of 6 elements is right. Now the author finds that the
# mask "does nothing for 6 elements", and takes it out. For 6 elements in blocks of 2 that is even true.
#
# Let us have 5 elements. They are the front part of a longer memory, whose other part belongs to somebody else:

# %%
@triton.jit
def copy_kernel_3(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    tl.store(output_ptr + offsets, x)


x_memory = torch.tensor([1, 2, 3, 4, 5, 600, 700, 800], device=DEVICE)
output_memory = torch.tensor([0, 0, 0, 0, 0, 42, 42, 42], device=DEVICE)
x, output = x_memory[:5], output_memory[:5]

# %% [markdown]
# **Predict.** After the copy of the *five* elements, what is in the sixth element of `output_memory`, which held
# 42 and is none of our business?

# %%
sixth_element = None

# %%
with unguarded_launches():  # as Triton itself runs it
    copy_kernel_3[(3,)](x, output, 5, BLOCK_SIZE=2)
print("the copy:", output.tolist(), "- right!")
explore.reveal(sixth_element, output_memory[5].item())

# %% [markdown]
# Here is the table of this bug, where there is no mask to print:
#
# | pid | offsets | stored |
# |---|---|---|
# | 0 | 0 1 | 1 2 |
# | 1 | 2 3 | 3 4 |
# | 2 | 4 **5** | 5 **600** |
#
# The copy is right, a test would pass, and somebody else's number is gone. This was Triton's own way of running
# the kernel, on a GPU as well as in its interpreter: **neither notices**. Here we arranged for the neighbour to be
# ours. In real life it may be another tensor, or the bookkeeping of the memory allocator; then the program dies
# later, somewhere else. (Some texts say that Triton's interpreter catches accesses out of bounds. It does not.)
#
# The course's checked interpreter does, and stops the program *before* the write. `check` uses it, the notebooks
# of the course use it for every launch (but the one above), and so can you, with `interpret()`:

# %%
if interpreting():
    try:
        with interpret():
            copy_kernel_3[(3,)](x, output, 5, BLOCK_SIZE=2)
    except KernelFault as fault:
        print(fault)
else:
    print("Not run: this needs the interpreter.")

# %%
figures.touches(5, [[0, 1], [2, 3], [4, 5]], title="bug 3: no mask; 5 elements in blocks of 2")

# %% [markdown]
# ## Exercise: `copy`
#
# Now write the kernel that has none of the three.
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
bugs_found = None

# %%
explore.reveal(bugs_found, 0, "bugs")

# %% [markdown]
# None. With a single block `pid` is always 0, and a block that fits exactly needs no mask.
#
# ## Helpers that do not help
#
# Tools have bugs, too. Here are three small helpers, as one finds them in real notebooks. **Predict** what each
# line of output will be, before you run the cell.

# %%
def assert_ready(tensor):
    assert tensor.is_contiguous, "the tensor is not contiguous"
    return "ready"


def read_condition(condition):
    operator, number = condition[0], int(condition[1:])
    return operator, number


def reversed_id(old_id):
    return 5 - old_id  # turns the ids 0 ... 4 round


def outcome(function, argument):
    try:
        return function(argument)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print("assert_ready of a transposed tensor:", outcome(assert_ready, torch.zeros(3, 4).T))
print("read_condition('>1'):               ", outcome(read_condition, ">1"))
print("read_condition('>=1'):              ", outcome(read_condition, ">=1"))
print("reversed_id of 0 ... 4:             ", [reversed_id(i) for i in range(5)])

# %% [markdown]
# 1. `tensor.is_contiguous` without parentheses is the *method*, and a method counts as true. This assertion can
#    never fail. A check that cannot fail is worse than none, because you rely on it.
# 2. The parser takes *one* character for the operator. `>=1` becomes `>` and `=1`, and that is no number. It was
#    tested with `>1` only.
# 3. 5 - 0 is 5, which is not among the ids, and 0 is missing. It should be `4 - old_id`. When ids are mapped to
#    ids, test that every one comes out exactly once.
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
# **Predict**: does your copy agree on the GPU for a length that is no multiple of anything?

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
