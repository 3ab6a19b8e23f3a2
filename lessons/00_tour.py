# %% [markdown]
# # The tour: a kernel in ten minutes
#
# Welcome. This course teaches you to write GPU kernels in **Triton**, from adding two vectors to
# training a small language model on kernels of your own. You learn by writing them. A judge looks at each of your kernels and tells you, in
# words, what is wrong and where. You need no GPU: kernels also run on the CPU, in an
# *interpreter*. Where there is a GPU, the same notebooks use it.
#
# In this tour nothing is graded, and its one exercise is solved for you. You check your machine, see a kernel run, see one check fail
# and one pass. It takes about ten minutes. Click into a cell and press Shift+Enter to run it and
# go on to the next.

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
# If the cell printed five lines, all is well. If not, the command `tilewise doctor` in a terminal
# says what is missing and how to mend it.
#
# The last line matters. **In the course's interpreter** a kernel computes what it would compute on
# a GPU, but for the last bits of a rounding, and it is watched: where it touches memory that is not
# its own, you are told the line. But the
# interpreter's *time* says nothing about a GPU, so this course never shows it as speed. What it
# measures instead is how many bytes a kernel moves; you will see that this predicts speed well.
#
# What decides is the variable `TRITON_INTERPRET`, which must be set *before* Triton is imported.
# The set-up cell at the top of each lesson sets it to `1` where there is no GPU.
#
# ## A kernel runs
#
# A GPU works on a large problem by cutting it into blocks. Each block is done by a **program**;
# all programs run the same code, and each knows its own number, its `pid`. Here are 10 numbers in
# blocks of 4:

# %%
figures.blocks_1d(10, 4)

# %% [markdown]
# Three programs of four **lanes**, as the places of a block are called, and two lanes of the last
# one have nothing to do. That picture is most of what there is to know about a first kernel. Here
# is one that doubles each number. Do not worry about the details: lesson 01 explains each line.

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
# **Predictions.** Before something is measured you are asked what will come out. Put your number
# in place of `None` and run the cell. Nobody looks at it but you; `progress()` tells you later how good your
# guesses were. **Predict**: the kernel above ran 3 programs of 4 lanes each. How many lanes were switched off?

# %%
predict("tour_lanes_off", None)

# %% [markdown]
# **Things to move.** Sliders and lists work with the mouse, and with Tab and the arrow keys. If
# your notebook shows no widgets, the cell after it prints the same as text.

# %%
explore.blocks_1d(n_elements=10, BLOCK_SIZE=4, pid=2)

# %%
print(explore.blocks_1d_text(n_elements=10, BLOCK_SIZE=4, pid=2))

# %% [markdown]
# **Pictures** carry a line "The picture in words" underneath. It says all that the picture says.
#
# **Exercises** are a cell with unfinished code and a cell with `check(...)`. The judge runs your
# kernel on many inputs: tiny, empty, odd lengths, several number formats. It does so in a process
# of its own, so nothing that your kernel does can harm the notebook.
#
# Here is a launcher for the kernel above: the function that starts its programs. It holds a
# mistake. **Predict** what the judge will say.

# %%
def double(x):
    output = torch.empty_like(x)
    n_elements = x.numel()
    grid = (n_elements // 1024,)
    double_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)
    return output


check(double)

# %% [markdown]
# Read the card from the top: the **gates**, which are the steps of the judge, the first case that
# failed, what happened, the next step.
# The launcher divides and rounds *down*. For 1,000 elements that makes no program at all, and for
# 1,500 only one: what comes after the first 1,024 is never written. The mend is to round up:

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
# **Quiz.** A few questions at the end of each lesson, with an answer to each choice, also to the
# wrong ones. **Case studies** are questions to answer in your own words; in a class a person reads
# them. A part **for the GPU** closes each lesson; without a GPU it says that it did not run.

# %%
quiz("tour")

# %% [markdown]
# Your progress stays on this machine, in a small file. `progress()` shows it:

# %%
progress()

# %% [markdown]
# ## Where to go
#
# | lessons | you learn |
# |---|---|
# | 01, 02 | the first kernel, and how to find its bugs |
# | 03, 04, 05 | why memory decides, where a matrix really lies, and tiles |
# | 06, 07 | many steps in one kernel; softmax and layer norm |
# | 08, 09, 11 | matrix multiplication: right, then in a good order, then tuned |
#
# Each takes 20 to 45 minutes. Go on with **01, Vector addition**.
