# %% [markdown]
# # Gradients: the backward pass
#
# To train a model, each kernel needs a second half, the **backward pass**. It takes how the loss depends on the
# kernel's *output*, and returns how the loss depends on the kernel's *inputs*. In this lesson you write two backward
# kernels, learn what to keep from the forward pass, and train a small network on your own kernels.
#
# It takes about 90 minutes. Lessons 07 (reductions) and 08 (matmul) come first.

# %% setup
from triton_util import explore, figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()
DEVICE = "cuda" if ON_GPU else "cpu"

# %% [markdown]
# ## What a backward kernel computes
#
# A model ends in one number, the **loss**. PyTorch needs to know for every intermediate tensor t: if one element of t
# grew a little, how much would the loss grow? These numbers form a tensor of the shape of t, its **gradient**, written
# dt here.
#
# A layer computes y from x. Its backward pass gets dy and must return dx. By the **chain rule**, an element of x
# contributes through every element of y that depends on it:
#
# $$dx_i = \sum_j dy_j \cdot \frac{\partial y_j}{\partial x_i}$$
#
# For an elementwise function only the term j = i remains. For y = relu(x) the derivative is 1 where x is above 0, and 0
# elsewhere: the gradient passes where the output was positive.
#
# **Predict.** x is -1, 2, 3, and dy is 10, 20, 30. What is the sum of dx, for y = relu(x)?

# %%
predict("relu_sum_of_dx", None)

# %%
x = torch.tensor([-1.0, 2.0, 3.0], requires_grad=True)
torch.relu(x).backward(torch.tensor([10.0, 20.0, 30.0]))
print("dx:", x.grad.tolist())

# %% [markdown]
# ## Softmax: each input affects each output
#
# Take a row y = softmax(x). A larger x₀ makes the probability y₀ larger. All others become smaller, because they add up
# to 1. The derivatives are y_j · (1 - y_i) for j = i, and -y_j · y_i for the others. Put into the sum above, they
# simplify to:
#
# $$dx_i = y_i \cdot \Bigl(dy_i - \sum_j dy_j\, y_j\Bigr)$$
#
# That is one sum per row and then elementwise work, so a program takes a row, as in lesson 07. The usual bug is to
# forget the sum: y · dy alone looks plausible.
#
# **Predict.** If all dy of a row are equal, say 5 (the loss is five times the sum of the row), what is dx?

# %%
predict("dx_of_equal_dy", None)

# %%
x = torch.randn(6, requires_grad=True)
torch.softmax(x, dim=0).backward(torch.full((6,), 5.0))
print("largest dx:", round(x.grad.abs().max().item(), 5))

# %% [markdown]
# The result does not depend on x. The row always sums to 1, so no change of x can change its sum. This gives you a
# **property** that you can test without a reference: equal dy give 0, and each row of dx sums to 0. A kernel that
# forgets the sum fails both tests.
#
# ## What to keep from the forward pass
#
# The formula does not contain x. y is enough, and y exists anyway. For ReLU, too, the output shows where the gradient
# passes: where `out > 0`. A saved tensor stays in memory until its backward pass runs, and in training these tensors
# are most of the memory. So ask for each tensor: must you *save* it, or can you *recompute* it?
#
# - Softmax saves y, not x. Attention saves neither scores nor weights: it saves one number for each row, the
#   log-sum-exp of its scores, and recomputes the weights block by block.
# - A linear layer with ReLU, out = relu(x @ w.T + b), needs x and w for the products, and out for the mask. It does not
#   need the value before the ReLU.
#
# The mask must come from out. x has another shape and another meaning, so a mask from x is wrong. Where the shapes
# happen to agree, it does not even crash.
#
# ## Gradients that were never stored
#
# `y.sum().backward()` passes you a dy full of ones. PyTorch does not store all those ones: it **expands** a single one,
# with strides of 0. So the dy that your launcher gets may be a view in which all elements share one address.
#
# **Predict.** `dy = torch.ones(()).expand(1000, 1000)`: how many numbers are in its memory? And how many bytes past
# their end does a kernel read if it takes dy for dense fp32?

# %%
predict("numbers_of_an_expanded_dy", None)
predict("bytes_beyond_its_end", None)

