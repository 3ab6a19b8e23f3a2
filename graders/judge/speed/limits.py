"""The limits of an exercise's speed: its least work on any GPU, and times if there is a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from graders.judge.cases import tensors
from graders.judge.discovery import ROOT
from graders.judge.records import Arg, Exercise, GraderError, TensorSpec, Workload
from graders.judge.running.traffic import Moved
from triton_util.bench import Gpu
from triton_util.bench.speed_comparison import Modelled, SpeedComparison
from triton_util.explain import ExplainError
from triton_util.explain.explanation import explanation
from triton_util.explain.phrases import remarks
from triton_util.explain.service import compiled, request_for
from triton_util.hardware import ARCHITECTURES
from triton_util.notebook.source import Gathered

START_SECONDS = 240.0  # CUDA, torch.compile and every configuration of an autotuned kernel
MOST_REMARKS = 3


def least_bytes(work: Workload) -> tuple[float, float]:
    """Bytes that must be read and written: each input once, the output once."""
    out = work.torch(*(_layout(arg, "meta") for arg in work.args))
    return float(bytes_read(work)), float(out.numel() * out.element_size())


def bytes_read(work: Workload) -> int:
    """The bytes of the inputs, each read once."""
    specs = [arg for arg in work.args if isinstance(arg, TensorSpec)]
    return sum(torch.Size(spec.shape).numel() * spec.dtype.itemsize for spec in specs)


def _layout(arg: Arg, device: str) -> Any:
    """An argument without its values."""
    if not isinstance(arg, TensorSpec):
        return arg
    strides, offset, length = tensors.layout(arg)
    storage = torch.empty(length, dtype=arg.dtype, device=device)
    return storage.as_strided(arg.shape, strides, offset)


def modelled(exercise: Exercise, work: Workload) -> Modelled:
    """The least work of an exercise, which determines the limit on any GPU."""
    return Modelled(
        exercise.name, work.name, sum(least_bytes(work)), work.operations, work.tensor_cores
    )


def describe_traffic(moved: tuple[Moved, int] | None) -> str:
    """How many bytes a kernel moved in the interpreter, in words; "" if unknown."""
    if moved is None:
        return ""
    mine, model = moved
    if not mine.total:
        return "In the interpreter your kernel moves nothing yet."
    return (
        f"On a smaller case, in the interpreter, your kernel moves {mine.total / model:.2f} times "
        f"the bytes of the model solution. {mine.worst('There ')}"
    ).strip()


def has_gpu() -> bool:
    """Whether kernels can be timed on this machine."""
    return torch.cuda.is_available()


def measure_gpu(folder: Path) -> tuple[str, Gpu]:
    """Measure what this GPU's copies and matrix products reach, and save it in `folder`."""
    answer = _ask({"measure": True, "folder": str(folder)}, START_SECONDS)
    return str(answer["device"]), Gpu(**answer["gpu"])


def compare_speed(
    exercise: Exercise,
    folder: Path,
    *,
    source: str | None = None,
    name: str = "",
    seconds: float = 6.0,
    compiled_too: bool = True,
) -> SpeedComparison:
    """Time an exercise on the GPU of this machine, against torch and the model solution.

    source: the text of a submission; without it only the model solution is timed. It runs in a
    process of its own with the rights of this one: use it only for code that you would run anyway.

    Raises GraderError if nothing could be timed.
    """
    request = {
        "exercise": exercise.name,
        "source": source,
        "name": name,
        "seconds": seconds,
        "compiled": compiled_too,
        "folder": str(folder),
    }
    return SpeedComparison.from_json(_ask(request, START_SECONDS + 3 * seconds)["comparison"])


def _ask(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "graders.judge.speed.measuring"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env=_environment(),
            check=False,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise GraderError(f"timing did not come to an end within {seconds:.0f} s") from None
    except json.JSONDecodeError:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise GraderError(f"the process that times kernels ended early: {last[0]}") from None
    if not answer["ok"]:
        raise GraderError(str(answer["error"]))
    return answer


def _environment() -> dict[str, str]:
    """The environment for Triton on the GPU, whatever Triton mode the caller uses."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH", "")]))
    return kept


def compiler_remarks(
    source: str, launcher: str, work: Workload, capability: int
) -> tuple[str, ...]:
    """What the compiler's output says about a kernel's speed; () if it says nothing.

    Compiles in a process that runs the launcher without the sandbox, as `explain` does.
    """
    target = capability if capability in ARCHITECTURES else 90
    lines = len(source.splitlines())
    gathered = Gathered(launcher, source, (None,) * lines)
    args = [_layout(arg, "cpu") for arg in work.args]
    try:
        answer = compiled(request_for(gathered, False, args, {}, [target], 2))
    except ExplainError:
        return ()
    found = explanation(gathered, answer)
    told = [remark for made in found.made for remark in remarks(found, made)]
    return tuple(dict.fromkeys(told))[:MOST_REMARKS]
