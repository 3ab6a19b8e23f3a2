"""Describes what happened in a job, as plain data for the report: launches, faults, errors."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import linecache
import traceback
from collections.abc import Mapping
from typing import Any

import torch

from graders.judge.sandbox.engine import Run
from graders.judge.sandbox.job_tensors import NoRoomError
from graders.judge.sandbox.protocol import JobPlan, Status
from triton_util.interpreter.blame import is_our_fault
from triton_util.interpreter.faults import Fault
from triton_util.interpreter.messages.translation import translate

MOST_ITEMS = 64
MOST_CHARACTERS = 2_000
_WATCHES_TORCH = "/watchers/fresh.py"  # all the launcher's torch operations go through it
_KERNEL_PATHS = ("/triton/", "/triton_util/interpreter/")
# A GPU's error for an illegal memory access, which corresponds to a signal on the CPU.
_GPU_CRASHES = ("illegal memory access", "misaligned address", "unspecified launch failure")
_GPU_ASSERTION = "device-side assert triggered"


def encode(report: dict[str, Any], limit: int) -> bytes:
    """Return the report as JSON of at most `limit` bytes; the least important parts go first."""
    for less in ("", "sides", "loads", "pointed", "aim", "traffic", "launches", "faults"):
        report.pop(less, None)
        raw = json.dumps(report, default=str).encode()
        if len(raw) <= limit:
            return raw
    return b"{}"


def launches(run: Run, job: JobPlan) -> dict[str, Any]:
    """Return one run's faults, launches and, if requested, traffic."""
    facts: dict[str, Any] = {
        "faults": [_fault(fault) for fault in run.faults[:MOST_ITEMS]],
        "launches": [_launch(launch) for launch in run.launches[:MOST_ITEMS]],
    }
    for launch in run.launches[:MOST_ITEMS][-1:]:  # only the last launch's are used
        facts["launches"][-1]["given"] = {
            str(fact["name"]): _given(fact)
            for fact in getattr(launch, "arguments", ())[:MOST_ITEMS]
        }
    if job.traffic:
        facts["traffic"] = _traffic(run)
    return facts


def aim(run: Run, out: torch.Tensor) -> dict[str, Any] | None:
    """Return where the last launch aimed its stores to the result; None if unknown."""
    with contextlib.suppress(Exception):  # an error in an explanation must not become a failure
        found = run.aims.told(_address(out))
        return None if found is None else dataclasses.asdict(found)
    return None


def pointed(run: Run, out: torch.Tensor | None) -> dict[str, Any] | None:
    """Return where each program pointed: in its stores to the result, or at the fault."""
    with contextlib.suppress(Exception):  # an error in an explanation must not become a failure
        programs = run.programs
        found = programs.stopped() if out is None else programs.stored_to(_address(out))
        return None if found is None else dataclasses.asdict(found)
    return None


def loads(run: Run, out: torch.Tensor) -> list[dict[str, Any]]:
    """Return what each program loaded from each argument except the result."""
    with contextlib.suppress(Exception):  # an error in an explanation must not become a failure
        found = run.programs.loaded_beside(_address(out))
        return [dataclasses.asdict(one) for one in found[:MOST_ITEMS]]
    return []


def stored_again(run: Run, out: torch.Tensor) -> torch.Tensor | None:
    """Return which elements of the result were stored again in a later round; None if unknown."""
    with contextlib.suppress(Exception):  # an error in an explanation must not become a failure
        return torch.from_numpy(run.programs.stored_again(out))
    return None


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def status(error: BaseException) -> Status:
    """Return the outcome that corresponds to an exception."""
    if isinstance(error, SystemExit):
        return "exited"
    if isinstance(error, NoRoomError):
        return "no-room"
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return "out-of-memory"
    if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
        return "out-of-memory"
    if any(words in str(error) for words in _GPU_CRASHES):
        return "crashed"
    return "raised"


def error(error: BaseException, job: JobPlan) -> dict[str, Any]:
    """Return the exception as a fault: the engine's own, or its type, text and line."""
    fault = getattr(error, "fault", None)
    if fault is not None:
        return _fault(fault)
    line = _line(error, job.filename)
    kind = type(error).__name__
    text = _text(error)
    code = _code(error)
    known = translate(error) if code == "kernel-error" else None
    told = f"{kind}: {text}" if text else kind
    return {
        "code": code,
        "message": known.message if known else told,
        "line": line,
        "source": linecache.getline(job.filename, line).strip() if line else "",
        "cause": known.advice if known else None,
    }