# %%
dy = torch.ones(()).expand(1000, 1000)
print("shape", tuple(dy.shape), "strides", dy.stride(), "bytes of memory", dy.untyped_storage().nbytes())
figures.memory(torch.ones(1, 1).expand(3, 4))

# %% [markdown]
# Tests with random dy never show this; the first `.sum().backward()` does. Pass the strides, as always.
#
# ## Exercise: `softmax_backward`
#
# **The contract.** `softmax_backward(y, dy)` returns y * (dy - sum(dy * y)), the sum taken along each row.
#
# - `y` and `dy` are (m, n), of one dtype: float32, float16 or bfloat16. Any strides; `dy` may be expanded.
# - Rows may be longer than a block: the kernel passes over a row twice. Empty inputs are allowed. Compute in float32.
# - The result is new and contiguous, in the dtype of `y`.
#
# The launcher is given. `hint("softmax_backward")` helps.

# %% exercise="softmax_backward"

# %% [markdown]
# Now test the two properties on your kernel:

# %%
y = torch.softmax(torch.randn(4, 100), dim=1).to(DEVICE)
equal = softmax_backward(y, torch.ones((), device=DEVICE).expand(4, 100))
rows = softmax_backward(y, torch.randn(4, 100).to(DEVICE)).sum(dim=1)
print(f"equal dy: largest dx {equal.abs().max().item():.1e}; largest sum of a row {rows.abs().max().item():.1e}")

# %% [markdown]
# ## What it reads
#
# **Predict.** In fp32 y and dy have 4 bytes an element, and so has dx. How many bytes for each element are loaded and
# stored, if the kernel passes over a row twice? And how many are the least, if a row fits into a block and stays in
# registers, the storage for the variables of a thread?

# %%
predict("bytes_in_two_walks", None)
predict("least_bytes", None)

# %%
moved = explore.measure(softmax_backward, torch.ones(8, 512), torch.ones(8, 512))
if moved.total:
    print(f"your kernel: {moved.total / (8 * 512):.0f} bytes for each element")

# %% [markdown]
# **Try it.** Load y and dy once when the row fits into a block, and measure again. (On a GPU the second pass may find
# its data in a cache, but it still issues the loads.)
#
# ## A linear layer, backward
#
# out = relu(x @ w.T + b), with x (m, k), w (n, k), b (n,). Write g for the gradient after the mask: dout where out is
# above 0, and 0 elsewhere. Then the chain rule gives three results, and you have written each kind before:
#
# | | is | shape | the sum runs over |
# |---|---|---|---|
# | dx | g @ w | (m, k) | n |
# | dw | g.T @ x | (n, k) | m |
# | db | g, summed over its rows | (n,) | m |
#
# **Predict.** Forward, the layer does 2 · m · n · k operations. How many times as many does its backward pass do,
# nearly?

# %%
predict("backward_over_forward", None)

# %% [markdown]
# dx and dw need 2 · m · n · k operations each. So a training step costs about three times as much as a forward pass
# alone.
#
# ## db: many programs, one sum
#
# dx and dw are matrix products: every program owns a tile. But db is a sum over *all* rows. Suppose the programs of
# different rows all add to the same n numbers. An addition in memory has three steps: load, add, store. Two programs
# may both load the old number, both add, and both store. Then one of the two parts is lost. This is a **race**.
#
# **Predict.** 128 rows of ones, in 4 programs of 32 rows; the sum of a column is 128. All four load the 0 before any of
# them stores. What is stored in the end?

# %%
predict("sum_after_the_race", None)

# %%
loaded = [0.0] * 4  # all four load first
total = 0.0
for part in loaded:
    total = part + 32.0  # and each stores what it has loaded, plus its own part
print("stored:", total, "and the sum is", 4 * 32.0)

