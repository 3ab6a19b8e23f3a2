"""The questions of the lesson memory_vs_compute."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Why is ReLU bound by memory?",
        (
            Choice(
                "Comparisons are slow on a GPU.",
                "They are as fast as additions. The units that do them are idle nearly all of "
                "the time.",
            ),
            Choice(
                "It does one operation for each 8 bytes (in float32).",
                "Yes: 4 bytes in, 4 bytes out, one comparison: 0.125 FLOP per byte. An H100 "
                "would need about 20 to keep its float32 units busy.",
                right=True,
            ),
            Choice(
                "The matrix does not fit into the cache.",
                "Even if it did, each element is used only once. There is nothing to reuse.",
            ),
            Choice(
                "The last block has masked-off lanes, whose bytes move for nothing.",
                "Masked-off lanes move nothing, and only one block of many has them.",
            ),
        ),
    ),
    Question(
        "How does the arithmetic intensity of an N × N matrix product change with N?",
        (
            Choice(
                "It stays constant.",
                "2N³ operations on 3N² elements: the ratio grows with N.",
            ),
            Choice(
                "It grows in proportion to N.",
                "Yes. So large matrix products can use all of the arithmetic, and language models "
                "are built from them.",
                right=True,
            ),
            Choice(
                "It falls, because more data has to be moved.",
                "The data grows with N², but the work grows with N³.",
            ),
            Choice(
                "It grows in proportion to N², as the number of elements does.",
                "The work grows with N³ and the data with N². Their ratio grows with N.",
            ),
        ),
    ),
    Question(
        "A card has 20 TFLOP/s and 1 TB/s. Where is its ridge point?",
        (
            Choice(
                "At 20 FLOP per byte.",
                "Yes: 20·10¹² FLOP/s divided by 10¹² B/s. Kernels below it wait for memory, "
                "kernels above it for arithmetic.",
                right=True,
            ),
            Choice(
                "At 0.05 FLOP per byte.",
                "That is the inverse: bytes per FLOP.",
            ),
            Choice(
                "At 5 FLOP per byte, because a float32 number has 4 bytes.",
                "The ridge point counts bytes, whatever the dtype. 20 FLOP per byte are 80 FLOP "
                "per float32 number.",
            ),
            Choice(
                "It depends on the kernel.",
                "A kernel has an arithmetic intensity; the ridge point belongs to the card.",
            ),
        ),
    ),
    Question(
        "A kernel has the lines `x = tl.load(x_ptr + offsets, mask=mask)`, "
        "`y = tl.load(y_ptr + offsets, mask=mask)` and "
        "`tl.store(output_ptr + offsets, x * y + x, mask=mask)`. What is its arithmetic intensity "
        "in fp16?",
        (
            Choice(
                "1/6 FLOP per byte",
                "6 bytes are correct, but a multiplication and an addition are two operations.",
            ),
            Choice(
                "1/3 FLOP per byte",
                "Yes: two operations for two loads and one store of 2 bytes each.",
                right=True,
            ),
            Choice(
                "1/4 FLOP per byte",
                "That counts `x` twice. The kernel loads it once and uses it twice.",
            ),
            Choice(
                "1/2 FLOP per byte",
                "That leaves out the store, which moves 2 bytes as well.",
            ),
        ),
    ),
)
