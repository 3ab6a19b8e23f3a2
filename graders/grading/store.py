"""Marks that were given before, by what they depend on: regrade only what changed.

One small file per mark, written beside and renamed, so that a run that is killed loses
nothing and a second run finds everything that the first one finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graders.grading.marks import Marks
from graders.judge import discovery
from graders.judge.records import GraderError

ROOT = Path(__file__).resolve().parents[2]
# what can change a verdict, beside the exercise's own records
JUDGE_CODE = (
    "graders/judge",
    "graders/misconceptions",
    "graders/exercises/references",
    "graders/exercises/traffic.json",
    "graders/workloads.py",
    "graders/grading/marks.py",
    "triton_util/interpreter",
    "triton_util/hardware.py",
)


@cache
def judge_version() -> str:
    """A digest of everything that judges: the gates, the engine, torch and triton."""
    from importlib.metadata import PackageNotFoundError, version

    digest = hashlib.sha256(sources_version().encode())
    for library in ("torch", "triton", "numpy"):
        try:
            digest.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError as error:
            raise GraderError(
                f"{library} is not installed here, so nothing can be judged: `tilewise doctor` "
                "says what to install"
            ) from error
    return digest.hexdigest()[:16]


@cache
def sources_version() -> str:
    """A digest of the judge's own code: the same on machines with different libraries."""
    digest = hashlib.sha256()
    for place in JUDGE_CODE:
        path = ROOT / place
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in (file for file in files if file.is_file()):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def exercise_version(exercise: str) -> str:
    """A digest of the exercise's record and its hidden cases."""
    slug = discovery.exercise(exercise).lesson
    digest = hashlib.sha256()
    for room in ("exercises", "hidden"):
        path = ROOT / "graders" / room / f"{slug}.py"
        digest.update(path.read_bytes() if path.is_file() else b"none")
    return digest.hexdigest()[:16]


def key(code: Sequence[str], exercise: str, mode: str, judge: str | None = None) -> str:
    """What a mark depends on: the submission's code cells, the exercise, the judge, the mode.

    `judge` is its version, with the libraries of this machine where it is not given.
    """
    parts = [judge or judge_version(), exercise_version(exercise), exercise, mode, *code]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class MarksStore:
    """A folder of marks by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Marks | None:
        """The mark of that key; None when there is none or its file is damaged."""
        try:
            return Marks.from_json(json.loads(self._path(name).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, marks: Marks) -> None:
        """Keep a mark. What could not be graded is never kept: the next run tries again."""
        if marks.reason:
            return
        write_whole(self._path(name), marks.to_json())

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json"


class Finished:
    """The students of an assignment whose grades nbgrader has written, in `folder`."""

    def __init__(self, course: Path, assignment: str) -> None:
        self.folder = course / ".tilewise" / "graded" / assignment

    def get(self, student: str) -> dict[str, Any]:
        """What was kept by `put`; {} when there is nothing or its file is damaged."""
        try:
            state = json.loads(self._path(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def put(self, student: str, state: Mapping[str, Any]) -> None:
        """Remember what the grade depended on (`digest`), and why it is open (`reason`)."""
        write_whole(self._path(student), state)

    def _path(self, student: str) -> Path:
        return self.folder / f"{student}.json"


def write_whole(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON beside the file and rename it: there is the old one or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".fresh-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(temporary, path)
    except BaseException:  # a full disk, say: nothing is left behind
        os.unlink(temporary)
        raise