# %% [markdown]
# On a GPU the number changes from run to run. Triton's own interpreter runs programs one after another, so there the
# sum is always correct, and a test proves nothing. (The course's interpreter reports such a race.) Three remedies:
#
# 1. **One owner.** One program passes over all rows of its columns and stores once. The result is always the same, but
#    only few programs work. Here it costs little: the programs that compute dw loop along m anyway and load every g.
#    Those in the first column of tiles also store db.
# 2. **Atomics.** `tl.atomic_add` makes the three steps indivisible. Every program may add, to a tensor that starts at
#    0. But the order differs from run to run, and the last digits of a floating-point sum depend on it. In fp16, each
#    addition also rounds.
# 3. **Two steps.** Each program stores its part in its own row, and a second kernel adds the rows. It is deterministic
#    and uses many programs, for a little extra memory.
#
# ## Exercise: `linear_bias_relu_backward`
#
# **The contract.** `linear_bias_relu_backward(x, w, out, dout)` returns three tensors, (dx, dw, db), the gradients of
# out = relu(x @ w.T + b).
#
# - `x` (m, k), `w` (n, k), `out` and `dout` (m, n), of one dtype: float32, float16 or bfloat16. Any strides; `dout` may
#   be expanded. Any sizes, 0 too (an empty sum is 0).
# - The gradient passes where `out` is above 0. Elsewhere it is 0, also where `dout` is infinite.
# - Sums are float32, no TF32. The results are new and contiguous, in the dtype of `x` and `w`; db has that of `w`.
#
# The launcher is given: one kernel for dx, one for dw and db. So are three helpers that load and store tiles; the
# strides come in pairs, as tuples. `hint("linear_bias_relu_backward")` helps.

# %% exercise="linear_bias_relu_backward"

# %% [markdown]
# ## Does it match the forward pass?
#
# A backward kernel that agrees with *your formula* may still be the gradient of another function. The independent test
# uses the definition: move an input a little, both ways, and see how the loss changes. PyTorch's
# `torch.autograd.gradcheck` does so for every element, in float64. Your kernels compute in float32, where you must
# choose the step with care.
#
# **Predict.** The derivative of exp at 1 is 2.71828…, estimated as (exp(1 + ε) - exp(1 - ε)) / 2ε in fp32. Which of ε =
# 10⁻¹, 10⁻², 10⁻⁶ comes closest? Give the exponent: 1, 2 or 6.

# %%
predict("best_exponent", None)

# %%
errors = {}
for exponent in (1, 2, 6):
    step = torch.tensor(10.0**-exponent)
    one = torch.tensor(1.0)
    slope = (torch.exp(one + step) - torch.exp(one - step)) / ((one + step) - (one - step))
    errors[exponent] = abs(slope.item() - 2.718281828)
print({f"1e-{exponent}": f"error {error:.1e}" for exponent, error in errors.items()})

# %% [markdown]
# A central difference has an error of about ε² · f'''/6, so a large step is inaccurate. If the step is too small, fp32
# rounding dominates. So to check a float32 kernel, take a medium step and a modest tolerance. Move in one random *direction* rather than element by
# element: the loss must change by the sum of gradient · direction.

# %%
def forward(x, w, b):
    return torch.relu(x @ w.T + b)


torch.manual_seed(0)
x, w, b = (torch.randn(*shape).to(DEVICE) for shape in ((40, 30), (20, 30), (20,)))
dout = torch.randn(40, 20).to(DEVICE)
gradients = linear_bias_relu_backward(x, w, forward(x, w, b), dout)
names, inputs = ("x", "w", "b"), [x, w, b]
for place, (name, gradient) in enumerate(zip(names, gradients)):
    direction = torch.randn_like(inputs[place])
    losses = []
    for sign in (1, -1):
        moved = [t + sign * 1e-3 * direction if i == place else t for i, t in enumerate(inputs)]
        losses.append((forward(*[t.double() for t in moved]) * dout).sum().item())
    by_definition = (losses[0] - losses[1]) / 2e-3
    print(f"d{name}: {(gradient * direction).sum().item():10.3f} by your kernel, {by_definition:10.3f} by definition")

# %% [markdown]
# (The check computes the forward pass in float64, so the step may be small.)
#
# ## Into PyTorch
#
# An `autograd.Function` joins the forward and the backward pass. `forward` computes, and saves what the backward pass
# needs. `backward` gets the gradient of the output and returns one gradient for each input, or `None` for an input
# without one. From then on `loss.backward()` calls your kernel.

# %%
class LinearReLU(torch.autograd.Function):
    @staticmethod
    def forward(context, x, w, b):
        out = torch.relu(x @ w.T + b)  # your kernel of lesson 08 belongs here
        context.save_for_backward(x, w, out)
        return out

    @staticmethod
    def backward(context, dout):
        x, w, out = context.saved_tensors
        return linear_bias_relu_backward(x, w, out, dout)


