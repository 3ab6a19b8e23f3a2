"""The findings of a run, each once, compared with a baseline of known ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triton_util.sanitizer import record

Key = tuple[str, str, str, str, str]
NOT_CHECKED, STOPS, REFUSED = "not-interpreted", "kernel-error", "does-not-compile"


@dataclass(frozen=True)
class LaunchFinding:
    """One mistake at one line, however many launches show it.

    file: relative to the working directory if it is below it.  line: from 1; 0 if unknown.
    """

    code: str
    message: str
    file: str
    line: int
    kernel: str
    source: str
    argument: str
    cause: str
    times: int = 1

    @property
    def key(self) -> Key:
        """The part that stays the same when lines move; a baseline identifies findings by it."""
        return (self.code, self.file, self.kernel, self.source, self.argument)


def relative(filename: str) -> str:
    """A path relative to the working directory if it is below it."""
    try:
        return Path(filename).resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return filename


@dataclass
class Findings:
    """The findings of one run of a program."""

    known: set[Key] = field(default_factory=set)
    launches: int = 0
    compiled: int = 0
    not_compiled: Counter[str] = field(default_factory=Counter)
    unchecked: int = 0
    stopped: dict[int, str] = field(default_factory=dict)  # by process, after unchecked launches
    _found: dict[Key, LaunchFinding] = field(default_factory=dict)

    def read(self, folder: Path) -> None:
        """Read everything from the record of a run."""
        self.launches += record.launches(folder)
        for event in record.events(folder):
            if "finding" in event:
                self.add(event["finding"])
            elif "not_compiled" in event:
                self.not_compiled[f"{event['kernel']} names {event['not_compiled']}"] += 1
            elif "stopped" in event:
                self.stopped[event["process"]] = event["stopped"]
            elif "unchecked" in event:
                self.unchecked += 1
        for path in sorted(folder.glob("*.answer")):
            self._read_answer(path)

    def _read_answer(self, path: Path) -> None:
        made = json.loads(path.read_text())
        if "ours" in made:
            self.not_compiled["a kernel could not be made again for the compiler"] += 1
            return
        self.compiled += 1
        skipped = made.get("resources") and path.with_suffix(".tuned").exists()
        if "refused" in made and not skipped:
            self.add(made["refused"])

    def add(self, fault: Mapping[str, Any]) -> None:
        """Add a fault; a repeated one only increases the count."""
        given = {k: fault[k] for k in ("code", "message", "line", "kernel", "source", "argument")}
        finding = LaunchFinding(**given, file=relative(fault["filename"]), cause=fault["cause"])
        before = self._found.get(finding.key)
        times = 1 if before is None else before.times + 1
        self._found[finding.key] = replace(before or finding, times=times)

    @property
    def all(self) -> list[LaunchFinding]:
        """All findings, known or new, without gaps of the engine.

        A line at which the engine stops and the compiler too is one finding, the compiler's.
        """
        refused = {(f.kernel, f.line) for f in self._found.values() if f.code == REFUSED}
        return [
            finding
            for finding in self._found.values()
            if finding.code != NOT_CHECKED
            and not (finding.code == STOPS and (finding.kernel, finding.line) in refused)
        ]

    @property
    def new(self) -> list[LaunchFinding]:
        """The findings that the baseline does not contain."""
        return [finding for finding in self.all if finding.key not in self.known]

    @property
    def known_again(self) -> int:
        """How many findings the baseline contains."""
        return len(self.all) - len(self.new)

    @property
    def gaps(self) -> list[LaunchFinding]:
        """Kernels that the engine could not run and that the compiler accepts."""
        refused = {finding.kernel for finding in self.all if finding.code == REFUSED}
        gaps = [finding for finding in self._found.values() if finding.code == NOT_CHECKED]
        return [gap for gap in gaps if gap.kernel not in refused]

    def write_baseline(self, path: Path) -> None:
        """Write today's findings as known, so that only new ones fail later."""
        keys = sorted(finding.key for finding in self.all)
        path.write_text(json.dumps([list(key) for key in keys], indent=1) + "\n")


def read_baseline(path: Path) -> set[Key]:
    """The findings in a baseline file; ValueError if the file is something else."""
    try:
        rows: Iterable[list[str]] = json.loads(path.read_text())
        return {(row[0], row[1], row[2], row[3], row[4]) for row in rows}
    except (json.JSONDecodeError, IndexError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is no baseline of tilewise: {error}") from error
