"""A warm process like the real one, but for one thing: its children run any Python.

What a child of the sandbox runs has nothing of a submission but its kernels. Whether the jail
around it holds is asked here by code that could do anything: the `source` of a job. What it prints
comes back as `returned`, what it raises as `error`.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from graders.judge.sandbox import zygote


def run_text(plan: Any, shared: mmap.mmap, device: str) -> None:
    """In the jail, in the place of `sandbox.child.run_jobs`."""
    reporter, printed = run_task.Reporter(shared), io.StringIO()
    reporter.begin(plan.jobs[0])
    try:
        with contextlib.redirect_stdout(printed):
            exec(plan.source, {"__name__": "inside"})
    except BaseException as error:
        told = {"code": "exception", "message": f"{type(error).__name__}: {error}"}
        reporter.done("raised", {"error": told})
    else:
        reporter.done("returned", {"returned": printed.getvalue()})


if __name__ == "__main__":
    from graders.judge.sandbox import run_task

    run_task.run_jobs = run_text
    zygote.main()
