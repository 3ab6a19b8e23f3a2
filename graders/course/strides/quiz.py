"""The questions of the lesson strides."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "`x` has shape (4, 6) and is contiguous. What are the strides of `x[:, :3]`?",
        (
            Choice(
                "(3, 1)",
                "These are the strides of a contiguous 4 × 3 matrix. Slicing copies nothing: the "
                "next row still starts 6 elements further on. This is the stride trap.",
            ),
            Choice(
                "(6, 1)",
                "Yes. The slice uses the same memory, so its rows are as far apart as before.",
                right=True,
            ),
            Choice(
                "(6, 3)",
                "Neighbouring columns are still neighbours in memory: their stride stays 1.",
            ),
            Choice(
                "(1, 6)",
                "These are the strides of `x.T`, where a step down is one element.",
            ),
        ),
    ),
    Question(
        "A kernel assumes stride = width and gets a slice `x[:, : n // 2]`. What does it read?",
        (
            Choice(
                "The correct elements, but more slowly.",
                "Only the first row is correct. The kernel looks for the second one in the right "
                "half of the first row, which is not part of the slice.",
            ),
            Choice(
                "Nothing: Triton raises an error for a view that is not contiguous.",
                "A kernel receives an address and numbers. It does not know that x is a view.",
            ),
            Choice(
                "From the second row on, elements outside the slice.",
                "Yes. They are in valid memory, so nothing crashes, but the numbers are wrong.",
                right=True,
            ),
            Choice(
                "From the second row on, memory past the end of the tensor.",
                "The assumed stride is too small, so all addresses stay inside the tensor.",
            ),
        ),
    ),
    Question(
        "Which statement about `x.t()` of a contiguous matrix is true?",
        (
            Choice(
                "It moves the elements, so it costs as much as a copy.",
                "It makes a new view in constant time: same memory, strides exchanged.",
            ),
            Choice(
                "It exchanges the strides and keeps the memory.",
                "Yes. So a kernel that uses the strides reads it without a copy.",
                right=True,
            ),
            Choice(
                "Its rows are contiguous again.",
                "Its *columns* are contiguous. Neighbours in a row are now a whole old row apart.",
            ),
            Choice(
                "It moves the elements only when a kernel first reads it.",
                "PyTorch never moves them unless you call `.contiguous()` or a similar method.",
            ),
        ),
    ),
    Question(
        "An output of shape (n_rows, n_cols) is contiguous, and `offsets` numbers its elements. "
        "Which lines give the row and the column of each element?",
        (
            Choice(
                "`rows = offsets // n_rows` and `cols = offsets % n_rows`",
                "A row has `n_cols` elements, so a new row starts after each `n_cols` elements.",
            ),
            Choice(
                "`rows = offsets // n_cols` and `cols = offsets % n_cols`",
                "Yes. The integer part counts the full rows before it, and the remainder is the "
                "position in the row.",
                right=True,
            ),
            Choice(
                "`rows = offsets % n_cols` and `cols = offsets // n_cols`",
                "The remainder repeats after each row, so it is the column.",
            ),
            Choice(
                "`rows = offsets // stride_row` and `cols = offsets // stride_col`",
                "The strides belong to the input. The output is contiguous and has its own width.",
            ),
        ),
    ),
    Question(
        "`row * stride_row` is computed from 32-bit integers. For which view does it go wrong?",
        (
            Choice(
                "For any view with more than 2**16 rows.",
                "The number of rows alone does not matter; the product does.",
            ),
            Choice(
                "For a view whose last row starts beyond element 2**31.",
                "Yes. The product overflows to a negative number. Convert one factor with "
                "`.to(tl.int64)` before multiplying.",
                right=True,
            ),
            Choice(
                "For no view: pointers have 64 bits.",
                "The pointer has, but the kernel computes the offset first, in the type of its "
                "factors.",
            ),
            Choice(
                "For a view with stride 0, because the product is 0 in every row.",
                "That product is correct: all rows of an expanded view are at the same address.",
            ),
        ),
    ),
)