# %% [markdown]
# Now train a network. The data are points in a plane, inside or outside a circle. It has 16 hidden units by your layer,
# and a last layer by PyTorch.
#
# **Predict.** Before training, with two classes and a network that knows nothing: what is the loss, about? (It is the
# mean of -ln of the probability given to the correct class.)

# %%
predict("loss_before_training", None)

# %%
generator = torch.Generator().manual_seed(1)
points = (torch.rand(256, 2, generator=generator) * 2 - 1).to(DEVICE)
inside = (points.norm(dim=1) < 0.7).long()
hidden_w = torch.randn(16, 2, generator=generator).to(DEVICE).requires_grad_()
hidden_b = torch.zeros(16, device=DEVICE, requires_grad=True)
last_w = torch.zeros(2, 16, device=DEVICE, requires_grad=True)
last_b = torch.zeros(2, device=DEVICE, requires_grad=True)
optimiser = torch.optim.Adam([hidden_w, hidden_b, last_w, last_b], lr=0.1)
losses = []
for step in range(60):
    scores = LinearReLU.apply(points, hidden_w, hidden_b) @ last_w.T + last_b
    loss = torch.nn.functional.cross_entropy(scores, inside)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    losses.append(loss.item())
right = (scores.argmax(dim=1) == inside).float().mean().item()
print("loss every ten steps:", " ".join(f"{value:.3f}" for value in losses[::10]), f"and {right:.0%} right")

# %% [markdown]
# If the loss falls, the gradients were good enough. That is not a proof: networks learn with slightly wrong gradients,
# too, only worse. The checks above find more.
#
# For use under `torch.compile` (lesson 12) you can register a kernel as an operator. A `triton_op` lets the compiler
# see your kernel and the shape of the result:
#
# ```python
# @torch.library.triton_op("course::softmax_backward", mutates_args={})
# def softmax_backward_op(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
#     dx = torch.empty(y.shape, dtype=y.dtype, device=y.device)
#     torch.library.wrap_triton(softmax_backward_kernel)[(y.shape[0],)](...)
#     return dx
# ```
#
# Its method `register_autograd` sets the backward pass. An `autograd.Function` works under `torch.compile` as well:
# Dynamo traces both its `forward` and its `backward`. A `torch.library.custom_op`, in contrast, is opaque: the compiler
# calls it and cannot look inside or fuse anything into it.
#
# ## Quiz

# %%
quiz("autograd")

# %% [markdown] case_study="it-learns-but-worse" points=6
# ## Case study: it learns, but worse
#
# A team replaces the backward pass of its linear layers. db is computed in fp16: every program adds its part with
# `tl.atomic_add` to an fp16 tensor from `torch.empty`. The mask is `x > 0`; in their blocks x and out have the same
# shape. Unit tests compare dx, dw and db with PyTorch for m = 16, x = `torch.rand(...)` and `dout = torch.randn(...)`,
# with `atol=1e-1`. They pass, mostly. In training the loss falls, and ends a few percent higher than before. Two runs
# with the same seed differ. And `model(x).sum().backward()`, in a colleague's notebook, gives garbage.
#
# 1. Name the four mistakes, and for each the sentence of the description that it explains.
# 2. Why do the tests not show them? Look at x, m, dout and the tolerance.
# 3. Fix each mistake in a line or so. For db compare two remedies.
# 4. Give one test for each mistake that would have failed.
#
# Answer in about 180 words.

# %%
answer("it-learns-but-worse")

