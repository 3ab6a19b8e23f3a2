# %% [markdown]
# # Autotuning: let the measurement choose
#
# Which tile is best? It depends on the GPU, the dtype and the shape, and it is hard to predict. But you *can* choose a few
# good candidates and let a measurement decide. In this lesson you estimate whether a tile fits a GPU, write an
# autotuned matmul, and learn the traps of autotuning.
#
# It takes about 80 minutes. Lessons 08 (matmul) and 09 (swizzling) come first.

# %% setup
from triton_util import catch, explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## One token
#
# This kernel should double a vector. Triton chooses its block size from a list, which has one candidate here. The launcher
# does not know the choice. So its grid is a function, which Triton calls with the chosen numbers in the dictionary `meta`.
# Run both cells.

# %%
@triton.autotune(configs=[triton.Config({"BLOCK_SIZE": 64})], key=["n_elements"])
@triton.jit
def tuned_double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def tuned_double(x):
    output = torch.full_like(x, -1)
    tuned_double_kernel[lambda meta: (triton.cdiv(x.numel(), 256),)](x, output, x.numel())
    return output



# %%
others = [(torch.arange(float(n)),) for n in (1, 64, 128, 129, 1000)]
catch("grid_of_meta", tuned_double, torch.arange(200.0), right=lambda x: 2 * x, others=others)

# %% [markdown]
# The card shows the first numbers only, and they are correct. But one program with 64 lanes cannot store 200 numbers. **Fix
# it**: in the grid, replace `256` by `meta["BLOCK_SIZE"]`. Run that cell again, then the one above this text, until the card
# is green. Then the launcher is correct for any block size.
#
# ## Six meta-parameters
#
# **Meta-parameters** are numbers that change how fast a kernel is, but not what it computes:
#
# | meta-parameter | a larger one gives | and costs |
# |---|---|---|
# | `BLOCK_M`, `BLOCK_N` | more reuse of each loaded number, less traffic | registers for the accumulator; fewer programs to fill the GPU |
# | `BLOCK_K` | fewer, larger steps | shared memory |
# | `GROUP` | more hits in the L2 cache, up to a point | one more number to search |
# | `num_warps` | more threads share one tile, so each needs fewer registers | less independent work in each thread, more exchange between the warps |
# | `num_stages` | loads that start earlier, so that arithmetic hides their latency | shared memory for the tiles that are being loaded |
#
# The first four are arguments of your kernel. The last two belong to the compiler, and you give them at the launch. (The
# model solution leaves `GROUP` at 8: lesson 09 measured its effect, and two values would double the number of candidates.)
#
# **Predict.** A 4096×4096 product in fp16 moves N³ · (1/BLOCK_M + 1/BLOCK_N) numbers from the L2 cache or global memory
# into the SMs. By what factor does that fall from tiles of 64×64 to tiles of 128×256?

# %%
predict("traffic_falls_by", None)

# %%
figures.tile_reuse((16, 32, 64, 128, 256), n=4096)

# %% [markdown]
# ## The budget
#
# So why not 512×512? Because a program has a budget:
#
# - **Registers.** An SM has 65,536 of them, and a thread may use 255. The fp32 accumulator is kept in registers,
#   distributed over `32 * num_warps` threads. The compiler **spills** what does not fit: it stores it to memory and
#   loads it again, in the innermost loop.
# - **Shared memory.** Tiles of `a` and `b` are kept there until `tl.dot` uses them. As compiled by Triton 3.9, an H100 or
#   H200 keeps `num_stages` of each, an A100 `num_stages - 1`, because the last stage goes to registers. A block may use
#   227 KiB on the first two, and 163 KiB on the last.
# - **Occupancy**: the number of warps on an SM, divided by the most that it supports. While one warp waits, another one
#   works. If programs are large, few fit on an SM. A fast matmul often runs one program per SM, and hides latency by
#   stages instead.
#
# **Predict.** A tile of 256×256 with 4 warps: how many registers does the accumulator need in each thread?

# %%
predict("accumulator_registers", None)

# %%
explore.budget(BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, num_warps=4, num_stages=3).accumulator

