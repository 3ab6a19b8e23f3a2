# %% [markdown]
# # Low precision: fewer bits, more speed
#
# Weights of 4 bits take a quarter of the bytes of fp16. Where a product waits for its weights, as it does when a language
# model writes one token after another, it can be faster by nearly as much. At the end of this lesson you have written
# such a product: it unpacks the weights *inside* its loop, and no copy in fp16 ever exists in memory. A second one multiplies
# numbers of 8 bits as they are.
#
# It takes about 60 minutes. Lesson 08 (matmul) comes first.

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
# Memory has no numbers of 4 bits. So eight of them, called **nibbles**, share an int32. To get one out, shift it down to the
# right end, then cut off all that lies above: `(word >> shift) & 0xF`.
#
# **Predict.** Each digit of a hexadecimal number is one nibble. Which number is nibble number 2 of `0x76543210`, counted from the
# lowest one, which has number 0?

# %%
predict("third_nibble", None)

# %% [markdown]
# **Mend it.** The line below should print the numbers 0 to 7. It prints eight times the lowest one. One factor is wrong.

# %%
word = 0x76543210
print([(word >> (0 * i)) & 0xF for i in range(8)])

# %% [markdown]
# Nibble i starts at bit 4 · i, so the factor is 4. In Triton the same line works on a whole tile at once.
#
# ## What a few bits can say
#
# A floating-point number has a **sign**, an **exponent**, which chooses a range between two powers of two, and a **mantissa**,
# which divides that range into equal steps. More exponent means more range, more mantissa means finer steps.

# %%
number_formats()

# %% [markdown]
# - **fp16** has fine steps and ends early. **bf16** has the exponent of fp32, and only 7 bits of mantissa.
# - **e4m3** and **e5m2** are the two forms of fp8, named after their bits. e4m3 gives up infinity for a little more range.
# - **int4** is no floating point at all: 16 numbers at equal distances. What they mean is said elsewhere.
#
# **Predict.** Which number of e4m3 lies nearest to 0.3? (Its range from 0.25 to 0.5 has eight steps.)

# %%
predict("e4m3_of_0_3", None)

# %%
number_formats(0.3)

# %% [markdown]
# **Try it.** Change 0.3 to 500, and look at e4m3. Then to 0.001.
#
# ## Scale and zero point
#
# To keep weights in 4 bits, lay 16 points at equal distances over their range. The distance is the **scale**; the point that
# stands for the weight 0 is the **zero point**. Each weight is replaced by the number q of the nearest point:
#
# $$w \approx (q - zero) \cdot scale$$
#
# Note the brackets: the zero point counts points, as q does, and is subtracted *before* the scale makes weights of them. The
# error of a weight is at most half a scale or so. So a scale should be small, and it is as large as the range demands.
#
# **Predict.** A thousand weights lie between -1 and 1, and one more is 100. A single scale covers them all. How many
# different numbers are left of the thousand?

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
# One weight spoils a thousand. So scales are shared by few weights: one scale for a **tensor** is cheap and coarse, one for a
# **row** or column better, and one for a **group** of 32 to 128 neighbours is what weights of 4 bits usually have. Then a large
# weight spoils its own group only.
#
# **Predict.** Groups of 128 weights; each group has a scale in fp16 and a zero point in uint8. How many bits does a weight
# take, all in all?

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
# ## How they lie in memory
#
# The weight b of our product is (k, n). Eight neighbours **along k** share a word, because k is what the sum runs over: so
# `packed_b` has k / 8 rows of n words. The lowest nibble comes first. Row k of b is found in three steps:
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
# The second word begins with the digit f: its highest bit is set, and as an int32 it is *negative*. A shift to the right then
# fills up with ones. `& 0xF` removes them, which is why it comes last.
#
# ## Inside the loop
#
# There are two ways to multiply with such a weight. The first: a kernel writes b in fp16, and an ordinary product reads it. Then
# all the bytes that were saved travel after all, twice. The second: the product loads *words*, makes a tile of b from them in
# registers, and multiplies at once. Nothing of b in fp16 is ever stored.
#
# So the kernel is that of lesson 08, with another way to come by a tile of b:
#
# 1. For each row of the tile load its word: `(offs_k // 8)[:, None]` down the side. Eight rows name the same word, so each word
#    is named eight times.
# 2. Shift each by its own distance, cut off, subtract the zero point, multiply by the scale.
# 3. Convert to the dtype of a, because tensor cores multiply equals, and sum in fp32.
#
# The scale needs care. It would be cheap to load one row of scales for a block of k. That is right as long as no group ends inside
# the block.
#
# **Predict.** Groups of 48 rows, blocks of 64; a kernel takes for each block the group of its first row. How many rows of the
# *first* block get a wrong scale?

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
# - `scales` (k / g, n), in the dtype of a, and `zeros` (k / g, n), uint8: a row of each for every group of g rows of b. A
#   quantiser gives zero points from 0 to 15; a kernel need not rely on it.
# - These three are contiguous.
# - g is a multiple of 16, so a word never lies in two groups. It need not be a power of two, and may be k.
# - m and n are anything, also 0. The sum is fp32. b may be rounded to the dtype of a.
# - The result is new and contiguous, in the dtype of a.
#
# The launcher is given, and so is the header of a helper, `dequantized_tile`. Write the helper first.
# `hint("quantized_matmul")` helps.

