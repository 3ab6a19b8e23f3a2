# %% [markdown]
# # Fusion: fewer passes through memory
#
# A formula in PyTorch is a chain of kernels. Between two of them, all data goes to global memory and back. In this lesson
# you count the bytes that such a chain moves, fuse one into a single kernel, and learn which chains are worth fusing.
#
# It takes about 55 minutes. Lessons 03 (memory or arithmetic) and 04 (strides) come first.

# %% setup
from torch.utils._python_dispatch import TorchDispatchMode

from triton_util import catch, explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# This kernel should compute (2x + 1)² in one go: it loads each number once, does three steps on it, and stores it once. Run
# both cells.

# %%
@triton.jit
def three_steps_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    doubled = 2.0 * x
    shifted = doubled + 1.0
    squared = shifted * shifted
    tl.store(output_ptr + offsets, shifted, mask=mask)


def three_steps(x):
    output = torch.empty_like(x)
    three_steps_kernel[(triton.cdiv(x.numel(), 8),)](x, output, x.numel(), BLOCK_SIZE=8)
    return output



# %%
others = [(torch.arange(float(n)),) for n in (0, 1, 8, 9, 100)]
catch("one_store", three_steps, torch.arange(6.0), right=lambda x: (2 * x + 1) ** 2, others=others)

# %% [markdown]
# The kernel stores a number of the second step. **Fix it**: one name in the last line is enough. Run that cell again, then
# the one above this text, until the card is green. `doubled` and `shifted` never go to memory, which is the subject of this
# lesson.
#
# ## A formula is a chain of kernels
#
# GELU is an **activation function**, a smooth relative of ReLU. BERT and GPT-2 use it. (Many newer language models use
# SwiGLU, another chain of elementwise steps.) In its *tanh form*:
#
# $$\begin{aligned}\text{gelu}(x) &= 0.5\,x\,(1 + \tanh(z)),\\
# z &= \sqrt{2/\pi}\,(x + 0.044715\,x^3)\end{aligned}$$
#
# In PyTorch, each operation of this formula runs at once, as a kernel of its own. This is called **eager** execution.

