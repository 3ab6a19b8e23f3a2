"""The questions of the lesson autograd."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Why does the gradient of softmax need a sum over the row?",
        (
            Choice(
                "To make the rows of the result sum to 1.",
                "The rows of the result sum to 0: the sum of the probabilities cannot change.",
            ),
            Choice(
                "Each input changes every output of its row.",
                "Yes: a larger x makes one probability larger and all others smaller.",
                right=True,
            ),
            Choice(
                "To avoid overflow.",
                (
                    "That is what the maximum does in the forward pass. The backward pass has no "
                    "exponential."
                ),
            ),
            Choice(
                "To average the gradients of the row.",
                "It subtracts a weighted sum; the weights are y.",
            ),
        ),
    ),
    Question(
        "What must out = relu(x @ w.T + b) save for its backward pass?",
        (
            Choice(
                "x, w and the value before the ReLU.",
                "out shows as well where the gradient passes, and it exists anyway.",
            ),
            Choice(
                "Only out.",
                "That is enough for the mask. dx needs w, and dw needs x.",
            ),
            Choice(
                "x, w and out.",
                "Yes: x for dw, w for dx, out for the mask.",
                right=True,
            ),
            Choice(
                "x, w, b and out.",
                "The gradient of a sum does not depend on b.",
            ),
        ),
    ),
    Question(
        (
            "A launcher runs `kernel[grid](y, dy, dx, n, y.stride(0), BLOCK=1024)` for y and dy "
            "of the same shape. When does it fail?"
        ),
        (
            Choice(
                "If y has more than 1,024 columns.",
                "A loop over blocks handles that. Look at the strides.",
            ),
            Choice(
                "After `y.sum().backward()`.",
                (
                    "Yes: dy is then one number, expanded with strides of 0. Taken for dense, the "
                    "kernel reads past its end."
                ),
                right=True,
            ),
            Choice(
                "If dy has another dtype than y.",
                "PyTorch passes a gradient in the dtype of y.",
            ),
            Choice(
                "If y has fewer rows than columns.",
                "The shape does not matter. The strides of dy do.",
            ),
        ),
    ),
    Question(
        (
            "Many programs run `old = tl.load(db_ptr + cols)` and `tl.store(db_ptr + cols, old + "
            "part)` for the same columns. What happens?"
        ),
        (
            Choice(
                "The hardware runs them one after another.",
                "It does so for atomics. Here other programs can come between load and store.",
            ),
            Choice(
                "The GPU stops with an error.",
                "It does not notice. The result is too small, and may differ each time.",
            ),
            Choice(
                "Some parts of the sum are lost.",
                "Yes: this is a race. One owner, atomics or a second step avoid it.",
                right=True,
            ),
            Choice(
                "The sum is correct, but its last digits vary.",
                "That describes atomics, which lose nothing.",
            ),
        ),
    ),
    Question(
        ("A network with a new backward kernel learns, and its loss falls. What does that prove?"),
        (
            Choice(
                "Its gradients are correct.",
                "Networks learn with slightly wrong gradients, too, only worse.",
            ),
            Choice(
                "They point roughly downhill.",
                "Yes. Check them by the definition, which is independent of your formula.",
                right=True,
            ),
            Choice(
                "It contains no race.",
                "With a lost part of a sum the loss still falls.",
            ),
            Choice(
                "dw is correct, but db may be wrong.",
                "A wrong dw can still let the loss fall.",
            ),
        ),
    ),
    Question(
        (
            "In fp32 you check `(loss(x + e) - loss(x - e)) / (2 * e)` against your kernel, with "
            "`e = 1e-7` and x near 1. What do you get?"
        ),
        (
            Choice(
                "A value closer to the derivative than with `e = 1e-3`.",
                "In exact arithmetic, yes. In fp32 rounding dominates.",
            ),
            Choice(
                "Mostly rounding noise.",
                "Yes: near 1, fp32 numbers are about 1e-7 apart.",
                right=True,
            ),
            Choice(
                "Always exactly 0.",
                "x + e may round to the next number, so the result can also be far too large.",
            ),
            Choice(
                "The second derivative.",
                "For that you need loss(x + e) - 2 loss(x) + loss(x - e).",
            ),
        ),
    ),
)
