"""Hidden cases of the lesson on what lies below Triton: other shapes of the public kinds."""

from graders.course.below_triton.exercise import AXES, matrix_and_scales
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Hidden

HIDDEN = {
    "scale_rows": Hidden(
        cases=(
            *cases(matrix_and_scales, AXES, [(65, 128), (9, 2064), (41, 90), (256, 24)]),
            *cases(matrix_and_scales, AXES, [(203, 111), (11, 28), (6, 4100)]),
            *cases(matrix_and_scales, AXES, [(30, 37)], engine_orders=True),
            *cases(matrix_and_scales, AXES, [(1, 2), (1, 333), (33, 31), (0, 1)], part="edges"),
            *cases(matrix_and_scales, AXES, [(900, 3), (2, 7003)], part="edges"),
            *cases(matrix_and_scales, AXES, [(13, 29), (13, 40)], part="types", dtypes=HALVES),
            *cases(matrix_and_scales, AXES, [(17, 19)], part="types", fills=["specials"]),
            *cases(matrix_and_scales, AXES, [(21, 26), (9, 32)], part="types", views=["offset"]),
        ),
    ),
}
