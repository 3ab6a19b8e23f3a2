# %% [markdown]
# # The tour: a kernel in 15 minutes
#
# Welcome. This course teaches you to write GPU kernels in **Triton**, from adding two vectors to
# training a small language model on your own kernels. You learn by writing them. A judge runs each of
# your kernels and tells you in plain words what is wrong and on which line. You do not need a GPU:
# kernels also run on the CPU, in an *interpreter*. If your machine has a GPU, the same notebooks use it.
#
# Nothing in this tour is graded, and its one exercise is solved for you. You check your machine, watch
# a kernel run, and see one check fail and one pass. It takes about 15 minutes. Click into a cell and
# press Shift+Enter to run it and move to the next one.

# %% setup
import platform

from triton_util import explore, figures
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Your machine

# %%
print("Python ", platform.python_version())
print("PyTorch", torch.__version__)
print("Triton ", triton.__version__)
print("GPU    ", torch.cuda.get_device_name() if torch.cuda.is_available() else "none")
print("Kernels run", "on the GPU" if ON_GPU else "on the CPU, in the interpreter")

# %% [markdown]
# If the cell printed five lines, your machine is ready. If it did not, run `tilewise doctor` in a
# terminal. It says what is missing and how to fix it.
#
# The last line matters. **In the course's interpreter** a kernel computes the same result as on a GPU,
# except for the last bits of some roundings. The interpreter also checks every memory access: if your
# kernel touches memory outside its tensors, it reports the line. The interpreter's *time* says nothing
# about a GPU, so this course never shows it as speed. The course counts how many bytes a kernel moves
# instead, and you will see that this count predicts speed well.
#
# The variable `TRITON_INTERPRET` decides where kernels run. It must be set *before* Triton is imported.
# The set-up cell at the top of each lesson sets it to `1` if there is no GPU.
#
# ## A kernel runs
#
# A GPU works on a large problem by cutting it into blocks. A **program** computes one block. All
# programs run the same code, and each knows its own number, its `pid` (program id). Here are 10 numbers
# in blocks of 4:

# %%
figures.blocks_1d(10, 4)

# %% [markdown]
# Each position in a block is called a **lane**. Here are three programs of four lanes, and the last two
# lanes of the last program have no number to work on. This picture is most of what you need for a first
# kernel. The next cell has a kernel that doubles each number. Lesson 01 explains each of its lines.

# %%
@triton.jit
def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, 2 * x, mask=mask)


x = torch.arange(10.0, device=DEVICE)
output = torch.empty_like(x)
double_kernel[(3,)](x, output, 10, BLOCK_SIZE=4)
print(output.tolist())

# %% [markdown]
# ## How a lesson works
#
# **Predictions.** Before the notebook measures something, it asks you for a guess. Replace `None` by your
# number and run the cell. Only you see your guesses, and `progress()` shows later how good they were.
# **Predict**: the kernel above ran 3 programs of 4 lanes each. How many lanes were masked off?

# %%
predict("tour_lanes_off", None)

# %% [markdown]
# **Controls.** Sliders and lists work with the mouse, or with Tab and the arrow keys. If your notebook
# shows no widgets, the cell after each one prints the same as text.

# %%
explore.blocks_1d(n_elements=10, BLOCK_SIZE=4, pid=2)

# %%
print(explore.blocks_1d_text(n_elements=10, BLOCK_SIZE=4, pid=2))

# %% [markdown]
# **Pictures** have a line "The picture in words" underneath, which describes everything they show.
#
# **Exercises** are a cell with unfinished code and a cell with `check(...)`. The judge runs your
# kernel on many inputs: tiny, empty, odd lengths, several number formats. It runs in a process
# of its own, so your kernel cannot harm the notebook.
#
# The function below is a **launcher** for the kernel above: it starts the kernel's programs. It has a
# bug. **Predict** what the judge will say.

# %%
def double(x):
    output = torch.empty_like(x)
    n_elements = x.numel()
    grid = (n_elements // 1024,)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output


check(double)

# %% [markdown]
# Read the card from the top. It shows the **gates**, which are the steps of the judge, then the first
# failed case, what happened, and what to do next.
#
# The launcher divides and rounds *down*. For 1,000 elements it starts no program at all. For 1,500
# elements it starts one, so the elements after the first 1,024 are never written. The fix is to round up:

# %%
def double(x):
    output = torch.empty_like(x)
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output


check(double)

# %% [markdown]
# **Hints.** Each exercise has three, from a nudge to nearly the line. Each call of `hint` with the
# exercise's name gives the next one:

# %%
hint("double")

# %% [markdown]
# **Quiz.** Each lesson ends with a few questions. Every choice has an explanation, including the wrong
# ones. **Case studies** ask you to answer in your own words; in a class, an instructor reads your answers.
# Each lesson also has a part **for the GPU**. Without a GPU it says that it did not run.

# %%
quiz("tour")

# %% [markdown]
# `progress()` shows how far you are. It reads a small file that stays on this machine:

# %%
progress()

# %% [markdown]
# ## Where to go
#
# | lessons | you learn |
# |---|---|
# | 01, 02 | the first kernel, and how to find its bugs |
# | 03, 04, 05 | why memory decides the speed, how a matrix is stored, and tiles |
# | 06, 07 | several steps in one kernel; softmax and layer norm |
# | 08, 09 | matrix multiplication: first correct, then in an order that reuses the cache |
# | 10, 11 | how to measure a kernel, and how to tune it |
# | 12 | what the compiler makes of your kernel |
# | 13, 14 | attention, and gradients of your own kernels |
# | 15, 16 | small number formats, and persistent kernels |
# | 17, 18 | decoding, atomics and scans |
# | 19, 20 | random numbers, and mixtures of experts |
# | 21 | a small language model that trains on your kernels |
#
# Each lesson says in its first lines how long it takes: one to two hours in most of them. You can stop and go on later.
# After you have passed an exercise, `practice()` gives you puzzles made from it. Go on with **01, Vector
# addition**.
