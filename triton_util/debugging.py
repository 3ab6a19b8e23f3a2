"""Look into a running kernel: print or stop for chosen programs only.

Both functions need the interpreter (TRITON_INTERPRET=1). A compiled kernel cannot call Python, so
Triton refuses them there. Remove them before you hand a kernel in.
"""

from __future__ import annotations

import os
import pdb
import sys
from types import FrameType
from typing import Any

from triton_util.conditions import matches
from triton_util.environment import in_notebook


def print_if(txt: object, conds: str = "") -> None:
    """Print `txt` in the programs that `conds` chooses (`triton_util.conditions`).

    `print_if(f"pid {pid}: offsets {offsets}", "=0")` prints in program 0 only.
    """
    if matches(conds, _program_ids()):
        print(txt)


def breakpoint_if(conds: str = "") -> None:
    """Stop in the debugger, inside the kernel, in the programs that `conds` chooses.

    It respects `PYTHONBREAKPOINT`. Without a notebook or a terminal to type in, it says so and
    continues.
    """
    if not matches(conds, _program_ids()):
        return
    if "PYTHONBREAKPOINT" in os.environ or sys.breakpointhook is not sys.__breakpointhook__:
        breakpoint()
        return
    if not in_notebook() and not (sys.stdin is not None and sys.stdin.isatty()):
        print("breakpoint_if: nobody can type here, so the kernel runs on")
        return
    _debugger().set_trace(_caller())


def _program_ids() -> tuple[int, int, int]:
    """The ids of the running program, axis 0 first."""
    language = sys.modules.get("triton.language")
    if language is None:
        raise RuntimeError(_OUTSIDE)
    try:
        ids = [int(language.program_id(axis)) for axis in range(3)]
    except (AttributeError, TypeError, ValueError, AssertionError) as error:
        raise RuntimeError(_OUTSIDE) from error
    return ids[0], ids[1], ids[2]


_OUTSIDE = (
    "print_if and breakpoint_if ask for the running program's id: call them inside a @triton.jit "
    "kernel that runs in the interpreter (TRITON_INTERPRET=1)"
)


def _caller() -> FrameType:
    """The frame of the kernel that called `breakpoint_if`."""
    return sys._getframe(2)


def _debugger() -> Any:
    if in_notebook():
        from IPython.core.debugger import Pdb

        return Pdb()
    return pdb.Pdb()
