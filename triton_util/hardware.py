"""The limits of GPUs: the one table that all figures, limits and estimates come from.

Rates are from the vendors' datasheets, dense, at boost clock; sizes are what the driver reports.
Each GPU has an architecture, which sets the capacity of one of its processors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KIB, MIB = 2**10, 2**20
WARP = 32  # threads
MOST_REGISTERS = 255  # per thread
REGISTER_UNIT = 256  # registers are allocated to a warp in multiples of this


@dataclass(frozen=True)
class Architecture:
    """The capacity of one processor of an architecture.

    arch: major * 10 + minor, as in sm_90. shared_per_program: the most bytes of shared memory for
    one program; each program takes `reserved` bytes more. threads, programs: the maximum.
    """

    arch: int
    cards: str
    shared_per_program: int
    shared_per_processor: int
    reserved: int
    threads: int
    programs: int
    registers: int = 65_536  # of 32 bits

    @property
    def name(self) -> str:
        return f"sm_{self.arch}"

    @property
    def dot_on_tensor_cores(self) -> bool:
        """Whether Triton (3.6 to 3.9) compiles `tl.dot` for the tensor cores.

        Below sm_80 it compiles it to ordinary multiply-adds, even on hardware with tensor cores.
        """
        return self.arch >= 80

    def buffers(self, num_stages: int) -> int:
        """How many tiles of each operand a pipelined `tl.dot` keeps in shared memory.

        As compiled by Triton 3.9: from sm_90 on one for each stage; before that the last stage is
        in registers; below sm_80 loops are not pipelined.
        """
        if not self.dot_on_tensor_cores:
            return 1
        return num_stages if self.arch >= 90 else max(1, num_stages - 1)

    @property
    def warps(self) -> int:
        """The most warps that one processor holds at a time."""
        return self.threads // WARP


def _architecture(
    arch: int, cards: str, shared_kib: int, threads: int, programs: int
) -> Architecture:
    reserved = KIB if arch >= 80 else 0
    shared = shared_kib * KIB
    return Architecture(arch, cards, shared, shared + reserved, reserved, threads, programs)


ARCHITECTURES: Mapping[int, Architecture] = {
    architecture.arch: architecture
    for architecture in (
        _architecture(75, "T4, RTX 20", 64, 1024, 16),
        _architecture(80, "A100", 163, 2048, 32),
        _architecture(86, "RTX 30", 99, 1536, 16),
        _architecture(89, "L4, RTX 40", 99, 1536, 24),
        _architecture(90, "H100, H200", 227, 2048, 32),
        _architecture(100, "B200", 227, 2048, 32),
    )
}


@dataclass(frozen=True)
class Gpu:
    """The limits of one kind of GPU.

    gbytes_per_second: memory bandwidth, 10^9 bytes per second. fp32_tflops: outside tensor
    cores. fp16_tflops: matrix products of float16 with float32 sums on tensor cores, dense.
    shared_memory: bytes that one program can have. capability: major * 10 + minor.
    """

    name: str
    capability: int
    gbytes_per_second: float
    fp32_tflops: float
    fp16_tflops: float
    l2_bytes: int
    processors: int
    shared_memory: int
    bfloat16: bool = True

    @property
    def architecture(self) -> Architecture:
        """The architecture of this GPU; KeyError if the table lacks it."""
        return ARCHITECTURES[self.capability]

    def peak_tflops(self, tensor_cores: bool) -> float:
        return self.fp16_tflops if tensor_cores else self.fp32_tflops

    def ridge(self, tensor_cores: bool) -> float:
        """Operations per byte above which arithmetic, not memory, is the limit."""
        return self.peak_tflops(tensor_cores) * 1000 / self.gbytes_per_second

    def attainable_tflops(self, intensity: float, tensor_cores: bool) -> float:
        """The most that a kernel with `intensity` operations per byte can reach."""
        return min(intensity * self.gbytes_per_second / 1000, self.peak_tflops(tensor_cores))


def _gpu(
    name: str,
    capability: int,
    gbytes_per_second: float,
    fp32_tflops: float,
    fp16_tflops: float,
    l2_mib: int,
    processors: int,
) -> Gpu:
    return Gpu(
        name,
        capability,
        gbytes_per_second,
        fp32_tflops,
        fp16_tflops,
        l2_mib * MIB,
        processors,
        ARCHITECTURES[capability].shared_per_program,
        bfloat16=capability >= 80,
    )


GPUS: Mapping[str, Gpu] = {
    "T4": _gpu("T4", 75, 320, 8.1, 65, 4, 40),
    "L4": _gpu("L4", 89, 300, 30.3, 121, 48, 58),
    "A100": _gpu("A100 80 GB SXM", 80, 2039, 19.5, 312, 40, 108),
    "H100": _gpu("H100 SXM", 90, 3350, 66.9, 989.4, 50, 132),
    "H200": _gpu("H200", 90, 4800, 66.9, 989.4, 60, 132),
    "RTX 3090": _gpu("RTX 3090", 86, 936, 35.6, 71, 6, 82),
    "RTX 4090": _gpu("RTX 4090", 89, 1008, 82.6, 165.2, 72, 128),
}
OF_THE_COURSE = {name: GPUS[name] for name in ("T4", "A100", "H100", "H200")}  # for its figures


def find_gpu(device: str) -> Gpu | None:
    """The GPU for a device name such as 'NVIDIA H100 80GB HBM3', or None.

    The 40 GB A100, the PCIe H100 and the laptop RTX cards have lower limits than the models in the
    table. On those, a time only looks *further* from its limit than it is.
    """
    words = device.replace("-", " ").upper().split()
    for key, gpu in GPUS.items():
        if all(word in words for word in key.upper().split()):
            return gpu
    return None
