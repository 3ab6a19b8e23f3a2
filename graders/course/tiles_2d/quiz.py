"""The questions of the lesson tiles_2d."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "What is the shape of `rows[:, None] * stride_row + cols[None, :] * stride_col` when rows "
        "has 16 and cols 64 elements?",
        (
            Choice(
                "(16, 64)",
                "Yes: a column of 16 and a row of 64 broadcast to a tile of offsets.",
                right=True,
            ),
            Choice(
                "(80,)",
                "Addition does not join blocks. `None` gives each of them an axis of its own.",
            ),
            Choice(
                "(64, 16)",
                "`rows[:, None]` has the shape (16, 1), so the 16 comes first.",
            ),
            Choice(
                "None: 16 and 64 do not match, so it does not compile.",
                "The shapes are (16, 1) and (1, 64). An axis of length 1 is repeated.",
            ),
        ),
    ),
    Question(
        "Which expression masks a tile at the edge correctly?",
        (
            Choice(
                "`(rows < n_rows) & (cols < n_cols)`",
                "One has 16 elements, the other 64. Without `[:, None]` and `[None, :]` the shapes "
                "do not match.",
            ),
            Choice(
                "`(rows[:, None] < n_rows) & (cols[None, :] < n_cols)`",
                "Yes: the row and the column must exist, and the mask has the shape of the tile.",
                right=True,
            ),
            Choice(
                "`(rows[:, None] < n_rows) | (cols[None, :] < n_cols)`",
                "With *or*, a lane after the last column stays active if its row exists.",
            ),
            Choice(
                "`rows[:, None] * n_cols + cols[None, :] < n_rows * n_cols`",
                "That is a flat mask. A lane after the last column has the offset of an element in "
                "the next row, and the mask lets it through.",
            ),
        ),
    ),
    Question(
        "A tile of 16 × 64 adds a bias per column. How many biases does the program load?",
        (
            Choice(
                "1024",
                "Broadcasting repeats the loaded row in registers, so memory is read once.",
            ),
            Choice("64", "Yes: one for each column, reused by all 16 rows.", right=True),
            Choice("16", "That would be one for each row."),
            Choice("80", "That would be one for each row and one for each column."),
        ),
    ),
    Question(
        "A matrix has 100 rows and 300 columns. A kernel has the lines "
        "`rows = tl.program_id(axis=0) * 16 + tl.arange(0, 16)` and "
        "`cols = tl.program_id(axis=1) * 64 + tl.arange(0, 64)`. Which grid covers the matrix?",
        (
            Choice(
                "`(7, 5)`",
                "Yes: `triton.cdiv(100, 16)` is 7 and `triton.cdiv(300, 64)` is 5.",
                right=True,
            ),
            Choice(
                "`(5, 7)`",
                "Here axis 0 counts the tiles of rows. With this grid 20 rows stay unwritten.",
            ),
            Choice(
                "`(6, 4)`",
                "That rounds down: the last 4 rows and the last 44 columns stay unwritten.",
            ),
            Choice(
                "`(35,)`",
                "The number of programs is correct. But with one axis `tl.program_id(axis=1)` is "
                "always 0.",
            ),
        ),
    ),
)
