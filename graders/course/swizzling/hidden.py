"""Hidden cases of the lesson on swizzling: other sizes of the public kinds."""

from dataclasses import replace

from graders.course.matmul.exercise import factors
from graders.course.matmul.hidden import HIDDEN as MATMUL_HIDDEN
from graders.course.swizzling.exercise import tile_cases
from graders.judge.cases.builders import cases
from graders.judge.records import Hidden

HIDDEN = {
    "swizzle_ids": Hidden(
        cases=(
            *tile_cases([(6, 9, 2), (12, 5, 4), (50, 30, 10)], "core"),
            *tile_cases([(10, 7, 4), (13, 13, 5), (9, 2, 8), (5, 5, 6)], "last group"),
            *tile_cases([(1, 3, 1), (3, 1, 2), (7, 7, 1), (0, 1, 1)], "edges"),
        )
    ),
    "grouped_matmul": replace(
        MATMUL_HIDDEN["matmul"],
        cases=(
            *MATMUL_HIDDEN["matmul"].cases,
            *cases(factors, "m k n", [(290, 16, 270), (900, 10, 260)]),
        ),
    ),
}
