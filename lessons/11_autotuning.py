# %% [markdown]
# # Autotuning: let the measurement choose
#
# Which tile is best? It depends on the GPU, the dtype and the shape, and nobody can say it beforehand.
# What you *can* do is choose a handful of good candidates and let a measurement decide. At the end of
# this lesson you can estimate whether a tile fits a GPU, write an autotuned matmul, and avoid the traps
# that wait there.
#
# It takes about 40 minutes. Lessons 08 (matmul) and 09 (swizzling) come first.

# %% setup
from triton_util import explore, figures, speed, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## Six knobs
#
# **Meta-parameters** are the numbers that change how fast a kernel is and not what it computes:
#
# | knob | more of it means | and costs |
# |---|---|---|
# | `BLOCK_M`, `BLOCK_N` | more reuse of each loaded number, less traffic | registers for the accumulator; fewer programs to fill the GPU with |
# | `BLOCK_K` | fewer, larger steps | shared memory |
# | `GROUP` | more hits in the L2 cache, up to a point | one more number to search |
# | `num_warps` | more threads share one tile, so each needs fewer registers | less independent work in each thread, more exchange between the warps |
# | `num_stages` | loads run further ahead of the arithmetic and hide its waiting | shared memory for the tiles on their way |
#
# The first four are arguments of your kernel. The last two are the compiler's own, and are given at the
# launch. (The model solution leaves `GROUP` at 8: lesson 09 measured what it brings, and two values would double
# the number of candidates.)
#
# **Predict.** A 4096×4096 product in fp16 moves N³ · (1/BLOCK_M + 1/BLOCK_N) numbers from the L2 cache or
# global memory into the SMs. By what factor does that fall when you go from tiles of 64×64 to 128×256?

# %%
predict("traffic_falls_by", None)

# %%
figures.tile_reuse((16, 32, 64, 128, 256), n=4096)

# %% [markdown]
# ## The budget
#
# So why not 512×512? Because a program has a budget:
#
# - **Registers.** An SM has 65,536 of them, and a thread may have 255. The accumulator is fp32 and lives
#   in registers, dealt out to `32 * num_warps` threads. What does not fit is **spilled**: stored to memory
#   and loaded again, in the innermost loop.
# - **Shared memory.** Tiles of `a` and `b` wait there: as compiled by Triton 3.9, `num_stages` of each on an
#   H100 or H200, and `num_stages - 1` on an A100, where the last stage goes to registers. A block may have
#   227 KiB on the first two, and 163 KiB on the last.
# - **Occupancy.** The warps that an SM holds at a time, as a share of the most that it could. When one
#   warp waits, another one works. Large programs mean few of them; one program per SM is a normal sight in
#   a fast matmul, which hides its waiting by stages instead.
#
# **Predict.** A tile of 256×256 with 4 warps: how many registers does the accumulator take in each thread?

# %%
predict("accumulator_registers", None)

# %%
explore.budget(BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, num_warps=4, num_stages=3).accumulator

# %% [markdown]
# No thread can have so many. So the compiler spills. The grouped matmul of lesson 09, with a tile of 256×256×64
# in fp16, 4 warps and 3 stages, compiled by Triton 3.9: 255 registers for each thread, and 2,856 bytes spilled to its
# stack for an H200 (sm_90), 5,072 for an A100 (sm_80). It is right, and slow. Shared memory is different: a kernel that asks for
# too much compiles without complaint, and fails at the *launch*.
#
# A T4 (sm_75) stands apart. Triton 3.9 does not use its tensor cores for `tl.dot`, and runs no stage ahead there:
# 128×128×32 with 4 stages becomes ordinary multiply-adds, with 11,368 bytes of stack for each thread. It is right, and far from what
# the card can do.
#
# **Try it.** Find a tile for fp16 that fits an H200 and not an A100. Find one with at least 128 operations
# per byte that does not spill. (The estimate counts the accumulator, the stages, and 40 registers for
# everything else. The compiler knows better; the estimate tells you what to expect.)

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
# The key names arguments of the kernel. At a launch with values of the key that it has not seen yet (and
# dtypes; they belong to the key as well) the autotuner runs *every* configuration many times, remembers the
# fastest, and launches that one. After that, the same key costs only a look into a dictionary.
#
# The launcher names no meta-parameter any more. So its grid must be a *function*, which the autotuner calls
# with the meta-parameters of the configuration at hand.
#
# **Predict.** Say a configuration takes 0.6 s to compile, once, and about 0.15 s to measure. With 8
# configurations, how long does the very first launch take? And the first launch with *another* shape?
# (Assume that the compiled kernels serve both shapes.)