# %% [markdown] model_answer="it-learns-but-worse"
# 1. The mask comes from x instead of out (the loss ends higher: gradients pass where they should not). db adds up in
#    fp16, where each addition rounds, in an order that changes (two runs differ; worse for many rows). It starts from
#    `torch.empty`, not from 0 ("mostly": fresh memory is often zero). The kernel reads dout as dense
#    (`.sum().backward()` passes an expanded one).
# 2. `torch.rand` is never negative, so `x > 0` is true everywhere and shows only where out is 0; with m = 16 few parts
#    are added; a `randn` is dense; and `atol=1e-1` is as large as many of the gradients.
# 3. `out > 0`; `dout.stride()` into the kernel. db: one owner that sums in float32 and stores once (deterministic), or
#    atomics on a float32 tensor of zeros, cast at the end (more programs at work, the order still varies), or parts in
#    a scratch tensor and a second kernel.
# 4. Signed x whose shape differs from out's (k ≠ n), so that the wrong mask fails at once; m = 10,000 rows against a
#    float64 sum, twice, compared bit for bit; outputs filled with NaN before the call; `dout = torch.ones(()).expand(m,
#    n)`. A tolerance that follows from the dtype and the number of terms.
#
# **Rubric (6 points)**
#
# - 1 point: the mask from x, and the higher loss.
# - 1 point: fp16 atomics: rounding and order, and the runs that differ.
# - 1 point: memory that is not cleared; a dense reading of an expanded dout.
# - 1 point: why the tests pass (positive x, few rows, dense dout, tolerance): at least three.
# - 1 point: the fixes, with two remedies for db compared.
# - 1 point: telling tests.

# %% [markdown]
# ## For the GPU
#
# Softmax backward does a handful of operations for each element, so memory limits it. The figure is GB/s, counted by
# the least bytes, and the upper bound is the speed at which the GPU copies.
#
# Measured on an NVIDIA H200 ({h200: versions}) in fp16 at 65536×4096:
#
# - model solution: {h200: softmax_backward 65536×4096 | plain | GB/s} GB/s
# - PyTorch's own kernel: {h200: softmax_backward 65536×4096 | torch | GB/s} GB/s
# - what `torch.compile` makes of it: {h200: softmax_backward 65536×4096 | torch.compile | GB/s} GB/s
# - the course's fast form: {h200: softmax_backward 65536×4096 | fast | GB/s} GB/s
# - a copy of as many bytes: {h200: softmax_backward 65536×4096 | copy of as many bytes | GB/s} GB/s

# %% gpu
if ON_GPU:
    y = torch.softmax(torch.randn(16384, 4096, device="cuda"), dim=1).half()
    dy = torch.randn_like(y)
    others = {"torch": lambda y, dy: torch.ops.aten._softmax_backward_data(dy, y, 1, torch.float16)}
    print("GB/s by the least bytes:")
    time_beside(softmax_backward, others, y, dy, n_bytes=3 * y.nbytes, atol=1e-5)
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# ## What you take with you
#
# - Backward, an input contributes through every output that depends on it. For softmax that is one sum per row.
# - Save what you cannot recompute cheaply. Often the output is enough.
# - A sum over programs needs one owner, atomics on a cleared float32 tensor, or a second step.
# - A gradient may be an expanded view. Test with `.sum().backward()`, and by the definition.
#
# | in this course | elsewhere |
# |---|---|
# | dy, dout | `grad_output`, `do` (attention) |
# | the row's sum of dy · y | `delta` (Triton tutorial 06, FlashAttention) |
# | one owner, two steps | deterministic reduction, two-stage reduction with partial sums |
# | the derivatives of one row | its Jacobian; dx is a *vector-Jacobian product* (VJP) |
#
# References:
#
# - [Extending PyTorch](https://docs.pytorch.org/docs/stable/notes/extending.html) and [Autograd
#   mechanics](https://docs.pytorch.org/docs/stable/notes/autograd.html) (PyTorch's notes)
# - [Using User-Defined Triton Kernels with
#   torch.compile](https://docs.pytorch.org/tutorials/recipes/torch_compile_user_defined_triton_kernel_tutorial.html)
#   (PyTorch's recipes)
# - [Layer Normalization](https://triton-lang.org/main/getting-started/tutorials/05-layer-norm.html) (Triton
#   tutorial 05): a sum in two steps
# - [Fused Attention](https://triton-lang.org/main/getting-started/tutorials/06-fused-attention.html) (Triton
#   tutorial 06): attention with its backward pass
# - Baydin, Pearlmutter, Radul, Siskind: [Automatic Differentiation in Machine Learning: a
#   Survey](https://arxiv.org/abs/1502.05767) (2018)
#
# To repeat in a few days what you wrote here, call `practice()`: it draws a puzzle from an exercise that you have
# passed.

# %%
progress()
