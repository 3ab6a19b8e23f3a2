"""`tilewise autograde --watch` as a process that can be killed where the test wants it.

    python -m tests.support.watching_process COURSE LOG [STOP]

The judge is the one that judges by a word in the code; all else is the command's own. LOG gets a
line when a submission is judged, when it is written and when its page is asked for. At the line
STOP the process waits for its end.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from graders.cli import autograde as command
from graders.grading import fork_server
from graders.grading.parallel import Judged, Task
from graders.grading.watching import Watcher
from tests.support.small_course import ASSIGNMENT, fake_marks


class Diary:
    """The file of lines, and where to stop."""

    def __init__(self, path: Path, stop: str) -> None:
        self.path, self.stop = path, stop

    def note(self, line: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        while line == self.stop:
            signal.pause()

    def judging(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        """Whose code it is stands in its last comment."""
        for task in tasks:
            code = "\n".join(task.code)
            student = code.rpartition("# ")[2].split()[0]
            self.note(f"judging {student}")
            yield task, fake_marks(code)
            self.note(f"written {student}")  # whoever asks for more has written what there was


def main(course: str, log: str, stop: str = "") -> None:
    diary, page = Diary(Path(log), stop), Watcher._page

    def noted(self: Watcher, student: str) -> str | None:
        diary.note(f"page {student}")
        return page(self, student)

    Watcher._page = noted  # type: ignore[method-assign]
    fork_server.start = lambda: None  # no worker is asked for
    command._judging = lambda *_: diary.judging  # type: ignore[assignment]
    command.autograde([ASSIGNMENT, "--course", course, "--watch"])


if __name__ == "__main__":
    main(*sys.argv[1:])
