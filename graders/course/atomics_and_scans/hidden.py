"""Hidden cases of the lesson on atomics and scans: other sizes of the public kinds."""

import torch

from graders.course.atomics_and_scans.exercise import (
    AXES,
    BEYOND,
    OUTSIDE,
    ROWS,
    counted,
    split,
    split_into,
)
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, cases, one
from graders.judge.records import Hidden

HIDDEN = {
    "histogram": Hidden(
        cases=(
            *counted([997, 3000, 6143], 200, scale=60, shift=90, why=OUTSIDE),
            *counted([2222], 256, fills=["normal"], dtypes=[torch.uint8]),
            *counted([3333], 77, scale=2, shift=30, dtypes=[torch.int32]),
            *counted([4100], 2, fills=["zeros"]),
            *counted([555], 45, scale=20, shift=20, engine_orders=True),
            *counted([3, 5, 33, 127, 129, 2049], 11, scale=4, shift=5, part="edges"),
            *counted([65_537], 50, scale=20, shift=25, part="edges"),
            *counted([250], 4097, scale=1500, shift=2000, part="edges"),
            *counted([70], 24, fills=["ramp"], shift=3 * BEYOND - 9, part="types"),
            *counted(
                [600], 60, fills=["ramp"], shift=2**17 - 30, dtypes=[torch.int32], part="types"
            ),
            *counted([700], 130, fills=["normal"], dtypes=[torch.int8, torch.int16], part="types"),
            *counted(
                [900],
                31,
                scale=10,
                shift=15,
                dtypes=[torch.int32],
                part="views",
                views=["stepped_columns", "offset"],
            ),
        )
    ),
    "cumsum": Hidden(
        cases=(
            *cases(one, ROWS, [(29, 71), (5, 777), (3, 1733), (140, 450)]),
            *cases(one, ROWS, [(1, 5500)]),
            *cases(one, ROWS, [(3, 500)], engine_orders=True),
            *cases(one, ROWS, [(1, 2), (400, 3), (2, 1024), (1, 2047)], part="edges"),
            *cases(one, ROWS, [(0, 0)], part="edges"),
            *cases(one, ROWS, [(13, 130), (2, 1444)], part="types", dtypes=HALVES),
            *cases(one, ROWS, [(3, 900)], part="types", fills=["cancelling"], dtypes=FLOATS),
            *cases(one, ROWS, [(21, 26)], part="views", views=ALL_VIEWS),
            *cases(one, ROWS, [(3, 1300)], part="views", views=["transposed", "stepped_rows"]),
        )
    ),
    "split_k_matmul": Hidden(
        cases=(
            *split([1, 5], [(48, 333, 40)]),
            *split([6, 12], [(65, 410, 30)]),
            *split([7], [(19, 230, 21)], engine_orders=True),
            *split([3, 11], [(1, 9, 1), (16, 77, 130)], part="edges"),
            *split([5], [(0, 3, 4), (3, 0, 4)], part="edges"),
            *split([6], [(40, 190, 52)], part="types", dtypes=HALVES),
            *split([8], [(24, 640, 24)], part="types", fills=["cancelling"], dtypes=FLOATS),
            *split([2], [(30, 75, 44)], part="views", views=ALL_VIEWS),
            *cases(
                split_into(3, b="transposed"), AXES, [(28, 90, 28)], part="views", label="b turned"
            ),
        )
    ),
}
