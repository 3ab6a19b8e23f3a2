"""The questions of the lesson reductions."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "A row of 1000 elements is loaded into a block of 1024 for a softmax. Which `other`?",
        (
            Choice(
                "0.0",
                "exp(0) is 1: the 24 masked-off lanes would each add a term to the sum.",
            ),
            Choice(
                "-inf",
                "Yes: it is never the maximum, and exp(-inf) adds 0 to the sum.",
                right=True,
            ),
            Choice(
                "1.0, because a factor of 1 changes nothing",
                "Softmax adds, it does not multiply: each masked-off lane would add exp(1 - "
                "maximum).",
            ),
            Choice(
                "None is needed, because the store is masked",
                "The reduction uses all lanes of the block, also those that are never stored.",
            ),
        ),
    ),
    Question(
        "Why does softmax subtract the maximum of the row?",
        (
            Choice(
                "To make the row add up to 1",
                "The division does that, with or without the maximum.",
            ),
            Choice(
                "So that no exponential overflows",
                "Yes. Numerator and denominator are multiplied by exp(-max), so the result "
                "stays the same.",
                right=True,
            ),
            Choice(
                "To save time: exp is faster for arguments that are not positive",
                "exp takes the same time for every argument. The maximum even costs an "
                "additional reduction.",
            ),
            Choice(
                "So that masked-off lanes do not count in the sum",
                "`other=-inf` does that. A lane loaded as 0 would still count after the "
                "subtraction.",
            ),
        ),
    ),
    Question(
        "A row has 10 ones, and `BLOCK_SIZE` is 4. In the loop `for start in range(0, 10, "
        "BLOCK_SIZE):` the kernel runs `x = tl.load(x_ptr + cols, mask=cols < 10, other=0.0)` "
        "and then `total = tl.sum(x, axis=0)`. What is `total` after the loop?",
        (
            Choice(
                "10",
                "That needs `total += ...`. Here each block's sum replaces the one before.",
            ),
            Choice(
                "12",
                "The masked-off lanes are loaded as 0, so they add nothing.",
            ),
            Choice(
                "4",
                "The last sum remains, but the last block has two columns only, 8 and 9. The "
                "masked-off lanes are 0.",
            ),
            Choice(
                "2",
                "Yes: each block's sum replaces `total`, and the last block has only the "
                "columns 8 and 9.",
                right=True,
            ),
        ),
    ),
    Question(
        "What is wrong with variance = mean(x²) - mean(x)² in float32?",
        (
            Choice(
                "Nothing: it is the same formula, and it saves a pass",
                "It is the same on paper only. With a mean far above the spread, two large and "
                "nearly equal numbers are subtracted.",
            ),
            Choice(
                "It loses its digits when the mean is large",
                "Yes: the two terms are nearly equal, and their difference is mostly rounding "
                "error. Subtract the mean before you square.",
                right=True,
            ),
            Choice(
                "It divides by n instead of n - 1",
                "Layer norm uses the biased variance, divided by n.",
            ),
            Choice(
                "x² overflows for the usual inputs",
                "float32 reaches 3e38, so x may be as large as 1e19. The difference loses its "
                "digits much earlier.",
            ),
        ),
    ),
    Question(
        "In online softmax, what happens to the sum so far when a block has a larger maximum?",
        (
            Choice(
                "It stays as it is, because its terms are final",
                "Its terms refer to the old maximum, so they are too large by exp(new maximum - "
                "old maximum).",
            ),
            Choice(
                "It is multiplied by exp(old max - new max)",
                "Yes: that turns exp(x - old) into exp(x - new) for all terms at once.",
                right=True,
            ),
            Choice(
                "It is multiplied by old max / new max",
                "The terms are exponentials: their ratio is exp of the difference, not the "
                "ratio of the maxima.",
            ),
            Choice(
                "It starts again at 0, and the new maximum replaces the old",
                "Then the terms of the earlier blocks would be missing from the sum.",
            ),
        ),
    ),
)
