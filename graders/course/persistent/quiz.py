"""The questions of the lesson persistent."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        (
            "There are 200 tiles and 132 programs, each with `for tile in tl.range(pid, 200, "
            "132)`. How many tiles does program 70 compute?"
        ),
        (
            Choice(
                "Two: 70 and 202.",
                "Tile 202 does not exist: the loop ends before 200.",
            ),
            Choice(
                "One: 70.",
                (
                    "Yes. Programs 0 to 67 compute two tiles, the others one: the second round is "
                    "not full."
                ),
                right=True,
            ),
            Choice(
                "One and a half, 200 / 132.",
                ("One program computes a whole tile. Some programs have two tiles and others one."),
            ),
            Choice(
                "Two: 70 and 71.",
                "The step of the loop is 132, so tile 71 belongs to program 71.",
            ),
        ),
    ),
    Question(
        "Why is the grid of this kernel not larger than the number of multiprocessors?",
        (
            Choice(
                "A larger grid is refused.",
                "A grid may have millions of programs; they wait for their turn.",
            ),
            Choice(
                "Further programs would only wait for a free SM.",
                (
                    "Yes. With large tiles one program fills an SM, and a waiting program starts "
                    "from the beginning."
                ),
                right=True,
            ),
            Choice(
                "Each program needs its own descriptor.",
                "All programs share one descriptor. The launcher makes it before the launch.",
            ),
            Choice(
                "More programs would load more bytes in all.",
                "Each tile needs the same loads, whichever program computes it.",
            ),
        ),
    ),
    Question(
        (
            "Which of these matrices, fp16 and starting at an address that is a multiple of 16, "
            "can a descriptor describe?"
        ),
        (
            Choice(
                "A contiguous one with 100 columns.",
                "Its rows are 200 bytes apart, which is not a multiple of 16.",
            ),
            Choice(
                "The transpose of one with 128 columns.",
                (
                    "Its last axis has stride 128. Describe the matrix itself, and transpose the "
                    "tile."
                ),
            ),
            Choice(
                "The left 100 columns of one with 128.",
                (
                    "Yes: its rows are 256 bytes apart, and its last axis has stride 1. The "
                    "descriptor holds the width 100."
                ),
                right=True,
            ),
            Choice(
                "Every second column of one with 128 columns.",
                "Its last axis has stride 2.",
            ),
        ),
    ),
    Question(
        "x is (100, 100), the tile 64×64. What does `x_desc.load([64, 0])` return?",
        (
            Choice(
                "An error, because rows 100 to 127 do not exist.",
                "A descriptor checks the edges itself, without an error.",
            ),
            Choice(
                "36 rows of x, and 28 rows of zeros.",
                "Yes: elements outside the matrix load as 0, and stores outside are dropped.",
                right=True,
            ),
            Choice(
                "Rows 36 to 99, moved so that the tile fits.",
                "The tile starts where you say, at row 64.",
            ),
            Choice(
                "36 rows of x, and whatever memory holds after it.",
                "The descriptor knows the shape of x.",
            ),
        ),
    ),
    Question(
        (
            "A kernel has these lines: `acc = tl.zeros(…)`, then `for tile in tl.range(pid, "
            "n_tiles, programs):`, and inside the loop over k and the store. Which tiles are "
            "correct?"
        ),
        (
            Choice(
                "All of them.",
                "The second tile of a program starts with the sums of its first one.",
            ),
            Choice(
                "The first tile of each program.",
                "Yes. So with fewer tiles than programs no test shows the mistake.",
                right=True,
            ),
            Choice(
                "None of them.",
                "In the first round the accumulator is zero, as it should be.",
            ),
            Choice(
                "The last tile of each program, which is stored last.",
                "Its accumulator holds the sums of all tiles of this program.",
            ),
        ),
    ),
)
