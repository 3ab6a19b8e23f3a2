# %% [markdown]
# # Below Triton: read what the compiler wrote
#
# Two kernels compute the same numbers. One loads 16 bytes with each instruction, the other one 4. Nothing in the result tells
# them apart, and no GPU is needed to see the difference: it stands in a text that the compiler writes on any machine. At the
# end of this lesson you can read as much of that text as it takes, and you have written a kernel that is graded on it.
#
# It takes about 45 minutes. Lessons 04 (strides), 05 (tiles) and 08 (matrix products) come first.

# %% setup
from triton_util import time_beside
from triton_util.environment import interpreting
from triton_util.explain import compare, explain, show_ptx

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## The way down
#
# A kernel goes through several languages before a GPU runs it:
#
# | step | what is decided there |
# |---|---|
# | your Python | which elements a *program* loads, computes and stores |
# | Triton's own IR | blocks, without threads: what is multiplied, added, loaded |
# | Triton's GPU IR | which *thread* holds which elements of a block; how wide a load is |
# | LLVM IR | numbers of single threads |
# | **PTX** | instructions for one thread, as text, with as many registers as it likes |
# | machine code | real registers, at most 255 for a thread; written by `ptxas`, the assembler |
#
# (IR is short for *intermediate representation*.) PTX is the last of these that is made to be read, and the first that names
# instructions. Triton brings all of these tools along, `ptxas` too. None of them asks for a GPU: only running does.
#
# Here is a small kernel. `show_ptx` compiles it for one kind of GPU (90 is sm_90: H100 and H200; 80 is sm_80: A100) and prints
# the PTX below the line of Python that it came from. `only` picks the lines.

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
# The text is about **one thread**. A program of 4 warps has 4 · 32 = 128 threads, and each of them runs these instructions with
# its own registers. Read the line with `ld.global`:
#
# - `ld` loads, `.global` from the memory of the GPU;
# - `.v4.b32` is four values of 32 bits at once;
# - `@%p1` in front is the mask: without it the instruction does nothing;
# - in braces stand the four registers that are filled, in brackets the register with the address.
#
# So this one instruction moves 128 bits for a thread. **That is the widest load for one thread on these GPUs.** Four loads of 32
# bits bring the same bytes with four times as many instructions. A processor can only issue so many at a time, so a kernel that
# does little but load and store may be held up by that.
#
# **Predict.** In half precision: how many elements does a load of 128 bits bring?

# %%
predict("halves_in_a_load", None)

# %%
show_ptx(double, torch.empty(4096, dtype=torch.float16), block=1024, only="tl.load")

# %% [markdown]
# (In PTX two halves share a register of 32 bits.)
#
# **Predict.** A block of 1,024 elements in float32, shared out among 128 threads. How many wide load instructions does a thread
# need?

# %%
predict("wide_loads_for_1024", None)

# %% [markdown]
# And now x has one element less: 4,095. How many load instructions of x does the text have then, with the same block?

# %%
predict("loads_for_4095", None)

# %%
for n in (4096, 4095):
    print(show_ptx(double, torch.empty(n), block=1024, only="tl.load"))

# %% [markdown]
# ## What the compiler has to know
#
# Nothing has changed in the kernel. What has changed is what the compiler knows. When a kernel is launched, Triton looks at each
# integer and each address and notes one thing: **is it divisible by 16?** It compiles the kernel anew for each answer. That is
# called *specialisation*, and `explain` shows it as "multiple of 16". An integer that is 1 becomes a constant, too.
#
# Three things must be known before four loads become one:
#
# 1. **Neighbours.** The lanes of a thread point at elements side by side. `+ tl.arange(0, BLOCK)` says so.
# 2. **Alignment.** The first of them lies at a multiple of 16 bytes. A GPU stops with *misaligned address* at a wide load that
#    starts elsewhere. It follows from the address of the tensor and from all that is added to it: `row * n` is a multiple of 4 if
#    n is one.
# 3. **One mask for all.** Either all four lanes are loaded or none. `cols < n` is the same for four neighbours if n is a multiple
#    of 4.
#
# With n = 4,095 the third one is missing. Nothing here is guessed: what is not known is taken not to be so.
#
# **Predict.** Rows of 20, 24, 30 and 32 elements in float32. How many of these four lengths are a multiple of 16 *bytes*? And of
# how many does Triton know it by itself?

# %%
predict("lengths_of_whole_vectors", None)
predict("lengths_that_triton_knows", None)