# %% exercise="quantized_matmul"

# %% [markdown]
# A layer with and without it. What remains of the difference is the price of 4 bits, not a mistake of yours:

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
# **Predict.** Your kernel names a word, a scale and a zero point for *each* weight of a tile. How many bytes does it ask for,
# for each weight, where a is fp16 and fits into one tile of rows?

# %%
predict("bytes_per_weight", None)

# %%
q, scale, zero = quantize(w, 64)
moved = explore.measure(quantized_matmul, x, pack(q), scale, zero)
asked = sum(moved.loaded[name] for name in ("packed_ptr", "scales_ptr", "zeros_ptr"))
if asked:
    print(f"your kernel asks for {asked / w.numel():.2f} bytes for each weight")
print(f"what lies in memory: {sum(t.nbytes for t in (pack(q), scale, zero)) / w.numel():.2f} bytes for each weight")

# %% [markdown]
# The interpreter counts every lane. On a GPU lanes that ask for the same word at the same time are served by one access, and
# what comes again is found in the cache next to the cores. So what travels from memory is near the second number. The lanes still
# cost instructions, and a fast kernel asks for each word once.
#
# **Try it.** Load `BLOCK_K // 8` rows of words. Give the nibbles an axis of their own,
# `words[:, None, :] >> shifts[None, :, None]`, and bring the two first axes together with `tl.reshape`. Measure again. (If the
# axes come in the wrong order, the judge says so.)
#
# ## Eight bits: tensor cores that take them
#
# Weights of 4 bits save *bytes*; the product itself is one of fp16. With fp8 both factors have eight bits, and tensor cores
# from sm_89 on multiply them as they are, at twice the rate of fp16 by the data sheet.
#
# e4m3 ends at 448. So a matrix is divided by a scale first, and the scale is kept beside it in fp32. What do a scale for the
# tensor and one for each row do to the error?

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
# The steps of a floating-point format shrink with the number, so a wide range harms it less than it harms int4, until numbers fall below the
# smallest ones of the format.
#
# Where does the product apply such scales? Row i of a and column j of b each have one, and neither depends on k. So both can be
# taken out of the sum:
#
# $$\begin{aligned}c_{ij} &= \sum_k (a_{ik} \cdot scale_i) (b_{kj} \cdot scale_j)\\
# &= scale_i \cdot scale_j \cdot \sum_k a_{ik} b_{kj}\end{aligned}$$
#
# The tiles are multiplied as they lie in memory, and the finished sum is scaled once, in fp32. A scale for groups along k cannot be
# taken out; it has to come in within the loop.
#
# The sum comes before the scales, so it is a sum of *large* numbers.
#
# **Predict.** a and b hold nothing but 448. How many of the products 448 · 448 can an accumulator in fp16 add up before it is
# infinite?

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
# - `scale_a` (m,) and `scale_b` (n,) are float32 and contiguous: a scale for each row of a, and one for each column of b.
# - m, k and n are anything, also 0. An empty sum is 0.
# - The sum is fp32, and so is what the scales are applied to. The result is rounded once.
# - The result is new and contiguous, in bfloat16.
#
# `tl.dot` takes two tiles of e4m3 as they were loaded, if BLOCK_K is 32 or more. Write `other=0.0`: with `other=0` Triton would have
# to make an fp8 number of an integer, and refuses.
#
# Triton compiles e4m3 from sm_89 on. For an A100 (sm_80) it says: "type fp8e4nv not supported in this architecture". So the judge
# compiles this kernel for sm_90 alone (H100, H200). On an A100 or a T4 it cannot run; there the interpreter runs it, and `check`
# says that the GPU is too old. That costs nothing.
#
# `hint("fp8_matmul")` helps.

