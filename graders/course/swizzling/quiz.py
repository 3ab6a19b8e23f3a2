"""The questions of the lesson swizzling."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "A product has 9 × 9 tiles and K is 9 blocks long. Nine programs run at a time. How "
        "many blocks of a and b do the first nine need in row-major order, and how many in "
        "groups of three rows?",
        (
            Choice(
                "90 and 54",
                "Yes. Row-major: one row of a (9) and all of b (81). Grouped: three rows of a "
                "(27) and three columns of b (27).",
                right=True,
            ),
            Choice(
                "81 and 27",
                "That counts only one of the two factors.",
            ),
            Choice(
                "162 in both cases: each program loads 18 blocks",
                "Each program does. But programs that run together share blocks, which the "
                "cache keeps.",
            ),
            Choice(
                "90 in both cases",
                "The grouped order needs only three columns of b, not nine.",
            ),
        ),
    ),
    Question(
        "What does swizzling change?",
        (
            Choice(
                "The layout of the matrices in memory",
                "They stay where they are. Only the order of the programs changes.",
            ),
            Choice(
                "Which tile each program computes",
                "Yes. Programs that run together then use more of the same data. The result "
                "stays the same.",
                right=True,
            ),
            Choice(
                "The number of operations, because tiles are shared",
                "Every product is still computed once.",
            ),
            Choice(
                "The number of bytes that each program loads",
                "Each program loads the same bytes. More of these loads hit the cache.",
            ),
        ),
    ),
    Question(
        "Why must the mapping from ids to tiles be a bijection?",
        (
            Choice(
                "Otherwise some tiles are never computed",
                "Yes: there are as many programs as tiles, so each tile that is taken twice "
                "leaves another one out.",
                right=True,
            ),
            Choice(
                "Otherwise Triton raises an error",
                "Triton does not check it. A hole keeps whatever was in memory before.",
            ),
            Choice(
                "Otherwise two programs would race and give a wrong tile",
                "Two programs with the same tile store the same values. That only wastes time.",
            ),
            Choice(
                "Otherwise the tiles do not fit into the L2 cache",
                "The size of a tile does not depend on the mapping.",
            ),
        ),
    ),
    Question(
        "With 5 rows, 2 columns and groups of 3, `row = first_row + pid_in_group % 3` is used "
        "for every group. Which row does program 8 get?",
        (
            Choice(
                "3",
                "That is the correct row, with `% 2` for the two rows of the last group. The "
                "line has `% 3`.",
            ),
            Choice(
                "4",
                "Program 8 is number 2 within its group. 3 + 1 would be the row of number 1.",
            ),
            Choice(
                "5, which does not exist",
                "Yes: program 8 is number 2 in the group that starts at row 3, and 3 + 2 % 3 is "
                "5. The last group has only two rows.",
                right=True,
            ),
            Choice(
                "2",
                "Row 2 belongs to the first group, the programs 0 to 5.",
            ),
        ),
    ),
)
