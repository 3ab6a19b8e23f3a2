"""Where the speed of the kernels of the lesson tiles_2d is measured."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from graders.course.common.workloads import SIDE, specs
from graders.judge.records import Workload


def _grey(img: torch.Tensor) -> torch.Tensor:
    return 0.2989 * img[0] + 0.5870 * img[1] + 0.1140 * img[2]


WORKLOADS: Mapping[str, Workload] = {
    "rgb2grey": Workload(
        f"3×{SIDE}×{SIDE // 2}, fp32",
        specs((3, SIDE, SIDE // 2)),
        5 * SIDE * SIDE // 2,
        _grey,
    ),
    "bias_relu": Workload(
        f"{SIDE}×{SIDE}, fp32",
        specs((SIDE, SIDE), (SIDE,)),
        2 * SIDE**2,
        lambda x, bias: torch.relu(x + bias),
    ),
}