def _text(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"exit code {error.code!r}"
    root = error
    while root.__cause__ is not None and not str(root):
        root = root.__cause__
    text = str(root)
    if any(words in text for words in (*_GPU_CRASHES, _GPU_ASSERTION)):
        text = text.splitlines()[0]  # the next lines are CUDA's advice on debugging
    return text[:MOST_CHARACTERS]


def _line(error: BaseException, filename: str) -> int | None:
    """Return the innermost line of the submission in the exception's traceback."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    found = None
    cause: BaseException | None = error
    while cause is not None:
        for frame, line in traceback.walk_tb(cause.__traceback__):
            if frame.f_code.co_filename == filename:
                found = line
        cause = cause.__cause__
    return found


def _code(error: BaseException) -> str:
    if _GPU_ASSERTION in str(error):
        return "device-assert"
    if is_our_fault(error, translate(error) is not None):
        return "not-interpreted"
    return "kernel-error" if _in_kernel(error) else "exception"


def _in_kernel(error: BaseException) -> bool:
    frames = traceback.walk_tb(error.__traceback__)
    names = (frame.f_code.co_filename.replace("\\", "/") for frame, _ in frames)
    return any(
        part in name and not name.endswith(_WATCHES_TORCH)
        for name in names
        for part in _KERNEL_PATHS
    )


def _fault(fault: object) -> dict[str, Any]:
    fields = ("code", "message", "line", "source", "argument", "operation", "cause")
    told = {name: _plain(getattr(fault, name, None)) for name in fields}
    return {**told, "program": getattr(fault, "program_id", None), "outside": _outside(fault)}


def _outside(fault: object) -> dict[str, Any] | None:
    """Return which lanes left a tensor, and where they point; None for another fault."""
    span, first = getattr(fault, "offset_range", None), getattr(fault, "first_offset", None)
    if not isinstance(fault, Fault) or span is None or first is None:
        return None
    steps = zip(fault.shape, fault.strides, strict=True)
    return {
        "shape": fault.shape,
        "end": sum((size - 1) * step for size, step in steps) + 1 if all(fault.shape) else 0,
        "lanes": fault.lanes_outside,
        "active": fault.lanes_active,
        "first": first,
        "lowest": span[0],
        "highest": span[1],
    }


def _launch(launch: object) -> dict[str, Any]:
    kernel = getattr(launch, "kernel", "")
    meta = getattr(launch, "meta", {})
    return {
        "kernel": kernel if isinstance(kernel, str) else getattr(kernel, "__name__", ""),
        "grid": list(getattr(launch, "grid", ())),
        "meta": {str(name): _plain(value) for name, value in dict(meta).items()},
        "configs": getattr(launch, "configs", 1),
        "tf32": getattr(launch, "tf32", False),
    }


def _given(fact: Mapping[str, Any]) -> Any:
    """Return a number unchanged, or the shape of a tensor."""
    return f"tensor {fact['shape']}" if fact["kind"] == "tensor" else _plain(fact.get("value"))


def _traffic(run: Run) -> dict[str, Any]:
    """Return bytes by argument name, summed over the launches that compute the result.

    An autotuner's trial launches are left out: on a GPU they happen once, before any timing. But
    a kernel may leave in memory that it has run. So the chosen launch counts as much as the trial
    of its configuration.
    """
    totals: dict[str, Any] = {}
    tried: dict[tuple[object, ...], Any] = {}
    for launch in run.launches:
        traffic = getattr(launch, "traffic", None)
        if traffic is None:
            continue
        same = launch.kernel, launch.grid, repr(launch.meta)
        traffic = max(tried.pop(same, traffic), traffic, key=lambda one: one.bytes)
        if launch.modelled_ms is not None:
            tried[same] = traffic
            continue
        for name, figures in traffic.arguments.items():
            into = totals.setdefault(str(name), {})
            for key, value in _numbers(figures).items():
                into[key] = into.get(key, 0) + value
        for name, first in traffic.first_blocks().items():
            totals[str(name)].update(_order(first))
    return totals


def _order(first: Any) -> dict[str, int]:
    """Return figures about the block that each program loads first.

    These are the number of different blocks, the number of programs that load one, and whether
    the block numbers never decrease in launch order.
    """
    rising = bool((first[1:] >= first[:-1]).all())
    return {"blocks": len(set(first.tolist())), "programs": len(first), "rising": int(rising)}


def _numbers(figures: object) -> dict[str, int | float]:
    if dataclasses.is_dataclass(figures) and not isinstance(figures, type):
        figures = dataclasses.asdict(figures)
    if not isinstance(figures, Mapping):
        return {}
    return {str(k): v for k, v in figures.items() if isinstance(v, int | float)}


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:MOST_CHARACTERS]
