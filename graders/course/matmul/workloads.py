"""Where the speed of the kernels of the lesson matmul is measured."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from graders.course.common.workloads import HALF, PRODUCT, product, specs
from graders.judge.records import Workload

WORKLOADS: Mapping[str, Workload] = {
    "matmul": product(),
    "linear_bias_relu": Workload(
        f"x {PRODUCT}×{PRODUCT}, w {PRODUCT}×{PRODUCT}, fp16",
        specs((PRODUCT, PRODUCT), (PRODUCT, PRODUCT), (PRODUCT,), dtype=HALF),
        2.0 * PRODUCT**3,
        lambda x, w, b: torch.relu(F.linear(x, w, b)),
        tensor_cores=True,
    ),
}
