"""The tensors of a job in the worker: arguments out of the shared memory, the result into it."""

from __future__ import annotations

import mmap
from collections import deque
from typing import Any

import numpy as np
import torch

from graders.judge.sandbox import protocol
from graders.judge.sandbox.protocol import JobPlan, Region, TensorPlace

KEPT_RESULTS, KEPT_BYTES = 32, 1 << 20  # earlier results that are held on to, each at most so large


class NoRoomError(Exception):
    """The judge's own tensors do not fit on the device: no fault of the submission."""


class Memory:
    """What both devices share: the checks of what came back."""

    device = "cpu"

    def __init__(self, shared: mmap.mmap) -> None:
        self.shared = shared
        # Held, so that nobody can get their memory again by right.
        self._earlier: deque[torch.Tensor] = deque(maxlen=KEPT_RESULTS)

    def arguments(self, job: JobPlan) -> tuple[Any, ...]:
        """The launcher's arguments: fresh views with the layout that the judge chose."""
        raise NotImplementedError

    def wake(self, job: JobPlan) -> None:
        """Start the device, before the time of the job begins."""

    def synchronize(self) -> None:
        """Wait for the device, so that its errors belong to this job."""

    def usable_after(self, error: BaseException) -> bool:
        """Whether this process can run another job after `error`."""
        return True

    def host_tensor(self, region: Region, dtype: torch.dtype, count: int) -> torch.Tensor:
        """A 1D tensor whose storage is exactly the region."""
        if count == 0:
            return torch.zeros(0, dtype=dtype)
        return torch.frombuffer(self.shared, dtype=dtype, count=count, offset=region.start)

    def complaint(self, job: JobPlan, args: tuple[Any, ...], out: object) -> str:
        """Why `out` cannot be a result, in words that follow "but"; empty if it can."""
        if type(out) is not torch.Tensor:
            return f"it returned {_in_words(out)}"
        if out.layout != torch.strided or out.is_quantized:
            return f"it returned a tensor with layout {out.layout}, not an ordinary one"
        if tuple(out.shape) != job.out_shape:
            return (
                f"it returned a tensor of shape {tuple(out.shape)}, "
                f"where the shape {job.out_shape} is expected"
            )
        if not _right_dtype(job, out):
            return f"it returned a tensor of dtype {protocol.dtype_name(out.dtype)}"
        if job.dense and not out.is_contiguous():
            return (
                f"it returned a tensor with strides {out.stride()}, which is not contiguous: "
                "torch.empty_like of a transposed view, and a transposed view of a dense "
                "tensor, have their columns one after another in memory, not their rows"
            )
        if out.device.type != self.device:
            return f"it returned a tensor on the device {out.device.type!r}"
        for position, arg in enumerate(args):
            if isinstance(arg, torch.Tensor) and _share_memory(out, arg):
                return f"it returned a tensor that shares its memory with argument {position + 1}"
        if any(_share_memory(out, earlier) for earlier in self._earlier):
            return (
                "it returned the tensor of an earlier call again, whose result is overwritten: a "
                "buffer that is kept in a global or in a default argument is not a new tensor"
            )
        if out.numel() * out.element_size() <= KEPT_BYTES:
            self._earlier.append(out)
        return ""

    def store(self, job: JobPlan, args: tuple[Any, ...], out: torch.Tensor) -> int:
        """Copy the result into its slot; the index of its dtype among protocol.INTEGERS."""
        count = protocol.elements(job.out_shape)
        slot = self.host_tensor(job.out, out.dtype, count).view(job.out_shape)
        slot.copy_(out.detach())
        return protocol.INTEGERS.index(out.dtype) if out.dtype in protocol.INTEGERS else 0

    def store_map(self, job: JobPlan, never_stored: np.ndarray[Any, Any] | None) -> int:
        """Copy the engine's map, where it has one, and say whether it had."""
        if never_stored is None:
            return 0
        raw = np.ascontiguousarray(never_stored, dtype=np.uint8).tobytes()
        self.shared[job.stored.start : job.stored.start + job.stored.length] = raw
        return 1


class HostMemory(Memory):
    """Arguments are views of the shared memory itself: what is done to them is seen."""

    def arguments(self, job: JobPlan) -> tuple[Any, ...]:
        return tuple(self._tensor(arg) if isinstance(arg, TensorPlace) else arg for arg in job.args)

    def _tensor(self, place: TensorPlace) -> torch.Tensor:
        dtype = protocol.dtype_of(place.dtype)
        base = self.host_tensor(place.region, dtype, place.region.length // dtype.itemsize)
        return base.as_strided(place.shape, place.stride, place.offset)


def _right_dtype(job: JobPlan, out: torch.Tensor) -> bool:
    if job.out_dtype == protocol.ANY_INTEGER:
        return out.dtype in protocol.INTEGERS
    return out.dtype == protocol.dtype_of(job.out_dtype)


def _share_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both lie in one storage; tensors without elements share nothing."""
    if not one.numel() or not other.numel():
        return False
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _in_words(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)} values"
    if isinstance(value, torch.Tensor):
        return f"a {type(value).__name__}, which is not a plain torch.Tensor"
    return f"a value of type {type(value).__name__}"
