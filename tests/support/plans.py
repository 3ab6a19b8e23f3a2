"""Jobs for workers, made by hand: steps of a launch plan without any launcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch

from graders.judge.plan.steps import (
    Allocate,
    Copy,
    Kernel,
    Launch,
    Parameter,
    Step,
    TensorRef,
    steps_to_text,
    to_json,
)
from graders.judge.sandbox.pool import Job, Work
from graders.judge.sandbox.protocol import dtype_name
from tests.support.submissions import with_codes

OUT = 100  # the storage of the result
DType = torch.dtype | Literal["any-integer"]


def ref_to(tensor: torch.Tensor, storage: int = 0) -> TensorRef:
    """The view that a tensor is, in a storage of the plan."""
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    return TensorRef(
        storage, dtype_name(tensor.dtype), shape, strides, int(tensor.storage_offset())
    )


def new(*shape: int, dtype: torch.dtype = torch.float32, storage: int = OUT) -> TensorRef:
    """A dense tensor in a storage of its own."""
    empty = torch.empty(shape, dtype=dtype, device="meta")
    return TensorRef(storage, dtype_name(dtype), tuple(shape), tuple(empty.stride()), 0)


def allocating(view: TensorRef) -> Allocate:
    """The step that makes the memory of a dense tensor."""
    return Allocate(view.storage, view.dtype, torch.Size(view.shape).numel(), 1)


def job(
    steps: Sequence[Step],
    result: TensorRef,
    *args: Any,
    source: str = "",
    kernels: Sequence[Kernel] = (),
    dtype: DType | None = None,
    **limits: Any,
) -> Job:
    """A job of these steps; its tensor arguments have the storages 0, 1, …"""
    work = Work(
        source=source,
        filename="s.py",
        kernels=[to_json(kernel) for kernel in with_codes(kernels, source)],
        steps=steps_to_text(steps),
        result=result.to_json(),
        inputs=tuple(n if isinstance(a, torch.Tensor) else None for n, a in enumerate(args)),
    )
    dtype = dtype or getattr(torch, result.dtype)
    return Job(work, args, result.shape, dtype, **limits)


def copying(view: torch.Tensor, *steps: Step, **limits: Any) -> Job:
    """Perform the steps, then copy the first argument into the result."""
    out = new(*view.shape, dtype=view.dtype)
    return job([*steps, allocating(out), Copy(out, ref_to(view))], out, view, **limits)


def making(result: TensorRef, *steps: Step, dtype: DType | None = None) -> Job:
    """Allocate the result and perform the steps; without arguments."""
    return job([allocating(result), *steps], result, dtype=dtype)


def endless(seconds: float) -> Job:
    """A kernel that never ends."""
    source = "def kernel(out_ptr):\n    while True:\n        pass\n"
    kernel, out = Kernel(1, "kernel", {}, (Parameter("out_ptr"),)), new(1)
    steps = [allocating(out), Launch(0, [1], (out.to_json(),), {}, 1)]
    return job(steps, out, source=source, kernels=[kernel], seconds=seconds)


def constant() -> Job:
    """A job that is done at once."""
    return making(new(1))
