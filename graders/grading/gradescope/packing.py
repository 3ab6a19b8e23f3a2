"""Builds the zip that Gradescope takes as an autograder.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from graders.authoring.refusal import refusal
from graders.authoring.rooms import Rooms

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
HERE = Path(__file__).resolve().parent
SCRIPTS = ("setup.sh", "run_autograder")
SETTINGS = "tilewise.json"
PARTS = ("graders", "triton_util", "solutions")
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "LICENSE-lessons")
_TORCH = re.compile(r"^TORCH_cpu := (torch==[\d.]+)", re.MULTILINE)


@dataclass(frozen=True)
class AutograderSettings:
    """What the autograder judges. `hidden` is the visibility of the results on hidden cases."""

    assignment: str
    exercises: Sequence[str]
    by_hand: Sequence[str] = ()  # questions that a person grades
    hidden: Visibility = "after_published"
    unsandboxed: bool = False

    @classmethod
    def read(cls, path: Path) -> AutograderSettings:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def settings_of(
    rooms: Rooms, lesson: str, hidden: Visibility, unsandboxed: bool
) -> AutograderSettings:
    """Return the settings for a lesson; GraderError if it has no exercise."""
    from graders.authoring.lesson import read_lesson  # slow to import

    read = read_lesson(rooms.lesson_file(lesson))
    exercises = read.names("exercise")
    if not exercises:
        raise refusal(f"{read.stem} has no exercise that the judge can grade")
    by_hand = list(read.names("case_study"))
    return AutograderSettings(read.stem, exercises, by_hand, hidden, unsandboxed)


def pack(rooms: Rooms, settings: AutograderSettings, target: Path) -> int:
    """Write the zip; return the size in bytes. It contains the hidden cases and solutions."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SCRIPTS:
            _add_program(archive, name, (HERE / name).read_text(encoding="utf-8"))
        archive.writestr(SETTINGS, json.dumps(asdict(settings), indent=1))
        archive.writestr("torch.txt", _torch(rooms))
        for path in _files(rooms.root):
            archive.write(path, f"tilewise/{path.relative_to(rooms.root).as_posix()}")
    return target.stat().st_size


def _add_program(archive: zipfile.ZipFile, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o755 << 16
    archive.writestr(entry, text)


def _torch(rooms: Rooms) -> str:
    """Return the version of torch that the Makefile installs on a machine without a GPU."""
    found = _TORCH.search((rooms.root / "Makefile").read_text(encoding="utf-8"))
    if found is None:
        raise refusal("the Makefile names no TORCH_cpu: the autograder needs a version of torch")
    return found[1]


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in FILES)
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path
