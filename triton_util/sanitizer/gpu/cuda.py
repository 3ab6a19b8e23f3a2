"""`torch.cuda` on a machine without CUDA: the CPU answers as one described GPU.

Tensors that a program puts on "cuda" are made on the CPU, and every tensor reports the device
cuda:0, so that programs that test the device use their kernels. One line says so.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

from triton_util.sanitizer.gpu import allocations, answers, described, tensors
from triton_util.sanitizer.record import VARIABLE


def disguised() -> bool:
    """Whether this process answers programs that ask for CUDA."""
    return bool(_installed)


_installed: list[bool] = []


def install() -> None:
    """Answer `torch.cuda` and device="cuda" in this process; once, and only without a GPU."""
    if _installed or (torch.version.cuda is not None and torch.cuda.is_available()):
        return
    _installed.append(True)
    allocations.install()
    tensors.install(_say_so)
    answers.install()


def _say_so() -> None:
    """Print one line for the whole run, from whichever process comes first."""
    from triton_util.sanitizer.record import current

    if VARIABLE in os.environ and current.once("cuda-was-asked-for"):
        name = described.properties().name
        print(
            f'tilewise: "cuda" is answered by the CPU, described as {name} '
            f"(sm_{described.target()}).",
            file=sys.stderr,
        )


def install_driver() -> None:
    """Install the GPU driver that triton and launchers query."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    from triton_util.explain.offline import CompileOnlyDriver

    class DescribedUtils:
        """The properties of the described GPU."""

        @staticmethod
        def get_device_properties(device: Any = None) -> dict[str, Any]:
            return described.driver_properties()

    class DescribedDriver(CompileOnlyDriver):
        """Reports the GPU that kernels are compiled for, with tensors on the CPU."""

        utils = DescribedUtils()  # type: ignore[assignment]

        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", described.target(), 32)

        def get_active_torch_device(self) -> torch.device:
            return torch.device("cuda", 0) if disguised() else torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cuda if disguised() else torch.cpu

        def get_benchmarker(self) -> Any:
            import triton.testing

            return triton.testing.do_bench

        def get_empty_cache_for_benchmark(self) -> torch.Tensor:
            return torch.empty(1, dtype=torch.int32)

        def clear_cache(self, cache: torch.Tensor) -> None:
            """Do nothing: times are modelled, so the cache does not matter."""

    driver.set_active(DescribedDriver())
