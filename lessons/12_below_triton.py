# %% [markdown]
# # Below Triton: read what the compiler wrote
#
# Two kernels compute the same numbers. One loads 16 bytes with each instruction, the other 4. The results are equal, so
# the difference does not show there. It shows in the assembly that the compiler emits, and you need no GPU to see it.
# In this lesson you learn to read the relevant part of that assembly, and you write a kernel that is graded on it.
#
# It takes about 70 minutes. Lessons 04 (strides), 05 (tiles) and 08 (matrix products) come first.

# %% setup
from triton_util import time_beside
from triton_util.environment import interpreting
from triton_util.explain import compare, explain, show_ptx

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## From Python to machine code
#
# A kernel goes through several languages before a GPU runs it:
#
# | step | what is decided there |
# |---|---|
# | your Python | which elements a *program* loads, computes and stores |
# | Triton's own IR | blocks, without threads: what is multiplied, added, loaded |
# | Triton's GPU IR | which *thread* holds which elements of a block; how wide a load is |
# | LLVM IR | numbers of single threads |
# | **PTX** | instructions for one thread, as text, with any number of registers |
# | machine code | real registers, at most 255 for a thread; written by `ptxas`, the assembler |
#
# (IR is short for *intermediate representation*. A **register** holds one 32-bit number of a thread.) PTX is the last
# of these languages that is documented for people to read, and the first that names instructions. Triton ships with all
# of these tools, `ptxas` too. They need no GPU: only running the kernel does.
#
# Here is a small kernel. `show_ptx` compiles it for one kind of GPU (90 is sm_90: H100 and H200; 80 is sm_80: A100). It
# prints each line of Python with the PTX that it produced. `only` selects the lines.