# %% [markdown]
# A thread cannot have so many, so the compiler spills. Take the grouped matmul of lesson 09, with a tile of 256×256×64 in
# fp16, 4 warps and 3 stages, compiled by Triton 3.9. It uses 255 registers for each thread, and spills 2,856 bytes to its
# stack for an H200 (sm_90), 5,072 for an A100 (sm_80). It is correct, and slow. Shared memory behaves differently: a
# kernel that asks for too much compiles without complaint, and fails at the *launch*.
#
# A T4 (sm_75) is a special case. Triton 3.9 does not use its tensor cores for `tl.dot`, and does not load stages ahead
# there: 128×128×32 with 4 stages becomes ordinary multiply-adds, with 11,368 bytes of stack for each thread. It is correct,
# but far below the card's peak.
#
# **Try it.** Find a tile for fp16 that fits an H200 and not an A100. Find one with at least 128 operations per byte that
# does not spill. (The estimate counts the accumulator, the stages, and 40 registers for everything else. Only the
# compiler gives the exact number.)

# %%
explore.tile_budget(gpu="H200", BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, num_warps=8, num_stages=3)

# %%
# The same without controls:
print(
    explore.tile_budget_text(
        gpu="A100", BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=4, num_stages=3
    )
)

# %% [markdown]
# ## The autotuner
#
# `@triton.autotune` takes a list of configurations and a **key**:
#
# ```python
# @triton.autotune(
#     configs=[
#         triton.Config({"BLOCK_SIZE": 512}, num_warps=4),
#         triton.Config({"BLOCK_SIZE": 2048}, num_warps=8),
#     ],
#     key=["n_elements"],
# )
# @triton.jit
# def some_kernel(x_ptr, n_elements, BLOCK_SIZE: tl.constexpr): ...
# ```
#
# The key names arguments of the kernel; the dtypes of the tensors belong to it as well. At a launch with a new key, the
# autotuner runs *every* configuration many times, remembers the fastest, and launches that one. A later launch with the
# same key costs only a look-up in a dictionary.
#
# The launcher no longer names any meta-parameter. So its grid must be a *function*. The autotuner calls it with the
# meta-parameters of each configuration that it runs.
#
# **Predict.** A configuration takes 0.6 s to compile, once, and about 0.15 s to measure. With 8 configurations, how long
# does the first launch take? And the first launch with *another* shape? (Assume that the compiled kernels serve both
# shapes.)

# %%
predict("first_launch_seconds", None)
predict("first_launch_of_next_shape", None)

# %% [markdown]
# Every new shape waits for a search. In training with fixed shapes that hardly matters. In a service where each request has
# another length, it is a disaster. Then choose a coarser key: pass `triton.next_power_of_2(length)` as an argument of its
# own, and put *that* argument into the key.
#
# ## Fewer candidates: pruning
#
# Some configurations cannot work on the present GPU, or cannot be fast. **Pruning** removes them before they are compiled.
# You write a function, and pass it as `prune_configs_by={"early_config_prune": function}`. It receives the configurations
# and the launch's arguments, and returns the configurations to try, at least one. Here is one for a kernel that loads and
# stores a vector. It keeps 4 to 64 bytes of the block for each thread:

# %%
import types

copy_configs = [
    triton.Config({"BLOCK_SIZE": size}, num_warps=warps)
    for size, warps in ((1024, 4), (128, 4), (2048, 8), (16384, 4))
]


def keep_sensible(configs, named_args, **kwargs):
    x = named_args["x_ptr"]  # the tensor that the launcher passed for x_ptr
    if not x.is_cuda:
        return configs[:1]  # nothing can be measured on a CPU
    kept = []
    for config in configs:
        threads = 32 * config.num_warps
        bytes_per_thread = config.kwargs["BLOCK_SIZE"] * x.element_size() / threads
        if 4 <= bytes_per_thread <= 64:
            kept.append(config)
    return kept or configs[:1]  # never an empty list


print("CPU:", len(keep_sensible(copy_configs, {"x_ptr": torch.ones(8)})), "configuration")
on_a_gpu = types.SimpleNamespace(is_cuda=True, element_size=lambda: 4)  # looks like a CUDA tensor
for config in keep_sensible(copy_configs, {"x_ptr": on_a_gpu}):
    print("GPU:", config.kwargs["BLOCK_SIZE"], "elements,", config.num_warps, "warps")

