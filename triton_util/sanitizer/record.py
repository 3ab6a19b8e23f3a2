"""The record of a checked run: a folder outside all processes that take part in it.

Each process appends to its own files, with one system call for each finding, before it raises
anything. So a finding is kept even if the process then catches the error, forks, or ends at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "TILEWISE_RECORD"
FIELDS = ("code", "message", "filename", "line", "kernel", "source", "argument", "cause")


@dataclass
class RunRecord:
    """What this process adds to the record; a forked child starts its own files."""

    folder: Path
    _owner: int = 0
    _events: int = -1
    _launches: int = -1
    _known: dict[tuple[str, ...], int] = field(default_factory=dict)

    def finding(self, fault: Any) -> None:
        """Record a fault of the engine; a repeated one is a short line."""
        self._open()
        row = {name: getattr(fault, name) for name in FIELDS}
        key = tuple(str(row[name]) for name in FIELDS if name not in ("message", "cause"))
        if key in self._known:
            self._write({"again": self._known[key]})
            return
        self._known[key] = len(self._known)
        self._write({"finding": row})

    def launched(self) -> None:
        """Count one launch."""
        self._open()
        os.write(self._launches, b".")

    def note(self, **event: Any) -> None:
        """Record any other event that the report needs."""
        self._open()
        self._write(event)

    def once(self, name: str) -> bool:
        """True for the first caller of the whole run with this name."""
        try:
            os.close(os.open(self.folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except OSError:
            return False
        return True

    def _write(self, event: Mapping[str, Any]) -> None:
        os.write(self._events, json.dumps(event, default=str).encode() + b"\n")

    def _open(self) -> None:
        if self._owner == os.getpid():
            return
        self._owner = os.getpid()
        self._known.clear()
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        name = f"{self._owner}-{os.urandom(4).hex()}"
        self._events = os.open(self.folder / f"{name}.jsonl", flags, 0o600)
        self._launches = os.open(self.folder / f"{name}.launches", flags, 0o600)


current = RunRecord(Path(os.environ.get(VARIABLE, "")))


def begin(folder: Path) -> None:
    """Write the record of this process, and of its children, to this folder."""
    os.environ[VARIABLE] = str(folder)
    current.folder = folder


def events(folder: Path) -> Iterator[dict[str, Any]]:
    """The events of all processes; `again` is resolved to its finding."""
    for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns):
        rows: list[dict[str, Any]] = []
        for line in path.read_bytes().split(b"\n"):
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the process died while it wrote this line
            if "finding" in event:
                rows.append(event["finding"])
            elif "again" in event:
                event = {"finding": rows[event["again"]]}
            yield event


def launches(folder: Path) -> int:
    """How many launches all processes made."""
    return sum(path.stat().st_size for path in folder.glob("*.launches"))
