"""The sanitizer in a whole process: starts when triton is imported, ends with the process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from types import TracebackType
from typing import Any

from triton_util.sanitizer.checking import checking, prepare
from triton_util.sanitizer.record import current

_stack = contextlib.ExitStack()


def attach() -> None:
    """Check every launch of this process from now on."""
    prepare()
    run = _stack.enter_context(checking())
    atexit.register(run.finish)
    os.register_at_fork(after_in_child=run.forked)
    _finish_before_exit(run.finish)
    _leave_faults_to_the_report(run)


def _finish_before_exit(finish: Any) -> None:
    """Finish in `os._exit` too: forked processes end with it, and it runs no exit handlers."""
    leave = os._exit

    def leave_with_record(status: int) -> Any:
        with contextlib.suppress(BaseException):
            finish()
        leave(status)

    os._exit = leave_with_record


def _leave_faults_to_the_report(run: Any) -> None:
    """Print no traceback through the engine for an uncaught fault, as the report contains it."""
    from triton_util.interpreter import KernelFault

    show, show_of_thread = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KernelFault):
            return
        show(kind, error, trace)
        if run.unchecked:
            current.note(stopped=f"{kind.__name__}: {error}"[:300], process=os.getpid())

    def hook_of_thread(arguments: Any) -> None:
        if not issubclass(arguments.exc_type, KernelFault):
            show_of_thread(arguments)

    sys.excepthook, threading.excepthook = hook, hook_of_thread
