"""Hidden cases of the tour: other sizes of the public kinds."""

from graders.judge.cases.builders import cases, one
from graders.judge.records import Hidden

HIDDEN = {
    "double": Hidden(
        cases=(
            *cases(one, "n", [997, 3000]),
            *cases(one, "n", [5, 33, 2047, 2049], part="edges"),
        )
    )
}
