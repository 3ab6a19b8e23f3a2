"""The questions of the lesson low_precision."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        (
            "Why does a model with 4-bit weights answer faster, though each weight is converted "
            "to fp16 first?"
        ),
        (
            Choice(
                "Tensor cores multiply 4-bit numbers faster.",
                "The product here has fp16 operands.",
            ),
            Choice(
                "Each token reads every weight, and they are a quarter of the bytes.",
                "Yes. Memory limits such a product, so the extra arithmetic costs little.",
                right=True,
            ),
            Choice(
                "The weights are converted to fp16 once, and then they stay in memory.",
                "Then every product would read fp16 again, and gain nothing.",
            ),
            Choice(
                "4-bit numbers need no accumulator in fp32.",
                "The accumulator is fp32 here, too. It does not affect the bytes.",
            ),
        ),
    ),
    Question(
        (
            "GROUP is 32, BLOCK_K is 64, and a kernel loads `scale = tl.load(scales_ptr + start "
            "// 32 * N + offs_n)` in each step. Which rows of b are wrong?"
        ),
        (
            Choice(
                "None: 64 is a multiple of 32.",
                "The other way round would be safe: BLOCK_K must divide the group size.",
            ),
            Choice(
                "The second half of each block.",
                "Yes: those rows are in the next group, and get the scale of the one before.",
                right=True,
            ),
            Choice(
                "All but those of the first block.",
                "Each block starts with the correct group, but uses it too long.",
            ),
            Choice(
                "All: a scale belongs to a column.",
                "The scale is for a column *and* a group, and `offs_n` selects the column.",
            ),
        ),
    ),
    Question(
        "e4m3 and e5m2 both have eight bits. What does e5m2 have more of?",
        (
            Choice(
                "Digits.",
                "It has two bits of mantissa where e4m3 has three.",
            ),
            Choice(
                "Range: up to 57,344, against 448.",
                "Yes, and it has one bit less of precision. Gradients often need the range.",
                right=True,
            ),
            Choice(
                "Numbers.",
                "Both have 256 patterns, and e5m2 uses more of them for NaN.",
            ),
            Choice(
                "Speed on the tensor cores of an H100.",
                "Both run at the same rate.",
            ),
        ),
    ),
    Question(
        "`b = q * scale - zero`, with zero a number from 0 to 15. What is wrong with it?",
        (
            Choice(
                "Nothing: it is the same, multiplied out.",
                "Multiplied out it is q * scale - zero * scale.",
            ),
            Choice(
                "zero counts steps, so it needs the scale too.",
                "Yes: (q - zero) * scale. With zero = 0 everywhere the mistake does not show.",
                right=True,
            ),
            Choice(
                "It overflows for large scales.",
                "The numbers are small. They are only wrong.",
            ),
            Choice(
                "zero must be subtracted from the accumulator.",
                "It differs between groups along k, so it must be inside the loop.",
            ),
        ),
    ),
    Question(
        "`word = 0x76543210`. What is `(word >> 12) & 0xF`?",
        (
            Choice(
                "0",
                "That is the nibble at bit 0.",
            ),
            Choice(
                "3",
                "Yes: bit 12 is the start of nibble number 3.",
                right=True,
            ),
            Choice(
                "4",
                "Nibble 4 starts at bit 16.",
            ),
            Choice(
                "0x76543",
                ("That is `word >> 12` without the mask, which keeps four bits."),
            ),
        ),
    ),
    Question(
        "Why is the sum over k kept in fp32, although the weights have only four bits?",
        (
            Choice(
                "A long sum in fp16 loses its small terms.",
                "Yes. The sum needs more bits than its terms.",
                right=True,
            ),
            Choice(
                "Because the scales are stored in float32 as well.",
                "They have the dtype of a here, and that would not matter.",
            ),
            Choice(
                "It need not be: fp16 would do.",
                "One of the cases sums 4,096 terms of one sign, and fp16 fails it.",
            ),
            Choice(
                "Tensor cores cannot accumulate in fp16.",
                "They can, for fp16 operands. The precision is the reason.",
            ),
        ),
    ),
)
