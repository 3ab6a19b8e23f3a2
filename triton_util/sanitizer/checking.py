"""A run of the engine that records each finding before it raises anything."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_util.sanitizer import record

if TYPE_CHECKING:
    from triton_util.sanitizer.recorded import RecordedRun


class CannotCheckError(RuntimeError):
    """triton was imported before it could be set to interpreter mode."""


def prepare() -> None:
    """Set triton to interpreter mode in this process, and answer programs that ask for a device.

    Raises CannotCheckError if triton was imported without TRITON_INTERPRET=1.
    """
    os.environ["TRITON_INTERPRET"] = "1"
    imported = "triton" in sys.modules
    from triton_util.interpreter.session import interprets

    if not interprets():
        when = "before tilewise was started" if imported else "in some other way"
        raise CannotCheckError(
            f"triton was imported {when} and compiles for a GPU in this process. "
            "Set TRITON_INTERPRET=1 in the environment and start again."
        )
    from triton_util.sanitizer import after_import
    from triton_util.sanitizer.gpu import cuda, gluon, profiling, tuning

    cuda.install_driver()
    gluon.install(record.current)
    tuning.install()
    after_import.run(
        {
            "triton.profiler": profiling.install,
            "triton.profiler.viewer": profiling.install_viewer,
        }
    )


@contextlib.contextmanager
def checking() -> Iterator[RecordedRun]:
    """Run every launch inside in the engine and record what it finds.

    A launch that must not continue raises KernelFault, as an illegal access on a GPU would. If the
    engine cannot run a launch, that is recorded as not checked, and the program continues.
    """
    from triton_util.interpreter import EngineOptions, interpret
    from triton_util.sanitizer.recorded import RecordedRun

    with interpret(EngineOptions(within_programs=True), RecordedRun) as run:
        assert isinstance(run, RecordedRun)
        with _watched_in_threads(run):
            try:
                yield run
            finally:
                run.finish()


@contextlib.contextmanager
def _watched_in_threads(run: RecordedRun) -> Iterator[None]:
    """Watch uninitialised memory in the program's threads too, because torch's modes are local."""
    start = threading.Thread.run

    def watched(self: threading.Thread) -> None:
        mode = run.shadow.fresh.shared() if run.shadow is not None else contextlib.nullcontext()
        with mode:
            start(self)

    threading.Thread.run = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.run = start  # type: ignore[method-assign]