# %%
predict("first_launch_seconds", None)
predict("first_launch_of_next_shape", None)

# %% [markdown]
# Every new shape waits. That is nothing for training with fixed shapes, and a disaster for
# a service in which each request has another length. Then choose a coarser key: pass
# `triton.next_power_of_2(length)` as an argument of its own, and put *that* into the key.
#
# ## Fewer candidates: pruning
#
# Some configurations cannot work on the GPU at hand. `prune_configs_by={"early_config_prune": function}` lets
# a function of yours throw them out before anything is compiled. It gets the configurations and the launch's
# arguments by name, and returns those worth trying. It must return at least one.
#
# Pruning saves time; it does not save the launch. A configuration that asks for too much is skipped by the tuner
# itself: it catches `OutOfResources`, notes the time as infinite, and goes on. And a formula, such as the one below,
# is a guess at what the compiler will do. What it *did* is in the compiled kernel: `kernel.warmup(...)` compiles
# without a launch, and its result has `.metadata.shared`. Once it is loaded onto the GPU, by a first launch or by its
# method `_init_handles()`, it also has `.n_regs` and `.n_spills`. That is exact, and costs the compilation that pruning
# was to save.
#
# Three more ways to few candidates: `prune_configs_by={"perf_model": model, "top_k": 4}` keeps the four that a model
# of yours calls fastest; `@triton.heuristics` computes a meta-parameter from the arguments, without any search; and
# the list itself can be short. `TRITON_PRINT_AUTOTUNING=1` prints what was chosen, and how long choosing took.
#
# **Predict.** The eight configurations in the next cell, in fp16 on an L4 (sm_89: 99 KiB of shared memory, and one
# stage less in it, as on an A100): how many fit?

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
# What does not fit an L4 fits an A100, though the two keep equally many stages. A list that is good for one GPU
# is too long or too short for another.
#
# ## The in-place trap
#
# The autotuner runs your kernel many times *with your tensors*. A kernel that only writes its output does not
# mind. But what about one that changes its input?
#
# This kernel adds 1 to a vector, in place. It has two configurations. To see what happens, we give the
# autotuner a stopwatch of our own, which runs each configuration three times and claims that all of them are
# equally fast.
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
# The *second* call with this
# length adds 1, as it should. So the bug shows once per shape and per process, and a test that warms up
# first never sees it.
#
# Two arguments of `@triton.autotune` mend it:
#
# - `restore_value=["x_ptr"]`: the tensor is saved before and put back after each trial;
# - `reset_to_zero=["output_ptr"]`: the tensor is cleared before each trial. This is for kernels that *add* to
#   an output that starts at zero, with `tl.atomic_add` for instance.
#
# Both act only while the tuner measures. With a key that is already known, or with a single candidate, nothing is
# cleared and nothing put back: an output that must start at zero is cleared by the *launcher*, at every call.
#
# ## A clock that must not choose
#
# The interpreter has a clock, too: Python's and numpy's. It measures how often Python code runs, and so it
# loves large tiles and knows nothing of registers, caches or tensor cores. **An interpreter's time must never
# choose a configuration.** Without a GPU the honest choice is none: take one configuration that fits
# everywhere, and leave the choice to the GPU. With a single candidate the autotuner measures nothing.
#
# ## Exercise: `autotuned_matmul`
#
# **The contract.** `autotuned_matmul(a, b)` returns `a @ b`: the contract of `matmul` in lesson 08, with any
# sizes and strides, float32, float16 or bfloat16, sums in float32, no TF32.
#
# - The kernel is given: a grouped matmul as in lesson 09, whose order comes from Triton's own `tl.swizzle2d`. It is
#   decorated with `@triton.autotune`.
# - `matmul_configs()` returns the candidates, each with `BLOCK_M`, `BLOCK_N`, `BLOCK_K` and `GROUP`, and with
#   `num_warps` and `num_stages`. At least two, and the first one fits every GPU.
# - `keep_what_fits(configs, named_args, **kwargs)` returns those that fit: on a CPU the first alone; on a GPU
#   those whose stages fit into shared memory and whose accumulator leaves registers for the rest.
# - `autotuned_matmul(a, b)` allocates, chooses the grid by a function, and launches.
#
# On a GPU, `torch.cuda.get_device_properties(device)` has `shared_memory_per_block_optin`, the number of bytes, and
# `major`, which is 9 for an H100 or H200.
# `hint("autotuned_matmul")` helps.