# %% [markdown]
# The function uses these names. The exercise needs all of them:
#
# | expression | value |
# |---|---|
# | `config.kwargs["BLOCK_M"]` | a meta-parameter of the configuration; `kwargs` is the dictionary that you gave to `triton.Config` |
# | `config.num_warps`, `config.num_stages` | the compiler's two |
# | `named_args["a_ptr"]` | an argument of the launch, by its name in the kernel: here a tensor |
# | `a.is_cuda` | `True` if the tensor `a` is on a GPU |
# | `a.element_size()` | bytes of one element: 4 for float32, 2 for float16 and bfloat16 |
# | `torch.cuda.get_device_properties(a.device)` | the GPU's data: `.shared_memory_per_block_optin` in bytes, and `.major`, 9 for an H100 or H200 |
#
# Pruning saves time, but is not needed to prevent a failing launch. If a configuration asks for too much, the tuner skips
# it: it catches `OutOfResources` and counts its time as infinite.
#
# A formula for registers or shared memory is only an estimate. The compiled kernel has the exact numbers.
# `kernel.warmup(...)` compiles without a launch, and its result has `.metadata.shared`. Once the result is loaded onto the
# GPU, by a first launch or by its method `_init_handles()`, it also has `.n_regs` and `.n_spills`. But this costs the
# compilation that pruning should save.
#
# There are three more ways to have few candidates. `prune_configs_by={"perf_model": model, "top_k": 4}` keeps the four
# that your model predicts to be fastest. `@triton.heuristics` computes a meta-parameter from the arguments, without a
# search. And you can write a short list. `TRITON_PRINT_AUTOTUNING=1` prints what was chosen, and how long the search took.
#
# **Predict.** Take the eight configurations in the next cell, in fp16 on an L4 (sm_89: 99 KiB of shared memory, and one
# stage less in it, as on an A100). How many fit?

# %%
predict("how_many_fit_an_l4", None)

# %%
candidates = [
    # BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages
    (32, 64, 32, 4, 4),
    (64, 64, 32, 4, 3),
    (64, 128, 32, 4, 4),
    (128, 64, 64, 4, 3),
    (128, 128, 32, 4, 4),
    (128, 128, 64, 8, 3),
    (128, 256, 64, 8, 3),
    (256, 128, 64, 8, 4),
]
for gpu in ("L4", "A100", "H100", "H200"):
    print(f"{gpu}: {sum(explore.budget(*config).fits(gpu) for config in candidates)} of 8 fit")

# %% [markdown]
# The configuration that does not fit an L4 fits an A100, though both keep equally many stages. A list that is good for one
# GPU is too long or too short for another.
#
# ## The in-place trap
#
# The autotuner runs your kernel many times *with your tensors*. That is harmless if the kernel only writes its output. But
# what if it changes its input?
#
# This kernel adds 1 to a vector, in place. It has two configurations. To make the effect visible, we give the autotuner
# our own stopwatch. It runs each configuration three times and reports the same time for all.
#
# **Predict.** `x` starts at 0, and we launch the kernel *once*. What is in `x` afterwards?

# %%
predict("x_afterwards", None)

# %%
def three_runs(run_kernel, quantiles=None):
    for _ in range(3):
        run_kernel()
    return [1.0, 1.0, 1.0]  # milliseconds: median and quantiles, all made up


@triton.autotune(
    configs=[triton.Config({"BLOCK_SIZE": 4}), triton.Config({"BLOCK_SIZE": 8})],
    key=["n_elements"],
    do_bench=three_runs,
)
@triton.jit
def increment_kernel(x_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, x + 1, mask=mask)


def increment(x: torch.Tensor) -> None:
    increment_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)](x, x.numel())


x = torch.zeros(6, device=DEVICE)
increment(x)
print(x[0].item())

# %% [markdown]
# The *second* call with this length adds 1, as it should. So the bug shows once per key and per process, and a test that
# warms up first misses it.
#
# Two arguments of `@triton.autotune` fix it:
#
# - `restore_value=["x_ptr"]` saves the tensor, and restores it after each trial.
# - `reset_to_zero=["output_ptr"]` clears the tensor before each trial. This is for kernels that *add* to an output that
#   starts at zero, for example with `tl.atomic_add`.
#
# Both act only while the tuner measures. With a key that is already known, or with a single candidate, nothing is cleared
# and nothing is restored. If an output must start at zero, the *launcher* must clear it at every call.
#
# ## Do not choose by the interpreter's time
#
# You can time a kernel in the interpreter, but that measures Python and numpy. It favours large tiles, and knows nothing
# of registers, caches or tensor cores. **Never choose a configuration by the interpreter's time.** Without a GPU, do not
# choose at all: take one configuration that fits every GPU. With a single candidate the autotuner measures nothing.
#
# ## Exercise: `autotuned_matmul`
#
# **The contract.** `autotuned_matmul(a, b)` returns `a @ b`. The contract is that of `matmul` in lesson 08: any sizes and
# strides, float32, float16 or bfloat16, sums in float32, and no TF32.
#
# - The kernel is given: a grouped matmul as in lesson 09, whose order comes from Triton's own `tl.swizzle2d`. It uses one
#   axis of the grid, with a program for each tile. It is decorated with `@triton.autotune`.
# - `matmul_configs()` returns the candidates, each with `BLOCK_M`, `BLOCK_N`, `BLOCK_K` and `GROUP`, and with `num_warps`
#   and `num_stages`. Return at least two. The first one must fit every GPU.
# - `keep_what_fits(configs, named_args, **kwargs)` returns those that fit. On a CPU it returns the first alone. On a GPU
#   the stages must fit into shared memory, and the accumulator must leave registers for the rest.
# - `autotuned_matmul(a, b)` allocates, gives the grid as a function, and launches.
#
# The table above has all expressions that you need. `hint("autotuned_matmul")` helps.

