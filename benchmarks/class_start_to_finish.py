"""A whole class from the empty folder to the tables for an LMS: is everybody's grade the known one?

    python benchmarks/class_start_to_finish.py [--students 500] [--kills 6] [--db URL]

Real nbgrader and the real judge, in a copy of the clone: make the class, release, hand in by the
exchange and by zips of three platforms (late, renamed, damaged, scripts), grade with `kill -9` at
random moments, grade by hand, change a hidden case and grade again, feedback, report and tables.
There are teams, groups of Gradescope, late days, a penalty and an extension. A class of 22 has
every kind of student. With --db the gradebook is there instead of in SQLite; it has to be empty.
Prints a line for each question; exit code 1 where an answer is no.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import psutil
from generated_class import (
    LESSON,
    LMS,
    Member,
    Writer,
    add_hidden_case,
    kernels,
    members,
    write_roster,
    write_rules,
    write_teams,
)
from nbgrader.api import Gradebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeSubmit
from rich.console import Console
from rich.table import Table
from traitlets.config import Config

from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins.commands import Nbgrader

COPIED = ("graders", "triton_util", "solutions")
SETTINGS = """
c.ExchangeCollect.check_owner = False
"""
TABLES = {  # exporter → the column that names a student, and what stands in it
    "Canvas": ("SIS Login ID", lambda member: member.id),
    "Moodle": ("ID number", lambda member: member.id),
    "Gradescope": ("Email", lambda member: member.email),
}
MARK = "TILEWISE_TERM"  # environment of all processes of one class
LATEST_KILL = 15.0  # seconds after the start; judging begins after about five


@dataclass
class Term:
    """One class in a folder, and the answers so far."""

    folder: Path
    count: int
    kills: int
    db: str | None
    seed: int
    lines: list[tuple[str, str, bool | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rooms = Rooms(find_root(Path(__file__)))
        self.clone, self.course = self.folder / "clone", self.folder / "class"
        self.assignment = self.rooms.lesson_file(LESSON).stem
        self.members = members(self.count)
        self.moments = random.Random(self.seed)
        if self.db is not None:
            os.environ["TILEWISE_DB"] = self.db  # the configuration of the class reads it
        self.database = self.db or f"sqlite:///{self.course / 'gradebook.db'}"
        self.nbgrader = Nbgrader()
        self.started = time.perf_counter()

    def ask(self, what: str, wrong: Iterable[object], seen: str = "as known") -> None:
        """One line of the table; it holds where nothing is wrong."""
        named = [str(one) for one in wrong]
        self._add(what, "; ".join(named[:3]) if named else seen, not named)

    def tell(self, what: str) -> None:
        self._add(what, f"after {time.perf_counter() - self.started:.0f} s", None)

    def _add(self, what: str, found: str, holds: bool | None) -> None:
        self.lines.append((what, found, holds))
        print(f"{what}: {found}", file=sys.stderr, flush=True)  # a class of 500 takes its time

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        """`tilewise …` of the copied clone, in a process group of its own."""
        log = open(self.folder / "log", "a", encoding="utf-8")  # noqa: SIM115 - the process has it
        ours = {"PYTHONPATH": str(self.clone), MARK: str(self.folder)}
        command = [sys.executable, "-m", "graders.cli.main", *arguments]
        place = self.course if self.course.exists() else self.folder
        environment = {**os.environ, **ours}
        return subprocess.Popen(
            command, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True
        )

    def tilewise(self, *arguments: str, damaged: bool = False) -> None:
        """Run a command to its end; where damaged notebooks are told, its exit code is 2."""
        code = self.command(*arguments).wait()
        there = {path.parent.name for path in self.course.glob(f"submitted/*/{self.assignment}")}
        told = [m for m in self.members if m.id in there and m.form == "damaged"]
        if code != (2 if damaged and told else 0):
            print((self.folder / "log").read_text(encoding="utf-8")[-3000:], file=sys.stderr)
            raise SystemExit(f"tilewise {' '.join(arguments)} ended with {code}")

    def autograde(self, *options: str, kills: int = 0) -> None:
        """Grade; before that, so many runs that are killed somewhere."""
        for _ in range(kills):
            process = self.command("autograde", self.assignment, *options)
            try:
                process.wait(self.moments.uniform(1.0, LATEST_KILL))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.tilewise("autograde", self.assignment, *options, damaged=True)


def make(term: Term) -> None:
    """The copy of the clone, the class in it, and the assignment released."""
    for room in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(term.rooms.root / room, term.clone / room, ignore=ignored)
    (term.clone / "lessons").mkdir()
    shutil.copy(term.rooms.lesson_file(LESSON), term.clone / "lessons")
    shutil.copy(term.rooms.root / "pyproject.toml", term.clone)
    figures = term.rooms.root / "benchmarks" / "results"  # the lessons tell some of them
    shutil.copytree(figures, term.clone / "benchmarks" / "results")
    term.tilewise("course", "init", str(term.course))
    write_roster(term.members, term.course / "roster.csv")
    write_teams(term.members, term.course / "teams.csv")
    with open(term.course / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(SETTINGS)
    term.nbgrader.run(term.course, "generate_assignment", term.assignment)
    term.nbgrader.run(term.course, "release_assignment", term.assignment)
    term.tell("class made, assignment released")


def hand_in(term: Term) -> None:
    """By the exchange, some after the due date; the others into the zips of three platforms."""
    released = term.course / "release" / term.assignment / f"{term.assignment}.ipynb"
    writer = Writer(released, kernels(term.rooms))
    mine = [member for member in term.members if member.way == "exchange"]
    for member in (member for member in mine if not member.late):
        submit(term, member, writer.content(member))
    time.sleep(1.5)  # the due date in rules.toml is a whole second
    due = datetime.now(UTC)
    write_rules(term.members, term.assignment, due, term.course / "rules.toml")
    time.sleep(1.5)
    for member in (member for member in mine if member.late):
        submit(term, member, writer.content(member))
    for lms in LMS:
        writer.pack(term.members, lms, term.folder, due)
    zipped = sum(member.hands_in for member in term.members) - len(mine)
    term.tell(f"handed in: {len(mine)} by the exchange, {zipped} in zips")


def submit(term: Term, member: Member, content: str) -> None:
    """nbgrader's own `submit` of one student."""
    home = term.folder / "homes" / member.id
    path = home / term.assignment / f"{term.assignment}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    config = Config()
    config.CourseDirectory.student_id = member.id
    config.CourseDirectory.course_id = term.course.name
    config.CourseDirectory.assignment_id = term.assignment
    config.Exchange.root, config.Exchange.cache = str(term.course / "exchange"), str(home / "cache")
    config.Exchange.assignment_dir = str(home)
    submission = ExchangeSubmit(
        coursedir=CourseDirectory(config=config), authenticator=Authenticator(config=config),
        config=config,
    )  # fmt: skip
    submission.log.setLevel("ERROR")
    submission.start()


