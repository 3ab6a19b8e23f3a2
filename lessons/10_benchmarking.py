# %% [markdown]
# # Benchmarking: measure a kernel's time correctly
#
# "Mine is twice as fast" is often wrong. A GPU works while your program does something else, it caches data, and its clock
# changes. In this lesson you write a stopwatch that is correct on nine GPUs, each with a different trap. You also convert
# a time into GB/s and TFLOP/s.
#
# It takes about 80 minutes. Lessons 03 (memory and compute) and 08 (matmul) come first. You need no GPU.

# %% setup
from triton_util import explore, figures
from triton_util.bench import simulated
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()

# %% [markdown]
# ## The host runs ahead
#
# A launch puts a kernel into a **queue** and returns. The **host** (the CPU with your Python program) continues, and the GPU
# works through its queue. The host waits only in some calls. `torch.cuda.synchronize()` waits for everything. Printing a
# loss needs its value, so it waits for every kernel that the loss depends on.

# %%
figures.launches(launch=1, kernel=3, calls=4)

# %% [markdown]
# **Predict.** A kernel takes 0.24 ms, and its launch takes the host 0.008 ms. You read the host's clock before and after
# the launch, without waiting. What fraction of the kernel's time do you measure?

# %%
predict("share_that_is_seen", None)

# %% [markdown]
# To try this without a GPU, the lesson has nine *simulated* GPUs. They compute nothing. Each has two clocks, one for the
# host and one for its queue, and advances them as a real GPU would, always in the same way. The true times of their
# kernels are known. For a real GPU they are not.

# %%
def launch_only(run, fresh_inputs, gpu):
    """Return the time of one launch by the host's clock."""
    inputs = fresh_inputs()
    start = gpu.clock()
    run(*inputs)
    return gpu.clock() - start


asynchronous = simulated.models()[0]
print(f"measured: {simulated.attempt(launch_only, asynchronous).factor:.3g} of the truth")

# %% [markdown]
# This kernel looks thirty times too fast. So wait twice: before the first reading for earlier work in the queue, and before
# the second reading for your own kernel.
#
# **Predict.** The next cell does this for 100 launches, as many programs do. On how many of the nine GPUs is it within
# 3 % of the truth?

# %%
predict("gpus_where_the_loop_is_right", None)

# %%
def loop(run, fresh_inputs, gpu, launches=100):
    """Return the mean time of many launches with the same inputs, and one wait."""
    inputs = fresh_inputs()
    gpu.synchronize()
    start = gpu.clock()
    for _ in range(launches):
        run(*inputs)
    gpu.synchronize()
    return (gpu.clock() - start) / launches


print(simulated.table(loop))

# %% [markdown]
# Read the last column: these problems occur on real GPUs, too. Here each GPU has only one of them.
#
# ## What a fair time is
#
# Before you measure, say *what* you measure. In this lesson it is **the median time of one call of the kernel, with inputs
# that are new and not in the cache, at the clock that the GPU usually has.** Each part of this sentence avoids one of the
# traps:
#
# - *Of the kernel*: compiling happens once, in the first call. Launching is the host's work.
# - *Not in the cache*: in a program, other kernels run in between, and the inputs come from memory. A loop over the same
#   inputs finds them in the L2 cache, so its times are too short. `flush_l2()` overwrites the cache with other data.
# - *New inputs*: a kernel may change its inputs. The values matter, too: zeros need less power, so the clock stays higher.
# - *At the usual clock*: an idle GPU lowers its clock, and needs some tens of milliseconds of work to raise it. Under long
#   full load a GPU reaches its power limit, or gets hot, and lowers its clock again.
# - *Median*: sometimes other work disturbs a call. The mean includes such calls, and the best of many calls is luck. The
#   median is the call in the middle. The spread around it shows how reliable it is.
#
# **Predict.** Twenty calls: nineteen take 0.3 ms, one takes 3.6 ms. How many percent above 0.3 ms is the mean? And the
# median?

# %%
predict("percent_mean", None)
predict("percent_median", None)

# %% [markdown]
# ## Events: clocks in the queue
#
# The host's clock does not show when the GPU starts and finishes a kernel. An **event** does: `gpu.record()` puts a mark
# into the queue, after everything launched so far, and the GPU notes the time when it reaches the mark. Two events around
# a launch give the time between them, on the GPU's own clock. The host may read them only after it has waited.
#
# One problem remains. If a kernel is shorter than its launch, the GPU reaches the first mark, finds the queue empty, and
# waits for the host. The time between the events then includes this gap.

