"""The function that a grade cell calls when plain `nbgrader autograde` executes a notebook.

The learner's kernel cannot be trusted, so this asks the judge in a separate process. (With a
class's configuration, no notebook is executed at all.) Findings go to standard output; the
number returned is the partial credit. It writes nothing to standard error, because nbgrader
gives 0 for that.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from typing import Any, Literal

from graders.judge.records import GraderError

Part = Literal["public", "hidden"]
_processes: list[subprocess.Popen[str]] = []
_known: dict[str, dict[str, Any]] = {}


def grade_cell(exercise: str, part: Part) -> float:
    """Judge the learner's code of this notebook; print the findings, return the points.

    The result is between 0 and the points of the cell. If the judge fails, there is no
    result: under `nbgrader autograde` the kernel ends, so that nbgrader reports that it could
    not autograde the submission and leaves its grade open; elsewhere GraderError is raised.
    """
    try:
        marks = _marks(exercise, executed_cells())
        cell = marks[part]
        if cell["points"] is None:
            raise GraderError(cell["text"])
    except Exception as error:  # any error here is ours, not the learner's
        _leave_ungraded(f"{exercise}: {error}")
        raise GraderError(str(error)) from error
    print(cell["text"])
    return min(max(float(cell["points"]), 0.0), float(cell["max_points"]))


def executed_cells() -> list[str]:
    """Return the code cells that this kernel executed before the current one."""
    from IPython import get_ipython  # only the kernel knows them

    shell = get_ipython()
    if shell is None:
        raise GraderError("grade_cell only works in a notebook")
    return [text for text in shell.user_ns.get("In", [])[1:-1] if "grade_cell(" not in text]


def _marks(exercise: str, code: list[str]) -> dict[str, Any]:
    request = json.dumps({"exercise": exercise, "code": code})
    if request not in _known:
        answer = _ask(request)
        if "error" in answer:
            raise GraderError(answer["error"])
        _known[request] = answer["marks"]
    return _known[request]


def _ask(request: str) -> dict[str, Any]:
    process = _judge_process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(request + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise GraderError("the judge's process ended; `tilewise doctor` shows what works here")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _judge_process() -> subprocess.Popen[str]:
    """Return this kernel's judge process; the first call starts it."""
    if not _processes or _processes[-1].poll() is not None:
        environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
        process = subprocess.Popen(
            [sys.executable, "-m", "graders.grading.serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # on the kernel's, nbgrader would give 0
            text=True,
            env=environment,
        )
        _processes.append(process)
        atexit.register(process.kill)
    return _processes[-1]


def _leave_ungraded(reason: str) -> None:
    """Under `nbgrader autograde`, end the kernel, because an error in the cell gives 0."""
    if os.environ.get("NBGRADER_EXECUTION") != "autograde":
        return
    for process in _processes:
        process.kill()
    message = f"UNGRADED, and not a zero: {reason}\n"
    _say_to_nbgrader(message)
    os.kill(os.getpid(), signal.SIGKILL)


def _say_to_nbgrader(message: str) -> None:
    """Write to nbgrader's own terminal, through the kernel's real standard error."""
    stream = getattr(sys.stderr, "_original_stdstream_copy", None)
    if isinstance(stream, int):
        os.write(stream, message.encode())
