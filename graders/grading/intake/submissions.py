"""Where submissions come from: nbgrader's exchange, a folder of notebooks, or an LMS's zip.

All end up where nbgrader looks for them: submitted/<student>/<assignment>/<notebook>.ipynb.
When they were handed in stands beside them in nbgrader's timestamp.txt, where that is known.
"""

from __future__ import annotations

import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from graders.authoring.class_folder import ROSTER
from graders.grading.intake import lms
from graders.grading.intake.handed_in import KINDS
from graders.grading.intake.roster import Roster
from graders.judge.records import GraderError

TIMESTAMP = "timestamp.txt"  # nbgrader's: what late penalties go by
MAX_FILE = 200_000_000  # bytes, unpacked: a larger notebook is refused by name
_AGAIN = re.compile(r"-(?P<attempt>\d{1,6})\.\w+\Z")  # how an LMS marks a second attempt


@dataclass(frozen=True)
class Found:
    """One notebook or script of one student.

    `late` is true where the LMS says so; it does not say how late.
    """

    student: str
    path: str  # in the folder or the zip
    late: bool = False
    lms: str = ""  # whose file name that is: "canvas", "moodle", "gradescope", or nobody's


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


def take(
    source: Path,
    submitted: Path,
    assignment: str,
    times: bool = False,
    roster: Roster | None = None,
) -> Taken:
    """Copy the submissions of a folder or a zip to nbgrader's folder `submitted`.

    Whose they are is said by the roster; where nobody is entered there, by the file names, as far
    as those stay the same from one assignment to the next.

    Of several notebooks of one student counts the one that has the assignment's name, of
    those the latest attempt. What is there already and equal stays untouched, so doing it
    twice changes nothing. With `times` the files' dates are the times of submission; else only
    a timestamp.txt beside the notebook is. A file that is broken is left out, with the reason.
    """
    if not source.exists():
        raise GraderError(f"{source} does not exist: name a folder of notebooks or a zip")
    roster = roster or Roster()
    if source.is_dir():
        return _take(_FolderSource(source), submitted, assignment, times, roster)
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            return _take(_ZipSource(archive), submitted, assignment, times, roster)
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

    def text(self, path: str) -> str:
        return (self._folder / path).read_text(encoding="utf-8", errors="replace")

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

    def text(self, path: str) -> str:
        try:
            return self._archive.read(path).decode("utf-8", "replace")
        except (RuntimeError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise GraderError(f"{path} in the zip is damaged or encrypted") from error

    def copy(self, path: str, target: Path) -> None:
        try:
            with self._archive.open(path) as packed, open(target, "wb") as file:
                shutil.copyfileobj(packed, file)
        except RuntimeError as error:  # what zipfile raises without a password
            raise _UnreadableFileError("it is encrypted") from error
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _UnreadableFileError(f"it is damaged in the zip ({error})") from error


Source = _FolderSource | _ZipSource


def _take(source: Source, submitted: Path, assignment: str, times: bool, roster: Roster) -> Taken:
    chosen, left_out, stamps = _choose(source, assignment, roster)
    taken = []
    for found in chosen:
        folder = submitted / found.student / assignment
        try:
            said = f"{source.time(found.path):%Y-%m-%d %H:%M:%S} UTC" if times else ""
            kind = PurePosixPath(found.path).suffix
            changed = _copy_if_changed(
                source, found.path, submitted, folder / f"{assignment}{kind}"
            )
            for other in set(KINDS) - {kind}:  # what was handed in before, in another form
                (folder / f"{assignment}{other}").unlink(missing_ok=True)
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


def _choose(
    source: Source, assignment: str, roster: Roster
) -> tuple[list[Found], list[LeftOut], set[str]]:
    """One file for each student, what is left out, and the paths of timestamps."""
    chosen: dict[str, Found] = {}
    left_out: list[LeftOut] = []
    paths = [path for path in source.paths() if not lms.is_junk(path)]
    stamps = {path for path in paths if PurePosixPath(path).name == TIMESTAMP}
    recognise = lms.recogniser(paths, _metadata(source, paths))
    for path in paths:
        if path in stamps or PurePosixPath(path).name == lms.GRADESCOPE_METADATA:
            continue
        found, why = _whose(recognise(path), roster)
        if found is not None and source.size(path) > MAX_FILE:
            found, why = None, f"it holds more than {MAX_FILE / 1e6:.0f} MB"
        if found is None:
            left_out.append(LeftOut(path, why))
            continue
        before = chosen.get(found.student)
        better = before is None or _rank(found, assignment) >= _rank(before, assignment)
        if before is not None:
            loser, winner = (before, found) if better else (found, before)
            left_out.append(LeftOut(loser.path, f"{winner.path} counts for {found.student}"))
        if better:
            chosen[found.student] = found
    return list(chosen.values()), left_out, stamps


def _rank(found: Found, assignment: str) -> tuple[bool, bool, int]:
    """Which of several files of a student counts: a notebook, the assignment's, the latest."""
    name = PurePosixPath(found.path).name
    again = _AGAIN.search(name)
    return name.endswith(KINDS[0]), assignment in name, int(again["attempt"]) if again else 0


def _whose(claim: lms.Claim | None, roster: Roster) -> tuple[Found | None, str]:
    """The file with its student, or why it has none."""
    if claim is None:
        return None, lms.NAMELESS
    if roster:
        student, why = roster.find(claim.marks)
    elif claim.student:
        student, why = claim.student, ""
    else:
        told = " or ".join(map(ascii, claim.marks))
        student, why = "", f"it names only {told}: say in {ROSTER} who that is"
    return (Found(student, claim.path, claim.late, claim.lms), "") if student else (None, why)


def _metadata(source: Source, paths: Sequence[str]) -> Mapping[str, Any] | None:
    """What Gradescope says of its submissions; None where the source is not from there."""
    found = [path for path in paths if PurePosixPath(path).name == lms.GRADESCOPE_METADATA]
    return lms.read_metadata(source.text(found[0])) if found else None


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