# %%
figures.launches(launch=3, kernel=1, calls=4)

# %% [markdown]
# **Predict.** A kernel takes 0.003 ms, and its launch 0.009 ms. There are events around each launch, and nothing else is in
# the queue. How many times too large is the time between the events?

# %%
predict("times_too_large", None)

# %%
def events_only(run, fresh_inputs, gpu):
    """Time each launch by two events, with nothing else in the queue."""
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
# The fix is to keep the GPU busy with other work until the launch has arrived. One step that you need anyway does this.
# (In a real program, launches limit the speed of such a kernel, and *that* time counts. Then fix the program, by fusing
# kernels, not the kernel.)
#
# ## Exercise: `fair_ms`
#
# **The contract.** `fair_ms(run, fresh_inputs, gpu)` returns the kernel's time in milliseconds, a float, within 3 % of the
# truth on each of the nine GPUs, and on others like them.
#
# - `run(*inputs)` launches the kernel and returns at once. `fresh_inputs()` returns a tuple of new inputs. Making them is
#   work for the GPU, too, and leaves them in its cache.
# - `gpu.synchronize()` waits. `gpu.clock()` is the host's clock in ms. `gpu.record()` returns an event, whose `.ms` can be
#   read after the next `synchronize()`. `gpu.flush_l2()` empties the cache. That takes the GPU 0.06 ms, and the host
#   continues at once.
# - Some dozens of launches are enough. One GPU lowers its clock when it is busy for some hundred milliseconds without a
#   pause. After 30,000 calls to the GPU, the judge ends the attempt.
#
# This is plain Python, without a kernel and without imports. `check` calls your function once for each GPU. It draws new
# properties of these GPUs for every version of your code, so you cannot know them beforehand. `trace` and `speed` show
# nothing here, because nothing is launched on a real GPU. `hint("fair_ms")` helps.

# %% exercise="fair_ms"

# %% [markdown]
# The table shows all nine GPUs. Where your stopwatch is wrong, it names the trap:

# %%
print(simulated.table(fair_ms))

# %% [markdown]
# **Try it.** Remove the steps of your stopwatch, one at a time: the warm-up, the flush, the new inputs, the median. Which
# GPU shows it? Then measure with 3,000 launches. Which GPU shows that, and by how many percent?
#
# ## From a time to GB/s and TFLOP/s
#
# A time alone says little. Divide the *least* work that the problem needs by the time, and you can compare the result with
# the hardware's limit. Use bytes per second for kernels that mostly move data, and operations per second for kernels that
# mostly compute. "Least" means: each input once and each output once, whatever the kernel really moved. Otherwise a kernel
# that moves too much would look fast.
#
# A tutorial computes the speed of a product of two n×n matrices in fp32 as `12 * n / ms`, because it counts three matrices
# of 4-byte numbers. Beyond n = 1,000 its curve falls steeply, and the text blames the cache.
#
# **Predict.** At n = 4,096, by which factor are these bytes too few? How many operations does the product need for each
# byte that it must move?

# %%
predict("bytes_too_few_by", None)
predict("product_operations_per_byte", None)

# %% [markdown]
# A matrix has n² numbers, so the bytes are `12 * n**2`. And with so many operations for each byte, arithmetic limits a
# product: TFLOP/s is the correct unit. Here is a model of a good matmul (5 µs for every launch, and then 500 TFLOP/s),
# shown by all three formulas:

# %%
print(f"{'n':>6} {'ms':>9} {'12*n/ms':>12} {'12*n**2/ms (GB/s)':>18} {'2*n**3/ms (TFLOP/s)':>20}")
for n in (256, 512, 1024, 2048, 4096, 8192):
    ms = 0.005 + 2 * n**3 / 500e12 * 1e3
    print(f"{n:6d} {ms:9.4f} {12 * n / ms:12,.0f} {12 * n**2 / ms * 1e-6:18,.1f} {2 * n**3 / ms * 1e-9:20,.1f}")

