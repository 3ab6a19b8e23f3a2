"""Times an exercise on the GPU of this machine, in a process of its own, for `tilewise bench`.

One JSON request on standard input, one JSON answer on standard output. The timed code runs in this
process without a sandbox, so use it only for your own code. What counts towards a grade is timed in
the sandbox (`gate`).
"""

from __future__ import annotations

import importlib.metadata
import json
import linecache
import os
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from graders.judge import discovery
from graders.judge.cases import tensors
from graders.judge.cases.compare import expect, wrong_elements
from graders.judge.records import Arg, Exercise, GraderError, TensorSpec, Workload
from graders.judge.speed import limits
from graders.judge.submission.loading import load as submission_in
from triton_util.bench import (
    Check,
    CudaClock,
    Gpu,
    TimingPlan,
    compare,
    find_gpu,
    floor_of,
    measure_mine,
)
from triton_util.bench.speed_comparison import (
    COMPILED,
    MINE,
    MODEL,
    TORCH,
    SpeedComparison,
    clocks_of,
    keep_gpu,
    kept_gpu,
    runner_of,
)

DEVICE = "cuda"
MODULE = "submission"


def device_inputs(args: tuple[Arg, ...], seed: int) -> tuple[Any, ...]:
    """New arguments on the GPU, with the layouts of their specifications."""
    generator = torch.Generator(device=DEVICE).manual_seed(seed + 2**20)
    return tuple(_on_gpu(arg, generator) if isinstance(arg, TensorSpec) else arg for arg in args)


def _on_gpu(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    strides, offset, length = tensors.layout(spec)
    # For an honest comparison every input begins where a fresh allocation does.
    storage = torch.empty(length, dtype=spec.dtype, device=DEVICE)
    view = storage.as_strided(spec.shape, strides, offset)
    view.normal_(generator=generator)
    return view


def checker(exercise: Exercise) -> Check:
    """A function that checks every element of every timed output with the judge's tolerance."""
    known: list[Any] = [None, None]

    def check(args: tuple[Any, ...], output: Any) -> str:
        if known[0] is not args:
            known[:] = args, expect(exercise, args)[0]
        expectation = known[1]
        if not isinstance(output, torch.Tensor) or tuple(output.shape) != expectation.shape:
            return "it is no tensor of the right shape"
        wrong = int(wrong_elements(output, expectation).sum())
        return f"{wrong:,} of {output.numel():,} elements are wrong" if wrong else ""

    return check


def load(source: str, name: str, filename: str) -> Callable[..., Any]:
    """Execute a submission as a module, and return its launcher."""
    module = types.ModuleType(MODULE)
    module.__file__ = filename
    sys.modules[MODULE] = module
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)  # triton.jit asks for it
    exec(compile(source, filename, "exec"), module.__dict__)
    launcher: Callable[..., Any] = module.__dict__[name]
    return launcher


def contenders(
    exercise: Exercise, work: Workload, source: str | None, filename: str, compiled: bool
) -> dict[str, Callable[..., Any]]:
    """The functions to compare, the learner's launcher first."""
    found: dict[str, Callable[..., Any]] = {}
    if source is not None:
        found[MINE] = load(source, exercise.name, filename)
    model = discovery.model_path(exercise)
    if model is not None:
        submission = submission_in(model, exercise)
        found[MODEL] = load(submission.source, exercise.name, str(model))
    found[TORCH] = work.torch
    if compiled:
        found[COMPILED] = torch.compile(lambda *args: work.torch(*args), dynamic=False)
    return found


def gpu_here(folder: Path, clock: CudaClock, measure: bool) -> tuple[Gpu, bool]:
    """The GPU of this machine, and whether its rates were measured."""
    device = torch.cuda.get_device_name()
    known = kept_gpu(folder, device)
    if measure or (known is None and find_gpu(device) is None):
        known = measure_mine(clock, TimingPlan(max_seconds=4.0))
        keep_gpu(folder, device, known)
    if known is not None:
        return known, True
    listed = find_gpu(device)
    assert listed is not None
    return listed, False


def time_exercise(request: Mapping[str, Any], clock: CudaClock, gpu: Gpu, measured: bool) -> Any:
    """The speeds of one exercise side by side, as JSON."""
    exercise = discovery.exercise(request["exercise"])
    work = discovery.workload(exercise.name)
    if work is None:
        raise GraderError(f"{exercise.name} is too small a thing for its speed to be measured")
    read, written = limits.least_bytes(work)
    believable = find_gpu(torch.cuda.get_device_name()) or gpu
    timings = compare(
        contenders(exercise, work, request["source"], request["name"], request["compiled"]),
        lambda seed: device_inputs(work.args, seed),
        check=checker(exercise),
        floor_ms=floor_of(
            read, written, work.operations, believable, tensor_cores=work.tensor_cores
        ),
        plan=TimingPlan(min_rounds=15, max_rounds=200, max_seconds=float(request["seconds"])),
        clock=clock,
    )
    return SpeedComparison(
        exercise=exercise.name,
        workload=work.name,
        gpu=gpu,
        measured=measured,
        n_bytes=read + written,
        operations=work.operations,
        tensor_cores=work.tensor_cores,
        runners=tuple(runner_of(timing) for timing in timings),
        notes=timings[0].notes,
        clocks=clocks_of(timings),
        versions=", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("torch", "triton")),
    ).to_json()


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request: `measure` the GPU, or time an `exercise`."""
    clock = CudaClock()
    gpu, measured = gpu_here(Path(request["folder"]), clock, bool(request.get("measure")))
    if request.get("measure"):
        return {"ok": True, "device": torch.cuda.get_device_name(), "gpu": vars(gpu)}
    return {"ok": True, "comparison": time_exercise(request, clock, gpu, measured)}


def main() -> None:
    """Answer one request; everything else that is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        found = answer(json.load(sys.stdin))
    except Exception as error:  # reported to the caller in one line
        found = {"ok": False, "error": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(found) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
