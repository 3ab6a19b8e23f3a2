"""Where the speed of the kernels of the lesson autotuning is measured."""

from __future__ import annotations

from collections.abc import Mapping

from graders.course.common.workloads import product
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "autotuned_matmul": product(),
}