# %% [markdown]
# Look at a row of 20. The kernel below takes the length of a row, and each program has a row. `N` is once an ordinary argument,
# and once a constant.

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
# A constant says all there is to say, and costs a compilation for each length. There is a way between: pass a small constant
# `VECTOR`, and write
#
# ```python
# n = n // VECTOR * VECTOR
# ```
#
# If n is a multiple of VECTOR, this changes no value. But what is multiplied by 4 is a multiple of 4, and the compiler sees that.
# If n is *not* a multiple, the line makes a row shorter, and the result is wrong. So the launcher must work out what is true:
# VECTOR is 16 // x.element_size() where that divides n, and 1 elsewhere.
#
# `tl.multiple_of(value, 4)` says the same by decree. It is believed and not checked: where it is untrue, a GPU stops, or reads
# what the mask excludes. The interpreter of this course checks it. (On an argument of the kernel itself, as in
# `tl.multiple_of(n, 4)`, it has no effect in Triton 3.9. On something computed, such as `row * n`, it has.)
#
# **Try it.** Put `n = n // 4 * 4` into `rows_kernel`, and look at its load again. Then undo it.
#
# ## What hides it
#
# All of these load the right elements of a row of 64. With Triton 3.9 for sm_80 and blocks of 1,024:
#
# | columns and mask | bits of a load |
# |---|---|
# | `cols = tl.arange(0, BLOCK)`, `cols < n` | 128 |
# | the same, `n > cols` | 128 |
# | the same, `cols <= n - 1` | 32: n - 1 is divisible by nothing that is known |
# | `tl.minimum(cols, n - 1)`, no mask | 32: a minimum has no known neighbours |
# | `n - 1 - tl.arange(0, BLOCK)` | 32: neighbours in the wrong direction |
# | `2 * tl.arange(0, BLOCK)`, then the odd ones | 32: no neighbours |
# | `do_not_specialize=["n"]` | 32: not even looked at |
#
# **Try it.** Write one of them into `rows_kernel`, call `show_ptx(rows_kernel, torch.empty(8, 64), torch.empty(8, 64), 64,
# BLOCK=1024, only="tl.load")`, and see for yourself.
#
# Neighbours and masks are not all. A block is shared out among the threads, and a thread that gets one element cannot load four.
#
# **Predict.** 4 warps, half precision. How many elements must a block have at least, so that each thread can take 128 bits?

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
# PTX has as many registers as it likes. A real thread has at most 255, of 32 bits each. `ptxas` finds room for them; what has none
# is stored to memory and loaded again. That is called **spilling**, and it stands neither in the Python nor in the PTX: it
# shows in the report of `ptxas`.
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
# The same block for eight warps leaves each thread an eighth. A smaller block would do, too.
#
# ## Products on two GPUs
#
# A `tl.dot` becomes instructions for the tensor cores. Which ones depends on the GPU, and the Python does not change.

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
# Look at the row "tensor cores". For sm_80 it says `mma`: one *warp* multiplies a small tile (m16n8k16 is 16 × 16 times 16 × 8),
# with its factors in registers. For sm_90 it says `wgmma`: four warps together, a *warp group*, multiply a larger one, and
# read factors from shared memory. Open "PTX by source line" for both to compare them. If a product of yours shows "none"
# there, it runs on ordinary arithmetic: as in lesson 08, look at the dtypes and at `input_precision`.
#
# ## Exercise: `scale_rows`
#
# **The contract.** `scale_rows(x, s)` returns x * s[:, None].
#
# - x has shape (m, n) and is contiguous. s has shape (m,) and is contiguous. Both have the same dtype: float32, float16 or
#   bfloat16. Empty tensors are legal.
# - The result is new and contiguous, in the dtype of x.
# - **Where a row is a multiple of 16 bytes** and x starts at an address that is one, as every fresh tensor does, the loads of x
#   are 128 bits wide in the PTX for sm_80 and sm_90, and no register spills.
# - Every other n, and an x that starts elsewhere, give right results, too.
#
# The judge compiles your launches and reads the PTX. A right result with narrow loads has half of the points.
# `hint("scale_rows")` helps.

# %% exercise="scale_rows"

# %% [markdown]
# Look at what you have made, in a row of 20 and in one of 21. Which of the two may be narrow?

# %%
for n in (20, 21):
    print(f"n = {n}")
    print(show_ptx(scale_rows, torch.empty(7, n), torch.empty(7), target=80, only="tl.load"))