# %% exercise="autotuned_matmul"

# %% [markdown]
# ## What did it choose?
#
# On a CPU it must choose your first candidate. On a GPU, run it for several shapes and see how the choice changes.

# %%
import contextlib

from triton_util.interpreter import interpret

for n in (32, 100) if not ON_GPU else (128, 512, 2048, 4096):
    a = torch.ones(n, n, device=DEVICE)
    with contextlib.nullcontext() if ON_GPU else interpret():
        product = autotuned_matmul(a, a)
    if product is None:
        print("Nothing yet: solve the exercise first.")
        break
    print(f"{n:5d}: {getattr(autotuned_matmul_kernel, 'best_config', 'one configuration, nothing measured')}")

# %% [markdown]
# ## Other GPUs, other answers
#
# The best configuration of one GPU is only a guess for another. An H100 or H200 has more shared memory than an A100 (227 KiB
# against 163), so more stages or larger tiles fit. Its tensor cores work best on tiles of at least 64 rows per 4 warps. It
# has 132 SMs, where an A100 has 108.
#
# The last **wave** matters, too: if 132 programs run at a time, 133 tiles take as long as 264. So small matrices prefer
# small tiles, which fill all SMs.
#
# **Predict.** A 2048×2048 product in tiles of 128×256: how many programs? How many of an H200's 132 SMs have nothing to do
# (with one program per SM)?

# %%
predict("programs_of_2048", None)
predict("idle_sms_of_2048", None)

# %% [markdown]
# ## Quiz

# %%
quiz("autotuning")

# %% [markdown] case_study="the-first-step" points=6
# ## Case study: the first step of every run
#
# A team's backward kernel adds its part of a gradient to `grad_ptr` with `tl.atomic_add`, because many programs contribute
# to one element. The launcher clears the gradient, then launches. After the team added `@triton.autotune` with twelve
# configurations and `key=["M", "N", "K"]`, they see three things:
#
# - The gradient of the first step is thousands of times too large. All later steps are correct.
# - When the batch has another size at the end of an epoch, the spike comes back for one step.
# - In the evaluation service, where every request has its own length M, most requests take seconds.
#
# 1. Explain the first two. Why thousands of times, and not twelve?
# 2. The unit tests compare the second of two calls, "to leave out compilation". What do they miss? How would you test
#    instead?
# 3. Name the argument of the autotuner that fixes the gradient. Would the other argument work, too? Say why.
# 4. Explain the third, and propose a key.
#
# Answer in about 150 words.

# %%
answer("the-first-step")

# %% [markdown] model_answer="the-first-step"
# 1. At a new key the autotuner runs every configuration many times to measure it, on the real tensors. Each run adds the
#    gradient once more; the launcher cleared it only once, before all of them. Each of the twelve configurations runs for
#    a fixed time, which is hundreds or thousands of runs of a short kernel. All of these add up. A new batch size is a
#    new key, so it happens again.
# 2. They test only a known key, for which the bug is already over. Test the *first* call, in a fresh process or with a
#    new shape, against a reference. If you compile beforehand, warm up the autotuner with other tensors.
# 3. `reset_to_zero=["grad_ptr"]` clears the tensor before each trial, and before the launch that counts, so the last run
#    adds to zero. (The launcher still clears at every call: with a known key nothing is measured and nothing reset.)
#    `restore_value=["grad_ptr"]` works, too: it restores the cleared tensor, at the cost of a copy for each trial. It would
#    be the only correct one if the kernel had to add to an existing gradient, because then zero is the wrong start.
# 4. Each new M is a new key, and measures twelve configurations again. Use a coarser key, such as M rounded up to a power
#    of two, so that a few keys serve all lengths. Or tune before the service starts, and keep the results.
#
# **Rubric (6 points)**
#
# - 1 point: every trial runs on the real tensor and adds to it.
# - 1 point: many runs per configuration, hence thousands.
# - 1 point: new shape, new key, same bug; or: the tests see only known keys.
# - 1 point: tests of the first call with a fresh key.
# - 1 point: `reset_to_zero`, with a correct statement on `restore_value`.
# - 1 point: coarser key, or tuning beforehand.

