"""The sizes at which the lessons' `workloads.py` measure speed.

Each occupies any GPU fully and fits one with 16 GB: inputs and output take a quarter or half a
gigabyte, matrix products 137 GFLOP. Exercises without a workload have no speed worth measuring. The
`hidden.py` of the lesson sets the points for speed.
"""

from __future__ import annotations

import torch

from graders.judge.records import Arg, TensorSpec, Workload

HALF = torch.float16
ROWS, COLUMNS = 16384, 4096
SIDE = 8192
PRODUCT = 4096


def specs(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> tuple[Arg, ...]:
    """Inputs of these shapes."""
    return tuple(TensorSpec(shape, dtype) for shape in shapes)


def product() -> Workload:
    """A square matrix product on tensor cores."""
    return Workload(
        f"{PRODUCT}×{PRODUCT}×{PRODUCT}, fp16",
        specs((PRODUCT, PRODUCT), (PRODUCT, PRODUCT), dtype=HALF),
        2.0 * PRODUCT**3,
        torch.matmul,
        tensor_cores=True,
    )
