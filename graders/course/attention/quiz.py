"""The questions of the lesson attention."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Why does a fused attention not store the matrix of scores?",
        (
            Choice(
                "The result does not depend on most of the scores.",
                (
                    "Every score contributes to the result. A program needs it only while it "
                    "works on its tile."
                ),
            ),
            Choice(
                "Triton cannot store a matrix that large.",
                "It can. The reason is the traffic, not the size of a store.",
            ),
            Choice(
                "The scores of different heads would overwrite each other.",
                "Each head would get its own part of the matrix. The reason is the traffic.",
            ),
            Choice(
                "It would write and read m × n numbers for each head.",
                "Yes: for long texts that is far more than q, k, v and the output together.",
                right=True,
            ),
        ),
    ),
    Question(
        "A block of keys raises the running maximum of a query. What must be rescaled?",
        (
            Choice(
                "The sum and the accumulator.",
                "Yes, both, by exp(old - new): their weights refer to the old maximum.",
                right=True,
            ),
            Choice(
                "Only the sum of the weights.",
                (
                    "The accumulator is a sum of the same weights times values, so it refers to "
                    "the old maximum, too."
                ),
            ),
            Choice(
                "Nothing: the division at the end corrects it.",
                (
                    "The division corrects a factor that all terms share. Old and new terms have "
                    "different factors."
                ),
            ),
            Choice(
                "The scores of the new block.",
                "The new weights already use the new maximum: exp(score - new_max).",
            ),
        ),
    ),
    Question(
        (
            "A kernel loads missing keys with `other=0.0` and does nothing else about them. Which "
            "keys show that best?"
        ),
        (
            Choice(
                "128 keys with random scores.",
                ("If the block size divides 128, no key is missing, so the mistake cannot show."),
            ),
            Choice(
                "127 keys whose scores are large.",
                "exp(0 - maximum) is then nearly 0, and the missing key hides.",
            ),
            Choice(
                "127 keys whose scores are all far below zero.",
                (
                    "Yes: the missing key's score, 0, is the highest, and it takes nearly all the "
                    "weight."
                ),
                right=True,
            ),
            Choice(
                "127 keys with random scores, and 127 queries.",
                (
                    "The missing key gets about as much weight as a real one, under 1 %. A loose "
                    "tolerance forgives that."
                ),
            ),
        ),
    ),
    Question(
        (
            "A causal kernel loops with `for start in tl.range(0, tl.minimum(N, (block + 1) * "
            "BLOCK_M), BLOCK_N)` and sets `scores = tl.where(offs_n[None, :] <= offs_m[:, None], "
            "scores, NEG_INF)` in each step. What happens if you remove the `tl.where`?"
        ),
        (
            Choice(
                "Nothing, because the loop already ends at the diagonal.",
                (
                    "It ends after the *last* query of the block. The earlier queries of the "
                    "block would see keys in their future."
                ),
            ),
            Choice(
                "Only the last query of each block is wrong.",
                (
                    "It is the only correct one: the loop ends with the last key that this query "
                    "sees."
                ),
            ),
            Choice(
                "The queries before the last one of a block see future keys.",
                ("Yes. The end of the loop only skips whole tiles; the mask handles the diagonal."),
                right=True,
            ),
            Choice(
                "The result is the same as with `causal=False`.",
                "The loop still skips all tiles after the diagonal.",
            ),
        ),
    ),
    Question(
        (
            "What does `tl.store(lse_ptr + offs_m, row_max + tl.log(row_sum), mask=offs_m < M)` "
            "store?"
        ),
        (
            Choice(
                "The logarithm of the largest weight.",
                "The largest weight is 1 / row_sum, and its logarithm is -log(row_sum).",
            ),
            Choice(
                "log(Σ exp(score)) of each query.",
                "Yes: row_sum is the sum of exp(score - row_max), so the maximum is added.",
                right=True,
            ),
            Choice(
                "The softmax of each query's scores.",
                ("The softmax is one number for each *key*. Here it is one number for each query."),
            ),
            Choice(
                "The mean of each query's scores.",
                "A mean would need the sum of the scores. row_sum adds up exponentials.",
            ),
        ),
    ),
    Question(
        "Which of these belongs in an autotuner's list for this kernel?",
        (
            Choice(
                "`BLOCK_K`, along d.",
                "A score needs the whole of d, which is short: the kernel loads all of it.",
            ),
            Choice(
                "`CAUSAL`, the flag for the mask.",
                "It changes the result. It belongs in the key, not among the candidates.",
            ),
            Choice(
                "`scale`, the factor for the scores.",
                "It is part of the formula, 1/√d. Another factor gives another result.",
            ),
            Choice(
                "`BLOCK_N` and `num_warps`.",
                "Yes: they change the speed and not the result.",
                right=True,
            ),
        ),
    ),
)
