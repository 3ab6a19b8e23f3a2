"""`tilewise watch`: checks a file each time that you save it, with a warm judge."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Console

from graders.cli import reports
from graders.cli.judging import known_exercise, reports_on
from graders.judge.pipeline import Judge
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError

POLL_SECONDS = 0.2  # editors usually write a file in less time


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("exercise", required=False)
def watch(file: Path, exercise: str | None) -> None:
    """Check FILE (.py or .ipynb) with the public cases now, and each time that you save it.

    Without EXERCISE, all exercises in it are checked. Ctrl-C ends it.
    """
    wanted = None if exercise is None else known_exercise(exercise)
    console = Console()
    show = reports.printer(console, points=False)
    try:
        with Judge() as judge:
            judge.warm()
            for _ in saves(file):
                console.rule(f"{one_line(file.name)}, {time.strftime('%H:%M:%S')}", style="dim")
                for report in reports_on(judge, (file,), wanted):
                    show(report)
                console.print("Waiting for the next save; Ctrl-C ends it.", style="dim")
    except KeyboardInterrupt:
        console.print("No longer watched.", style="dim")
    except GraderError as error:  # of the machine or the course: later saves would fail, too
        print(f"Error: {one_line(str(error), 2000)}", file=sys.stderr)
        sys.exit(2)


def saves(path: Path, wait: Callable[[float], object] = time.sleep) -> Iterator[None]:
    """Yield once for the file's current content, and once each time that it has changed.

    Editors may write a file in parts or remove it for a moment, so it is read only when it no
    longer changes.
    """
    looked_at: tuple[int, ...] | None = None
    known = ""
    while True:
        stamp = _stamp(path)
        if stamp is not None and stamp != looked_at:
            wait(POLL_SECONDS)
            if stamp != _stamp(path):
                continue
            held = _held(path)
            looked_at = stamp
            if held and held != known:
                known = held
                yield
        wait(POLL_SECONDS)


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _held(path: Path) -> str:
    """Return a value that differs for different contents; "" if the file is missing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