# %% exercise="fp8_matmul"

# %% [markdown]
# A layer in eight bits, with a scale for each row of x and each column of w. In 4 bits with groups of 64 the same layer stands above:

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
# `explain` compiles your kernel for a GPU, and needs none. The name of an instruction of the tensor cores says what it multiplies:
# `e4m3.e4m3`, or something else. Here they are, for an H100, and how many additions in fp32 stand beside them:

# %%
square = [torch.empty(256, 256).to(torch.float8_e4m3fn)] * 2 + [torch.ones(256)] * 2
for made in explain(fp8_matmul, *square, targets=[90]).made:
    words = made.ptx.split()
    print("multiplied by:", sorted({word for word in words if "mma" in word and ".f32." in word}) or "nothing yet")
    print("additions in fp32:", sum(word == "add.f32" for word in words))

# %% [markdown]
# **Try it.** Give your launcher tiles of 32 rows, and run the cell again. In the model solution, with tiles of 64 rows, the
# instruction is a `wgmma` of e4m3. With 32 rows Triton 3.9 makes fp16 of both tiles first. The result is the same, the bytes are
# still saved, and the rate of eight bits is lost.
#
# **Try it.** Exchange `accumulator += tl.dot(a, b)` and `tl.dot(a, b, accumulator)`. With tiles of 64 rows of e4m3 they are not
# the same for sm_90. The first adds the product of each step in fp32, by instructions of its own. The second leaves the sum to
# the tensor cores from step to step. Those of an H100 are known to keep fewer bits than fp32 while they add products of fp8. So
# `tl.dot` has an argument, `max_num_imprecise_acc`, that says after how many products they hand their sum on. The judge takes
# either way: its tolerance leaves room for both.
#
# ## Scales in hardware
#
# The newest formats put the scale into the product. In the **microscaling** formats 32 neighbours along k share a scale of 8 bits,
# a bare power of two. `tl.dot_scaled(a, scale_a, "e4m3", b, scale_b, "e2m1", accumulator)` multiplies such tiles. GPUs with such
# tensor cores (Blackwell) do it in hardware; on others Triton converts the tiles to bf16 first. That is right, saves
# bytes, and gains no arithmetic. It knows fp8 and fp4 with such scales. Integers with a zero point, as in your exercise, it does not know.
#
# ## Quiz

# %%
quiz("low_precision")

