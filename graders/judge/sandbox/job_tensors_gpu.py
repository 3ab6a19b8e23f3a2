"""A job's tensors on a GPU: copied there with their layout, and back after the job."""

from __future__ import annotations

import contextlib
import mmap

import torch

from graders.judge.sandbox import protocol
from graders.judge.sandbox.job_tensors import Memory, NoRoomError
from graders.judge.sandbox.protocol import Draw, JobPlan, Region, TensorPlace

_USUAL = (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8)


class DeviceMemory(Memory):
    """Arguments are views of storages on the GPU, with the same size, strides and offset.

    After the job the storages are copied back, so that the judge sees every change. A small
    storage is copied as a whole; of a storage of gigabytes, only what the view touches.
    `memory_bytes` limits torch's memory beyond the arguments, because other processes may use
    the same GPU.
    """

    device = "cuda"

    def __init__(self, shared: mmap.mmap, memory_bytes: int) -> None:
        super().__init__(shared)
        self._memory_bytes = memory_bytes
        self._storages: list[tuple[Region, torch.Tensor]] = []

    def storages(self, job: JobPlan) -> dict[int, torch.Tensor]:
        self._storages = []
        placed: dict[int, torch.Tensor] = {}
        if _takes_tensors(job):
            self.limit(sum({region.begin: region.length for region in job.regions()}.values()))
        try:
            return {
                number: self._storage(arg, placed)
                for number, arg in zip(job.inputs, job.args, strict=True)
                if number is not None and isinstance(arg, TensorPlace)
            }
        except torch.OutOfMemoryError as error:
            raise NoRoomError(str(error)) from error

    def limit(self, needed: int) -> None:
        """Limit torch's memory to `needed` bytes plus what a job may allocate."""
        whole = torch.cuda.get_device_properties(self.device).total_memory
        share = min(1.0, (needed + self._memory_bytes) / whole)
        torch.cuda.set_per_process_memory_fraction(share)

    def _storage(self, place: TensorPlace, placed: dict[int, torch.Tensor]) -> torch.Tensor:
        if place.draw is not None:
            return drawn(place, place.draw, self.device)
        if place.region.begin not in placed:
            placed[place.region.begin] = self._to_device(place.region)
            self._storages.append((place.region, placed[place.region.begin]))
        return placed[place.region.begin].view(protocol.dtype_of(place.dtype))

    def _to_device(self, region: Region) -> torch.Tensor:
        """Copy a storage to the device as bytes. Only `region.ranges` are copied."""
        storage = torch.empty(region.length, dtype=torch.uint8, device=self.device)
        host = self.host_tensor(region, torch.uint8, region.length)
        for first, last in region.ranges:
            storage[first:last].copy_(host[first:last])
        return storage

    def store(self, job: JobPlan, out: torch.Tensor) -> int:
        dtype = super().store(job, out)
        for region, storage in self._storages:
            host = self.host_tensor(region, torch.uint8, region.length)
            for first, last in region.ranges:
                host[first:last].copy_(storage[first:last])
        self._storages = []
        return dtype

    def wake(self, job: JobPlan) -> None:
        if _takes_tensors(job):
            with contextlib.suppress(Exception):  # the job will run into the error, and report it
                self.synchronize()

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def usable_after(self, error: BaseException) -> bool:
        """Whether this process can still use the GPU, after an error that may lose the context."""
        self._storages = []
        with contextlib.suppress(Exception):
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.zeros(1, device=self.device).add_(1).cpu()
            return True
        return False


def drawn(place: TensorPlace, draw: Draw, device: str) -> torch.Tensor:
    """Draw the values of a tensor on the device; return its storage as a 1D tensor."""
    dtype = protocol.dtype_of(place.dtype)
    storage = torch.empty(place.region.length // dtype.itemsize, dtype=dtype, device=device)
    draw_into(storage, place, draw.seed)
    return storage


def draw_into(storage: torch.Tensor, place: TensorPlace, seed: int) -> None:
    """Draw new values for a tensor, from another seed."""
    draw = place.draw
    assert draw is not None
    view = storage.as_strided(place.shape, place.stride, place.offset)
    generator = torch.Generator(device=storage.device).manual_seed(seed)
    view.normal_(draw.shift, draw.scale, generator=generator)


def start_device() -> None:
    """Create the CUDA context, and load the kernels of torch that every job needs."""
    for dtype in _USUAL:
        tensor = torch.full((64,), 1, dtype=dtype, device=DeviceMemory.device)
        torch.empty_like(tensor).copy_(tensor)
        tensor.as_strided((4, 4), (8, 1)).cpu()
    torch.cuda.synchronize()


def _takes_tensors(job: JobPlan) -> bool:
    return any(isinstance(arg, TensorPlace) for arg in job.args)
