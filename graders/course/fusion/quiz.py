"""The questions of the lesson fusion."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Eager GELU in its tanh form launches nine kernels. Why is the fused kernel faster?",
        (
            Choice(
                "It does fewer operations",
                "The arithmetic is the same, and memory is the limit anyway.",
            ),
            Choice(
                "It loads and stores the data once",
                "Yes. Each eager step stores its result, and the next step loads it again.",
                right=True,
            ),
            Choice(
                "It uses the tensor cores, which compute tanh in hardware",
                "Tensor cores multiply small matrices. Elementwise work does not run on them.",
            ),
            Choice(
                "It computes in float16, eager PyTorch in float32",
                "Both keep the dtype of x in memory. The exercise even computes in float32.",
            ),
        ),
    ),
    Question(
        "Which chains are good to fuse?",
        (
            Choice(
                "matmul → matmul → matmul",
                "The second needs whole rows of the first one's result, which many programs "
                "compute.",
            ),
            Choice(
                "linear → bias → ReLU and mask → softmax",
                "Yes: each later step needs only what the earlier one has in registers.",
                right=True,
            ),
            Choice(
                "sort → unique → gather, because none of them computes much",
                "Their data moves between distant places, so one program does not have the "
                "elements that it needs.",
            ),
            Choice(
                "Every chain whose tensors have the same shape",
                "The shape does not decide. Each step must need only elements that the same "
                "program has.",
            ),
        ),
    ),
    Question(
        "Does data stay in the registers of an SM between two kernels?",
        (
            Choice(
                "Yes, if the second is launched at once",
                "Registers belong to a thread block and are free again when it ends.",
            ),
            Choice(
                "Yes, if both kernels have the same grid",
                "The second kernel's blocks may run on other SMs, and registers do not outlive "
                "a block.",
            ),
            Choice(
                "No: it goes through memory, or the L2 cache",
                "Yes. Fusion removes this traffic.",
                right=True,
            ),
            Choice(
                "Only in shared memory, which outlives a kernel",
                "Shared memory belongs to a thread block, too.",
            ),
        ),
    ),
    Question(
        "A kernel runs `z = tl.exp(2.0 * x)`, then `t = (z - 1.0) / (z + 1.0)` as tanh. What is "
        "`t` in fp32 for x = 60?",
        (
            Choice(
                "1.0",
                "That is the true value of tanh, but `z` overflows first.",
            ),
            Choice(
                "inf",
                "Numerator and denominator are both infinite, so the quotient is not inf.",
            ),
            Choice(
                "NaN",
                "Yes: e¹²⁰ is infinite in fp32, and inf / inf is NaN.",
                right=True,
            ),
            Choice(
                "The largest fp32 number, about 3.4e38",
                "An overflow gives inf, not the largest finite number.",
            ),
        ),
    ),
)
