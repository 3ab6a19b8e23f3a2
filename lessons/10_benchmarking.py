# %% [markdown]
# # Benchmarking: a stopwatch that tells the truth
#
# "Mine is twice as fast" is said easily, and is wrong surprisingly often. A GPU works while your program
# does something else, it remembers, it warms up, it gets tired. At the end of this lesson you have
# written a stopwatch that is right on nine GPUs, each with a trap of its own, and you can say in GB/s
# and TFLOP/s what a time means.
#
# It takes about 45 minutes. Lessons 03 (memory and compute) and 08 (matmul) come first. No GPU is
# needed.

# %% setup
from triton_util import explore, figures
from triton_util.bench import simulated
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()

# %% [markdown]
# ## The host runs ahead
#
# A launch puts a kernel into a **queue** and returns. The **host** (the CPU with your Python program)
# goes on, and the GPU works through its queue in its own time. The host waits only when it is told to,
# by `torch.cuda.synchronize()`, or when it needs a number: printing a loss waits for every kernel that
# the loss depends on.

# %%
figures.launches(launch=1, kernel=3, calls=4)

# %% [markdown]
# **Predict.** A kernel takes 0.24 ms, and its launch takes the host 0.008 ms. Somebody reads the host's
# clock before and after the launch, without waiting. What share of the kernel's time is measured?

# %%
predict("share_that_is_seen", None)

# %% [markdown]
# To try such things without a GPU, this lesson brings nine *simulated* ones. They compute nothing. Each
# keeps two clocks, one for the host and one for its queue, and moves them on as a real one would, always
# in the same way. Their kernels' true times are known, which is more than one can say of a real GPU.

# %%
def launch_only(run, fresh_inputs, gpu):
    """Read the host's clock before and after one launch."""
    inputs = fresh_inputs()
    start = gpu.clock()
    run(*inputs)
    return gpu.clock() - start


asynchronous = simulated.models()[0]
print(f"measured: {simulated.attempt(launch_only, asynchronous).factor:.3g} of the truth")

# %% [markdown]
# It looks like a wonderful kernel. So wait before the end: first for whatever was in the queue before,
# then for your own.
#
# **Predict.** Here is the same with waiting, once for 100 launches, as it is found in many repositories.
# On how many of the nine GPUs is it within 3 % of the truth?

# %%
predict("gpus_where_the_loop_is_right", None)

# %%
def loop(run, fresh_inputs, gpu, launches=100):
    """The mean of many launches with the same inputs, and one wait."""
    inputs = fresh_inputs()
    gpu.synchronize()
    start = gpu.clock()
    for _ in range(launches):
        run(*inputs)
    gpu.synchronize()
    return (gpu.clock() - start) / launches


print(simulated.table(loop))

# %% [markdown]
# Read the last column: those are the things that go wrong on real GPUs, one at a time.
#
# ## What a fair time is
#
# Before one can measure, one must say *what*. Here it is: **the median time of one call of the kernel,
# with inputs that are new and not in the cache, at the clock that the GPU usually has.** Each word
# answers one of the traps:
#
# - *Of the kernel*: compiling happens once, in the first call. Launching is the host's work.
# - *Not in the cache*: in a program other kernels run in between, and the inputs come from memory. A
#   loop over the same inputs finds them in the L2 cache and measures a GPU that does not exist.
#   `flush_l2()` writes other data over it.
# - *New inputs*: a kernel may change its inputs, and numbers such as zero cost less power, so clocks
#   stay higher.
# - *At the usual clock*: an idle GPU has slowed down and needs some tens of milliseconds of work to come
#   up; a GPU that is busy for very long gets hot and slows down.
# - *Median*: now and then something disturbs a call. A mean takes that in; the best of many is luck. The
#   median is the call in the middle, and the spread around it says how far to believe it.
#
# **Predict.** Twenty calls: nineteen take 0.3 ms, one takes 3.6 ms. How many percent above 0.3 ms is the
# mean? And the median?

# %%
predict("percent_mean", None)
predict("percent_median", None)

# %% [markdown]
# ## Events: clocks in the queue
#
# The host's clock cannot look into the queue. An **event** can: `gpu.record()` puts a mark behind what
# was launched so far, and the GPU notes the time when it comes by. Two events around a launch give the
# time between them, on the GPU's own clock. Only when the host has waited may it read them.
#
# One thing remains. If a kernel is shorter than its launch, the GPU passes the first mark, finds the
# queue empty, and waits for the host: the time between the events holds that gap.

