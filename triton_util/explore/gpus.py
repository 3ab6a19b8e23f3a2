"""The GPUs of the course on the roofline: what limits an elementwise kernel on them?"""

from __future__ import annotations

from typing import Any

from triton_util import hardware
from triton_util.explore.controls import choice, follow, slider

ELEMENTS = 2**28
GPUS = hardware.OF_THE_COURSE


def roofline_text(gpu: str, operations: int, bytes_moved: int) -> str:
    """What limits an elementwise fp32 kernel on one of the `GPUS`.

    operations and bytes_moved: per element, for 2**28 elements. Raises KeyError for an unknown
    GPU.
    """
    card = GPUS[gpu]
    memory_ms = ELEMENTS * bytes_moved / card.gbytes_per_second * 1e-6
    compute_ms = ELEMENTS * operations / card.fp32_tflops * 1e-9
    limit = "memory" if memory_ms >= compute_ms else "arithmetic"
    busy = min(memory_ms, compute_ms) / max(memory_ms, compute_ms)
    other = "arithmetic" if limit == "memory" else "memory"
    return "\n".join(
        (
            f"{card.name}: {card.gbytes_per_second:,} GB/s, {card.fp32_tflops:g} TFLOP/s in fp32",
            f"ridge point:          {card.ridge(tensor_cores=False):8.1f} operations per byte",
            f"this kernel:          {operations / bytes_moved:8.3f} operations per byte",
            "",
            f"for {ELEMENTS:,} elements:",
            f"time to move bytes:   {memory_ms:8.3f} ms",
            f"time to compute:      {compute_ms:8.3f} ms",
            f"limited by {limit}; the {other} is busy {busy:.1%} of the time",
        )
    )


def roofline(gpu: str = "H200", operations: int = 1, bytes_moved: int = 8) -> Any:
    """Controls for the GPU, the operations and the bytes, and below them `roofline_text`."""
    controls = {
        "gpu": choice("GPU", gpu, tuple(GPUS)),
        "operations": slider("operations", operations, 1, 400),
        "bytes_moved": choice("bytes", bytes_moved, (2, 4, 8, 12, 16)),
    }
    return follow(roofline_text, controls)
