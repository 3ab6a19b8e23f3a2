"""Where the speed of the kernels of the lesson vector_add is measured."""

from __future__ import annotations

from collections.abc import Mapping

from graders.course.common.workloads import specs
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "vector_add": Workload(
        "2²⁵ elements, fp32", specs((2**25,), (2**25,)), 2**25, lambda x, y: x + y
    ),
}
