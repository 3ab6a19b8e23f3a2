"""`Reader` reads an untrusted file in a process with limits.

Parsing can be very expensive: some kilobytes of brackets take gigabytes, some kilobytes of names
take hours. So the judge opens a file and passes its descriptor to a warm process, whose fork reads
it. A file that exceeds the limits becomes a finding, and the judge continues.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from typing import Any

from graders.judge.records import GraderError
from graders.judge.sandbox import starting
from graders.judge.sandbox.serving import Ending
from graders.judge.sandbox.starting import Started
from graders.judge.sandbox.tasks import Answer, TaskProcess
from graders.judge.submission.files import MEMORY_BYTES
from graders.judge.submission.refusals import SubmissionError, refusal
from triton_util.report import Finding

SECONDS = 4  # of CPU time, for one file
PATIENCE_SECONDS = 60.0  # wall time, for an overloaded machine
MOST_ANSWER = 128 * 1024 * 1024  # bytes of JSON


class Reader(TaskProcess):
    """The warm process that reads; `last` is what reading the last file took."""

    last = Ending()

    def _launched(self) -> Started:
        return starting.reader()

    def ask(self, operation: str, descriptor: int, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation on the file of `descriptor`, and return its answer.

        Raises only SubmissionError: it says why the file is refused, which limit it exceeds, or
        that reading failed because of an error of ours.
        """
        limits = {"cpu_seconds": SECONDS, "wall_seconds": PATIENCE_SECONDS}
        asked = {**request, **limits, "task": operation}
        try:
            answer = self._done(asked, descriptor, MOST_ANSWER)
        except GraderError:  # the warm process was killed: try once more
            try:
                answer = self._done(asked, descriptor, MOST_ANSWER)
            except GraderError as error:
                raise _failed(str(error)) from error
        self.last = answer.ending
        return _found(answer)


def _found(answer: Answer) -> dict[str, Any]:
    told = answer.report or {}
    if "found" in told:
        return dict(told["found"])
    if "refused" in told:
        raise SubmissionError(Finding.from_json(told["refused"]))
    if "fault" in told:
        raise _failed(str(told["fault"]))
    if answer.ended == "time":
        raise _failed(f"no answer in {PATIENCE_SECONDS:.0f} s on this machine")
    if answer.ended == "size":
        raise _failed("its answer is too long")
    if answer.timeout:
        raise _too_costly(f"takes more than {SECONDS} seconds")
    raise _too_costly(f"takes more than {MEMORY_BYTES >> 20} MB of memory")


def _too_costly(what: str) -> SubmissionError:
    return refusal(
        "too-costly",
        "The file cannot be read in reasonable time and memory",
        f"Reading it {what}, which no kernel does.",
        "Hand in the notebook with the kernel and its launcher, without large texts and tables.",
    )


def _failed(kind: str) -> SubmissionError:
    return refusal(
        "reading-failed",
        "The file could not be read",
        f"Reading it failed in a way that the judge does not know ({kind}). That is a fault of "
        "the judge.",
        "Please report it together with the file.",
    )


_shared: tuple[int, Reader] | None = None


def shared() -> Reader:
    """Return the only reader of this process; a fork gets its own."""
    global _shared
    if _shared is None or _shared[0] != os.getpid():
        reader = Reader()
        atexit.register(_close, os.getpid(), reader)
        _shared = os.getpid(), reader
    return _shared[1]


def _close(owner: int, reader: Reader) -> None:
    if owner == os.getpid():
        reader.close()
