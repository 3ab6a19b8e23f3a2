"""Where the speed of the kernels of the lesson fusion is measured."""

from __future__ import annotations

from collections.abc import Mapping

import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from graders.course.common.workloads import COLUMNS, HALF, ROWS, specs
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "gelu": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        specs((ROWS, COLUMNS), dtype=HALF),
        10 * ROWS * COLUMNS,
        lambda x: F.gelu(x, approximate="tanh"),
    ),
}
