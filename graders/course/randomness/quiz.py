"""The questions of the lesson randomness."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "What does a counter-based generator remember between two numbers?",
        (
            Choice(
                "Its state, of some thousand bits.",
                "That is how a Mersenne twister works. It computes its numbers one after the "
                "other.",
            ),
            Choice(
                "The last number that it gave, from which the next one is computed.",
                "Then the next number would have to wait for it, and a million programs cannot.",
            ),
            Choice(
                "A counter in memory, which each call increments by an atomic addition.",
                "The kernel passes the counter as an argument. Nothing is stored in memory.",
            ),
            Choice(
                "Nothing: seed and counter determine a number.",
                "Yes. So any program can compute any number, in any order, and again later.",
                right=True,
            ),
        ),
    ),
    Question(
        "A kernel runs `keep = tl.rand(seed, tl.arange(0, BLOCK_SIZE)) >= p` in each program. "
        "About a fraction p of the elements is dropped. What is wrong?",
        (
            Choice(
                "Each block has the same mask, which depends on BLOCK_SIZE.",
                "Yes. A backward pass with other blocks would not match.",
                right=True,
            ),
            Choice(
                "Nothing, since the fraction is correct.",
                "The fraction says little. Every block drops the same lanes.",
            ),
            Choice(
                "It is slower than a counter of elements, because all programs use the same "
                "counters.",
                "It takes as long: a lane computes one number either way, and nothing is shared.",
            ),
            Choice(
                "Two programs that compute the same number at the same time are a race.",
                "A race needs memory that both access. `tl.rand` is a function without state.",
            ),
        ),
    ),
    Question(
        "Why does the backward pass compute the mask again, although it could load it?",
        (
            Choice(
                "Because a stored mask would be inexact.",
                "A mask of bits would be exact. It costs memory and traffic.",
            ),
            Choice(
                "Because the backward pass must drop other elements than the forward pass did.",
                "It must drop the very same: a dropped element has no gradient.",
            ),
            Choice(
                "Because a mask needs memory and traffic; a seed needs eight bytes.",
                "Yes. Dropout is memory-bound: much of the arithmetic runs while it waits for "
                "data.",
                right=True,
            ),
            Choice(
                "Because Philox takes less time than a load, whatever the dtype.",
                "Not always. In fp16 the random numbers may take longer than the bytes.",
            ),
        ),
    ),
    Question(
        "p = 0.1. What does inverted dropout do to the elements that are kept?",
        (
            Choice(
                "It multiplies them by 0.9.",
                "Then the sum would shrink twice: by dropping, and by multiplying.",
            ),
            Choice(
                "It divides them by 0.1, since p is 0.1.",
                "Divide by 1 - p. With p = 0.5 the two are the same, so test with another p.",
            ),
            Choice(
                "It divides them by 0.9.",
                "Yes. Nine of ten are kept, and divided by 0.9 they add up to ten again, on "
                "average.",
                right=True,
            ),
            Choice(
                "Nothing in training; in inference all elements are multiplied by 0.9.",
                "That is the original dropout. Inverted dropout scales in training.",
            ),
        ),
    ),
    Question(
        "Two layers of a model have the same shape, and both call `dropout_residual(x, "
        "residual, 0.1, seed=7)`. What happens?",
        (
            Choice(
                "They drop the same elements.",
                "Yes: same seed, same counters, same mask. Use a separate seed for each layer "
                "and each step.",
                right=True,
            ),
            Choice(
                "The second one continues where the first one ended.",
                "A generator with a state would. This one has none.",
            ),
            Choice(
                "Triton gives an error, because these counters were already used.",
                "Triton keeps no record of counters. Nothing warns you.",
            ),
            Choice(
                "They drop different elements, because x has another address in each layer.",
                "The counter is the number of the element, not its address.",
            ),
        ),
    ),
)