# %%
def eager_gelu(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


# %% [markdown]
# **Predict.** How many kernels does one call of `eager_gelu` launch? Count the operators. Each of them loads its input
# arrays and stores its result: how many arrays are loaded or stored in all?

# %%
predict("gelu_kernels", None)
predict("gelu_arrays", None)

# %%
class CountKernels(TorchDispatchMode):
    """Count PyTorch's elementwise operations, and the arrays that they load and store."""

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
# All that for one line. The kernel for tanh does a dozen or two operations per element, each of the others one. So memory
# limits all of them (lesson 03). Here they are:

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
# One kernel can load `x`, compute everything in registers, and store the result. **Fusion** does not make the arithmetic
# faster. It removes the loads and stores between the steps: 22 arrays become 2.
#
# Could the data stay in the SM until the next kernel runs? No. Registers and shared memory belong to a thread block, and
# are free again when it ends. The next kernel's blocks may run on any SM. So data from one kernel to the next goes
# through global memory. (If an array is small, it may still be in the L2 cache; a large one is not.)
#
# ## What the CPU does, and what the GPU does
#
# The **launcher** runs on the CPU. It allocates, computes the grid, and puts the launch into a queue, without waiting for
# the result. The **kernel** runs on the GPU, after the kernels before it in the queue. So nine kernels also mean nine
# launches, each of which takes a few microseconds of CPU time. For small tensors *that* is the main cost, and fusion
# reduces it, too.
#
# Here is the fused kernel in CUDA C++, for a contiguous vector. Read it; you cannot run it here. CUDA describes a thread
# with one number, Triton a program with a block of numbers.
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
# Triton has no `tl.tanh`. NVIDIA's library of functions has one, `libdevice.tanh` (from `triton.language.extra import
# libdevice`), which works on NVIDIA GPUs. You can also write it with functions that Triton has, in two forms:
#
# $$\begin{aligned}\tanh(z) &= \frac{e^{2z} - 1}{e^{2z} + 1} \quad\text{or}\\
# 0.5\,(1 + \tanh(z)) &= \text{sigmoid}(2z)\end{aligned}$$
#
# Both are correct on paper. **Predict.** What does the first one give for z = 50 in fp32? (`nan` is an answer; write it as
# `float("nan")`.)

# %%
predict("tanh_of_50", None)

# %%
z = torch.tensor(50.0)
power = torch.exp(2 * z)
print("by exponentials:", ((power - 1) / (power + 1)).item())
print("by the sigmoid: ", (2 * torch.sigmoid(2 * z) - 1).item())

# %% [markdown]
# The sigmoid form is safe for large positive and large negative z. Tests with numbers around 0 do not show the difference,
# so test with large ones.
#
# ## Enough blocks, enough work
#
# How large should a block be? You want two things that conflict:
#
# - **enough blocks** to give each SM work, better several blocks each;
# - **enough work in each block** to be worth its start, and several loads in flight in each thread.
#
# **Predict.** 100,000 elements on a GPU with 132 SMs. How many SMs have no work with blocks of 1,024? How many with blocks
# of 16,384?

# %%
predict("idle_with_1024", None)
predict("idle_with_16384", None)

# %% [markdown]
# For elementwise kernels 1,024 is a good start: 8 elements for each of 128 threads. Large tensors give many blocks anyway.
#
# **Try it.** See how many programs and masked-off lanes a size gives:

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
# - Compute in float32, and round once, at the store. Large numbers must not give NaN.
# - The kernel loads and stores each element once.
#
# The launcher and the arithmetic of four strides are given. As in lesson 04, number the elements of the *output*, and
# compute the place in `x` of each one. `hint("gelu")` helps.

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
# 1. **Use an existing kernel.** `torch.nn.functional.gelu(x, approximate="tanh")` is one kernel. Look for one first.
# 2. **`torch.compile`.** It sees the chain and generates one fused kernel, in Triton. That takes one line of code. For
#    elementwise chains it comes close: at 65536×4096 in fp16, measured on an NVIDIA H200 ({h200: versions}), the kernel that it generates for
#    GELU took {h200: gelu 65536×4096 | torch.compile | µs} µs, a plain kernel like yours
#    {h200: gelu 65536×4096 | plain | µs} µs, and a copy of the tensor {h200: gelu 65536×4096 | copy | µs} µs. Its first
#    call compiles, which takes seconds. Lesson 12 reads what it generates.
# 3. **Write a kernel.** Do so when the first two do not exist or are too slow: for unusual layouts, a chain around a
#    matmul, or several outputs at once.
#
# Fuse a chain if it stores a large tensor only to load it again:
#
# | chain | what fusion saves | how |
# |---|---|---|
# | linear → bias → ReLU | two stores and two loads of the result | before the store of the matmul (lesson 08) |
# | bias → GELU | one store and one load | elementwise, easy |
# | layer norm → dropout | one store and one load | elementwise after a row-wise kernel |
# | layer norm → linear | one store and one load of the input | harder: the matmul reads each row many times |
# | mask → softmax | one store and one load of the scores | in the row's program |
#
# The rule: an elementwise step can join the step before or after it, if both work on the same elements in the same
# program. A step that needs *other* elements (a sum over a row, a product) decides which elements a program handles. The
# elementwise steps adapt to it.
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
# 1. How many bytes of `t` are loaded and stored after the store of the product, up to and including the last line? (Count
#    the mean as one load. The bias and the scale are small.)
# 2. How long do these loads and stores take, at best?
# 3. The team puts the layer under `torch.compile` and gains little. Name two separate ways in which the `print` causes
#    that.
# 4. Design the fused version: which steps go where, and how many bytes of `t` remain after the product? What would you do
#    about the mean?
#
# Answer in about 120 words, with numbers.

# %%
answer("the-chatty-layer")

# %% [markdown] model_answer="the-chatty-layer"
# 1. Bias: load and store; GELU: load and store; mean: load; scale: load and store. Seven times 67 MB, 470 MB.
# 2. 0.47 GB / 4,200 GB/s = 0.11 ms.
# 3. `.item()` needs the number on the CPU. So the CPU waits until the GPU has finished everything in its queue, and queues
#    nothing meanwhile. And a Python side effect that depends on a value cannot be compiled: the graph breaks in two at
#    this line. So nothing is fused across it, and the result of GELU must be stored.
# 4. Bias, GELU and scale are elementwise and join the matmul before its only store. The product needed that store anyway,
#    so all seven loads and stores disappear. The mean: leave it out, or compute it rarely. Or let each program add up its
#    tile and `tl.atomic_add` one number, kept on the GPU and read later, without waiting.
#
# **Rubric (6 points)**
#
# - 1 point: seven loads and stores, about 470 MB.
# - 1 point: about 0.11 ms.
# - 1 point: `.item()` makes the CPU wait for the GPU.
# - 1 point: it breaks the compiled graph, so nothing is fused across it.
# - 1 point: bias, GELU and scale before the store of the matmul.
# - 1 point: nothing remains after the store, and a sensible solution for the mean.

# %% [markdown]
# ## For the GPU
#
# **Predict.** By what factor is your kernel faster than the eager chain on a large tensor? How does it compare with
# PyTorch's own one-kernel GELU?
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16 at 65536×4096: a plain Triton GELU moved {h200: gelu 65536×4096 | plain | GB/s} GB/s,
# PyTorch's own {h200: gelu 65536×4096 | torch | GB/s} GB/s, and the kernel that `torch.compile` generates for GELU
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
    print("Not run: there is no GPU here, and the interpreter's time does not predict a GPU's.")

# %% [markdown]
# ## What you take with you
#
# - Count arrays, not operators: a chain costs the loads and stores between its kernels.
# - Look for an existing kernel, then try `torch.compile`, then write your own.
# - Elementwise steps join their neighbours. Load once, store once.
#
# To practise, call `practice()`. It draws a puzzle from an exercise that you have passed.

# %%
progress()
