"""Hidden cases of the lesson on strides: other shapes, seeds and dtypes of the public kinds."""

import torch

from graders.course.common.hidden import BARS
from graders.judge.cases.builders import ALL_VIEWS, ANY_DTYPE, cases, one
from graders.judge.records import Hidden

AXES = "rows columns"
CASES = (
    *cases(one, AXES, [(96, 96), (65, 65), (41, 90), (256, 24), (24, 256), (511, 203)]),
    *cases(one, AXES, [(50, 19)], draws=2, engine_orders=True),
    *cases(one, AXES, [(1, 2), (2, 1), (1, 777), (777, 1), (31, 33), (129, 63)], part="edges"),
    *cases(one, AXES, [(0, 1), (7, 0)], part="edges"),
    *cases(one, AXES, [(45, 18), (18, 45), (32, 32)], part="views", views=ALL_VIEWS),
    *cases(one, AXES, [(5, 16)], part="views", views=["far", "far_columns"], dtypes=[torch.uint8]),
    *cases(one, AXES, [(13, 29)], part="types", dtypes=ANY_DTYPE),
    *cases(
        one, AXES, [(11, 14)], part="types", dtypes=[torch.int32, torch.float16], views=["sliced"]
    ),
)

HIDDEN = {
    "strided_copy": Hidden(cases=CASES, speed_bars=BARS),
    "transpose": Hidden(cases=CASES, speed_bars=BARS),
}
