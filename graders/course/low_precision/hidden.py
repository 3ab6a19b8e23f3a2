"""Hidden cases of the lesson on low precision: other sizes of the public kinds."""

from graders.course.low_precision.exercise import AXES, BRAIN, COMMON, HALF, POSITIVE, quantized
from graders.course.low_precision.fp8_cases import (
    EIGHT,
    nearly_cancelling,
    of_many_sizes,
    scaled,
    with_scales,
)
from graders.judge.cases.builders import HALVES, case, cases
from graders.judge.records import Hidden

HIDDEN = {
    "quantized_matmul": Hidden(
        cases=(
            *cases(COMMON, AXES, [(50, 128, 15, 128), (37, 192, 70, 64)], dtypes=HALF),
            *cases(COMMON, AXES, [(30, 64, 36, 16), (20, 288, 12, 96)], dtypes=HALF),
            *cases(COMMON, AXES, [(10, 80, 140, 80), (70, 240, 10, 80)], dtypes=HALF),
            *cases(COMMON, AXES, [(19, 96, 35, 32)], dtypes=HALF, engine_orders=True),
            *cases(COMMON, AXES, [(1, 32, 2, 16), (1, 256, 33, 64)], part="edges", dtypes=HALF),
            *cases(COMMON, AXES, [(16, 176, 31, 176), (3, 768, 21, 96)], part="edges", dtypes=HALF),
            *cases(COMMON, AXES, [(40, 96, 25, 32)], part="types", dtypes=BRAIN),
            *cases(COMMON, AXES, [(16, 64, 15, 16)], part="types", dtypes=BRAIN, scale=3e-7),
            *cases(quantized(step=3.0), AXES, [(18, 96, 11, 48)], part="types", dtypes=HALVES),
            *cases(
                POSITIVE,
                AXES,
                [(12, 4608, 10, 2304), (9, 4608, 14, 48)],
                part="types",
                dtypes=HALF,
                shift=3.0,
            ),
            *cases(
                COMMON,
                AXES,
                [(27, 80, 22, 16)],
                part="views",
                dtypes=HALVES,
                views=["transposed", "stepped_columns", "sliced"],
            ),
        ),
    ),
    "fp8_matmul": Hidden(
        cases=(
            *scaled([(96, 96, 48), (48, 130, 80)]),
            *scaled([(20, 70, 140), (140, 33, 20)]),
            *scaled([(19, 50, 21)], engine_orders=True),
            *scaled([(1, 33, 2), (3, 1, 1), (16, 17, 15)], part="edges"),
            *scaled([(63, 65, 66), (1, 0, 3), (0, 0, 4)], part="edges"),
            *scaled([(30, 50, 30)], part="types", scale=8.0),
            *scaled([(30, 50, 30)], part="types", scale=2e-4),
            *scaled([(12, 900, 18)], part="types", fills=["rectified"]),
            case(
                "m=27 k=50 n=35, scales from 1e-05 to 1e+05",
                with_scales(of_many_sizes(27, 2), of_many_sizes(35, 7))(
                    (27, 50, 35), dtype=EIGHT[0], scale=1.0
                ),
                part="types",
            ),
            case(
                "m=18 k=160 n=25, two halves that nearly cancel",
                nearly_cancelling(18, 160, 25),
                part="types",
            ),
            *scaled(
                [(27, 41, 22)],
                part="views",
                views=["transposed", "stepped_columns", "sliced"],
            ),
        ),
    ),
}
