"""Helpers for the launcher, the Python function that allocates and launches."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from triton_util.environment import interpreting

if TYPE_CHECKING:
    import torch


def cdiv(a: SupportsIndex, b: SupportsIndex) -> int:
    """How many blocks of `b` elements cover `a` elements: a / b, rounded up.

    >>> cdiv(10, 2), cdiv(10, 3), cdiv(0, 4)
    (5, 4, 0)

    Raises TypeError for a number that is not whole, ValueError unless `b` is positive.
    """
    try:
        count, size = operator.index(a), operator.index(b)
    except TypeError:
        raise TypeError(f"cdiv needs two whole numbers, not {a!r} and {b!r}") from None
    if size <= 0:
        raise ValueError(f"cdiv needs a positive block size, not {size}")
    return -(-count // size)


def check_tensors_gpu_ready(*tensors: torch.Tensor) -> None:
    """Raise an error with a clear message unless a kernel can take these tensors as they are.

    Each must be a tensor and contiguous, and all must be on one device: a GPU, or the CPU when
    TRITON_INTERPRET=1 runs kernels there. Raises TypeError or ValueError, which names the first
    tensor that is not ready (tensor 1 is the first) and says what to do about it.
    """
    import torch

    for position, tensor in enumerate(tensors, start=1):
        if not isinstance(tensor, torch.Tensor):
            kind = type(tensor).__name__
            raise TypeError(f"argument {position} is of type {kind}, not a torch.Tensor")
        if not tensor.is_contiguous():
            raise ValueError(
                f"tensor {position} (shape {tuple(tensor.shape)}, strides {tensor.stride()}) is "
                "not contiguous: call .contiguous() on it, or pass its strides to the kernel"
            )
        _check_device(position, tensor, tensors[0])


def _is_tritons(device: torch.device) -> bool:
    """Whether Triton's driver uses this device. Where kernels are compiled but not run (`explain`,
    the judge), tensors on the CPU represent tensors on a GPU.
    """
    from triton.runtime import driver

    try:
        return bool(driver.active.get_active_torch_device().type == device.type)
    except RuntimeError:  # there is no driver
        return False


def _check_device(position: int, tensor: torch.Tensor, first: torch.Tensor) -> None:
    if tensor.device != first.device:
        raise ValueError(
            f"tensor {position} is on {tensor.device}, tensor 1 on {first.device}: "
            "a kernel needs all of its tensors on one device"
        )
    if not (tensor.is_cuda or interpreting() or _is_tritons(tensor.device)):
        raise ValueError(
            f"tensor {position} is on {tensor.device}, and a compiled kernel can only reach GPU "
            "memory: move it with .to('cuda'), or set TRITON_INTERPRET=1 before triton is imported"
        )
