"""What the data sheets say of four GPUs, and what the roofline makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_util.bench import roofline as bench_roofline
from triton_util.explain.targets import TARGETS
from triton_util.explore.controls import choice, follow, slider

ELEMENTS = 2**28


@dataclass(frozen=True)
class Gpu:
    """Peak figures without sparsity: memory in GB/s, arithmetic in TFLOP/s.

    shared_kib: the most shared memory that one block may have, in KiB; threads_per_sm: the most
    threads that one SM holds at a time.
    """

    name: str
    gbytes_per_second: float
    fp32_tflops: float
    fp16_tflops: float  # on the tensor cores
    shared_kib: int
    threads_per_sm: int

    def peak_tflops(self, tensor_cores: bool) -> float:
        return self.fp16_tflops if tensor_cores else self.fp32_tflops

    def ridge(self, tensor_cores: bool) -> float:
        """Operations per byte from which on arithmetic is the limit."""
        return self.peak_tflops(tensor_cores) * 1000 / self.gbytes_per_second

    def attainable_tflops(self, intensity: float, tensor_cores: bool) -> float:
        """The most that a kernel with `intensity` operations per byte can reach."""
        memory_limit = intensity * self.gbytes_per_second / 1000
        return min(memory_limit, self.peak_tflops(tensor_cores))


def _card(name: str, title: str) -> Gpu:
    """A card of the tables that the benchmarks and the compiler's explanations use."""
    card = next(card for card in bench_roofline.GPUS if card.name == name)
    return Gpu(
        title,
        card.gb_per_s,
        card.fp32_tflops,
        card.half_tflops,
        card.shared_memory // 1024,
        TARGETS[card.capability].threads,
    )


_TITLES = {"T4": "T4", "A100": "A100 80 GB SXM", "H100": "H100 SXM", "H200": "H200"}
GPUS: Mapping[str, Gpu] = {name: _card(name, title) for name, title in _TITLES.items()}


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