# %%
figures.launches(launch=3, kernel=1, calls=4)

# %% [markdown]
# **Predict.** A kernel of 0.003 ms, launches of 0.009 ms, events around each launch, nothing else in the
# queue. How many times too large is the time between the events?

# %%
predict("times_too_large", None)

# %%
def events_only(run, fresh_inputs, gpu):
    """Two events around each launch; the GPU has nothing else to do."""
    inputs, pairs = fresh_inputs(), []
    for _ in range(21):
        gpu.synchronize()
        start = gpu.record()
        run(*inputs)
        pairs.append((start, gpu.record()))
    gpu.synchronize()
    return sorted(end.ms - start.ms for start, end in pairs)[10]


short = simulated.models()[-1]
print(f"{simulated.attempt(events_only, short).factor:.3g} times the truth")

# %% [markdown]
# The remedy is to keep the GPU busy with something else until the launch has arrived. You will find that
# something which you need anyway does it. (In a real program such a kernel is limited by its launches,
# and *that* time counts. It is then the program that wants mending, by fusing kernels, and not the
# kernel.)
#
# ## Exercise: `fair_ms`
#
# **The contract.** `fair_ms(run, fresh_inputs, gpu)` returns the kernel's time in milliseconds, a float,
# within 3 % of the truth on each of the nine GPUs, and on others like them.
#
# - `run(*inputs)` launches the kernel and returns at once. `fresh_inputs()` returns a tuple of new
#   inputs; making them is work for the GPU, too, and leaves them in its cache.
# - `gpu.synchronize()` waits. `gpu.clock()` is the host's clock in ms. `gpu.record()` returns an event,
#   whose `.ms` can be read after the next `synchronize()`. `gpu.flush_l2()` empties the cache; that
#   takes the GPU 0.06 ms, and the host goes on at once.
# - Some dozens of launches are enough. A GPU that is busy for some hundred milliseconds without a pause gets hot and slows
#   down. 30,000 calls to the GPU end the attempt.
#
# It is plain Python: no kernel, and nothing that must be imported. `check` calls your function once for
# each GPU; what is true of them is drawn anew for every version of your code, so it cannot be known beforehand.
# `trace` and `speed` have nothing to show here: nothing is launched on a real GPU. `hint("fair_ms")`
# helps.

# %% exercise="fair_ms"

# %% [markdown]
# The table shows all nine at a glance. Where your stopwatch is wrong, it names the trap:

# %%
print(simulated.table(fair_ms))

# %% [markdown]
# **Try it.** Take the steps of your stopwatch out again, one at a time: the warm-up, the flush, the new
# inputs, the median. Which GPU notices? Then measure with 3,000 launches. Which one notices that, and by
# how many percent?
#
# ## From a time to a figure
#
# A time alone says little. Divided into the *least* work that the problem needs, it can be held against
# the hardware: bytes per second for kernels that mostly move data, operations per second for those that
# mostly compute. Least means: each input once, each output once, whatever the kernel really did.
# Otherwise a kernel that moves too much would look good.
#
# A tutorial counts for a product of two n×n matrices in fp32: three matrices of 4-byte numbers, so `12 *
# n / ms` as the speed. Beyond n = 1,000 its curve falls and falls, and the text blames the cache.
#
# **Predict.** At n = 4,096, by which factor are these bytes too few? And how many operations does the
# product need for each byte that it must move?

# %%
predict("bytes_too_few_by", None)
predict("product_operations_per_byte", None)

# %% [markdown]
# A matrix has n² numbers, so it is `12 * n**2`. And with so many operations for each byte, bytes per
# second are the wrong figure anyway: for a product it is TFLOP/s. Here is a model of a good matmul (5 µs
# that every launch costs, and then 500 TFLOP/s), seen through all three formulas:

# %%
print(f"{'n':>6} {'ms':>9} {'12*n/ms':>12} {'12*n**2/ms (GB/s)':>18} {'2*n**3/ms (TFLOP/s)':>20}")
for n in (256, 512, 1024, 2048, 4096, 8192):
    ms = 0.005 + 2 * n**3 / 500e12 * 1e3
    print(f"{n:6d} {ms:9.4f} {12 * n / ms:12,.0f} {12 * n**2 / ms * 1e-6:18,.1f} {2 * n**3 / ms * 1e-9:20,.1f}")