# %% [markdown]
# ## For the GPU
#
# **Predict.** How long does the first call take, and how long the second? What fraction of cuBLAS's speed does the chosen
# configuration reach?
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16, with this course's model solution: at 1024 it chose a small tile, 64×128×32 with
# 4 warps; at 4096 and 8192 it chose 128×256×64 with 8 warps. At 4096 it reached
# {h200: autotuned_matmul 4096 | plain | TFLOP/s} TFLOP/s, at 8192
# {h200: autotuned_matmul 8192 | plain | TFLOP/s}; cuBLAS reaches {h200: grouped_matmul 4096 | torch | TFLOP/s} and
# {h200: grouped_matmul 8192 | torch | TFLOP/s}. The first call took some seconds with compiling, and about one second
# for each further shape.

# %% gpu
import time

if ON_GPU:
    for n in (1024, 4096, 8192):
        a = torch.randn(n, n, device="cuda", dtype=torch.float16)
        b = torch.randn(n, n, device="cuda", dtype=torch.float16)
        start = time.perf_counter()
        first = autotuned_matmul(a, b)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        if first is None:
            print("Nothing yet: solve the exercise first.")
            break
        print(f"{n}: first call {seconds:.1f} s, chosen: {autotuned_matmul_kernel.best_config}")
        others = {"cuBLAS (torch)": torch.matmul}
        time_beside(autotuned_matmul, others, a, b, operations=2 * n**3, atol=1.0)
else:
    print("Not run: there is no GPU here, and the interpreter's time does not predict a GPU's.")

# %% [markdown]
# `speed` shows your tuned kernel beside cuBLAS and the limit of the card, with cold caches and new inputs. On a machine
# without a GPU it times nothing, and computes the limit from bytes and operations. **Predict:** what fraction of the limit
# does cuBLAS itself reach?

# %%
speed(autotuned_matmul)

# %% [markdown]
# ## What you take with you
#
# - Registers and shared memory are the budget. Estimate first, then let the GPU choose among few candidates.
# - Every new key costs a search. Choose the key as coarse as the speed allows.
# - Kernels that change their inputs need `restore_value` or `reset_to_zero`.
# - Only measure on the GPU that will run the kernel.
#
# Names that you will meet in other code:
#
# | in this course | elsewhere |
# |---|---|
# | `BLOCK_M`, `BLOCK_N`, `BLOCK_K` | `BLOCK_SIZE_M`, `BLOCK_SIZE_N`, `BLOCK_SIZE_K` (Triton tutorial 03); `TileShape` (CUTLASS) |
# | `GROUP` | `GROUP_SIZE_M` (Triton tutorial 03); threadblock swizzle (CUTLASS) |
# | `num_warps` | 32 · `num_warps` threads in a *thread block* or *CTA* (CUDA, PTX) |
# | `num_stages` | stages of the software pipeline; `Stages` (CUTLASS) |
# | `matmul_configs()` | `get_cuda_autotune_config()` (Triton tutorial 03) |
# | `keep_what_fits` | `early_config_prune` in `prune_configs_by` |
#
# References:
#
# - [triton.autotune](https://triton-lang.org/main/python-api/generated/triton.autotune.html) and
#   [triton.Config](https://triton-lang.org/main/python-api/generated/triton.Config.html)
# - [Matrix Multiplication](https://triton-lang.org/main/getting-started/tutorials/03-matrix-multiplication.html)
#   (Triton tutorial 03): its list of configurations is like yours
# - Tillet, Kung, Cox: [Triton: An Intermediate Language and Compiler for Tiled Neural Network
#   Computations](https://doi.org/10.1145/3315508.3329973) (2019)
#
# To practise, call `practice()`. It draws a puzzle from an exercise that you have passed.

# %%
progress()
