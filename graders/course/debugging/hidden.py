"""Hidden cases of the lesson on debugging: other sizes and dtypes of the public kinds."""

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
    )
}
