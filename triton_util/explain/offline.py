"""A substitute for the GPU driver: answers Triton and launchers, but launches nothing."""

from __future__ import annotations

from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import driver

from triton_util.hardware import GPUS, WARP

A100 = GPUS["A100"]
PROPERTIES = {  # of an A100: the smaller of the two targets
    "max_shared_mem": A100.shared_memory,
    "max_num_regs": A100.architecture.registers,
    "multiprocessor_count": A100.processors,
    "warpSize": WARP,
    "sm_clock_rate": 1410000,
    "mem_clock_rate": 1215000,
    "mem_bus_width": 5120,
}


class _Utils:
    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        return dict(PROPERTIES)


class CompileOnlyDriver(DriverBase):  # type: ignore[misc]  # triton has no types
    """Reports sm_80 on device 0, with tensors on the CPU."""

    utils = _Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 80, 32)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_interface(self) -> Any:
        return torch.cpu

    def get_benchmarker(self) -> Any:
        raise RuntimeError("nothing is timed while compiling")


def install() -> None:
    """Make it the active driver of this process."""
    driver.set_active(CompileOnlyDriver())
