"""The questions of the lesson capstone."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "A row of logits is `[3.0, 3.0]` and the target is 1. What is its loss?",
        (
            Choice(
                "log(2), about 0.69.",
                "Yes. The size of both logits does not matter, only their difference.",
                right=True,
            ),
            Choice(
                "0: the target has the largest logit.",
                "Two logits are equally large, and each has a probability of 1/2.",
            ),
            Choice(
                "-3.",
                "That is minus the logit. You must add the log-sum-exp, 3 + log(2).",
            ),
            Choice(
                "3, since only the target's logit counts.",
                "The loss is the log-sum-exp of the row minus that logit.",
            ),
        ),
    ),
    Question(
        "A kernel loops over a row in blocks with `s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x "
        "- m_new))`. In which blocks does the factor `tl.exp(m - m_new)` matter?",
        (
            Choice(
                "In none: the maximum is added back after the logarithm.",
                "Only one maximum is added back. All terms must refer to that one.",
            ),
            Choice(
                "Where the block's maximum exceeds the earlier ones.",
                "Yes. Elsewhere the factor is exp(0) = 1, so you can always multiply.",
                right=True,
            ),
            Choice(
                "In the last block, since the sum is needed only after the loop.",
                "By then terms of different blocks, with different maxima, would be in one sum.",
            ),
            Choice(
                "In blocks whose maximum is smaller than the maximum of an earlier block.",
                "There m_new equals m, and the factor is 1.",
            ),
        ),
    ),
    Question(
        "A kernel runs `tl.load(logits_ptr + row * stride_row + target * stride_col)` for the "
        "target -100. What happens?",
        (
            Choice(
                "It always crashes.",
                "Only if there is no valid memory 100 elements before the row.",
            ),
            Choice(
                "It loads 0.",
                "Only a masked load with `other=0.0` does that.",
            ),
            Choice(
                "It reads from the end of the row, as Python does with a negative index.",
                "A pointer has no end to count from. A negative offset goes back in memory.",
            ),
            Choice(
                "It reads 100 elements before the row, mostly logits of other rows.",
                "Yes. The loss is then a number that looks plausible.",
                right=True,
            ),
        ),
    ),
    Question(
        "Why does the backward pass compute the probabilities again?",
        (
            Choice(
                "Saved ones would need as much memory as the logits.",
                "Yes. Reading the logits a second time needs no extra memory.",
                right=True,
            ),
            Choice(
                "They have changed since the forward pass, because the weights were updated.",
                "Weights are updated after the backward pass. The logits are the same.",
            ),
            Choice(
                "A kernel cannot store two results in one launch.",
                "It can, as in lesson 13. The size of the second result is the problem.",
            ),
            Choice(
                "Saved probabilities would be rounded, and their gradients wrong.",
                "They could be saved in float32. The problem is memory.",
            ),
        ),
    ),
    Question(
        "`cross_entropy(logits, targets).mean().backward()` calls your backward kernel. What "
        "is dloss?",
        (
            Choice(
                "A dense tensor of t numbers 1 / t, one for each row.",
                "PyTorch stores only one of them and expands it.",
            ),
            Choice(
                "One number, with the shape ().",
                "It has the shape of the losses, (t,).",
            ),
            Choice(
                "One number 1 / t, expanded with stride 0.",
                "Yes. A kernel that ignores the stride reads past that number.",
                right=True,
            ),
            Choice(
                "A tensor of t ones, since the mean is computed later.",
                "The mean's division by t is already in dloss.",
            ),
        ),
    ),
    Question(
        "Two trainings from the same start, with the same batches, have the same loss in step "
        "1 and different ones from step 2 on. Where do you look first?",
        (
            Choice(
                "At the kernel `cross_entropy`, which computes the losses that differ.",
                "Its first result was correct, on real logits.",
            ),
            Choice(
                "At the random numbers that choose the batches.",
                "Start and batches are the same, as the first loss shows.",
            ),
            Choice(
                "At the kernels of the backward pass.",
                "Yes. The first loss needs only the forward pass, and step 2 starts with the "
                "first gradients.",
                right=True,
            ),
            Choice(
                "At `linear_bias_relu`, since an error there shows only after an update of the "
                "weights.",
                "An error in the forward pass would change the first loss.",
            ),
        ),
    ),
)
