"""Copies submissions from a platform's folder or zip to where nbgrader looks for them.

Each becomes submitted/<student>/<assignment>/<assignment>.ipynb. If the platform or nbgrader
says when it was handed in, the time is written to nbgrader's timestamp.txt beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from graders.grading.intake import gradescope, platforms, timestamps
from graders.grading.intake.copying import copy_if_changed, kept_because
from graders.grading.intake.handed_in import KINDS, NOTES, PACKED, described, listed, several
from graders.grading.intake.identity import whose
from graders.grading.intake.platforms import Claim, Read
from graders.grading.intake.roster import Roster
from graders.grading.intake.sources import (
    MAX_FILE,
    Entry,
    Package,
    UnreadableFileError,
    is_junk,
    opened_source,
    packed_inside,
    plain,
    too_large,
)
from graders.grading.intake.teams import Teams
from graders.judge.records import GraderError

_AGAIN = re.compile(r"(?P<base>.+)-(?P<attempt>\d{1,6})\Z")  # how an LMS marks a second attempt


@dataclass(frozen=True)
class Found:
    """One notebook or script of one student.

    `late` is true if the LMS says so; it does not say how late.
    """

    student: str
    path: str  # in the folder or the zip
    late: bool = False
    lms: str = ""  # which LMS named the file: "canvas", "moodle", "gradescope" or none


@dataclass(frozen=True)
class LeftOut:
    """A file that was not taken, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class Taken:
    """What was copied, what was left out, and what does not count beside a notebook.

    `groups` has each student's group, or ""; `unread` the files that do not count.
    """

    found: tuple[Found, ...]
    left_out: tuple[LeftOut, ...]
    beside: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, Sequence[str]] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()  # students whose hand-in had a time, which the new one lacks


def take(
    source: Path,
    submitted: Path,
    assignment: str,
    times: bool = False,
    roster: Roster | None = None,
    lms: str = "folders",
    teams: Teams | None = None,
) -> Taken:
    """Copy the submissions of a folder or a zip to nbgrader's folder `submitted`.

    `lms` names the platform that packed them, one of `platforms.PATTERNS`. The roster says who
    handed them in. If it is empty, the paths do, if they stay the same in every assignment. One
    file of each student counts; the others are named. The file of a platform's group is copied
    once, for one of its members. If `teams` names teams for this assignment, groups do not count,
    and each member gets a copy.

    Files that are already there and equal stay untouched, so a second call changes nothing.
    With `times` the files' dates are the times of submission.
    """
    with opened_source(source) as files:
        known = roster or Roster()
        return _Import(files, submitted, assignment, times, known, lms, teams or Teams()).run()


