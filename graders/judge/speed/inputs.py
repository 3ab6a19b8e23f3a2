"""The arguments on which speed is measured, and their expected results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation, expect
from graders.judge.records import Arg, Case, Exercise, TensorSpec, Workload
from graders.judge.sandbox import protocol
from graders.judge.sandbox.job_tensors_gpu import drawn
from graders.judge.sandbox.protocol import Draw
from graders.judge.sandbox.work import Drawn
from graders.judge.speed.limits import bytes_read


@dataclass(frozen=True)
class Inputs:
    """Two sets of arguments, and the expected result of each on the GPU.

    `least_bytes` are the bytes that any solution must read, and those that it must write.
    """

    sets: tuple[tuple[Any, ...], tuple[Any, ...]]
    expectations: tuple[Expectation, Expectation]
    least_bytes: tuple[float, float]


def prepare(exercise: Exercise, work: Workload) -> Inputs:
    """Draw two sets of arguments, and compute their expected results on the GPU."""
    seed = int.from_bytes(torch.randint(256, (7,), dtype=torch.uint8).numpy().tobytes(), "big")
    sets = tuple(_arguments(work, seed + number * len(work.args)) for number in range(2))
    expectations = tuple(expect(exercise, _to_gpu(args))[0] for args in sets)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()  # others need the memory of intermediate results
    written = expectations[0].values.numel() * expectations[0].dtype.itemsize
    return Inputs(
        (sets[0], sets[1]),
        (expectations[0], expectations[1]),
        (float(bytes_read(work)), float(written)),
    )


def _arguments(work: Workload, seed: int) -> tuple[Any, ...]:
    """One set of arguments. The GPU draws its own where it can, which saves the copy."""
    if not torch.cuda.is_available():
        return tensors.build(Case(work.name, work.args), seed)
    return tuple(_argument(arg, seed + place) for place, arg in enumerate(work.args))


def _argument(arg: Arg, seed: int) -> Any:
    if not isinstance(arg, TensorSpec):
        return arg
    plain = arg.fill == "normal" and not arg.values and not arg.garbage
    if not plain or not arg.dtype.is_floating_point or arg.dtype.itemsize < 2:
        return tensors.build_tensor(arg, torch.Generator().manual_seed(seed))
    strides, offset, length = tensors.layout(arg)
    draw = Draw(seed, arg.scale, arg.shift)
    return Drawn(arg.shape, strides, offset, length, arg.dtype, draw)


def _to_gpu(args: tuple[Any, ...]) -> tuple[Any, ...]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tuple(_on(arg, device) for arg in args)


def _on(arg: Any, device: str) -> Any:
    if isinstance(arg, Drawn):
        region = protocol.Region(0, 0, arg.length * arg.dtype.itemsize)
        storage = drawn(arg.place(region), arg.draw, device)
        return storage.as_strided(arg.shape, arg.strides, arg.offset)
    return arg.to(device) if isinstance(arg, torch.Tensor) else arg
