"""Predictions of the lesson on memory and arithmetic."""

from __future__ import annotations

from graders.judge.predictions import Prediction
from triton_util.hardware import GPUS

_STEPS_AT_THE_RIDGE = GPUS["H200"].ridge(tensor_cores=False) * 8 / 2  # 8 bytes, 2 operations a step

PREDICTIONS = {
    "double_bytes": Prediction(
        8000, "bytes", "Each of the 1,000 numbers is loaded and stored once, 4 bytes each way."
    ),
    "relu_intensity": Prediction(
        1 / 8, "operations per byte", "One operation for 4 bytes loaded and 4 bytes stored."
    ),
    "relu_bytes": Prediction(
        24_000,
        "bytes",
        "3,000 elements, 4 bytes loaded and 4 stored for each. The masked-off lanes do not count.",
    ),
    "two_kernels_bytes": Prediction(
        16_000, "bytes", "Each kernel loads and stores 1,000 numbers: four times 4,000 bytes."
    ),
    "one_kernel_bytes": Prediction(
        8000, "bytes", "One load and one store. The intermediate result stays in registers."
    ),
    "times_the_bytes": Prediction(
        3, "times the bytes", "Each kernel loads and stores everything once."
    ),
    "steps_at_the_ridge": Prediction(
        round(_STEPS_AT_THE_RIDGE),
        "steps",
        "The fp32 ridge point times 8 bytes gives the operations per element; each step has two.",
    ),
}
