"""Try it: does a matmul tile fit into registers and shared memory?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from triton_util.explore.controls import choice, follow, slider
from triton_util.hardware import GPUS, MOST_REGISTERS

OTHER_REGISTERS = 40  # addresses, masks, operands in flight: a rule of thumb


@dataclass(frozen=True)
class Budget:
    """The resources of one program of a tiled matmul, estimated from its meta-parameters.

    stage_bytes: a tile of a and one of b. accumulator: fp32 registers of one thread. These are
    estimates; the compiler reports the exact figures.
    """

    stage_bytes: int
    num_stages: int
    accumulator: int
    threads: int

    def buffers(self, gpu: str) -> int:
        """How many stages are in shared memory at a time."""
        return GPUS[gpu].architecture.buffers(self.num_stages)

    def shared_bytes(self, gpu: str) -> int:
        """Shared memory of one program on that GPU."""
        return self.buffers(gpu) * self.stage_bytes

    @property
    def registers(self) -> int:
        """The registers that one thread needs."""
        return self.accumulator + OTHER_REGISTERS

    def spills(self) -> bool:
        """Whether a thread needs more registers than it can have."""
        return self.registers > MOST_REGISTERS

    def fits(self, gpu: str) -> bool:
        """Whether the stages fit into the shared memory of one program."""
        return self.shared_bytes(gpu) <= GPUS[gpu].shared_memory

    def blocks_per_sm(self, gpu: str) -> int:
        """How many programs one SM can hold at a time; 0 if none fits."""
        if not self.fits(gpu):
            return 0
        processor = GPUS[gpu].architecture
        taken = min(self.registers, MOST_REGISTERS) * self.threads
        return min(
            processor.shared_per_processor // (self.shared_bytes(gpu) + processor.reserved),
            processor.registers // taken,
            processor.threads // self.threads,
        )


def budget(
    BLOCK_M: int, BLOCK_N: int, BLOCK_K: int, num_warps: int, num_stages: int, item_bytes: int = 2
) -> Budget:
    """The estimate for one configuration; item_bytes: 2 for fp16 and bf16, 4 for fp32."""
    return Budget(
        stage_bytes=(BLOCK_M + BLOCK_N) * BLOCK_K * item_bytes,
        num_stages=num_stages,
        accumulator=BLOCK_M * BLOCK_N // (32 * num_warps),
        threads=32 * num_warps,
    )


def tile_budget_text(
    gpu: str, BLOCK_M: int, BLOCK_N: int, BLOCK_K: int, num_warps: int, num_stages: int
) -> str:
    """The estimate in words, for fp16 inputs on one of the GPUS."""
    card, need = GPUS[gpu], budget(BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages)
    shared = "fits" if need.fits(gpu) else "DOES NOT FIT"
    spill = "TOO MANY: spills to memory" if need.spills() else "fits"
    reuse = BLOCK_M * BLOCK_N / (BLOCK_M + BLOCK_N)
    return "\n".join(
        (
            f"{card.name}, tile {BLOCK_M} x {BLOCK_N}, steps of {BLOCK_K}, fp16",
            f"shared memory: {need.buffers(gpu)} * ({BLOCK_M} + {BLOCK_N}) * {BLOCK_K} * 2 = "
            f"{need.shared_bytes(gpu):,} of {card.shared_memory:,} bytes: {shared}",
            f"accumulator:   {BLOCK_M} * {BLOCK_N} / {need.threads} threads = "
            f"{need.accumulator} registers each",
            f"with the rest: about {need.registers} of {MOST_REGISTERS} registers: {spill}",
            f"one SM holds   about {need.blocks_per_sm(gpu)} such programs at a time",
            f"operations per byte loaded: {reuse:.0f}",
            _pipelining(need, gpu),
        )
    )


def _pipelining(need: Budget, gpu: str) -> str:
    """How the compiler implements the stages on that GPU."""
    processor = GPUS[gpu].architecture
    if not processor.dot_on_tensor_cores:
        return (
            f"Triton uses no tensor cores on {processor.name} and runs no stage ahead: expect "
            "spills and a slow kernel"
        )
    return f"{need.num_stages} stages keep {need.buffers(gpu)} buffers on {processor.name}"


def tile_budget(
    gpu: str = "H200",
    BLOCK_M: int = 128,
    BLOCK_N: int = 128,
    BLOCK_K: int = 64,
    num_warps: int = 4,
    num_stages: int = 3,
) -> Any:
    """Controls for the GPU and the meta-parameters, and below them `tile_budget_text`."""
    sides = (16, 32, 64, 128, 256)
    controls = {
        "gpu": choice("GPU", gpu, tuple(GPUS)),
        "BLOCK_M": choice("BLOCK_M", BLOCK_M, sides),
        "BLOCK_N": choice("BLOCK_N", BLOCK_N, sides),
        "BLOCK_K": choice("BLOCK_K", BLOCK_K, sides),
        "num_warps": choice("num_warps", num_warps, (1, 2, 4, 8, 16)),
        "num_stages": slider("num_stages", num_stages, 1, 6),
    }
    return follow(tile_budget_text, controls)
