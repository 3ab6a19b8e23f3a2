"""Where the speed of the kernels of the lesson strides is measured."""

from __future__ import annotations

from collections.abc import Mapping

from graders.course.common.workloads import SIDE, specs
from graders.judge.records import TensorSpec, Workload

WORKLOADS: Mapping[str, Workload] = {
    "strided_copy": Workload(
        f"left half of {SIDE}×{2 * SIDE}, fp32",
        (TensorSpec((SIDE, SIDE), view="sliced"),),
        0,
        lambda x: x.contiguous(),
    ),
    "transpose": Workload(
        f"{SIDE}×{SIDE}, fp32", specs((SIDE, SIDE)), 0, lambda x: x.t().contiguous()
    ),
}
