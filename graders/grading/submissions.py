"""Where submissions come from: nbgrader's exchange, a folder of notebooks, or an LMS's zip.

All end up where nbgrader looks for them: submitted/<student>/<assignment>/<notebook>.ipynb.
When they were handed in stands beside them in nbgrader's timestamp.txt, where that is known.
"""

from __future__ import annotations

import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from graders.judge.records import GraderError

TIMESTAMP = "timestamp.txt"  # nbgrader's: what late penalties go by
MAX_FILE = 200_000_000  # bytes, unpacked: a larger notebook is refused by name
# Canvas: lastfirst_LATE_1234_56789_01_vector_add-2.ipynb; Moodle: First Last_1234_assign…/x.ipynb
_CANVAS = re.compile(r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_.+\.ipynb\Z", re.IGNORECASE)
_MOODLE = re.compile(r"(?P<name>[^/]+)_(?P<id>\d+)_assignsubmission_file_?[^/]*/[^/]+\.ipynb\Z")
_PLAIN = re.compile(r"(?P<id>[^/]+)/[^/]+\.ipynb\Z")
_FLAT = re.compile(r"(?P<id>[^/]+)\.ipynb\Z")
_STUDENT = re.compile(r"[\w.@-]{1,100}\Z")
_AGAIN = re.compile(r"-(?P<attempt>\d{1,6})\.ipynb\Z")  # how an LMS marks a second attempt


@dataclass(frozen=True)
class Found:
    """One notebook of one student. `name` is what the LMS calls the student, or "".

    `late` is true where the LMS says so; it does not say how late.
    """

    student: str
    name: str
    path: str  # in the folder or the zip
    late: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A file that was not taken, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class Taken:
    """What was copied, and what was not."""

    found: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]


class _UnreadableFileError(Exception):
    """One file of a source is broken; the others are not."""


def recognise(path: str) -> Found | None:
    """Whose notebook is this? None where the path says nothing."""
    for pattern in (_MOODLE, _CANVAS, _PLAIN, _FLAT):
        match = pattern.match(path)
        if match and _STUDENT.match(match["id"]) and match["id"] not in (".", ".."):
            said = match.groupdict()
            return Found(match["id"], said.get("name") or "", path, bool(said.get("late")))
    return None


def take(source: Path, submitted: Path, assignment: str, times: bool = False) -> Taken:
    """Copy the submissions of a folder or a zip to nbgrader's folder `submitted`.

    Of several notebooks of one student counts the one that has the assignment's name, of
    those the latest attempt. What is there already and equal stays untouched, so doing it
    twice changes nothing. With `times` the files' dates are the times of submission; else only
    a timestamp.txt beside the notebook is. A file that is broken is left out, with the reason.
    """
    if not source.exists():
        raise GraderError(f"{source} does not exist: name a folder of notebooks or a zip")
    if source.is_dir():
        return _take(_FolderSource(source), submitted, assignment, times)
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            return _take(_ZipSource(archive), submitted, assignment, times)
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

    def time(self, path: str) -> datetime:
        return datetime.fromtimestamp((self._folder / path).stat().st_mtime, UTC)

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

    def time(self, path: str) -> datetime:
        """A zip tells no time zone: it is taken to be the one of this machine."""
        said = self._archive.getinfo(path).date_time
        try:
            return datetime(*said).astimezone(UTC)
        except ValueError as error:
            raise _UnreadableFileError(f"the zip gives it no date that exists: {said}") from error

    def copy(self, path: str, target: Path) -> None:
        try:
            with self._archive.open(path) as packed, open(target, "wb") as file:
                shutil.copyfileobj(packed, file)
        except RuntimeError as error:  # what zipfile raises without a password
            raise _UnreadableFileError("it is encrypted") from error
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _UnreadableFileError(f"it is damaged in the zip ({error})") from error


Source = _FolderSource | _ZipSource


def _take(source: Source, submitted: Path, assignment: str, times: bool) -> Taken:
    chosen, left_out, stamps = _choose(source, assignment)
    taken = []
    for found in chosen:
        folder = submitted / found.student / assignment
        try:
            said = f"{source.time(found.path):%Y-%m-%d %H:%M:%S} UTC" if times else ""
            notebook = folder / f"{assignment}.ipynb"
            changed = _copy_if_changed(source, found.path, submitted, notebook)
            stamp = str(PurePosixPath(found.path).with_name(TIMESTAMP))
            if times:
                (folder / TIMESTAMP).write_text(said, encoding="utf-8")
            elif "/" in stamp and stamp in stamps:
                _copy_if_changed(source, stamp, submitted, folder / TIMESTAMP)
            elif changed:
                (folder / TIMESTAMP).unlink(missing_ok=True)  # it told of the notebook before
            taken.append(found)
        except _UnreadableFileError as error:
            left_out.append(LeftOut(found.path, str(error)))
    return Taken(tuple(taken), tuple(left_out))


def _choose(source: Source, assignment: str) -> tuple[list[Found], list[LeftOut], set[str]]:
    """One notebook for each student, what is left out, and the paths of timestamps."""
    chosen: dict[str, Found] = {}
    left_out: list[LeftOut] = []
    stamps = set()

    def rank(found: Found) -> tuple[bool, int]:
        again = _AGAIN.search(found.path)
        return assignment in PurePosixPath(found.path).name, int(again["attempt"]) if again else 0

    for path in source.paths():
        found = recognise(path)
        if PurePosixPath(path).name == TIMESTAMP:
            stamps.add(path)
        elif found is None:
            left_out.append(LeftOut(path, "its name tells no student"))
        elif source.size(path) > MAX_FILE:
            left_out.append(LeftOut(path, f"it holds more than {MAX_FILE / 1e6:.0f} MB"))
        else:
            before = chosen.get(found.student)
            better = before is None or rank(found) >= rank(before)
            if before is not None:
                loser, winner = (before, found) if better else (found, before)
                left_out.append(LeftOut(loser.path, f"{winner.path} counts for this student"))
            if better:
                chosen[found.student] = found
    return list(chosen.values()), left_out, stamps


def _copy_if_changed(source: Source, path: str, submitted: Path, target: Path) -> bool:
    submitted.mkdir(parents=True, exist_ok=True)
    fresh = submitted / ".fresh"  # a folder of the student's only once there is something for it
    try:
        source.copy(path, fresh)
        if target.is_file() and target.read_bytes() == fresh.read_bytes():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(target)
        return True
    finally:
        fresh.unlink(missing_ok=True)
