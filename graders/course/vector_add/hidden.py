"""Hidden cases of the lesson on vector addition: other sizes and seeds of the public kinds."""

from graders.judge.cases.builders import FLOATS, cases, two
from graders.judge.records import Hidden

HIDDEN = {
    "vector_add": Hidden(
        cases=(
            *cases(two, "n", [997, 3000, 6143, 65_537, 300_007]),
            *cases(two, "n", [2500], draws=2, engine_orders=True),
            *cases(two, "n", [5, 31, 33, 127, 129, 2047, 2048, 2049, 4097], part="edges"),
            *cases(two, "n", [1009, 4], part="types", dtypes=FLOATS[1:]),
            *cases(two, "n", [999], part="types", fills=["specials"], dtypes=FLOATS),
            *cases(two, "n", [999], part="types", scale=3e30),
            *cases(two, "n", [999], part="types", scale=3e-30),
            *cases(two, "n", [999], part="types", shift=-3e6),
        )
    )
}
