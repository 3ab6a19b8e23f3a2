"""The sizes at which speed is measured, by exercise.

Each is large enough to fill any GPU and small enough for one with 16 GB: inputs and output come
to a quarter or half a gigabyte, matrix products to 137 GFLOP. An exercise that is not listed has
no speed worth measuring. What a fast enough solution is worth stands in `graders/hidden`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from graders.judge.records import Arg, TensorSpec, Workload

HALF = torch.float16
ROWS, COLUMNS = 16384, 4096
SIDE = 8192
PRODUCT = 4096
HEADS, LENGTH, DEPTH = (2, 16), 2048, 64


def _specs(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> tuple[Arg, ...]:
    return tuple(TensorSpec(shape, dtype) for shape in shapes)


def _product() -> Workload:
    return Workload(
        f"{PRODUCT}×{PRODUCT}×{PRODUCT}, fp16",
        _specs((PRODUCT, PRODUCT), (PRODUCT, PRODUCT), dtype=HALF),
        2.0 * PRODUCT**3,
        torch.matmul,
        tensor_cores=True,
    )


def _grey(img: torch.Tensor) -> torch.Tensor:
    return 0.2989 * img[0] + 0.5870 * img[1] + 0.1140 * img[2]


def _attention(*args: Any) -> torch.Tensor:
    q, k, v, causal = args
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


WORKLOADS: Mapping[str, Workload] = {
    "vector_add": Workload(
        "2²⁵ elements, fp32", _specs((2**25,), (2**25,)), 2**25, lambda x, y: x + y
    ),
    "copy": Workload("2²⁶ elements, fp32", _specs((2**26,)), 0, torch.clone),
    "relu2d": Workload(f"{SIDE}×{SIDE}, fp32", _specs((SIDE, SIDE)), SIDE**2, torch.relu),
    "strided_copy": Workload(
        f"left half of {SIDE}×{2 * SIDE}, fp32",
        (TensorSpec((SIDE, SIDE), view="sliced"),),
        0,
        lambda x: x.contiguous(),
    ),
    "transpose": Workload(
        f"{SIDE}×{SIDE}, fp32", _specs((SIDE, SIDE)), 0, lambda x: x.t().contiguous()
    ),
    "rgb2grey": Workload(
        f"3×{SIDE}×{SIDE // 2}, fp32",
        _specs((3, SIDE, SIDE // 2)),
        5 * SIDE * SIDE // 2,
        _grey,
    ),
    "bias_relu": Workload(
        f"{SIDE}×{SIDE}, fp32",
        _specs((SIDE, SIDE), (SIDE,)),
        2 * SIDE**2,
        lambda x, bias: torch.relu(x + bias),
    ),
    "gelu": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        _specs((ROWS, COLUMNS), dtype=HALF),
        10 * ROWS * COLUMNS,
        lambda x: F.gelu(x, approximate="tanh"),
    ),
    "softmax": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        _specs((ROWS, COLUMNS), dtype=HALF),
        5 * ROWS * COLUMNS,
        lambda x: torch.softmax(x, 1),
    ),
    "layernorm": Workload(
        f"{ROWS}×{COLUMNS}, fp16",
        (*_specs((ROWS, COLUMNS), (COLUMNS,), (COLUMNS,), dtype=HALF), 1e-5),
        8 * ROWS * COLUMNS,
        lambda x, weight, bias, eps: F.layer_norm(x, (x.shape[1],), weight, bias, eps),
    ),
    "matmul": _product(),
    "grouped_matmul": _product(),
    "autotuned_matmul": _product(),
    "linear_bias_relu": Workload(
        f"x {PRODUCT}×{PRODUCT}, w {PRODUCT}×{PRODUCT}, fp16",
        _specs((PRODUCT, PRODUCT), (PRODUCT, PRODUCT), (PRODUCT,), dtype=HALF),
        2.0 * PRODUCT**3,
        lambda x, w, b: torch.relu(F.linear(x, w, b)),
        tensor_cores=True,
    ),
    "attention": Workload(
        "batch 2, 16 heads, 2048×64, fp16",
        (*_specs(*[(*HEADS, LENGTH, DEPTH)] * 3, dtype=HALF), False),
        4.0 * HEADS[0] * HEADS[1] * LENGTH**2 * DEPTH,
        _attention,
        tensor_cores=True,
    ),
}
