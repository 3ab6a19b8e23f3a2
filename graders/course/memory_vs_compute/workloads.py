"""Where the speed of the kernels of the lesson memory_vs_compute is measured."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from graders.course.common.workloads import SIDE, specs
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "relu2d": Workload(f"{SIDE}×{SIDE}, fp32", specs((SIDE, SIDE)), SIDE**2, torch.relu),
}
