# %% [markdown]
# # Low precision: fewer bits, more speed
#
# Weights of 4 bits take a quarter of the bytes of fp16. A language model that writes one token after another spends its
# time loading weights. There a product with 4-bit weights can be nearly four times as fast. In this lesson you write
# such a product. It unpacks the weights *inside* its loop, so memory never holds a copy in fp16. A second kernel
# multiplies numbers of 8 bits directly.
#
# It takes about 100 minutes. Lesson 08 (matmul) comes first.

# %% setup
from triton_util import explore, interpreted, time_beside
from triton_util.environment import interpreting
from triton_util.explain import explain
from triton_util.figures.formats import number_formats

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Eight numbers in a word
#
# Memory has no numbers of 4 bits. So eight of them, called **nibbles**, share a 32-bit **word**, here an int32. To
# extract one, shift the word right until the nibble is at the lowest bits, then mask off the bits above it: `(word >>
# shift) & 0xF`.
#
# **Predict.** Each digit of a hexadecimal number is one nibble. Which number is nibble number 2 of `0x76543210`,
# counted from the lowest one, which has number 0?

# %%
predict("third_nibble", None)

# %% [markdown]
# **Fix it.** The line below should print the numbers 0 to 7. It prints the lowest one eight times. One factor is wrong.

# %%
word = 0x76543210
print([(word >> (0 * i)) & 0xF for i in range(8)])

# %% [markdown]
# Nibble i starts at bit 4 · i, so the factor is 4. In Triton the same line works on a whole tile at once.
#
# ## What a few bits can represent
#
# A floating-point number has a **sign**, an **exponent**, which chooses a range between two powers of two, and a
# **mantissa**, which divides that range into equal steps. More exponent bits give more range, more mantissa bits give
# finer steps.

# %%
number_formats()

# %% [markdown]
# - **fp16** has fine steps and a small range. **bf16** has the exponent of fp32, and only 7 bits of mantissa.
# - **e4m3** and **e5m2** are the two forms of fp8, named after their bits. e4m3 gives up infinity for a little more
#   range.
# - **int4** is not a floating-point format: it has 16 numbers at equal distances. You store their meaning separately.
#
# **Predict.** Which number of e4m3 is nearest to 0.3? (Its range from 0.25 to 0.5 has eight steps.)

# %%
predict("e4m3_of_0_3", None)

# %%
number_formats(0.3)

# %% [markdown]
# **Try it.** Change 0.3 to 500, and look at e4m3. Then to 0.001.
#
# ## Scale and zero point
#
# To store weights in 4 bits (to **quantize** them), place 16 points at equal distances over their range. The distance
# is the **scale**. The point for the weight 0 is the **zero point**. Replace each weight by the number q of the nearest
# point:
#
# $$w \approx (q - zero) \cdot scale$$
#
# Note the parentheses: the zero point counts points, as q does, so subtract it *before* you multiply by the scale. The
# error of a weight is about half a scale at most. You want a small scale, but the range of the weights forces a large
# one.
#
# **Predict.** A thousand weights are between -1 and 1, and one more is 100. A single scale covers them all. How many
# different numbers do the thousand get?

# %%
predict("numbers_left", None)