# %% [markdown] case_study="it-fits-and-rambles" points=6
# ## Case study: it fits, and it rambles
#
# A team packs the weights of a language model into 4 bits with groups of 64 and writes a product for them. Now the model fits on
# one card, and its sentences make no sense. The unit test of the product passes, on the GPU too:
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
# The weights of the model were packed by another tool, the lowest nibble first, and have k = 11,008 rows. The kernel has
# BLOCK_K = 128, loads one row of scales and zero points in each step, computes `q * scale - zero`, and its accumulator
# is `tl.zeros(..., dtype=tl.float16)`.
#
# 1. Name the four mistakes.
# 2. Say for each why this test cannot see it.
# 3. Mend each in a line or so.
# 4. Write down the sizes and values of a test that would have shown all four.
#
# Answer in about 180 words.

# %%
answer("it-fits-and-rambles")

# %% [markdown] model_answer="it-fits-and-rambles"
# 1. The order of the nibbles differs between packer and kernel. One row of scales serves a block in which two groups lie. The zero
#    point is subtracted after the scale. The accumulator is fp16.
# 2. The test packs and unpacks with the team's own pair, which agree with each other and not with the tool. It has a single group
#    of 128, as long as the block. The zero points are 0 and the scales 1. k is 128, the numbers of a are tiny and the tolerance
#    is wide.
# 3. `(words >> (offs_k % 8 * 4)[:, None]) & 0xF`; `groups = offs_k // GROUP` with a tile of scales; `(q - zero) * scale`; an
#    accumulator in fp32, converted once at the store.
# 4. Numbers packed by the tool, or by a few independent lines; k = 4,096 or more, terms of one sign, so that a sum in
#    half precision stalls; groups of 16, 48 and 64; zero points from 0 to 15 and scales that differ from column to column and group to
#    group; a reference in float64; a tolerance derived from the dtype and the size of the terms.
#
# **Rubric (6 points)**
#
# - 1 point: order of the nibbles, and the test that uses one pair of functions.
# - 1 point: a group that ends inside a block, and the test with a single group.
# - 1 point: the zero point after the scale, and zeros of 0 with scales of 1.
# - 1 point: the sum in fp16, and few tiny terms with a wide tolerance.
# - 1 point: the mends.
# - 1 point: a test with telling sizes and an independent reference.

# %% [markdown]
# ## For the GPU
#
# With one row in a, each weight is used once: the product is as fast as its weights arrive. The bound is the speed of a copy, and
# the packed weights are a quarter of the bytes. Whether a kernel gets there is another question: yours has a tile of 64 columns
# for each program, so for 4,096 columns there are 64 programs, fewer than an H200 has multiprocessors (132).
#
# Measured on an NVIDIA H200, with one row and a matrix of 4096×4096: the model solution took {h200: quantized_matmul 1×4096×4096 | plain | µs} µs, PyTorch
# with the same weights in fp16 {h200: quantized_matmul 1×4096×4096 | torch | µs} µs. Fewer bytes alone win nothing. The course's fast form, which has narrow
# tiles and unpacks with fewer instructions, took {h200: quantized_matmul 1×4096×4096 | fast | µs} µs.

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
# And eight bits? Both factors are read as they are, so the bytes are half of those of fp16, and the rate of the tensor cores is twice
# that of fp16 by the data sheet. A kernel as plain as yours does not get there. Measured on an NVIDIA H200 at 8192×8192: the model
# solution reached {h200: fp8_matmul 8192 | plain | TFLOP/s} TFLOP/s, less than cuBLAS in fp16 ({h200: persistent_matmul 8192 | torch | TFLOP/s}). The course's fast
# form reached {h200: fp8_matmul 8192 | fast | TFLOP/s}, and PyTorch's `_scaled_mm` without `use_fast_accum` {h200: fp8_matmul 8192 | torch | TFLOP/s}. Where there is a GPU that
# can, the cell measures yours.

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
# - A scale belongs to a group of neighbours. Ask for the group of each row: groups end where they like.
# - The sum is fp32, however few bits its terms have.
# - A scale for a row or a column comes after the sum, a scale for a group along k inside the loop.

# %%
progress()