# %% [markdown]
# ## What `torch.compile` writes
#
# `torch.compile` takes Python with torch operations and writes kernels for it. On a GPU its part *Inductor* writes them **in
# Triton**, so you can read them:
#
# ```
# TORCH_LOGS=output_code python my_program.py
# ```
#
# (On a CPU Inductor writes C++, so this cannot be shown here at run time.) For `x * s[:, None]` with 64 rows of 64 it writes a
# kernel of about this form. The cell was written for this lesson after that form; decorators with hints and settings are left
# out.

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
# You can read every line of it. All elements stand in one row (`xindex`), the row number comes back by division, and there is no
# mask, because 4,096 is a multiple of every block that it would choose. The sizes stand in the text as numbers: another shape
# is another kernel, unless `dynamic=True` makes them arguments. A chain of such operations gets one kernel, with `tmp3`,
# `tmp4` and so on, and one store.
#
# **What it gains.** It fuses, and it knows every shape and stride. On an H200 a transposed copy of a 16384 × 16384 matrix
# took torch {h200: transpose fp32, 16384² | torch | ms} ms, and {h200: transpose fp32, 16384² | torch.compile | ms} ms under
# `torch.compile`. With `mode="max-autotune"` it also *chooses*: for each matrix product it times cuBLAS and several Triton
# templates on your shapes, with the operations behind the product fused into the templates, and keeps the fastest. Without that
# mode a product goes to cuBLAS: 4096 × 4096 took {h200: grouped_matmul 4096 | torch | ms} ms and
# {h200: grouped_matmul 4096 | torch.compile | ms} ms. But at 4097 × 4097, in fp16, seven rows of eight do not start at a multiple
# of 16 bytes, and cuBLAS took {h200: autotuned_matmul 4097 | torch | ms} ms. `torch.compile`, which can copy both matrices into
# longer rows first, took {h200: autotuned_matmul 4097 | torch.compile | ms} ms.
#
# **Where it falls short.**
#
# - It rarely finds a new *algorithm*. A softmax over 65536 rows of 4096 took {h200: softmax 65536×4096 | torch.compile | ms} ms
#   under `torch.compile`, and {h200: softmax 65536×4096 | plain | ms} ms with a kernel like that of lesson 07.
# - It sees what torch shows it. A `.item()`, a print or a branch on a value ends the graph, and fusion ends there with it.
# - New shapes cost new compilations, and so do new strides and dtypes.
# - A kernel that is not elementwise, reduction or product needs somebody to write it: paged attention, a histogram, dropout by a
#   counter of your own.
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
# With n = 4096 it is as fast as a copy. Then the model gets n = 4104, and the kernel is clearly slower, for as good as the same
# number of bytes. A colleague mends it: `row_start = tl.multiple_of(row * n, 8)`, and `tl.max_constancy(cols < n, 8)` for the
# mask. It is fast again, and all tests on the CPU, with a plain interpreter, pass. A week later somebody uses n = 4100, and the
# program stops with *misaligned address*. With n = 4100 and only the mask mended, it had stored rubbish instead.
#
# 1. What was known at 4096 and not at 4104? What does the PTX look like?
# 2. Is the repair true for 4104? Why does it fail for 4100?
# 3. Why did no test on the CPU see it, and where does the rubbish come from?
# 4. Mend it, for every n. How would you test, without a GPU, that 4104 stays fast and 4100 stays right?
#
# Answer in about 180 words.

# %%
answer("eight-columns-more")

# %% [markdown] model_answer="eight-columns-more"
# 1. 4096 is divisible by 16, so Triton specialised on it: the start of each row is aligned, and the mask is the same for eight
#    neighbours. 4104 = 16 · 256.5 is not, so n was taken for any number. In place of one `ld.global.v4.b32` with one mask there
#    are eight loads of 16 bits with eight masks; the stores are narrow, too.
# 2. 4104 = 8 · 513: each row is 8,208 bytes long, a multiple of 16, so both hints are true. 4100 is a multiple of 4 only. Row 1
#    starts at byte 8,200, which is no multiple of 16, and a wide load there is refused.
# 3. A hint changes no value: an interpreter that ignores it computes the right numbers. With the mask declared constant, the
#    first of eight lanes decides for all. The last group of a row of 4100 has four columns; four more are stored, into the
#    beginning of the next row, where they race with what belongs there.
# 4. `VECTOR = 8 if n % 8 == 0 else 1` in the launcher, and `n = n // VECTOR * VECTOR` in the kernel, or hints with VECTOR in
#    place of 8. A test compiles both and reads the PTX: 128 bits at n = 4104. Another one runs n = 4100 on an interpreter that
#    checks hints, and asks that VECTOR is 1 there.
#
# **Rubric (6 points)**
#
# - 1 point: specialisation on 16: 4096 is divisible by it, 4104 is not.
# - 1 point: several narrow loads, each with a mask of its own, in place of a wide one.
# - 1 point: 4104 is a multiple of 8 elements or 16 bytes, 4100 is not.
# - 1 point: hints are believed and change no value, so a plain interpreter sees nothing.
# - 1 point: one lane's mask for eight: columns beyond the end are stored into the next row.
# - 1 point: the launcher works out what is true; a test reads the PTX, another one has a length that is no multiple.

# %% [markdown]
# ## For the GPU
#
# Narrow and wide, on the same matrix: your kernel on rows of 4096, then on rows of 4097, which no kernel can load in whole vectors
# by rows. And what `torch.compile` makes of it. The figure is bytes of x and of the result, divided by the time.

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
# - PTX can be read on any machine: look for `ld.global`, its width, and how many of them there are.
# - A wide load needs neighbours, alignment and one mask, all of them *known*. What is not known is taken not to be so.
# - Triton knows what is divisible by 16. Anything finer you have to say, and only where it is true.
# - Spills show in the report of `ptxas`: smaller blocks, or more warps.
# - `torch.compile` writes Triton that you can read. It fuses and it chooses; new algorithms are yours.

# %%
progress()
