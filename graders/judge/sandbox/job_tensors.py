"""A job's tensors in the worker: reads arguments from shared memory, writes the result to it."""

from __future__ import annotations

import mmap

import torch

from graders.judge.sandbox import protocol
from graders.judge.sandbox.protocol import JobPlan, Region, TensorPlace


class NoRoomError(Exception):
    """The judge's own tensors do not fit on the device, which is not the submission's fault."""


class Memory:
    """The part that is the same for both devices."""

    device = "cpu"

    def __init__(self, shared: mmap.mmap) -> None:
        self.shared = shared

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        """Return the arguments' storages by their number in the plan, each as a 1D tensor."""
        raise NotImplementedError

    def wake(self, job: JobPlan) -> None:
        """Start the device, before the job's time begins."""

    def synchronize(self) -> None:
        """Wait for the device, so that its errors belong to this job."""

    def usable_after(self, error: BaseException) -> bool:
        """Whether this process can run another job after `error`."""
        return True

    def host_tensor(self, region: Region, dtype: torch.dtype, count: int) -> torch.Tensor:
        """Return a 1D tensor whose storage is exactly the region."""
        if count == 0:
            return torch.zeros(0, dtype=dtype)
        return torch.frombuffer(self.shared, dtype=dtype, count=count, offset=region.start)

    def store(self, job: JobPlan, out: torch.Tensor) -> int:
        """Copy the result into its slot; return the index of its dtype in protocol.INTEGERS."""
        count = protocol.elements(job.out_shape)
        slot = self.host_tensor(job.out, out.dtype, count).view(job.out_shape)
        slot.copy_(out.detach())
        return protocol.INTEGERS.index(out.dtype) if out.dtype in protocol.INTEGERS else 0

    def store_map(
        self, job: JobPlan, never_stored: torch.Tensor, again: torch.Tensor | None = None
    ) -> int:
        """Copy the map of elements never stored, or stored again in a later round.

        Return the code of the header that says so.
        """
        codes = never_stored.to(torch.uint8) * protocol.NEVER_STORED
        if again is not None:
            codes[again & ~never_stored] = protocol.STORED_AGAIN
        raw = codes.contiguous().view(-1).numpy().tobytes()
        self.shared[job.stored.start : job.stored.start + job.stored.length] = raw
        return protocol.MAPPED


class HostMemory(Memory):
    """Arguments are views of the shared memory itself, so the judge sees every change."""

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        return {
            number: self._storage(arg)
            for number, arg in zip(job.inputs, job.args, strict=True)
            if number is not None and isinstance(arg, TensorPlace)
        }

    def _storage(self, place: TensorPlace) -> torch.Tensor:
        dtype = protocol.dtype_of(place.dtype)
        return self.host_tensor(place.region, dtype, place.region.length // dtype.itemsize)
