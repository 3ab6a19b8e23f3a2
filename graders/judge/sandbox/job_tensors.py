"""The tensors of a job in the worker: arguments out of the shared memory, the result into it."""

from __future__ import annotations

import mmap

import torch

from graders.judge.sandbox import protocol
from graders.judge.sandbox.protocol import JobPlan, Region, TensorPlace


class NoRoomError(Exception):
    """The judge's own tensors do not fit on the device: no fault of the submission."""


class Memory:
    """What both devices share."""

    device = "cpu"

    def __init__(self, shared: mmap.mmap) -> None:
        self.shared = shared

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        """The storages of the arguments by their number in the plan, each as a 1D tensor."""
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

    def store(self, job: JobPlan, out: torch.Tensor) -> int:
        """Copy the result into its slot; the index of its dtype among protocol.INTEGERS."""
        count = protocol.elements(job.out_shape)
        slot = self.host_tensor(job.out, out.dtype, count).view(job.out_shape)
        slot.copy_(out.detach())
        return protocol.INTEGERS.index(out.dtype) if out.dtype in protocol.INTEGERS else 0

    def store_map(
        self, job: JobPlan, never_stored: torch.Tensor, again: torch.Tensor | None = None
    ) -> int:
        """Copy the map of what no kernel stored, and of what one stored in a later round; say that
        it is there.
        """
        codes = never_stored.to(torch.uint8) * protocol.NEVER_STORED
        if again is not None:
            codes[again & ~never_stored] = protocol.STORED_AGAIN
        raw = codes.contiguous().view(-1).numpy().tobytes()
        self.shared[job.stored.start : job.stored.start + job.stored.length] = raw
        return protocol.MAPPED


class HostMemory(Memory):
    """Arguments are views of the shared memory itself: what is done to them is seen."""

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        return {
            number: self._storage(arg)
            for number, arg in zip(job.inputs, job.args, strict=True)
            if number is not None and isinstance(arg, TensorPlace)
        }

    def _storage(self, place: TensorPlace) -> torch.Tensor:
        dtype = protocol.dtype_of(place.dtype)
        return self.host_tensor(place.region, dtype, place.region.length // dtype.itemsize)