# %% exercise="autotuned_matmul"

# %% [markdown]
# ## What did it choose?
#
# On a CPU it must be your first candidate. On a GPU run it for several shapes, and watch the choice change.

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
# A configuration tuned on one GPU is a guess on another. An H100 or H200 has more shared memory than an A100
# (227 KiB against 163), so it takes more stages or larger tiles; its tensor cores want tiles of at least 64
# rows per 4 warps; and it has 132 SMs, where an A100 has 108. Think of the last *wave*: 132 programs run at a
# time, so 133 tiles take as long as 264. Small matrices therefore prefer small tiles, which fill all SMs.
#
# **Predict.** A 2048×2048 product in tiles of 128×256: how many programs, and how many of an H200's 132 SMs
# have nothing to do (with one program per SM)?

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
# A team's backward kernel adds its part of a gradient to `grad_ptr` with `tl.atomic_add`, because many
# programs contribute to one element. The launcher clears the gradient, then launches. Since the kernel got
# `@triton.autotune` with twelve configurations and `key=["M", "N", "K"]`, three things are seen:
#
# - The gradient of the first step is thousands of times too large. All later steps are right.
# - When the batch has another size at the end of an epoch, the spike comes back for one step.
# - In the evaluation service, where every request has its own length M, most requests take seconds.
#
# 1. Explain the first two. Why thousands of times, and not twelve?
# 2. The unit tests compare the second of two calls, "to leave out compilation". What do they miss? How would
#    you test instead?
# 3. Name the right mend for the gradient, and say why the other argument of the autotuner would also work or
#    would not.
# 4. Explain the third, and propose a key.
#
# Answer in about 150 words.

# %%
answer("the-first-step")

# %% [markdown] model_answer="the-first-step"
# 1. At a new key the autotuner runs every configuration many times to measure it, on the real tensors. Each
#    run adds the gradient once more; the launcher cleared it only once, before all of them. Each of the twelve
#    configurations runs for a fixed time, for a short kernel hundreds or thousands of times, and all of these
#    add up. A new batch size is a new key, so it happens again.
# 2. They test the state in which the bug has already passed: the key is known. Test the *first* call, in a
#    fresh process or with a new shape, against a reference. Compile beforehand only if the autotuner is
#    warmed up with other tensors.
# 3. `reset_to_zero=["grad_ptr"]`: the tensor is cleared before each trial, and before the launch that counts,
#    so the last run adds to zero. (The launcher still clears at every call: with a known key nothing is measured and
#    nothing reset.) `restore_value=["grad_ptr"]` works, too (it puts back the cleared tensor), at
#    the cost of a copy for each trial; it would be the only right one if the kernel had to add to a gradient
#    that is already there, because then zero is the wrong starting point.
# 4. Each new M is a new key, and measures twelve configurations again. Use a coarser key, M rounded up to a
#    power of two for instance, so that a handful of keys serve all lengths; or tune before the service starts
#    and keep the results.
#
# **Rubric (6 points)**
#
# - 1 point: every trial runs on the real tensor and adds to it.
# - 1 point: many runs per configuration, hence thousands.
# - 1 point: new shape, new key, same bug; or: the tests see only known keys.
# - 1 point: tests of the first call with a fresh key.
# - 1 point: `reset_to_zero`, with a true word on `restore_value`.
# - 1 point: coarser key, or tuning beforehand.

# %% [markdown]
# ## For the GPU
#
# **Predict.** How long does the first call take, and how long the second? Which share of cuBLAS's speed does the
# chosen configuration reach?
#
# Measured on an NVIDIA H200 in fp16, with this course's model solution: at 1024 it chose a small tile, 64×128×32 with
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
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# `speed` shows your tuned kernel against cuBLAS and the limit of the card, with cold caches and new inputs. On a
# machine without a GPU it times nothing, and says what the bytes and the operations allow. **Predict:** what share
# of the limit does cuBLAS itself reach?

# %%
speed(autotuned_matmul)

# %% [markdown]
# ## What you take with you
#
# - Registers and shared memory are the budget; estimate first, then let the GPU choose among few candidates.
# - Every new key costs a tuning run. Choose the key as coarse as the speed allows.
# - Kernels that change their inputs need `restore_value` or `reset_to_zero`.
# - Only a GPU's time may choose for a GPU.

# %%
progress()