@dataclass(frozen=True)
class _File:
    """A file and who handed it in. `inside` is its path in a zip that was handed in."""

    entry: Entry
    claim: Claim
    inside: Entry | None = None
    source: Package | None = None

    @property
    def path(self) -> str:
        return f"{self.entry.path}/{self.inside.path}" if self.inside else self.entry.path

    @property
    def name(self) -> str:
        return PurePosixPath(plain(self.inside.path) if self.inside else self.claim.file).name

    @property
    def kind(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def size(self) -> int:
        return self.inside.size if self.inside else self.entry.size


@dataclass
class _Import:
    """One import of a source."""

    files: Package
    submitted: Path
    assignment: str
    times: bool
    roster: Roster
    lms: str
    teams: Teams
    found: list[Found] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    stamps: dict[str, Entry] = field(default_factory=dict)
    unread: dict[str, list[str]] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)

    def run(self) -> Taken:
        by_student: dict[str, list[_File]] = {}
        for student, senders in self._by_student().items():
            if len(senders) > 1:
                self._refuse_all(student, senders)
            else:
                (by_student[student],) = senders.values()
        groups = {student: self._group(files) for student, files in by_student.items()}
        for members in _together(groups):
            owner = self._owner(members)
            path = self._take(by_student[owner], owner)
            for member in members if path else ():
                self._count(by_student[member], member, path)
        own = {one.student: groups[one.student] for one in self.found}
        lists = tuple(self.found), tuple(self.left_out), tuple(self.beside)
        return Taken(*lists, own, self.unread, tuple(self.replaced))

    def _group(self, files: list[_File]) -> str:
        """Return the platform's group, unless the instructor named teams for the assignment."""
        return "" if self.assignment in self.teams.named else files[0].claim.team

    def _owner(self, members: list[str]) -> str:
        """Return the member for whom the group's file is copied; the same one each time."""
        before = [one for one in members if (self.submitted / one / self.assignment).is_dir()]
        return max(before) if before else members[0]

    def _take(self, files: list[_File], student: str) -> str:
        """Copy the file that counts, and return its path; report why if none does."""
        chosen = self._choose(files, student)
        if chosen is None:
            return ""
        try:
            self._copy(chosen, student)
        except UnreadableFileError as error:
            self._leave_out(chosen.path, str(error))
            return ""
        return chosen.entry.path

    def _count(self, files: list[_File], student: str, path: str) -> None:
        """Count the group's file for a member; a platform may pack it once for each of them."""
        name = PurePosixPath(path).name
        own = next((f for f in files if PurePosixPath(f.entry.path).name == name), files[0])
        lms = self.lms if self.lms in platforms.NAMING else ""
        self.found.append(Found(student, own.entry.path, own.claim.late, lms))

    def _leave_out(self, path: str, why: str) -> None:
        self.left_out.append(LeftOut(path, why))

    # ------------------------------------------------------------ whose

    def _by_student(self) -> dict[str, dict[str, list[_File]]]:
        """Return the files by student, and then by the platform's name of the sender."""
        found: dict[str, dict[str, list[_File]]] = {}
        entries = list(self._sound())
        around = platforms.folder_around(
            self.lms, [plain(e.path) for e in entries], self.assignment, self.roster
        )
        read = self._reader(entries, around)
        for entry in entries:
            path = plain(entry.path).removeprefix(around)
            claim = read(path)
            if claim is None:
                self._nameless(entry, path)
                continue
            for student, why in whose(claim, self.lms, self.roster, self.assignment, self.teams):
                if not student:
                    self._leave_out(entry.path, why)
                elif self.lms == "nbgrader" and claim.file in NOTES:
                    self.stamps |= {student: entry} if claim.file == timestamps.TIMESTAMP else {}
                else:
                    senders = found.setdefault(student, {})
                    senders.setdefault(claim.sender, []).append(_File(entry, claim))
        return found

    def _sound(self) -> Iterator[Entry]:
        """Yield the entries that may be read and are not junk; name the refused ones."""
        for entry in self.files.entries():
            if is_junk(platforms.students_part(self.lms, entry.path)):
                continue
            if entry.refused:
                self._leave_out(entry.path, entry.refused)
            else:
                yield entry

    def _reader(self, entries: Iterable[Entry], around: str) -> Read:
        if self.lms == "canvas":
            return platforms.canvas(self.assignment)
        if self.lms == "moodle":
            return platforms.moodle(self.roster)
        if self.lms == "nbgrader":
            return platforms.nbgrader(self.assignment)
        if self.lms == "folders":
            return platforms.folders(self.assignment, self.roster)
        if self.lms != "gradescope":
            raise GraderError(f"{self.lms} is no platform: name {', '.join(platforms.PATTERNS)}")
        return platforms.gradescope(self._metadata(entries, around + gradescope.METADATA))

    def _metadata(self, entries: Iterable[Entry], path: str) -> dict[str, gradescope.HandIn]:
        """Return Gradescope's metadata, which is read only at the root of its zip."""
        entry = next((entry for entry in entries if plain(entry.path) == path), None)
        try:
            if entry is None:
                raise GraderError("it is missing, and says whose each submission is: export anew")
            if entry.size > gradescope.LARGEST:
                raise GraderError(f"it holds more than {gradescope.LARGEST / 1e6:.0f} MB")
            text = b"".join(self.files.chunks(entry.path)).decode("utf-8", "replace")
            return dict(gradescope.read_metadata(text))
        except (GraderError, UnreadableFileError) as error:
            self._leave_out(path, f"{error}; without it nobody's submission can be told")
            return {}

    def _nameless(self, entry: Entry, path: str) -> None:
        """Report a file whose path names no student, unless that is expected."""
        if self.lms == "gradescope" and path == gradescope.METADATA:
            return
        if self.lms == "nbgrader" and path.count("/") >= 2:  # of another assignment
            return
        if self.lms == "gradescope" and path.startswith("submission_"):
            why = f"{gradescope.METADATA} does not say whose it is"
        else:
            wanted = f"with --lms {self.lms} it is {platforms.PATTERNS[self.lms]}"
            why = f"its name tells no student: {wanted}"
        self._leave_out(entry.path, why)

    def _refuse_all(self, student: str, senders: dict[str, list[_File]]) -> None:
        """Leave out all files if several people or folders map to one student."""
        why = f"{len(senders)} hand-ins, {listed(senders)}, are for {student}: leave one of them"
        for files in senders.values():
            for file in files:
                self._leave_out(file.path, why)

    # ------------------------------------------------------------ which file

    def _choose(self, files: list[_File], student: str) -> _File | None:
        """Return the file of a submission that counts; if none does, report it, return None."""
        looked_at = self._with_packed(files)
        work = [file for file in looked_at if file.kind in KINDS]
        if not work:
            if not any(left.path.startswith(files[0].entry.path) for left in self.left_out):
                what, step = described([file.name for file in looked_at] or ["nothing"])
                self._leave_out(files[0].path, f"{what}: {step[0].lower()}{step[1:]}")
            return None
        best = max(map(self._level, work))
        tied = [file for file in work if self._level(file) == best]
        bases = {_base(file.name)[0] for file in tied}
        last = max(_base(file.name)[1] for file in tied)
        chosen = [file for file in tied if _base(file.name)[1] == last]
        if len(bases) > 1 or len(chosen) > 1:
            what, step = several([file.name for file in tied], self.assignment)
            for file in tied:
                self._leave_out(file.path, f"{what}: {step[0].lower()}{step[1:]}")
            self.beside += [file.path for file in looked_at if file not in tied]
            return None
        for file in looked_at:
            if file is not chosen[0]:
                self._name_beside(file, chosen[0], student)
        return chosen[0]

    def _name_beside(self, file: _File, chosen: _File, student: str) -> None:
        """Report a file that does not count, because the student may have meant that one."""
        self.unread.setdefault(student, []).append(file.path)
        again = _base(file.name)[0] == _base(chosen.name)[0]
        if file.kind == chosen.kind and not again:
            self._leave_out(file.path, f"{listed([chosen.path])} counts for {student}")
        elif not is_junk(file.name):
            self.beside.append(file.path)

    def _level(self, file: _File) -> tuple[bool, int]:
        """Return how likely the file is the work: is it a notebook, named like the assignment?"""
        base, wanted = _base(file.name)[0], self.assignment.casefold()
        return file.kind == KINDS[0], 2 if base == wanted else int(wanted in base)

    def _with_packed(self, files: list[_File]) -> list[_File]:
        """Return the files; if none is a notebook, also the contents of their zips."""
        if any(file.kind == KINDS[0] for file in files):
            return files
        found = [file for file in files if file.kind != PACKED]
        for file in files:
            if file.kind != PACKED:
                continue
            try:
                inside = packed_inside(self.files, file.entry)
            except UnreadableFileError as error:
                self._leave_out(file.path, f"{error}: hand in the notebook (.ipynb) itself")
                continue
            for entry in inside.entries():
                one = _File(file.entry, file.claim, entry, inside)
                if entry.refused:
                    self._leave_out(one.path, entry.refused)
                elif not is_junk(entry.path):
                    found.append(one)
        return found

    # ------------------------------------------------------------ copying

    def _copy(self, file: _File, student: str) -> None:
        if file.size > MAX_FILE:
            raise UnreadableFileError(too_large())
        folder = self.submitted / student / self.assignment
        time = file.claim.time
        if time is None and self.times:
            time = self.files.time(file.entry.path)
        source, path = self.files, file.entry.path
        if file.inside is not None and file.source is not None:
            source, path = file.source, file.inside.path
        target = folder / f"{self.assignment}{file.kind}"
        time = time or self._told_by_nbgrader(student)
        before = timestamps.read(folder)
        stays = kept_because(before, time, self.files, file.entry.path)
        changed = copy_if_changed(source, path, self.submitted, target, stays)
        if changed and before is not None and time is None:
            self.replaced.append(student)
        for other in set(KINDS) - {file.kind}:  # an earlier submission of another kind
            (folder / f"{self.assignment}{other}").unlink(missing_ok=True)
        self._stamp(folder, time, changed)

    def _stamp(self, folder: Path, time: datetime | None, changed: bool) -> None:
        if time is not None:
            timestamps.write(folder, time)
        elif changed:
            timestamps.forget(folder)  # it was about the earlier notebook

    def _told_by_nbgrader(self, student: str) -> datetime | None:
        """Return the submission time from nbgrader's own layout, if nbgrader wrote the file."""
        entry = self.stamps.get(student)
        if entry is None:
            return None
        try:
            if entry.size > timestamps.LONGEST:
                raise ValueError("no time")
            return timestamps.parse(b"".join(self.files.chunks(entry.path)).decode())
        except (ValueError, UnreadableFileError):
            self._leave_out(entry.path, "it holds no time: nobody is penalised for it")
            return None


def _together(groups: Mapping[str, str]) -> Iterable[list[str]]:
    """Return the students of each group; a student without a group is alone."""
    found: dict[tuple[str, str], list[str]] = {}
    for student, group in groups.items():
        found.setdefault((group, "" if group else student), []).append(student)
    return found.values()


def _base(name: str) -> tuple[str, int]:
    """Return a file's name without its ending and attempt number, and that number."""
    stem = PurePosixPath(name).stem.casefold()
    again = _AGAIN.match(stem)
    return (again["base"], int(again["attempt"])) if again else (stem, 0)