def grade(term: Term) -> None:
    """Collect and grade all four ways, with kills; a last run has nothing to do."""
    each, more = divmod(term.kills, 1 + len(LMS))
    term.autograde("--collect", kills=each + more)
    for lms in LMS:
        term.autograde("--from", str(term.folder / f"{lms}.zip"), "--lms", lms, kills=each)
    term.autograde()
    told = (term.folder / "log").read_text(encoding="utf-8").splitlines()
    last = [line for line in told if " submissions: " in line][-1]
    damaged = sum(member.form == "damaged" for member in term.members)
    came = sum(member.hands_in for member in term.members)
    expected = f"{came} submissions: 0 graded, {came - damaged} unchanged, {damaged} ungraded"
    term.ask("a last run grades nobody again", [] if last == expected else [last], expected)
    term.tell(f"graded, {term.kills} runs killed before")


def look(term: Term, changed: bool, by_hand: bool) -> None:
    """The gradebook, cell by cell, against what is known."""
    wrong = []
    with Gradebook(term.database) as gradebook:
        found = {s.student.id: s for s in gradebook.assignment_submissions(term.assignment)}
        read = [member for member in term.members if member.form not in ("damaged", "nothing")]
        known = {member.id: member for member in read}
        wrong += [f"{name} is in the gradebook" for name in found.keys() - known.keys()]
        wrong += [f"{name} is not in the gradebook" for name in known.keys() - found.keys()]
        for name in found.keys() & known.keys():
            wrong += differences(found[name], known[name], changed, by_hand)
    when = "after the hidden case" if changed else "after grading"
    term.ask(f"the gradebook {when}", wrong, f"{len(known)} students as known")