# %% [markdown]
# For a large product, the time grows with n³, and the wrong formula's numerator with n. So its curve falls like 1/n²,
# whatever the kernel does. The last column rises to the kernel's speed and stays there. The small sizes at the top take
# nearly the same time: below 1,024 or so you measure the launch, not the product.
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
# - `dtype` is a torch dtype, for inputs and output. A number has `dtype.itemsize` bytes.
# - A gigabyte is 10⁹ bytes, a TFLOP 10¹² operations. `milliseconds` is above 0.
# - Sizes may be zero: an empty tensor has no bytes and no operations.
#
# This is plain Python again. `hint("throughput")` helps.

# %% exercise="throughput"

# %% [markdown]
# **Predict**, then compare: 2²⁸ fp32 numbers are copied in 0.5 ms. How many GB/s is that? Is it possible on an H200 (4,800
# by its data sheet)?

# %%
predict("copy_gigabytes_per_second", None)

# %%
figure = throughput("copy", (2**28,), torch.float32, 0.5)
if figure is None:
    print("Nothing yet: solve the exercise first.")
else:
    print(f"{figure[0]:,.0f} GB/s by your function")

# %% [markdown]
# If a figure is above the hardware's limit, the kernel is not fast. Either the stopwatch is wrong, or the kernel did not
# run, or the data came from the cache. Always check this; it costs nothing.
#
# ## The baseline
#
# A speedup depends on the **baseline**, the program that you compare with. Against a chain of eager PyTorch operations,
# every fused kernel wins. Compare with the best that you can have without work: the library's own kernel (cuBLAS for
# products, ATen's `softmax`, cuDNN's attention) and `torch.compile`. Run all candidates *in turns*, in one process and in
# shuffled order. Then a change of the clock affects all of them alike. Check every result: the time of a wrong kernel
# says nothing.
#
# Measured on an NVIDIA H200 in fp16 at 65536×4096 ({h200: versions}, Liger-Kernel 0.8.5): a softmax like that of
# lesson 07 took {h200: softmax 65536×4096 | plain | µs} µs. ATen's took {h200: softmax 65536×4096 | torch | µs} µs, the one that `torch.compile` makes
# {h200: softmax 65536×4096 | torch.compile | µs} µs, and that of the library Liger-Kernel {h200: softmax 65536×4096 | Liger-Kernel | µs} µs. The baseline
# decides whether the same kernel looks excellent or average.
#
# ## Real tools
#
# - **`triton.testing.do_bench(fn)`** is nearly the stopwatch that you have written. It flushes the cache, uses events, and
#   runs about 25 ms of warm-up and 100 ms of calls. But it uses the same inputs in each call, makes the calls without a
#   pause, and by default returns the *mean*. Pass `return_mode="median"`, or `quantiles=[0.2, 0.5, 0.8]`.
# - **`triton.testing.perf_report`** runs a function over a list of sizes and draws the curves. You choose the formula for
#   the y axis: see above.
# - **`torch.profiler`** shows which kernels ran. For a matmul it shows that cuBLAS uses different kernels for different
#   sizes, and how long the host needs to dispatch each call.
# - **`ncu`** (Nsight Compute) analyses one kernel. Its section *Speed Of Light* gives memory and compute as percentages of
#   the GPU's peak, *Memory Workload Analysis* the caches, *Occupancy* the active warps. It runs the kernel several times
#   and fixes the clocks. Use its times for comparisons, not for reports.
# - **Proton**, which comes with Triton (`import triton.profiler as proton`), adds up times by the names that you give to
#   parts of a program; `proton-viewer` prints them as a tree.
#
# ## Quiz

# %%
quiz("benchmarking")

# %% [markdown] case_study="five-figures" points=6
# ## Case study: one product, five figures
#
# While this course was made, five figures were recorded for the same thing: cuBLAS multiplying two 4096×4096 matrices in
# fp16 on an H200. They were 653, 677, 695, 697 and 756 TFLOP/s. The notes name no versions. Of two figures the method is
# known:
#
# - 756: single calls. Before each one the GPU was idle for about a millisecond, inputs were new and the cache was cold;
#   events; the median of 20 rounds.
# - 677: `do_bench`, with the median. It flushes the cache before each call, and makes calls for about a tenth of a second
#   without a pause, always with the same inputs.
#
# Of the other three the notes say only "measured on an H200". One was taken right after an autotuner had worked for some
# seconds, two in loops that compared cuBLAS with a kernel of the course.
#
# 1. Turn 756 and 677 TFLOP/s into microseconds. Both methods use events, a cold cache and the median. What differs between
#    them, and why does it matter for a product and hardly for a copy?
# 2. Which of the other three figures would you give to the run after the autotuner, and why? Can you be sure?
# 3. A slide says: "our kernel, 690 TFLOP/s, beats cuBLAS, 677." Name two reasons not to believe it yet.
# 4. Which of the methods would you use for a report on training, where products follow one another for hours? Write down
#    the four or five facts that must accompany a figure, so that others can repeat it.
#
# Answer in about 150 words.

