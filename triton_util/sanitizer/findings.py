"""What was found, each thing once: as text, as annotations for GitHub, and against a baseline."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class LaunchFinding:
    """One mistake at one line, however many launches show it.

    file: relative to the working directory where it lies below it.  line: from 1; 0 if unknown.
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
        """What stays the same when lines move: by this a baseline knows a finding."""
        return (self.code, self.file, self.kernel, self.source, self.argument)


def relative(filename: str) -> str:
    """A path as a person at the working directory would write it."""
    try:
        return Path(filename).resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return filename


@dataclass
class Findings:
    """The findings of one run of a program."""

    known: set[Key] = field(default_factory=set)
    launches: int = 0
    _found: dict[Key, LaunchFinding] = field(default_factory=dict)

    def add(self, fault: Any) -> None:
        """Note a fault of the engine; the same one again only counts."""
        finding = LaunchFinding(
            code=fault.code,
            message=fault.message,
            file=relative(fault.filename),
            line=fault.line,
            kernel=fault.kernel,
            source=fault.source,
            argument=fault.argument,
            cause=fault.cause,
        )
        before = self._found.get(finding.key)
        times = 1 if before is None else before.times + 1
        self._found[finding.key] = replace(before or finding, times=times)

    @property
    def new(self) -> list[LaunchFinding]:
        """What the baseline does not know; the engine's own gaps are no finding."""
        return [
            finding
            for finding in self._found.values()
            if finding.key not in self.known and finding.code != "not-interpreted"
        ]

    @property
    def gaps(self) -> list[LaunchFinding]:
        """Kernels that the engine could not run: nobody's mistake, and nothing was checked."""
        return [finding for finding in self._found.values() if finding.code == "not-interpreted"]

    def text(self) -> str:
        """The report for a terminal."""
        parts = [_paragraph(number, finding) for number, finding in enumerate(self.new, 1)]
        parts += [f"not checked: {f.file}:{f.line} {f.kernel}: {f.message}" for f in self.gaps]
        known = sum(key in self.known for key in self._found)
        new = len(self.new)
        summary = f"tilewise: {new} finding{'' if new == 1 else 's'} in {self.launches} launches"
        parts.append(summary + (f", and {known} known from the baseline" if known else ""))
        return "\n\n".join(parts)

    def annotations(self) -> str:
        """Lines that GitHub shows beside the code of a pull request."""
        return "\n".join(
            f"::error file={_escaped(f.file, True)},line={max(1, f.line)},"
            f"title={_escaped(f.code, True)}::{_escaped(f.message)}"
            for f in self.new
        )

    def write_baseline(self, path: Path) -> None:
        """Keep what is known today, so that only what is new fails tomorrow."""
        keys = sorted(key for key in self._found if key[0] != "not-interpreted")
        path.write_text(json.dumps([list(key) for key in keys], indent=1) + "\n")


def read_baseline(path: Path) -> set[Key]:
    """The findings that a baseline file knows; ValueError if it is none."""
    try:
        rows: Iterable[list[str]] = json.loads(path.read_text())
        return {(row[0], row[1], row[2], row[3], row[4]) for row in rows}
    except (json.JSONDecodeError, IndexError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is no baseline of tilewise: {error}") from error


def wants_annotations() -> bool:
    """Whether this is a run of GitHub's actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _paragraph(number: int, finding: LaunchFinding) -> str:
    where = f"{finding.file}:{finding.line}"
    times = f" ({finding.times} times)" if finding.times > 1 else ""
    lines = [f"{number}. {where} {finding.code} in {finding.kernel}{times}"]
    if finding.source:
        lines.append(f"       {finding.source}")
    lines += [f"   {text}" for text in (finding.message, finding.cause) if text]
    return "\n".join(lines)


def _escaped(text: str, in_property: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text
