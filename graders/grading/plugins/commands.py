"""Runs nbgrader's own, unmodified commands, each in a separate process.

Starting Python and importing nbgrader takes two seconds per command. So the processes are forked
from a server that has imported nbgrader already; they run nbgrader's own `main`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graders.judge.records import GraderError


@dataclass(frozen=True)
class Done:
    """The result of a command. `output` is everything that it printed."""

    command: tuple[str, ...]
    code: int
    output: str


class Nbgrader:
    """Runs `nbgrader COMMAND …` in a folder, with some environment variables set."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(environment or {})
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(
            ["graders.quick_jsonschema", "nbgrader.apps.nbgraderapp", __name__]
        )

    def run(self, folder: Path, *arguments: str, may_fail: bool = False) -> Done:
        """Run one command; GraderError with its output if it fails, unless `may_fail`."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as log:
            process = self._context.Process(
                target=_main,
                args=(tuple(arguments), str(folder), log.name, self._environment),
            )
            process.start()
            process.join()
            done = Done(("nbgrader", *arguments), process.exitcode or 0, log.read())
        if done.code != 0 and not may_fail:
            raise GraderError(f"{' '.join(done.command)} failed:\n{done.output}")
        return done


def _main(arguments: Sequence[str], folder: str, log: str, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # so Ctrl-C ends it without a traceback
    from nbgrader.apps.nbgraderapp import main

    os.chdir(folder)
    handle = os.open(log, os.O_WRONLY | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = ["nbgrader", *arguments]
    main()
