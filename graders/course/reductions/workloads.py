"""Where the speed of the kernels of the lesson reductions is measured."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from graders.course.common.workloads import COLUMNS, HALF, ROWS, specs
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "softmax": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        specs((ROWS, COLUMNS), dtype=HALF),
        5 * ROWS * COLUMNS,
        lambda x: torch.softmax(x, 1),
    ),
    "layernorm": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        (*specs((ROWS, COLUMNS), (COLUMNS,), (COLUMNS,), dtype=HALF), 1e-5),
        8 * ROWS * COLUMNS,
        lambda x, weight, bias, eps: F.layer_norm(x, (x.shape[1],), weight, bias, eps),
    ),
}