# %% [markdown]
# Once the product is large, its time grows with n³ and the wrong formula's numerator with n. So the
# curve had to fall like 1/n², whatever the kernel did. The last column rises to what the kernel can do,
# and stays. And the small sizes at the top take nearly equally long: below 1,024 or so one measures the
# launch, not the product.
#
# ## Exercise: `throughput`
#
# **The contract.** `throughput(kind, shape, dtype, milliseconds)` returns (GB/s, TFLOP/s), two floats.
#
# | `kind` | `shape` | read and written | operations |
# |---|---|---|---|
# | `"copy"`, `"transpose"` | of the input | input, output | none |
# | `"vector_add"` | of one input | two inputs, output | 1 for each element |
# | `"softmax"` | of the input | input, output | 5 for each element |
# | `"layernorm"` | of the input | input, output, weight and bias (one number for each column) | 8 for each element |
# | `"matmul"` | (m, k, n) | (m, k), (k, n) and (m, n) | m · k · n multiplications and as many additions |
#
# - `dtype` is a torch dtype, for inputs and output: `dtype.itemsize` bytes a number.
# - A gigabyte is 10⁹ bytes, a TFLOP 10¹² operations. `milliseconds` is above 0.
# - Sizes may be zero: an empty tensor has no bytes and no operations.
#
# It is plain Python again. `hint("throughput")` helps.

# %% exercise="throughput"

# %% [markdown]
# **Predict**, then compare: 2²⁸ fp32 numbers copied in 0.5 ms. How many GB/s? Does an H200 do that
# (4,800 on paper)?

# %%
predict("copy_gigabytes_per_second", None)

# %%
figure = throughput("copy", (2**28,), torch.float32, 0.5)
if figure is None:
    print("Nothing yet: solve the exercise first.")
else:
    print(f"{figure[0]:,.0f} GB/s by your function")

# %% [markdown]
# A figure above what the hardware can do is not a fast kernel. It is a mistake in the stopwatch, or the
# kernel did not run, or the data came from the cache. Keep that check; it costs nothing.
#
# ## Against what?
#
# A speedup needs an opponent, and a weak one makes everybody look good. Against a chain of eager PyTorch
# operations a fused kernel wins by the number of kernels saved. Compare with the best that one can have
# without work: the library's own kernel (cuBLAS for products, ATen's `softmax`, cuDNN's attention) and
# `torch.compile`. Run the opponents *in turns*, in one process, in shuffled order, so that heat and luck
# fall on all alike, and check every result: a wrong kernel may be as fast as it likes.
#
# Measured on an NVIDIA H200 in fp16 at 65536×4096: a softmax like that of lesson 07 took
# {h200: softmax 65536×4096 | plain | µs} µs. ATen's took {h200: softmax 65536×4096 | torch | µs} µs, the one that `torch.compile` makes
# {h200: softmax 65536×4096 | torch.compile | µs} µs, and that of the library Liger-Kernel {h200: softmax 65536×4096 | Liger-Kernel | µs} µs. The same
# kernel is a triumph or a tie, as you choose the opponent.
#
# ## Real tools
#
# - **`triton.testing.do_bench(fn)`** is the stopwatch that you have just written, nearly: it flushes the
#   cache, takes events, and runs about 25 ms of warm-up and 100 ms of calls. But its inputs are the same
#   in each call, the calls follow one another without a pause, and by default it returns the *mean*: say
#   `return_mode="median"`, or `quantiles=[0.2, 0.5, 0.8]`.
# - **`triton.testing.perf_report`** runs a function over a list of sizes and draws the curves. What is
#   on the y axis is your formula: see above.
# - **`torch.profiler`** tells which kernels ran. For a matmul it shows that cuBLAS takes different
#   kernels for different sizes, and how long the host spends in dispatching each call.
# - **`ncu`** (Nsight Compute) looks into one kernel: its section *Speed Of Light* gives memory and
#   compute as shares of what the GPU can do, *Memory Workload Analysis* the caches, *Occupancy* the
#   warps that were there. It runs the kernel several times and fixes the clocks, so its times are for
#   comparing, not for reports.
# - **Proton**, which comes with Triton (`import triton.profiler as proton`), adds up times by the names
#   that you give to parts of a program; `proton-viewer` prints them as a tree.
#
# ## Quiz

# %%
quiz("benchmarking")

