"""Where submissions come from: nbgrader's exchange, a folder of notebooks, or an LMS's zip.

All end up where nbgrader looks for them: submitted/<student>/<assignment>/<notebook>.ipynb.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graders.judge.model import GraderError

MAX_FILE = 200_000_000  # bytes, unpacked: a larger notebook is refused by name
# Canvas: lastfirst_LATE_1234_56789_01_vector_add-2.ipynb; Moodle: First Last_1234_assign…/x.ipynb
_CANVAS = re.compile(r"(?P<name>[^_/]+)_(?:LATE_)?(?P<id>\d+)_\d+_.+\.ipynb\Z", re.IGNORECASE)
_MOODLE = re.compile(r"(?P<name>[^/]+)_(?P<id>\d+)_assignsubmission_file_?[^/]*/[^/]+\.ipynb\Z")
_PLAIN = re.compile(r"(?P<id>[^/]+)/[^/]+\.ipynb\Z")
_FLAT = re.compile(r"(?P<id>[^/]+)\.ipynb\Z")
_STUDENT = re.compile(r"[\w.@-]{1,100}\Z")


@dataclass(frozen=True)
class Found:
    """One notebook of one student. `name` is what the LMS calls the student, or ""."""

    student: str
    name: str
    path: str  # in the folder or the zip


@dataclass(frozen=True)
class Taken:
    """What was copied, and the files that nobody could be named for."""

    found: tuple[Found, ...]
    ignored: tuple[str, ...]


def recognise(path: str) -> Found | None:
    """Whose notebook is this? None where the path says nothing."""
    for pattern in (_MOODLE, _CANVAS, _PLAIN, _FLAT):
        match = pattern.match(path)
        if match and _STUDENT.match(match["id"]) and match["id"] not in (".", ".."):
            return Found(match["id"], match.groupdict().get("name") or "", path)
    return None


def take(source: Path, submitted: Path, assignment: str) -> Taken:
    """Copy the submissions of a folder or a zip to nbgrader's folder `submitted`.

    The last of several notebooks of one student counts. What is there already and equal
    stays untouched, so doing it twice changes nothing.
    """
    if not source.exists():
        raise GraderError(f"{source} does not exist: name a folder of notebooks or a zip")
    if source.is_dir():
        return _take(_FolderSource(source), submitted, assignment)
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            return _take(_ZipSource(archive), submitted, assignment)
    raise GraderError(f"{source} is neither a folder nor a zip")


class _FolderSource:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def paths(self) -> Iterator[str]:
        for path in sorted(self._folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(self._folder).as_posix()

    def size(self, path: str) -> int:
        return (self._folder / path).stat().st_size

    def copy(self, path: str, target: Path) -> None:
        shutil.copyfile(self._folder / path, target)


class _ZipSource:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def paths(self) -> Iterator[str]:
        for info in sorted(self._archive.infolist(), key=lambda info: info.filename):
            parts = PurePosixPath(info.filename).parts
            if not info.is_dir() and ".." not in parts and not info.filename.startswith("/"):
                yield info.filename

    def size(self, path: str) -> int:
        return self._archive.getinfo(path).file_size

    def copy(self, path: str, target: Path) -> None:
        with self._archive.open(path) as packed, open(target, "wb") as file:
            shutil.copyfileobj(packed, file)


def _take(source: _FolderSource | _ZipSource, submitted: Path, assignment: str) -> Taken:
    found: dict[str, Found] = {}
    ignored = []
    for path in source.paths():
        known = recognise(path)
        if known is None or source.size(path) > MAX_FILE:
            ignored.append(path)
        else:
            found[known.student] = known
    for item in found.values():
        _copy_if_changed(source, item, submitted / item.student / assignment, assignment)
    return Taken(tuple(found.values()), tuple(ignored))


def _copy_if_changed(
    source: _FolderSource | _ZipSource, item: Found, folder: Path, assignment: str
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target, fresh = folder / f"{assignment}.ipynb", folder / ".fresh"
    source.copy(item.path, fresh)
    if target.is_file() and target.read_bytes() == fresh.read_bytes():
        fresh.unlink()
    else:
        fresh.replace(target)
