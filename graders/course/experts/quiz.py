"""The questions of the lesson experts."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "`offsets` is [0, 5, 5, 12]. Which rows does expert 1 have?",
        (
            Choice(
                "Rows 0 to 4, so five.",
                "Those belong to expert 0. The rows of expert 1 begin at 5.",
            ),
            Choice(
                "Row 5 alone.",
                "The second number is not included: row 5 belongs to expert 2.",
            ),
            Choice(
                "None.",
                "Yes. Its rows begin at 5 and end before 5. Expert 2 begins at 5 as well.",
                right=True,
            ),
            Choice(
                "Rows 5 to 11.",
                "They belong to expert 2, which has the offsets 5 and 12.",
            ),
        ),
    ),
    Question(
        "A kernel divides all rows of x into tiles of 64, and each tile uses the expert of its "
        "first row. When is the result wrong?",
        (
            Choice(
                "Whenever an expert begins inside a tile.",
                "Yes. The rows from there to the end of the tile get the wrong matrix.",
                right=True,
            ),
            Choice(
                "Whenever groups have unequal sizes.",
                "Groups of 64, 192 and 128 rows are unequal, and the result is correct.",
            ),
            Choice(
                "Only if an expert has no rows, because its two offsets are equal.",
                "That does no harm here. Only where the other experts begin matters.",
            ),
            Choice(
                "Never, because masked-off rows cannot change the others.",
                "The rows are not masked off. They are multiplied by another expert's matrix.",
            ),
        ),
    ),
    Question(
        "Why does the launcher start `cdiv(t, BLOCK_M) + e` tiles, and not exactly as many as "
        "there are?",
        (
            Choice(
                "More programs keep more multiprocessors of the GPU busy.",
                "Programs without a tile return at once. They do no work.",
            ),
            Choice(
                "It knows shapes only; the number of tiles depends on `offsets`.",
                "Yes. To read it, the CPU would have to wait for the GPU in each layer.",
                right=True,
            ),
            Choice(
                "Each expert needs a tile, even an expert without rows.",
                "It does not. The e extra tiles are for tiles that are not full.",
            ),
            Choice(
                "The grid must be a multiple of the number of experts.",
                "It need not be. Programs find their expert by its prefix sum.",
            ),
        ),
    ),
    Question(
        "The prefix sums of the tiles are [3, 3, 8, 9]. A program runs `expert = tl.sum((sums "
        "<= 3).to(tl.int32))` for tile 3. Which tile of which expert is it?",
        (
            Choice(
                "The first tile of expert 1.",
                "Expert 1 has no tile: its sum equals that of expert 0.",
            ),
            Choice(
                "The last tile of expert 0.",
                "Expert 0 has the tiles 0, 1 and 2: three tiles, counted from 0.",
            ),
            Choice(
                "The fourth tile of expert 2.",
                "The three tiles before it belong to expert 0, so it is the first one of expert 2.",
            ),
            Choice(
                "The first tile of expert 2.",
                "Yes. Two sums are 3 or less, and three tiles come before it.",
                right=True,
            ),
        ),
    ),
    Question(
        "64 experts get 4 rows each, in float16. What limits the time?",
        (
            Choice(
                "Reading the weights: each matrix is read for 4 rows.",
                "Yes. That is 4 operations for each byte, and a GPU could do more than a hundred.",
                right=True,
            ),
            Choice(
                "The multiplications, most of them with rows that are masked off.",
                "There are many of those, but each tile waits for its expert's matrix.",
            ),
            Choice(
                "Starting the launch, since each expert needs one.",
                "One launch serves all experts. 64 launches would start 64 times.",
            ),
            Choice(
                "Reading x, since each row must be loaded for every expert.",
                "Each row is loaded for its own expert only, and x is small next to w.",
            ),
        ),
    ),
)