# %% [markdown] case_study="five-figures" points=6
# ## Case study: one product, five figures
#
# While this course was made, five figures were written down for one and the same thing: cuBLAS
# multiplying two 4096×4096 matrices in fp16 on an H200. They were 653, 677, 695, 697 and 756 TFLOP/s. Of
# two of them the method is known:
#
# - 756: single calls. Before each one the GPU idled for about a millisecond, inputs were new and the
#   cache was cold; events; the median of 20 rounds.
# - 677: `do_bench`, with the median: it flushes the cache before each call, and the calls follow one
#   another for about a tenth of a second, always with the same inputs.
#
# Of the other three the notes say only "measured on an H200": one was taken right after an autotuner had
# worked for some seconds, two in loops that compared cuBLAS with a kernel of the course.
#
# 1. Turn 756 and 677 TFLOP/s into microseconds. Both methods take events, a cold cache and the median.
#    What differs between them, and why does it matter for a product and hardly for a copy?
# 2. Which of the other three figures would you give to the run after the autotuner, and why? Can you be
#    sure?
# 3. A slide says: "our kernel, 690 TFLOP/s, beats cuBLAS, 677." Name two reasons not to believe it yet.
# 4. Which of the methods would you use for a report on training, where products follow one another for
#    hours? Write down the four or five facts that must stand beside a figure, so that somebody else can
#    repeat it.
#
# Answer in about 150 words.

# %%
answer("five-figures")

# %% [markdown] model_answer="five-figures"
# 1. 2 · 4096³ = 137.4 GFLOP: 182 µs and 203 µs. In the first method the GPU pauses before each call, so
#    it is neither hot nor at its power limit, and its clock stays at the top. Back to back, tensor cores
#    at full load reach the power cap, and the clock falls by a tenth or so. A copy waits for memory,
#    draws less power, and depends little on that clock. (That the inputs are the same in each call of
#    `do_bench` matters little: it flushes the cache, and a product leaves them alone.)
# 2. 653, the lowest: after seconds of full load the card is hottest. It is likely and not certain: the
#    figure came without its method, and repeated measurements of one thing drifted by about 4 % anyway.
#    Only repeating it both ways would tell.
# 3. The two figures may come from different methods or moments: by the other method cuBLAS itself has
#    756, so 690 may be slower. And the difference, 2 %, is smaller than the drift. Compare in turns, in
#    one run, with a confidence interval; and check the results.
# 4. Sustained load, because that is what training does: then for both contenders. Beside the figure: GPU
#    and its power limit or clocks; versions; shape, dtype and layout; cold or warm inputs; what was
#    repeated how often, median and spread; single calls or back to back; how many bytes or operations
#    were counted.
#
# **Rubric (6 points)**
#
# - 1 point: about 182 and 203 µs.
# - 1 point: pause against sustained load, power and clock; a copy is limited by memory.
# - 1 point: 653 after the autotuner, with the reason, and a word on what is not known.
# - 1 point: different methods may not be compared.
# - 1 point: the difference is within the drift; in turns, with an interval.
# - 1 point: method by purpose, and the facts that must stand beside a figure.

# %% [markdown]
# ## For the GPU
#
# **Predict.** A product of two 256×256 matrices and one of 1024×1024 in fp16: 64 times as many
# operations. How many times as long does it take, by `do_bench`, and by the host's clock without
# waiting?

# %% gpu
import time

if ON_GPU:
    for n in (256, 512, 1024, 2048, 4096):
        a = torch.randn(n, n, device="cuda", dtype=torch.float16)
        torch.matmul(a, a)
        torch.cuda.synchronize()
        start = time.perf_counter()
        torch.matmul(a, a)
        without_waiting = (time.perf_counter() - start) * 1e3
        ms = triton.testing.do_bench(lambda: torch.matmul(a, a), return_mode="median")
        print(f"{n:5d}: {ms:.4f} ms, {2 * n**3 / ms * 1e-9:5,.0f} TFLOP/s; without waiting {without_waiting:.4f} ms")
else:
    print("Not run: there is no GPU here. The simulated ones above know the traps, and no real kernel's time.")

# %% [markdown]
# ## What you take with you
#
# - A launch returns at once: wait, or use events, and keep the queue filled around short kernels.
# - Say what you measure: cold or warm, single calls or sustained. Then warm up, renew the inputs, take
#   the median.
# - Least bytes or operations by time; above the hardware's limit it is a mistake.
# - A figure without its method is no figure. Compare in turns, and against the strongest.

# %%
progress()