# %%
@triton.jit
def double_kernel(x_ptr, output_ptr, n, BLOCK: tl.constexpr):
    """Store 2 x, in blocks of BLOCK elements."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, 2 * x, mask=mask)


def double(x, block=512):
    """2 x, for a contiguous x."""
    output = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), block),)](x, output, x.numel(), BLOCK=block)
    return output


show_ptx(double, torch.empty(4096), only="tl.load")

# %% [markdown]
# The text describes **one thread**. A program of 4 **warps** has 4 · 32 = 128 threads (a warp is a group of 32 threads
# that run together). Each thread runs these instructions with its own registers. Read the line with `ld.global`:
#
# - `ld` loads, `.global` from the memory of the GPU;
# - `.v4.b32` means four values of 32 bits at once;
# - `@%p1` at the start is the mask: if it is false, the instruction does nothing;
# - the braces hold the four registers to fill, the brackets the register with the address.
#
# So this one instruction moves 128 bits for a thread. **That is the widest load for one thread on these GPUs.** Four
# loads of 32 bits fetch the same bytes with four times as many instructions. A multiprocessor can issue only a few
# instructions per clock, so narrow loads can slow down a kernel that does little but load and store.
#
# **Predict.** In half precision: how many elements does a load of 128 bits fetch?

# %%
predict("halves_in_a_load", None)

# %%
show_ptx(double, torch.empty(4096, dtype=torch.float16), block=1024, only="tl.load")

# %% [markdown]
# (In PTX two halves share a register of 32 bits.)
#
# **Predict.** A block of 1,024 elements in float32, distributed over 128 threads. How many wide load instructions does
# a thread need?

# %%
predict("wide_loads_for_1024", None)

# %% [markdown]
# Now x has one element less: 4,095. How many load instructions of x does the PTX have then, with the same block?

# %%
predict("loads_for_4095", None)

# %%
for n in (4096, 4095):
    print(show_ptx(double, torch.empty(n), block=1024, only="tl.load"))

# %% [markdown]
# ## What the compiler has to know
#
# The kernel has not changed. What the compiler knows has changed. At a launch Triton looks at each integer and each
# address and notes one thing: **is it divisible by 16?** It compiles a separate version of the kernel for each answer.
# This is called **specialization**; `explain` shows it as "multiple of 16". An integer that is 1 becomes a constant,
# too.
#
# The compiler merges four loads into one only if it knows three things:
#
# 1. **Neighbours.** The lanes of a thread point at adjacent elements. (A **lane** is one place of a block.) `+
#    tl.arange(0, BLOCK)` shows that.
# 2. **Alignment.** The first of them is at a multiple of 16 bytes. At a wide load from any other address a GPU stops
#    with *misaligned address*. Alignment follows from the address of the tensor and from everything that you add to it:
#    `row * n` is a multiple of 4 if n is one.
# 3. **One mask for all.** The mask has the same value for all four lanes, so one test decides for the whole load.
#    `cols < n` is the same for four neighbours if n is a multiple of 4.
#
# With n = 4,095 the third one is missing. The compiler does not guess: what it cannot prove, it assumes false.
#
# **Predict.** Rows of 20, 24, 30 and 32 elements in float32. How many of these four lengths are a multiple of 16
# *bytes*? And for how many does Triton know it by itself?

# %%
predict("lengths_of_whole_vectors", None)
predict("lengths_that_triton_knows", None)

# %% [markdown]
# Look at a row of 20. The kernel below takes the length of a row, and each program handles one row. The first version
# takes the length as an ordinary argument `n`, the second as a constant `N`.

# %%
@triton.jit
def rows_kernel(x_ptr, output_ptr, n, BLOCK: tl.constexpr):
    """Store 2 x, a program for each row of n elements."""
    cols = tl.arange(0, BLOCK)
    places = tl.program_id(0) * n + cols
    x = tl.load(x_ptr + places, mask=cols < n)
    tl.store(output_ptr + places, 2 * x, mask=cols < n)


@triton.jit
def rows_of_known_length_kernel(x_ptr, output_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """The same, compiled for each length."""
    cols = tl.arange(0, BLOCK)
    places = tl.program_id(0) * N + cols
    x = tl.load(x_ptr + places, mask=cols < N)
    tl.store(output_ptr + places, 2 * x, mask=cols < N)


x, output = torch.empty(7, 20), torch.empty(7, 20)
print(show_ptx(rows_kernel, x, output, 20, BLOCK=512, only="tl.load"))
print(show_ptx(rows_of_known_length_kernel, x, output, N=20, BLOCK=512, only="tl.load"))

# %% [markdown]
# A constant gives the compiler full information, but costs a compilation for each length. A middle way: pass a small
# constant `VECTOR`, and write
#
# ```python
# n = n // VECTOR * VECTOR
# ```
#
# If n is a multiple of VECTOR, this changes no value, and the compiler now sees a product with VECTOR, so it knows the
# divisibility. If n is *not* a multiple, the line makes the row shorter, and the result is wrong. So the launcher must
# choose VECTOR: 16 // x.element_size() if that divides n, and 1 otherwise.
#
# `tl.multiple_of(value, 4)` asserts the same; the compiler trusts it without checking. If the claim is false, a GPU
# stops, or reads what the mask excludes. The interpreter of this course checks it. (In Triton 3.9 the hint has no
# effect on an argument of the kernel, as in `tl.multiple_of(n, 4)`. It works on a computed value such as `row * n`.)
#
# **Try it.** Put `n = n // 4 * 4` into `rows_kernel`, and look at its load again. Then undo it.
#
# ## What hides it
#
# All of these load the correct elements of a row of 64. With Triton 3.9 for sm_80 and blocks of 1,024:
#
# | columns and mask | bits of a load |
# |---|---|
# | `cols = tl.arange(0, BLOCK)`, `cols < n` | 128 |
# | the same, `n > cols` | 128 |
# | the same, `cols <= n - 1` | 32: the compiler knows no divisor of n - 1 |
# | `tl.minimum(cols, n - 1)`, no mask | 32: after a minimum the lanes are not known to be neighbours |
# | `n - 1 - tl.arange(0, BLOCK)` | 32: neighbours in the wrong direction |
# | `2 * tl.arange(0, BLOCK)`, then the odd ones | 32: no neighbours |
# | `do_not_specialize=["n"]` | 32: Triton does not look at n |
#
# **Try it.** Write one of them into `rows_kernel`, call `show_ptx(rows_kernel, torch.empty(8, 64), torch.empty(8, 64),
# 64, BLOCK=1024, only="tl.load")`, and compare.
#
# The size of the block matters as well. The threads share a block, and a thread that gets one element cannot load four.
#
# **Predict.** 4 warps, half precision. How many elements must a block have at least, so that each thread can load 128
# bits at once?

# %%
predict("smallest_block", None)

# %%
for block in (256, 512, 1024):
    made = explain(double, torch.empty(4096, dtype=torch.float16), block=block, targets=(90,)).made[0]
    widths = sorted({access.bits for access in made.total.accesses if access.kind == "load"})
    print(f"a block of {block:5}: loads of {widths} bits")

# %% [markdown]
# ## Too much for the registers
#
# PTX can use any number of registers. A real thread has at most 255, of 32 bits each. `ptxas` assigns them; a value
# that does not fit is stored to memory and loaded again. This is called **spilling**. It shows neither in the Python
# nor in the PTX, only in the report of `ptxas`.
#
# **Predict.** A tile of 8,192 elements in float32, for one warp. How many elements does each thread hold?

# %%
predict("elements_of_a_thread", None)

# %%
@triton.jit
def tile_kernel(x_ptr, s_ptr, output_ptr, m, n, BM: tl.constexpr, BN: tl.constexpr):
    """Scale the rows of one tile."""
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    offsets = rows[:, None] * n + cols[None, :]
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    s = tl.load(s_ptr + rows, mask=rows < m)
    tl.store(output_ptr + offsets, x * s[:, None], mask=mask)


x, s, output = torch.empty(64, 1024), torch.empty(64), torch.empty(64, 1024)
for warps in (1, 8):
    made = explain(tile_kernel, x, s, output, 64, 1024, BM=8, BN=1024, num_warps=warps, targets=(90,)).made[0]
    print(f"{warps} warps: {made.registers} registers, {made.spill_store_bytes} bytes spilled per thread")

# %% [markdown]
# With eight warps each thread holds an eighth of the same block. A smaller block would work as well.
#
# ## Products on two GPUs
#
# A `tl.dot` becomes instructions for the tensor cores. Which instructions depends on the GPU; the Python does not
# change.

# %%
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    """Store the product of two SIZE x SIZE matrices."""
    lanes = tl.arange(0, SIZE)
    places = lanes[:, None] * SIZE + lanes[None, :]
    c = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places))
    tl.store(c_ptr + places, c)


a, b = (torch.empty(64, 64, dtype=torch.float16) for _ in range(2))
explain(product_kernel, a, b, torch.empty(64, 64), SIZE=64)

# %% [markdown]
# Look at the row "tensor cores". For sm_80 it says `mma`: one *warp* multiplies a small tile, with its inputs in
# registers. (m16n8k16 is 16 × 16 times 16 × 8.) For sm_90 it says `wgmma`: four warps together, a *warp group*,
# multiply a larger tile and read inputs from shared memory. Open "PTX by source line" for both to compare them.
#
# If the row says "none" for a product of yours, it runs without tensor cores. Then look at the dtypes and at
# `input_precision`, as in lesson 08.
#
# ## Exercise: `scale_rows`
#
# **The contract.** `scale_rows(x, s)` returns x * s[:, None].
#
# - x has shape (m, n) and is contiguous. s has shape (m,) and is contiguous. Both have the same dtype: float32, float16
#   or bfloat16. Empty tensors are allowed.
# - The result is new and contiguous, in the dtype of x.
# - **Where a row is a multiple of 16 bytes** and x starts at an address that is one, as every fresh tensor does, the
#   loads of x are 128 bits wide in the PTX for sm_80 and sm_90, and no register spills.
# - Every other n, and an x that starts elsewhere, give correct results, too.
#
# The judge compiles your launches and reads the PTX. A correct result with narrow loads gets half of the points.
# `hint("scale_rows")` helps.

# %% exercise="scale_rows"

# %% [markdown]
# Look at the loads of your kernel, for a row of 20 and for one of 21. Which of the two may be narrow?

# %%
for n in (20, 21):
    print(f"n = {n}")
    print(show_ptx(scale_rows, torch.empty(7, n), torch.empty(7), target=80, only="tl.load"))

# %% [markdown]
# ## What `torch.compile` writes
#
# `torch.compile` takes Python with torch operations and generates kernels for it. Its front end, **Dynamo**, records
# the operations. Its back end, **Inductor**, writes kernels, on a GPU **in Triton**. You can read them:
#
# ```
# TORCH_LOGS=output_code python my_program.py
# ```
#
# (On a CPU Inductor writes C++, so this lesson cannot show it at run time.) For `x * s[:, None]` with 64 rows of 64 it
# writes a kernel of about this form. We wrote this cell by hand after that form, without the decorators that hold hints
# and settings.

# %%
@triton.jit
def generated_kernel(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    x2 = xindex
    x1 = xindex // 64
    tmp0 = tl.load(in_ptr0 + (x2), None)
    tmp1 = tl.load(in_ptr1 + (x1), None, eviction_policy="evict_last")
    tmp2 = tmp0 * tmp1
    tl.store(out_ptr0 + (x2), tmp2, None)


x, s, output = torch.empty(64, 64), torch.empty(64), torch.empty(64, 64)
show_ptx(generated_kernel, x, s, output, 4096, XBLOCK=512, only="tl.load")

# %% [markdown]
# You can read every line of it. Inductor numbers all elements in one sequence (`xindex`) and computes the row number by
# division. The kernel needs no mask, because 4,096 is a multiple of every block size that Inductor would choose. The
# sizes are numbers in the text. A chain of such operations becomes one kernel, with `tmp3`, `tmp4` and so on, and one
# store.
#
# **What you gain.**
#
# - It fuses, and it knows every shape and stride. On an H200 ({h200: versions}) a transposed copy of a 16384 × 16384 matrix took torch
#   {h200: transpose fp32, 16384² | torch | ms} ms, and {h200: transpose fp32, 16384² | torch.compile | ms} ms under
#   `torch.compile`.
# - With `mode="max-autotune"` it also *chooses*. For each matrix product it times cuBLAS and several Triton templates
#   on your shapes, with the operations after the product fused into the templates, and keeps the fastest. Without that
#   mode a product goes to cuBLAS: 4096 × 4096 took {h200: grouped_matmul 4096 | torch | ms} ms and
#   {h200: grouped_matmul 4096 | torch.compile | ms} ms.
# - It can change the layout. At 4097 × 4097, in fp16, seven of eight rows do not start at a multiple of 16 bytes, and
#   cuBLAS took {h200: autotuned_matmul 4097 | torch | ms} ms. `torch.compile`, which can copy both matrices into longer
#   rows first, took {h200: autotuned_matmul 4097 | torch.compile | ms} ms.
#
# **What it does not do.**
#
# - It chooses among known methods. For a softmax, Inductor uses the online softmax by default, as in lesson 07. It
#   keeps a row on the chip (a *persistent reduction*) only up to 1,024 columns. A longer row is read twice. A softmax
#   over 65536 rows of 4096 took {h200: softmax 65536×4096 | torch.compile | ms} ms under `torch.compile`, and
#   {h200: softmax 65536×4096 | plain | ms} ms with a kernel like that of lesson 07, which reads each row once.
# - It sees only what torch shows it. A `.item()`, a print or a branch on a value ends the graph, and fusion ends there,
#   too.
# - A new shape costs one more compilation. After that, Dynamo makes the size an argument (*dynamic shapes*), and
#   further sizes usually need no compilation. A new dtype needs one, and a new layout often does.
# - Some patterns need another tool. For variants of attention there is `flex_attention`: you write the score or the
#   mask in Python, and it generates a fused kernel. A paged cache with your own layout, a histogram, or dropout with
#   your own counter still needs a kernel by hand.
#
# ## Quiz

# %%
quiz("below_triton")

# %% [markdown] case_study="eight-columns-more" points=6
# ## Case study: eight columns more
#
# A kernel scales the rows of a float16 matrix, a program for each row:
#
# ```python
# @triton.jit
# def scale_kernel(x_ptr, s_ptr, output_ptr, n, BLOCK: tl.constexpr):
#     row = tl.program_id(0)
#     s = tl.load(s_ptr + row)
#     for start in range(0, n, BLOCK):
#         cols = start + tl.arange(0, BLOCK)
#         x = tl.load(x_ptr + row * n + cols, mask=cols < n)
#         tl.store(output_ptr + row * n + cols, x * s, mask=cols < n)
# ```
#
# With n = 4096 it is as fast as a copy. Then the model gets n = 4104, and the kernel is clearly slower, for almost the
# same number of bytes. A colleague fixes it: `row_start = tl.multiple_of(row * n, 8)`, and `tl.max_constancy(cols < n,
# 8)` for the mask. It is fast again, and all tests on the CPU, with a plain interpreter, pass. A week later another
# team uses n = 4100, and the program stops with *misaligned address*. With n = 4100 and only the hint on the mask, it
# had stored wrong numbers instead.
#
# 1. What did the compiler know at 4096 and not at 4104? What does the PTX look like?
# 2. Are the hints true for 4104? Why do they fail for 4100?
# 3. Why did no test on the CPU see it, and where do the wrong numbers come from?
# 4. Fix it, for every n. How would you test, without a GPU, that 4104 stays fast and 4100 stays correct?
#
# Answer in about 180 words.

# %%
answer("eight-columns-more")

# %% [markdown] model_answer="eight-columns-more"
# 1. 4096 is divisible by 16, so Triton specialised on it: the start of each row is aligned, and the mask is the same
#    for eight neighbours. 4104 = 16 · 256.5 is not, so the compiler assumes any n. Instead of one `ld.global.v4.b32`
#    with one mask there are eight loads of 16 bits with eight masks; the stores are narrow, too.
# 2. 4104 = 8 · 513: each row is 8,208 bytes long, a multiple of 16, so both hints are true. 4100 is a multiple of 4
#    only. Row 1 starts at byte 8,200, which is not a multiple of 16, and the GPU refuses a wide load there.
# 3. A hint changes no value: an interpreter that ignores it computes the correct numbers. With the mask declared
#    constant, the first of eight lanes decides for all. The last group of a row of 4100 has four columns. The kernel
#    stores four more, into the beginning of the next row, where they race with the correct values.
# 4. `VECTOR = 8 if n % 8 == 0 else 1` in the launcher, and `n = n // VECTOR * VECTOR` in the kernel, or hints with
#    VECTOR in place of 8. A test compiles both and reads the PTX: 128 bits at n = 4104. Another test runs n = 4100 on
#    an interpreter that checks hints, and checks that VECTOR is 1 there.
#
# **Rubric (6 points)**
#
# - 1 point: specialisation on 16: 4096 is divisible by it, 4104 is not.
# - 1 point: several narrow loads, each with its own mask, in place of a wide one.
# - 1 point: 4104 is a multiple of 8 elements or 16 bytes, 4100 is not.
# - 1 point: the compiler trusts hints, and they change no value, so a plain interpreter sees nothing.
# - 1 point: one lane's mask for eight: columns past the end are stored into the next row.
# - 1 point: the launcher works out what is true; a test reads the PTX, another one has a length that is not a multiple.

# %% [markdown]
# ## For the GPU
#
# Narrow and wide loads on almost the same matrix: your kernel on rows of 4096, then on rows of 4097, whose starts are
# not aligned, so no kernel can load them in whole vectors row by row. Beside it you see what `torch.compile` makes of
# it. The figure is the bytes of x and of the result, divided by the time.

# %% gpu
if ON_GPU:
    others = {"PyTorch": lambda x, s: x * s[:, None]}
    others["torch.compile"] = torch.compile(others["PyTorch"])
    for n in (4096, 4097, 4104):
        x = torch.randn(16384, n, device="cuda", dtype=torch.float16)
        s = torch.randn(16384, device="cuda", dtype=torch.float16)
        time_beside(scale_rows, others, x, s, n_bytes=2 * x.nbytes, title=f"rows of {n}")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - You can read PTX on any machine: look for `ld.global`, its width, and how many of them there are.
# - A wide load needs neighbours, alignment and one mask. The compiler must be able to prove all three.
# - Triton knows what is divisible by 16. You must state anything finer, and only where it is true.
# - Spills show in the report of `ptxas`. Use smaller blocks or more warps.
# - `torch.compile` writes Triton that you can read. It fuses and chooses among known methods.
#
# | in this course | elsewhere |
# |---|---|
# | wide load, vector | vectorized memory access, `LDG.128` in machine code |
# | neighbours, one mask for all | *contiguity*, *constancy* (Triton's axis analysis) |
# | multiple of 16 | `tt.divisibility = 16` in the IR |
#
# References:
#
# - NVIDIA: [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/), the instructions `ld`, `st`, `mma`
#   and `wgmma`
# - NVIDIA: [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/), on memory access
# - [triton.language](https://triton-lang.org/main/python-api/triton.language.html): `multiple_of`,
#   `max_contiguous`, `max_constancy`
# - Ansel et al.: [PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode Transformation and Graph
#   Compilation](https://doi.org/10.1145/3620665.3640366) (2024)
# - [flex_attention](https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html) (PyTorch's
#   documentation)
#
# To repeat in a few days what you wrote here, call `practice()`: it draws a puzzle from an exercise that you have
# passed.

# %%
progress()