# %%
answer("five-figures")

# %% [markdown] model_answer="five-figures"
# 1. 2 · 4096³ = 137.4 GFLOP: 182 µs and 203 µs. In the first method the GPU pauses before each call, so it stays below its
#    power limit, and its clock stays high. Without pauses, tensor cores at full load reach the power limit, and the clock
#    falls by a tenth or so. A copy waits for memory, needs less power, and depends little on that clock. (The same inputs
#    in each call of `do_bench` matter little: it flushes the cache, and a product does not change its inputs.)
# 2. 653, the lowest: after seconds of full load the card is at its power limit and at its hottest. This is likely, not
#    certain: the figure came without its method, and repeated measurements of one thing drifted by about 4 % anyway. Only
#    repeating it both ways would show it.
# 3. The two figures may come from different methods or moments: by the other method cuBLAS itself reaches 756, so 690 may
#    be slower. And the difference, 2 %, is smaller than the drift. Compare in turns, in one run, with a confidence
#    interval, and check the results.
# 4. Sustained load, because training is sustained load; then use it for both contenders. With the figure: GPU and its power
#    limit or clocks; versions of driver, CUDA and libraries; shape, dtype and layout; cold or warm inputs; how many
#    repetitions, median and spread; single calls or back to back; how many bytes or operations were counted.
#
# **Rubric (6 points)**
#
# - 1 point: about 182 and 203 µs.
# - 1 point: pause against sustained load, power and clock; memory limits a copy.
# - 1 point: 653 after the autotuner, with the reason, and a word on what is not known.
# - 1 point: figures of different methods cannot be compared.
# - 1 point: the difference is within the drift; in turns, with an interval.
# - 1 point: method by purpose, and the facts that must accompany a figure.

# %% [markdown]
# ## For the GPU
#
# **Predict.** Take a product of two 256×256 matrices and one of two 1024×1024 matrices in fp16: the second has 64 times as
# many operations. How many times as long does it take, by `do_bench`, and by the host's clock without waiting?

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
    print("Not run: there is no GPU here. The simulated GPUs above cannot give a real kernel's time.")

# %% [markdown]
# ## What you take with you
#
# - A launch returns at once. Wait, or use events, and keep the queue filled around short kernels.
# - Say what you measure: cold or warm, single calls or sustained load. Then warm up, renew the inputs, take the median.
# - Divide the least bytes or operations by the time. A result above the hardware's limit is a mistake.
# - Report a figure together with its method. Compare in turns, and with the strongest baseline.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `fair_ms` | `triton.testing.do_bench` |
# | `gpu.record()` | `event = torch.cuda.Event(enable_timing=True)`, then `event.record()` |
# | `end.ms - start.ms` | `start.elapsed_time(end)` |
# | `gpu.synchronize()` | `torch.cuda.synchronize()` |
# | `gpu.flush_l2()` | overwrite a buffer that is larger than the L2, as `do_bench` does |
#
# References:
#
# - Williams, Waterman, Patterson: [Roofline: An Insightful Visual Performance Model for Multicore
#   Architectures](https://doi.org/10.1145/1498765.1498785) (2009)
# - Hoefler, Belli: [Scientific Benchmarking of Parallel Computing
#   Systems](https://doi.org/10.1145/2807591.2807644) (2015)
# - [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html), section *Asynchronous execution*
#   (PyTorch's notes)
# - [triton.testing](https://triton-lang.org/main/python-api/triton.testing.html): `do_bench` and `perf_report`
# - [Vector Addition](https://triton-lang.org/main/getting-started/tutorials/01-vector-add.html) (Triton tutorial
#   01), 02 and 03 use `perf_report`
#
# To practise, call `practice()`. It draws a puzzle from an exercise on kernels that you have passed.

# %%
progress()
