# %% [markdown]
# # Low precision: fewer bits, more speed
#
# Weights of 4 bits take a quarter of the bytes of fp16. Where a product waits for its weights, as it does when a language
# model writes one token after another, it can be faster by nearly as much. At the end of this lesson you have written
# such a product: it unpacks the weights *inside* its loop, and no copy in fp16 ever exists in memory.
#
# It takes about 40 minutes. Lesson 08 (matmul) comes first.

# %% setup
from triton_util import explore
from triton_util.environment import interpreting
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
# from sm_89 on multiply them as they are, at twice the rate of fp16 by the data sheet. `tl.dot` of two e4m3 tiles does so, with
# an fp32 accumulator:
#
# ```python
# accumulator = tl.dot(a, b, accumulator)          # a, b: tiles of float8_e4m3fn
# c = accumulator * scale_a[:, None] * scale_b[None, :]
# ```
#
# The scales are applied *after* the sum: one for each row of a and one for each column of b can be taken out of the sum over k.
# A scale for groups along k cannot; it has to come in within the loop. On an A100 (sm_80) Triton refuses e4m3: "type fp8e4nv not
# supported in this architecture". The judge compiles for that card, too, so the kernel is read here and not asked of you.
#
# What do a scale for the tensor and one for each row do to the error?

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

# %% gpu
if ON_GPU:
    w = torch.randn(4096, 4096).half()
    x = torch.randn(1, 4096).half().cuda()
    q, scale, zero = quantize(w, 128)
    packed, scale, zero, w = (t.cuda() for t in (pack(q), scale, zero, w))
    back = (q.cuda() - zero.repeat_interleave(128, dim=0)) * scale.float().repeat_interleave(128, dim=0)
    close = torch.allclose(quantized_matmul(x, packed, scale, zero).float(), x.float() @ back, atol=0.5, rtol=1e-2)
    note = "" if close else "  (not yet right: this time means nothing)"
    for name, run, size in (
        ("torch, fp16", lambda: x @ w, w.nbytes),
        ("yours, 4 bits", lambda: quantized_matmul(x, packed, scale, zero), packed.nbytes + scale.nbytes + zero.nbytes),
    ):
        ms = triton.testing.do_bench(run, return_mode="median")
        print(f"{name}: {1000 * ms:,.0f} microseconds, {size / ms * 1e-6:,.0f} GB/s of weights{note}")
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Fewer bits save bytes where a product waits for memory. Unpack in registers, inside the loop.
# - `(word >> shift) & 0xF`, then `(q - zero) * scale`, in this order.
# - A scale belongs to a group of neighbours. Ask for the group of each row: groups end where they like.
# - The sum is fp32, however few bits its terms have.

# %%
progress()
