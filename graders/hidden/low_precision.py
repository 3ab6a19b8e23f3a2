"""Hidden cases of the lesson on low precision: other sizes of the public kinds."""

from graders.exercises.low_precision import AXES, BRAIN, COMMON, HALF, POSITIVE, quantized
from graders.judge.cases.builders import HALVES, cases
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
}