# %%
def quantize(w, group):
    """Return 4-bit numbers, scales and zero points of w (k, n), for groups of rows."""
    k, n = w.shape
    parts = w.float().reshape(k // group, group, n)
    low, high = parts.amin(dim=1).clamp(max=0), parts.amax(dim=1).clamp(min=0)
    scale = ((high - low) / 15).clamp(min=1e-6)
    zero = (-low / scale).round()
    q = (parts / scale[:, None]).round().add(zero[:, None]).clamp(0, 15)
    return q.reshape(k, n).to(torch.int32), scale.half(), zero.to(torch.uint8)


weights = torch.rand(1001, 1, generator=torch.Generator().manual_seed(0)) * 2 - 1
weights[500] = 100.0
q, scale, zero = quantize(weights, group=1001)
small = torch.cat([q[:500], q[501:]])
print("scale", round(scale.item(), 2), "zero point", zero.item(), "numbers in use:", small.unique().tolist())

# %% [markdown]
# One large weight forces so large a scale that the thousand others all become 0. So only few weights should share a
# scale. One scale for a **tensor**
# is cheap and coarse, and one for a **row** or column is better. Weights of 4 bits usually have one for each **group**
# of 32 to 128 neighbours. Then a large weight affects its own group only.
#
# **Predict.** Groups of 128 weights; each group has a scale in fp16 and a zero point in uint8. How many bits does a
# weight take, everything included?

# %%
predict("bits_per_weight", None)

# %%
w = torch.randn(1024, 64, generator=torch.Generator().manual_seed(1))
w[::100] *= 10  # some rows are ten times as large
for group in (1024, 128, 32, 16):
    q, scale, zero = quantize(w, group)
    spread = [t.float().repeat_interleave(group, dim=0) for t in (scale, zero)]
    error = ((q - spread[1]) * spread[0] - w).abs().median().item()
    print(f"groups of {group:4}: median error {error:.3f}, {4 + 24 / group:.2f} bits for each weight")

# %% [markdown]
# ## The layout in memory
#
# The weight b of our product is (k, n). Eight neighbours **along k** share a word, because the sum runs over k. So
# `packed_b` has k / 8 rows of n words. The lowest nibble comes first. To find row k of b, answer three questions:
#
# | question | answer |
# |---|---|
# | which row of words? | `k // 8` |
# | at which bit? | `k % 8 * 4` |
# | which group? | `k // group` |
#
# **Predict.** At which bit of its word does row 13 start?

# %%
predict("first_bit_of_row_13", None)


# %%
def pack(q):
    """Put eight neighbours along k into an int32, the lowest nibble first."""
    shifts = (4 * torch.arange(8, device=q.device))[None, :, None]
    words = (q.reshape(-1, 8, q.shape[1]).long() << shifts).sum(dim=1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


column = torch.arange(16).reshape(16, 1)
words = pack(column).flatten().tolist()
print("rows 0 to 15 hold 0 to 15; their two words:", [f"0x{word & 0xFFFFFFFF:08x}" for word in words])

# %% [markdown]
# The second word begins with the digit f: its highest bit is set, so as an int32 it is *negative*. A shift to the right
# then fills with ones from the left. `& 0xF` removes them, so it must come last.
#
# ## Inside the loop
#
# There are two ways to multiply with such a weight. In the first, one kernel writes b in fp16, and an ordinary product
# reads it. Then all the bytes that you saved cross the memory bus after all, twice. In the second, the product loads
# *words*, makes a tile of b from them in registers (the storage for the variables of a thread), and multiplies at once.
# It never stores b in fp16.
#
# So the kernel is that of lesson 08, with another way to get a tile of b:
#
# 1. For each row of the tile load its word: `(offs_k // 8)[:, None]` as the row index. Eight rows use the same word, so
#    each word is requested eight times.
# 2. Shift each by its own distance, mask, subtract the zero point, multiply by the scale.
# 3. Convert to the dtype of a, because both operands of `tl.dot` must have the same dtype, and sum in fp32.
#
# Take care with the scale. It would be cheap to load one row of scales for a block of k. That is correct only if no
# group ends inside the block.
#
# **Predict.** Groups of 48 rows, blocks of 64; a kernel takes for each block the group of its first row. How many rows
# of the *first* block get a wrong scale?

# %%
predict("rows_with_wrong_scale", None)

# %%
rows = torch.arange(64)
print("rows with another group than row 0:", rows[rows // 48 != 0].tolist())

# %% [markdown]
# ## Exercise: `quantized_matmul`
#
# **The contract.** `quantized_matmul(a, packed_b, scales, zeros)` returns a @ b, where b = (q - zero) * scale.
#
# - `a` is (m, k), float16 or bfloat16, with any strides.
# - `packed_b` is (k / 8, n), int32: eight numbers q along k in each word, the lowest nibble first. q is 0 to 15.
# - `scales` (k / g, n), in the dtype of a, and `zeros` (k / g, n), uint8: a row of each for every group of g rows of b.
#   A quantizer gives zero points from 0 to 15; your kernel need not rely on that.
# - These three are contiguous.
# - g is a multiple of 16, so all numbers of a word are in one group. It need not be a power of two, and may be k.
# - m and n may have any value, also 0. The sum is fp32. b may be rounded to the dtype of a.
# - The result is new and contiguous, in the dtype of a.
#
# The launcher is given, and so is the header of a helper, `dequantized_tile`. Write the helper first.
# `hint("quantized_matmul")` helps.

# %% exercise="quantized_matmul"

# %% [markdown]
# Compare a layer in fp16 with the same layer in 4 bits. The remaining difference is the cost of 4 bits, not a mistake
# of yours:

# %%
w = torch.randn(256, 64, generator=torch.Generator().manual_seed(2)).half()
x = torch.randn(4, 256, generator=torch.Generator().manual_seed(3)).half()
exact = x.float() @ w.float()
for group in (256, 64, 16):
    q, scale, zero = quantize(w, group)
    y = quantized_matmul(*(t.to(DEVICE) for t in (x, pack(q), scale, zero)))
    error = (y.float().cpu() - exact).norm() / exact.norm()
    told = f"the result is off by {error.item():.1%}" if error.isfinite() else "nothing is computed yet"
    print(f"groups of {group:3}: {told}")

# %% [markdown]
# ## What it loads
#
# **Predict.** Your kernel requests a word, a scale and a zero point for *each* weight of a tile. How many bytes does it
# request for each weight, if a is fp16 and fits into one tile of rows?

# %%
predict("bytes_per_weight", None)

# %%
q, scale, zero = quantize(w, 64)
moved = explore.measure(quantized_matmul, x, pack(q), scale, zero)
asked = sum(moved.loaded[name] for name in ("packed_ptr", "scales_ptr", "zeros_ptr"))
if asked:
    print(f"your kernel asks for {asked / w.numel():.2f} bytes for each weight")
print(f"the stored weights take {sum(t.nbytes for t in (pack(q), scale, zero)) / w.numel():.2f} bytes for each weight")

# %% [markdown]
# The interpreter counts every lane (a **lane** is one place of a block). On a GPU one access serves all lanes that
# request the same word at the same time, and later requests hit a cache. So the traffic from memory is near the second
# number. But the lanes still cost instructions, and a fast kernel requests each word once.
#
# **Try it.** Load `BLOCK_K // 8` rows of words. Give the nibbles their own axis, `words[:, None, :] >> shifts[None, :,
# None]`, and merge the first two axes with `tl.reshape`. Measure again. (If the axes are in the wrong order, the judge
# reports it.)
#
# ## Eight bits: tensor cores that take them
#
# Weights of 4 bits save *bytes*; the product itself runs in fp16. With fp8 both operands have eight bits. Tensor cores
# from sm_89 on multiply them directly, at twice the rate of fp16 by the data sheet.
#
# e4m3 ends at 448. So divide a matrix by a scale first, and keep the scale in fp32. (The code below divides by a scale
# of 0 if a whole row is 0, and 0 / 0 is NaN. A real quantizer keeps the scale above 0.) How does the error differ
# between one scale for the tensor and one for each row?

# %%
def to_fp8(x, dim=None):
    """Return x in e4m3, and the scale that brings it back: one for all, or one along `dim`."""
    largest = x.abs().amax() if dim is None else x.abs().amax(dim=dim, keepdim=True)
    scale = largest / 448
    return (x / scale).to(torch.float8_e4m3fn), scale


a = torch.randn(32, 256, generator=torch.Generator().manual_seed(4))
a[0] *= 100_000  # one row is far larger than the others
for name, dim in (("tensor", None), ("row", 1)):
    eight, scale = to_fp8(a, dim)
    off = (eight.float() * scale - a)[1:].norm() / a[1:].norm()
    print(f"one scale for each {name}: the other rows are off by {off.item():.1%}")

# %% [markdown]
# The steps of a floating-point format shrink with the number, so a wide range does less harm than to int4, until
# numbers fall below the smallest ones of the format.
#
# Where does the product apply such scales? Row i of a and column j of b each have one, and neither depends on k. So you
# can move both out of the sum:
#
# $$\begin{aligned}c_{ij} &= \sum_k (a_{ik} \cdot scale_i) (b_{kj} \cdot scale_j)\\
# &= scale_i \cdot scale_j \cdot \sum_k a_{ik} b_{kj}\end{aligned}$$
#
# The kernel multiplies the tiles as they are in memory, and scales the finished sum once, in fp32. Scales for groups
# along k depend on k, so they must be applied inside the loop.
#
# The sum comes before the scales, so it is a sum of *large* numbers.
#
# **Predict.** All elements of a and b are 448. How many of the products 448 · 448 can an accumulator in fp16 add up
# before it is infinite?

# %%
predict("products_in_fp16", None)

# %%
print("one product:", 448 * 448, "   the largest number of fp16:", torch.finfo(torch.float16).max)

# %% [markdown]
# ## Exercise: `fp8_matmul`
#
# **The contract.** `fp8_matmul(a, b, scale_a, scale_b)` returns (a @ b) · scale_a[:, None] · scale_b[None, :].
#
# - `a` is (m, k) and `b` is (k, n), both float8_e4m3fn, with any strides.
# - `scale_a` (m,) and `scale_b` (n,) are float32 and contiguous: a scale for each row of a, and one for each column of
#   b.
# - m, k and n may have any value, also 0. An empty sum is 0.
# - The sum is fp32, and the scales are applied in fp32. The result is rounded once.
# - The result is new and contiguous, in bfloat16.
#
# `tl.dot` takes two tiles of e4m3 as they were loaded, if BLOCK_K is 32 or more. Write `other=0.0`: with `other=0`
# Triton would have to convert an integer to fp8, and refuses.
#
# Triton compiles e4m3 from sm_89 on. For an A100 (sm_80) it reports: "type fp8e4nv not supported in this architecture".
# So the judge compiles this kernel for sm_90 alone (H100, H200). It cannot run on an A100 or a T4. There `check`
# reports that the GPU is too old, and the interpreter runs the kernel. You lose no points.
#
# `hint("fp8_matmul")` helps.

# %% exercise="fp8_matmul"

# %% [markdown]
# Here is a layer in eight bits, with a scale for each row of x and each column of w. Compare it with the same layer in
# 4 bits with groups of 64, above:

# %%
FP8_RUNS = not ON_GPU or torch.cuda.get_device_capability() >= (8, 9)
(x8, scale_x), (w8, scale_w) = to_fp8(x.float(), 1), to_fp8(w.float(), 0)
factors = [t.to(DEVICE if FP8_RUNS else "cpu") for t in (x8, w8, scale_x[:, 0], scale_w[0])]
y = fp8_matmul(*factors) if FP8_RUNS else interpreted(fp8_matmul, *factors)
error = (y.float().cpu() - exact).norm() / exact.norm()
print(f"the result is off by {error.item():.1%}" if error.isfinite() else "nothing is computed yet")

# %% [markdown]
# ## Which numbers are multiplied?
#
# `explain` compiles your kernel for a GPU without needing one. The name of a tensor-core instruction shows what it
# multiplies: `e4m3.e4m3`, or something else. The cell prints these names for an H100, and the number of fp32 additions
# beside them:

# %%
square = [torch.empty(256, 256).to(torch.float8_e4m3fn)] * 2 + [torch.ones(256)] * 2
for made in explain(fp8_matmul, *square, targets=[90]).made:
    words = made.ptx.split()
    print("multiplied by:", sorted({word for word in words if "mma" in word and ".f32." in word}) or "nothing yet")
    print("additions in fp32:", sum(word == "add.f32" for word in words))

# %% [markdown]
# **Try it.** Give your launcher tiles of 32 rows, and run the cell again. In the model solution, with tiles of 64 rows,
# the instruction is a `wgmma` of e4m3. With 32 rows Triton 3.9 converts both tiles to fp16 first. The result is the
# same, and you still save the bytes, but you lose the rate of eight bits.
#
# **Try it.** Exchange `accumulator += tl.dot(a, b)` and `tl.dot(a, b, accumulator)`. With tiles of 64 rows of e4m3 they
# differ for sm_90. The first adds the product of each step in fp32, with separate instructions. The second leaves the
# running sum to the tensor cores. Those of an H100 are known to keep fewer bits than fp32 while they add products of
# fp8. So `tl.dot` has an argument, `max_num_imprecise_acc`: after that many products, the sum moves to an fp32
# accumulator. The judge accepts both: its tolerance covers them.
#
# ## Scales in hardware
#
# The newest formats make the scale a part of the product.
#
# - In the **microscaling** formats (MXFP8, MXFP4), 32 neighbours along k share a scale of 8 bits, which is a power of
#   two.
# - In **NVFP4**, 16 neighbours of 4 bits (e2m1) share a scale in e4m3, and the tensor has one more scale in fp32.
#
# `tl.dot_scaled(a, scale_a, "e4m3", b, scale_b, "e2m1", accumulator)` multiplies such tiles. GPUs with such tensor
# cores (Blackwell) do it in hardware. On others Triton converts the tiles to bf16 first: the result is correct and you
# save bytes, but the arithmetic is not faster. `tl.dot_scaled` knows fp8 and fp4 with such scales. It does not know
# integers with a zero point, as in your exercise.
#
# ## Quiz

# %%
quiz("low_precision")

# %% [markdown] case_study="it-fits-and-rambles" points=6
# ## Case study: it fits, and it rambles
#
# A team packs the weights of a language model into 4 bits with groups of 64 and writes a product for them. Now the
# model fits on one GPU, and its sentences make no sense. The unit test of the product passes, on the GPU too:
#
# ```python
# q = torch.randint(0, 16, (128, 128))
# packed = team.pack(q)                       # the highest nibble first
# scales, zeros = torch.ones(1, 128).half(), torch.zeros(1, 128).to(torch.uint8)
# a = torch.rand(4, 128).half() * 0.01
# expected = a.float() @ team.unpack(packed).float()
# assert torch.allclose(team.product(a, packed, scales, zeros).float(), expected, atol=0.1)
# ```
#
# The weights of the model were packed by another tool, the lowest nibble first, and have k = 11,008 rows. The kernel
# has BLOCK_K = 128, loads one row of scales and zero points in each step, computes `q * scale - zero`, and its
# accumulator is `tl.zeros(..., dtype=tl.float16)`.
#
# 1. Name the four mistakes.
# 2. For each, explain why this test cannot see it.
# 3. Fix each in a line or so.
# 4. Write down the sizes and values of a test that would have shown all four.
#
# Answer in about 180 words.

# %%
answer("it-fits-and-rambles")

# %% [markdown] model_answer="it-fits-and-rambles"
# 1. The order of the nibbles differs between packer and kernel. One row of scales serves a block that contains two
#    groups. The zero point is subtracted after the scale. The accumulator is fp16.
# 2. The test packs and unpacks with the team's own pair, which agree with each other and not with the tool. It has a
#    single group of 128, as long as the block. The zero points are 0 and the scales 1. k is 128, the numbers of a are
#    tiny and the tolerance is wide.
# 3. `(words >> (offs_k % 8 * 4)[:, None]) & 0xF`; `groups = offs_k // GROUP` with a tile of scales; `(q - zero) *
#    scale`; an accumulator in fp32, converted once at the store.
# 4. Numbers packed by the tool, or by a few independent lines; k = 4,096 or more, terms of one sign, so that a sum in
#    half precision stalls; groups of 16, 48 and 64; zero points from 0 to 15, and scales that differ between columns
#    and between groups; a reference in float64; a tolerance derived from the dtype and the size of the terms.
#
# **Rubric (6 points)**
#
# - 1 point: order of the nibbles, and the test that uses one pair of functions.
# - 1 point: a group that ends inside a block, and the test with a single group.
# - 1 point: the zero point after the scale, and zeros of 0 with scales of 1.
# - 1 point: the sum in fp16, and few tiny terms with a wide tolerance.
# - 1 point: the fixes.
# - 1 point: a test with telling sizes and an independent reference.

# %% [markdown]
# ## For the GPU
#
# With one row in a, each weight is used once: the product is as fast as its weights arrive. The upper bound is the
# speed of a copy, and the packed weights are a quarter of the bytes. But your kernel has a tile of 64 columns for each
# program. So for 4,096 columns there are 64 programs, fewer than an H200 has multiprocessors (132).
#
# Measured on an NVIDIA H200 ({h200: versions}), with one row and a matrix of 4096×4096:
#
# - model solution: {h200: quantized_matmul 1×4096×4096 | plain | µs} µs
# - PyTorch with the same weights in fp16: {h200: quantized_matmul 1×4096×4096 | torch | µs} µs
# - the course's fast form, with narrow tiles and fewer instructions to unpack:
#   {h200: quantized_matmul 1×4096×4096 | fast | µs} µs
#
# Fewer bytes alone do not make a kernel faster.

# %% gpu
if ON_GPU:
    w = torch.randn(4096, 4096).half()
    x = torch.randn(1, 4096).half().cuda()
    q, scale, zero = quantize(w, 128)
    packed, scale, zero, w = (t.cuda() for t in (pack(q), scale, zero, w))
    back = (q.cuda() - zero.repeat_interleave(128, dim=0)) * scale.float().repeat_interleave(128, dim=0)
    bytes_of_4 = packed.nbytes + scale.nbytes + zero.nbytes
    time_beside(
        lambda: quantized_matmul(x, packed, scale, zero),
        {"torch, fp16": lambda: x @ w},
        wanted=x.float() @ back,
        atol=0.5,
        title=f"{w.nbytes:,} bytes of weights in fp16, {bytes_of_4:,} in 4 bits",
        label="yours, 4 bits",
    )
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# And eight bits? The kernel reads both operands as they are, so the bytes are half of those of fp16. The rate of the
# tensor cores is twice that of fp16 by the data sheet. A kernel as simple as yours does not reach it. Measured on an
# NVIDIA H200 ({h200: versions}) at 8192×8192, in TFLOP/s:
#
# - model solution: {h200: fp8_matmul 8192 | plain | TFLOP/s}
# - cuBLAS in fp16: {h200: persistent_matmul 8192 | torch | TFLOP/s}
# - PyTorch's `_scaled_mm` without `use_fast_accum`: {h200: fp8_matmul 8192 | torch | TFLOP/s}
# - the course's fast form: {h200: fp8_matmul 8192 | fast | TFLOP/s}
#
# On a GPU that can multiply e4m3, the next cell measures yours.

# %% gpu
def time_in_eight_bits():
    """Print the time of a product of fp16 by torch, and of yours."""
    a, b = (torch.randn(4096, 4096).cuda() for _ in range(2))
    (a8, scale_a), (b8, scale_b) = to_fp8(a, 1), to_fp8(b, 0)
    eight = (a8, b8, scale_a[:, 0].contiguous(), scale_b[0].contiguous())
    back = (a8.float() * scale_a) @ (b8.float() * scale_b)
    half_a, half_b = a.half(), b.half()
    time_beside(
        lambda: fp8_matmul(*eight),
        {"torch, fp16": lambda: half_a @ half_b},
        wanted=back,
        operations=2 * 4096**3,
        atol=2.0,
        rtol=2e-2,
        label="yours, 8 bits",
    )


if ON_GPU:
    time_in_eight_bits() if FP8_RUNS else print("Not run: this GPU is too old for e4m3.")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Fewer bits save bytes where a product waits for memory. Unpack in registers, inside the loop.
# - `(word >> shift) & 0xF`, then `(q - zero) * scale`, in this order.
# - A scale belongs to a group of neighbours. Compute the group of each row: a group may end inside a block.
# - The sum is fp32, however few bits its terms have.
# - Apply a scale for a row or a column after the sum, and a scale for a group along k inside the loop.
#
# | in this course | elsewhere |
# |---|---|
# | 4-bit weights with 16-bit activations | W4A16, weight-only quantization (GPTQ, AWQ) |
# | `packed_b`, `scales`, `zeros` | `qweight`, `scales`, `qzeros` |
# | a scale for each row and column | per-token and per-channel scales, row-wise scaling |
# | GROUP | group size, block size |
# | e4m3 | `torch.float8_e4m3fn`, `tl.float8e4nv` |
#
# References:
#
# - [Block Scaled Matrix
#   Multiplication](https://triton-lang.org/main/getting-started/tutorials/10-block-scaled-matmul.html) (Triton
#   tutorial 10), on MXFP4, MXFP8 and NVFP4
# - Micikevicius et al.: [FP8 Formats for Deep Learning](https://arxiv.org/abs/2209.05433) (2022)
# - Rouhani et al.: [Microscaling Data Formats for Deep Learning](https://arxiv.org/abs/2310.10537) (2023)
# - Frantar et al.: [GPTQ](https://arxiv.org/abs/2210.17323) (2022)
# - Lin et al.: [AWQ](https://arxiv.org/abs/2306.00978) (2023)
#
# To repeat in a few days what you wrote here, call `practice()`: it draws a puzzle from an exercise that you have
# passed.

# %%
progress()
