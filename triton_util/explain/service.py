"""Ask the compiling process about a function of the session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triton_util.notebook.session import Session, of_caller, script_cells
from triton_util.notebook.source import Gathered, gather, inner_function

SECONDS = 300.0
PLAIN = (int, float, bool, str, type(None))


class ExplainError(Exception):
    """The kernel cannot be explained; the message says why, and what to do."""


def gathered(function: Any, frame: Any) -> Gathered:
    """The source of a launcher or kernel with everything that it needs."""
    inner = inner_function(function)
    if inner is None:
        raise ExplainError(f"explain takes a launcher or a kernel, not {type(function).__name__}.")
    session = of_caller(frame)
    if inner.__globals__ is not session.namespace:
        session = Session(inner.__globals__, script_cells(inner.__globals__))
    return gather(inner.__name__, function, session)


def described(value: Any, name: str) -> dict[str, Any]:
    """An argument in a form that the compiling process can rebuild; of a tensor only its layout."""
    if isinstance(value, PLAIN):
        return {"value": value}
    if not (hasattr(value, "untyped_storage") and hasattr(value, "stride")):
        raise ExplainError(
            f"The argument {name} is a {type(value).__name__}. Pass tensors, numbers and strings."
        )
    offset = value.storage_offset()
    reach = sum((n - 1) * s for n, s in zip(value.shape, value.stride(), strict=True) if n)
    return {
        "shape": list(value.shape),
        "strides": list(value.stride()),
        "offset": offset,
        "length": offset + max(0, reach) + 1,
        "dtype": str(value.dtype).removeprefix("torch."),
    }


def compiled(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the compiling process; raises ExplainError with its reason."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "triton_util.explain.compiler"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ExplainError("Compiling did not come to an end. Use smaller blocks.") from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise ExplainError(f"The compiler crashed.\n{_tail(done.stderr)}") from None
    if "error" in answer:
        raise ExplainError(
            f"It cannot be compiled: {answer['error']}\n{_tail(done.stderr)}".strip()
        )
    return answer


def request_for(
    source: Gathered,
    is_kernel: bool,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    targets: Sequence[int],
    limit: int,
) -> dict[str, Any]:
    """The request for the compiling process."""
    return {
        "source": source.text,
        "name": source.launcher,
        "is_kernel": is_kernel,
        "args": [described(value, str(place)) for place, value in enumerate(args, start=1)],
        "kwargs": {name: described(value, name) for name, value in kwargs.items()},
        "targets": list(targets),
        "limit": limit,
    }


def _environment() -> dict[str, str]:
    """The environment for compiling with Triton, even if the notebook uses it as an interpreter."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    root = str(Path(__file__).parents[2])
    paths = [root, kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    kept.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    return kept


def _tail(stderr: str) -> str:
    return "\n".join(stderr.strip().splitlines()[-8:])