def differences(submission: Any, member: Member, changed: bool, by_hand: bool) -> Iterable[str]:
    """Where a student's line of the gradebook is not what it must be."""
    (notebook,) = submission.notebooks
    judged = [grade for grade in notebook.grades if grade.cell.cell_type == "code"]
    points = sum(grade.auto_score or 0.0 for grade in judged)
    if points != member.judged(changed) or any(grade.auto_score is None for grade in judged):
        yield f"{member.id} ({member.kernel}): {points:g}, not {member.judged(changed):g}"
    if (submission.total_seconds_late > 0) != member.late:
        yield f"{member.id} is {submission.total_seconds_late} s late"
    (written,) = [grade for grade in notebook.grades if grade.cell.cell_type == "markdown"]
    if written.manual_score != (member.by_hand if by_hand else None):
        yield f"{member.id} has {written.manual_score} points by hand"
    if written.needs_manual_grade != (member.by_hand is not None and not by_hand):
        yield f"{member.id}'s answer is {'open' if written.needs_manual_grade else 'closed'}"


def grade_by_hand(term: Term) -> None:
    """What formgrader does when a person enters points."""
    with Gradebook(term.database) as gradebook:
        for submission in gradebook.assignment_submissions(term.assignment):
            points = term.members[int(submission.student.id[1:])].by_hand
            for grade in submission.notebooks[0].grades:
                if points is not None and grade.cell.cell_type == "markdown":
                    grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
    term.tell("graded by hand")


def finish(term: Term) -> None:
    """Feedback, report and the tables of three platforms."""
    graded = [member for member in term.members if member.score(True) is not None]
    damaged = [member for member in term.members if member.form == "damaged"]
    started = time.perf_counter()
    term.tilewise("feedback", term.assignment, damaged=True)
    seconds = time.perf_counter() - started
    with zipfile.ZipFile(term.course / "feedback" / f"{term.assignment}.zip") as archive:
        packed = set(archive.namelist())
    places = {m.packed_as or f"{m.id}/{term.assignment}.ipynb" for m in graded}
    known = {str(PurePosixPath(place).with_suffix(".html")) for place in places}
    term.ask(
        "feedback, under the platforms' names", packed ^ known, f"{len(known)}: {seconds:.0f} s"
    )
    term.nbgrader.run(term.course, "release_feedback", term.assignment)
    pages = list((term.course / "exchange").rglob("feedback/*.html"))
    sent = [m for m in graded if m.way == "exchange" and m.work == m.number]  # own pages
    term.ask("feedback in the exchange", [] if len(pages) == len(sent) else [len(pages)])
    term.tilewise("report", term.assignment)
    rows = read(term.course / "reports" / f"{term.assignment}.csv", "student")
    wrong = [m.id for m in term.members if points(rows[m.id]["score"]) != m.score(True)]
    wrong += [m.id for m in damaged if rows[m.id]["score"] or not rows[m.id]["reason"]]
    term.ask("the report, and why who is ungraded", wrong, f"{len(rows)} rows as known")
    for lms, (column, name) in TABLES.items():
        path = term.course / f"{lms}.csv"
        term.tilewise("export", lms.lower(), "--to", str(path))
        rows = read(path, column)
        scores = {m: rows[name(m)][term.assignment] for m in term.members}
        wrong = [f"{m.id}: {said!r}, not {m.score(True)}" for m, said in scores.items()
                 if points(said) != m.score(True)]  # fmt: skip
        term.ask(f"{lms}'s table", wrong, f"{len(scores)} rows as known")
    term.tell("feedback, report and tables")


def points(text: str) -> float | None:
    """A score of a table; an open grade is empty there."""
    return float(text) if text else None


def read(path: Path, column: str) -> dict[str, dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return {row[column]: row for row in csv.DictReader(file)}


def left_behind(term: Term) -> list[str]:
    """Processes of the class that are still there."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(term.folder):
                found.append(" ".join(process.cmdline())[:80])
        except psutil.Error:
            continue
    return found


def run(term: Term) -> bool:
    """The whole term; whether every answer is yes."""
    make(term)
    hand_in(term)
    grade(term)
    look(term, changed=False, by_hand=False)
    grade_by_hand(term)
    add_hidden_case(term.clone)
    term.autograde(kills=min(1, term.kills))
    term.tell("hidden case changed, graded again")
    look(term, changed=True, by_hand=True)
    finish(term)
    term.ask("no process is left behind", left_behind(term), "none")
    return all(holds is not False for *_, holds in term.lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--db", metavar="URL")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tw-term-") as name:
        term = Term(Path(name), options.students, options.kills, options.db, options.seed)
        holds = run(term)
    table = Table("", "found", "holds", title=f"{options.students} students, {options.kills} kills")
    for what, found, said in term.lines:
        table.add_row(what, found, "" if said is None else "yes" if said else "NO")
    Console(width=120).print(table)
    Console().print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
