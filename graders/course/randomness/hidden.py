"""Hidden cases of the lesson on randomness: other sizes, shares and seeds of the public kinds."""

from graders.course.randomness.exercise import LONG_SEED, VIEWS, arguments, dropped
from graders.judge.cases.builders import HALVES
from graders.judge.records import Hidden

HIDDEN = {
    "dropout_residual": Hidden(
        cases=(
            *dropped("n", [997, 3000, 6143], 0.2, 101),
            *dropped("rows columns", [(41, 90), (90, 41)], 0.15, 102),
            *dropped("batch rows columns", [(2, 11, 30)], 0.65, 103),
            *dropped("n", [555], 0.3, 104, engine_orders=True),
            *dropped("n", [5, 33, 127, 129, 2049], 0.4, 105, part="edges"),
            *dropped("n", [65_537], 0.05, 106, part="edges"),
            *dropped("a b c d", [(3, 1, 5, 2), (2, 0, 3, 4)], 0.35, 107, part="edges"),
            *dropped("n", [1009], 0.25, 108, part="types", dtypes=HALVES),
            *dropped("n", [1009], 0.25, LONG_SEED * 3, part="types"),
            *dropped("n", [1009], 0.55, 109, part="types", fills=["specials"]),
            *dropped("rows columns", [(21, 26)], 0.3, 110, part="views", views=VIEWS),
            *dropped("batch rows columns", [(2, 9, 10)], 0.3, 111, part="views", views=VIEWS),
            *dropped(
                "rows columns",
                [(21, 26)],
                0.3,
                112,
                part="views",
                views=["transposed", "sliced"],
                make=arguments(0.3, 112, residual="contiguous"),
                also=" residual dense",
            ),
        ),
    ),
}
