"""Hidden cases of the lesson on debugging: other sizes, dtypes and planted bugs."""

from graders.course.debugging.exercise import kernel
from graders.judge.cases.builders import ANY_DTYPE, cases, one
from graders.judge.records import Hidden

HIDDEN = {
    "copy": Hidden(
        cases=(
            *cases(one, "n", [997, 3000, 6143, 65_537]),
            *cases(one, "n", [555], draws=2, engine_orders=True),
            *cases(one, "n", [5, 31, 33, 127, 129, 2047, 2049, 4097], part="edges"),
            *cases(one, "n", [1009], part="types", dtypes=ANY_DTYPE),
            *cases(one, "n", [333], part="types", fills=["specials"]),
        )
    ),
    "find_bug": Hidden(
        cases=(
            kernel("no bug", 8),
            kernel("no bug", 32),
            kernel("offsets without the pid", 32),
            kernel("programs n apart", 64),
            kernel("at most four programs", 64, "lengths"),
            kernel("blocks overlap", 32, "lengths"),
            kernel("grid rounded down", 2, "lengths"),
            kernel("full last block lost", 64, "lengths"),
            kernel("empty vector gets an element", 4, "lengths"),
            kernel("first element masked off", 16, "values"),
            kernel("each block reversed", 2, "values"),
            kernel("rounded to fp16", 16, "values"),
            kernel("NaN becomes 0", 8, "values"),
            kernel("infinity becomes a number", 8, "values"),
        )
    ),
}
