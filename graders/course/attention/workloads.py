"""Where the speed of the kernels of the lesson attention is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from graders.course.common.workloads import HALF, specs
from graders.judge.records import Workload

HEADS, LENGTH, DEPTH = (2, 16), 2048, 64


def _attention(*args: Any) -> torch.Tensor:
    q, k, v, causal = args
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


WORKLOADS: Mapping[str, Workload] = {
    "attention": Workload(
        "batch 2, 16 heads, 2048×64, fp16",
        (*specs(*[(*HEADS, LENGTH, DEPTH)] * 3, dtype=HALF), False),
        4.0 * HEADS[0] * HEADS[1] * LENGTH**2 * DEPTH,
        _attention,
        tensor_cores=True,
    ),
}
