# %% [markdown]
# # Fusion: what never travels costs nothing
#
# A formula in PyTorch is a chain of kernels, and between any two of them everything goes to global memory and
# back. At the end of this lesson you can count what such a chain moves, you have fused one into a single kernel,
# and you know which chains are worth it.
#
# It takes about 35 minutes. Lessons 03 (memory or arithmetic) and 04 (strides) come first.

# %% setup
from torch.utils._python_dispatch import TorchDispatchMode

from triton_util import explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## A formula is a chain of kernels
#
# GELU is the bend in most language models, a smooth relative of ReLU. In its *tanh form*:
#
# $$\begin{aligned}\text{gelu}(x) &= 0.5\,x\,(1 + \tanh(z)),\\
# z &= \sqrt{2/\pi}\,(x + 0.044715\,x^3)\end{aligned}$$
#
# Written in PyTorch, each operation runs at once, as a kernel of its own. This way of running is called *eager*.

# %%
def eager_gelu(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


# %% [markdown]
# **Predict.** How many kernels does one call of `eager_gelu` launch? Count the operators. Each of them loads its
# input arrays and stores its result: how many arrays travel in all?

# %%
predict("gelu_kernels", None)
predict("gelu_arrays", None)

# %%
class CountKernels(TorchDispatchMode):
    """Counts PyTorch's elementwise operations, and the arrays that they load and store."""

    def __init__(self):
        super().__init__()
        self.kernels = self.arrays = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.kernels += 1
        self.arrays += 1 + sum(isinstance(arg, torch.Tensor) and arg.ndim > 0 for arg in args)
        return function(*args, **(kwargs or {}))


x = torch.linspace(-3, 3, 1000)
with CountKernels() as count:
    eager_gelu(x)
print(f"{count.kernels} kernels, {count.arrays} arrays loaded or stored")

# %% [markdown]
# All that for one line. The kernel for tanh does a dozen or two operations per element, each of the others one; all of
# them wait for memory all the time (lesson 03). Here they are:

# %%
figures.chain(
    [
        ("0.5 * x", 1, 1),
        ("0.044715 * x", 1, 1),
        ("... * x", 2, 1),
        ("... * x", 2, 1),
        ("x + ...", 2, 1),
        ("0.797... * ...", 1, 1),
        ("tanh", 1, 1),
        ("1 + ...", 1, 1),
        ("product of the two", 2, 1),
    ],
    fused="load x, compute, store",
)

# %% [markdown]
# One kernel would load `x`, compute everything in registers, and store the result. **Fusion** does not make the
# arithmetic faster. It removes the travelling between the steps: 22 arrays become 2.
#
# Could the data not just stay in the SM until the next kernel comes? No. Registers and shared memory belong to a
# block, and are gone when it ends. The next kernel's blocks may run on any SM. What one kernel leaves to the next
# goes through global memory. (The L2 cache softens this for small arrays. For large ones it does not.)
#
# ## Who runs where
#
# The **launcher** runs on the CPU. It allocates, computes the grid, and puts the launch into a queue; it does not
# wait. The **kernel** runs on the GPU, when its turn comes. So nine kernels also mean nine launches, a few
# microseconds of CPU time each. For small tensors *that* is the cost, and fusion helps there, too.
#
# Here is the fused kernel in CUDA C++, to read, not to run, for a contiguous vector. Note who thinks in what:
# CUDA in threads with one number each, Triton in blocks.
#
# ```cpp
# __global__ void gelu(const float* x, float* output, int n) {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;
#     if (i < n) {
#         float v = x[i];                                       // loaded once
#         float z = 0.7978845608f * (v + 0.044715f * v * v * v);  // registers
#         output[i] = 0.5f * v * (1.0f + tanhf(z));             // stored once
#     }
# }
# ```
#
# ## A function that Triton does not have
#
# Triton has no `tl.tanh`. There is one in NVIDIA's library of functions, `libdevice.tanh` (from
# `triton.language.extra import libdevice`), which works on NVIDIA GPUs. And there are two ways round it with what the
# language has:
#
# $$\begin{aligned}\tanh(z) &= \frac{e^{2z} - 1}{e^{2z} + 1} \quad\text{or}\\
# 0.5\,(1 + \tanh(z)) &= \text{sigmoid}(2z)\end{aligned}$$
#
# These two are right on paper. **Predict.** What does the first one give for z = 50 in fp32? (`nan` is an answer;
# write it as `float("nan")`.)

# %%
predict("tanh_of_50", None)

# %%
z = torch.tensor(50.0)
power = torch.exp(2 * z)
print("by exponentials:", ((power - 1) / (power + 1)).item())
print("by the sigmoid: ", (2 * torch.sigmoid(2 * z) - 1).item())

# %% [markdown]
# The sigmoid form is safe on both sides. Tests with numbers around 0 never see the difference, so test with large ones.
#
# ## Enough blocks, enough work
#
# How large should a block be? Two wishes pull in opposite directions:
#
# - **enough blocks** that all SMs have something to do, better several each;
# - **enough work in each** that starting it is worth while, and that each thread has several loads on their way.
#
# **Predict.** 100,000 elements on a GPU with 132 SMs. How many SMs stay idle with blocks of 1,024? How many with
# blocks of 16,384?

# %%
predict("idle_with_1024", None)
predict("idle_with_16384", None)

# %% [markdown]
# For elementwise kernels 1,024 is a good start: 8 elements for each of 128 threads. For large tensors there are
# plenty of blocks anyway.
#
# **Try it.** See how many programs and idle lanes a size makes:

# %%
explore.blocks_1d(n_elements=21, BLOCK_SIZE=8, pid=2)

# %%
# The same without controls:
print(explore.blocks_1d_text(n_elements=21, BLOCK_SIZE=8, pid=2))

# %% [markdown]
# ## Exercise: `gelu`
#
# **The contract.** `gelu(x)` returns the GELU of `x` in its tanh form.
#
# - `x` has any shape and any strides, and the dtype float32, float16 or bfloat16.
# - The result is a new contiguous tensor of the same shape and dtype. Empty tensors are legal.
# - Compute in float32, and round once, at the store. No NaN for large numbers.
# - In the kernel, one load and one store per element.
#
# The launcher and the arithmetic of four strides are given. As in lesson 04, walk through the *output*, and ask of
# each element where in `x` it lies. `hint("gelu")` helps.

# %% exercise="gelu"

# %% [markdown]
# ## What you saved
#
# **Predict.** 10,000 elements in fp32. How many bytes does your kernel move? And the chain of nine?

# %%
predict("bytes_fused", None)
predict("bytes_eager", None)

# %%
moved = explore.measure(gelu, torch.linspace(-3, 3, 10_000))
if moved.total:
    print(f"your kernel: {moved.total:,} bytes; the chain: {count.arrays * 10_000 * 4:,} bytes")

# %% [markdown]
# ## Three ways to a fused kernel
#
# 1. **Somebody has written it.** `torch.nn.functional.gelu(x, approximate="tanh")` is one kernel. Look first.
# 2. **`torch.compile`.** It sees the chain and generates one fused kernel, in Triton. One line. For elementwise
#    chains like this one it comes close: at 65536×4096 in fp16, measured on an NVIDIA H200, the chain compiled in
#    this way took {h200: gelu 65536×4096 | torch.compile | µs} µs, a plain kernel like yours
#    {h200: gelu 65536×4096 | plain | µs} µs, and a copy of the tensor {h200: gelu 65536×4096 | copy | µs} µs. Its first
#    call compiles, which takes seconds. Lesson 12 reads what it generates.
# 3. **By hand.** When the first two do not exist or fall short: unusual layouts, a chain around a matmul, several
#    outputs at once.
#
# Chains that are worth looking at, because a large tensor is stored only to be loaded again:
#
# | chain | what fusion saves | how |
# |---|---|---|
# | linear → bias → ReLU | two stores and two loads of the result | before the store of the matmul (lesson 08) |
# | bias → GELU | one store and one load | elementwise, easy |
# | layer norm → dropout | one store and one load | elementwise after a row-wise kernel |
# | layer norm → linear | one store and one load of the input | harder: the matmul reads each row many times |
# | mask → softmax | one store and one load of the scores | in the row's program |
#
# The rule: an elementwise step can join whatever comes before or after it, as long as both work on the same
# elements in the same program. A step that needs *other* elements (a sum over a row, a product) decides how the
# programs are cut, and the elementwise steps follow it.
#
# ## Quiz

# %%
quiz("fusion")

# %% [markdown] case_study="the-chatty-layer" points=6
# ## Case study: the chatty layer
#
# A layer runs eagerly in fp16 on an H200, which copies about 4,200 GB/s:
#
# ```python
# t = x @ w                      # (8192, 4096), 67 MB
# t = t + b
# t = torch.nn.functional.gelu(t, approximate="tanh")
# print("mean activation:", t.mean().item())
# t = t * scale                  # a tensor with one number
# ```
#
# 1. How many bytes of `t` travel after the product has been stored, until the last line has stored its result?
#    (Count the mean as one load. The bias and the scale are small.)
# 2. How long do they take, at best?
# 3. The team puts the layer under `torch.compile` and gains little. What does the `print` have to do with it? Name
#    two separate harms.
# 4. Design the fused version: which steps go where, and how many bytes of `t` remain after the product? What would
#    you do about the mean?
#
# Answer in about 120 words, with numbers.

# %%
answer("the-chatty-layer")

# %% [markdown] model_answer="the-chatty-layer"
# 1. Bias: load and store; GELU: load and store; mean: load; scale: load and store. Seven times 67 MB, 470 MB.
# 2. 0.47 GB / 4,200 GB/s = 0.11 ms.
# 3. `.item()` needs the number on the CPU, so the CPU must wait until the GPU has finished everything in its queue,
#    and nothing new is queued meanwhile. And a Python side effect that depends on a value cannot be compiled: the
#    graph breaks in two at this line, so that nothing is fused across it (the result of GELU must be stored).
# 4. Bias, GELU and scale are elementwise and join the matmul before its only store: nothing of `t` travels after
#    that but the store itself, which the product needed anyway. All seven are gone. The mean: leave it out,
#    or compute it rarely; or let each program add up its tile and `tl.atomic_add` one number, kept on the GPU and
#    read later, without waiting.
#
# **Rubric (6 points)**
#
# - 1 point: seven loads and stores, about 470 MB.
# - 1 point: about 0.11 ms.
# - 1 point: `.item()` makes the CPU wait for the GPU.
# - 1 point: it breaks the compiled graph, so nothing is fused across it.
# - 1 point: bias, GELU and scale before the store of the matmul.
# - 1 point: nothing remains after the store, and a sensible way for the mean.

# %% [markdown]
# ## For the GPU
#
# **Predict.** By what factor is your kernel faster than the eager chain on a large tensor? And than PyTorch's own
# one-kernel GELU?
#
# Measured on an NVIDIA H200 in fp16 at 65536×4096: a plain Triton GELU moved {h200: gelu 65536×4096 | plain | GB/s} GB/s,
# PyTorch's own {h200: gelu 65536×4096 | torch | GB/s} GB/s, and what `torch.compile` makes of one GELU
# {h200: gelu 65536×4096 | torch.compile | GB/s} GB/s.

# %% gpu
if ON_GPU:
    x = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    others = {
        "eager chain": eager_gelu,
        "torch's own": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        "torch.compile": torch.compile(eager_gelu),
    }
    time_beside(gelu, others, x, n_bytes=2 * x.nbytes)
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Count arrays, not operators: what a chain costs is what travels between its kernels.
# - Look for a kernel that exists, then try `torch.compile`, then write it.
# - Elementwise steps join their neighbours. Load once, store once.

# %%
progress()
