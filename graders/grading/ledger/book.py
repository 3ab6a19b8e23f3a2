"""The ledger of a class: the accounts of an assignment, read from the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from nbgrader.api import (
    Assignment,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    TaskCell,
)

from graders.grading import gradebooks
from graders.grading.finished import Finished
from graders.grading.ledger.accounts import (
    Account,
    Given,
    Lateness,
    Mark,
    State,
    mark_of,
    points_by_notebook,
    total,
)
from graders.grading.ledger.changes import ChangeLog
from graders.grading.ledger.seen import is_outdated, works_of
from graders.grading.ledger.terms import ClassTerms, HandedIn, counting


@dataclass(frozen=True)
class _OwnWork:
    """One student's own submission, as it is in the gradebook."""

    handed_in: HandedIn
    marks: tuple[Mark, ...]


class Ledger:
    """Reads accounts from an open gradebook, under the terms of the class."""

    def __init__(self, gradebook: Gradebook, terms: ClassTerms) -> None:
        self._gradebook, self.terms = gradebook, terms

    def accounts(self, assignment: str, students: Sequence[str] = ()) -> list[Account]:
        """Return the accounts of one assignment, sorted by name: all of them, or `students`'.

        All students are those on the roster, in the gradebook, or with a submission.
        """
        found = self._submissions(assignment, students)
        unread = Finished(self.terms.course, assignment).ungraded()
        wanted = students or {*self._names, *found, *unread}
        empty = self._empty(assignment)
        made = [self._account(name, assignment, found, unread, empty) for name in wanted]
        return sorted(made, key=lambda account: account.student)

    def settle(self, assignment: str, students: Sequence[str] = ()) -> None:
        """Write the penalties where nbgrader's own pages and tables read them.

        If all accounts are settled, the changes since the last time are logged.
        """
        accounts = {a.student: a for a in self.accounts(assignment, students)}
        for submission in gradebooks.submissions(self._gradebook, assignment, students):
            account = accounts[submission.student_id]
            taken = account.penalties if account.work == account.student else {}
            for notebook in submission.notebooks:
                penalty = taken.get(notebook.notebook.name) or None
                if notebook.late_submission_penalty != penalty:
                    notebook.late_submission_penalty = penalty
        self._gradebook.db.commit()
        if not students:
            seen = {work: works_of(self.terms.course, assignment, work)
                    for work in {account.work for account in accounts.values()} - {""}}  # fmt: skip
            ChangeLog(self.terms.course, assignment).note(accounts.values(), seen)

    # ------------------------------------------------------------ one account

    def _account(
        self,
        student: str,
        assignment: str,
        found: Mapping[str, _OwnWork],
        unread: Mapping[str, str],
        empty: tuple[Mark, ...],
    ) -> Account:
        team = self.terms.teams.members(student, assignment)
        work = counting([found[one].handed_in for one in team if one in found])
        owner = work.student if work else next((one for one in team if one in unread), "")
        marks = found[owner].marks if work else empty
        account = Account(
            student,
            self._names.get(student, ""),
            assignment,
            owner,
            marks,
            self._lateness(student, work) if work else Lateness(),
            {},
            on_roster=not self.terms.roster or bool(self.terms.roster.by("id", student)),
            handed_in=bool(owner),
        )
        reason = unread.get(owner, "") if account.state is State.OPEN else ""
        others = [one for one in team if one in found and one != owner] if work else []
        remarks = [
            self._about_team(owner, assignment, others, found),
            self._about_file(owner, assignment, unread) if work else "",
        ]
        return replace(
            account,
            reason=reason,
            penalties=self._penalties(account),
            remark=" ".join(filter(None, remarks)),
        )

    def _about_team(
        self, owner: str, assignment: str, others: Sequence[str], found: Mapping[str, _OwnWork]
    ) -> str:
        """Return which of a team's different works counts; "" if there is only one."""
        course = self.terms.course
        counts = works_of(course, assignment, owner)
        different = [one for one in others if works_of(course, assignment, one) != counts]
        if not different:
            return ""
        times = [found[one].handed_in.time for one in (owner, *different)]
        last = "the last one" if None not in times else "because the times are not all known"
        return (
            f"Members of the team handed in different works. The work of {owner} counts, {last}; "
            f"not that of {', '.join(different)}."
        )

    def _about_file(self, owner: str, assignment: str, unread: Mapping[str, str]) -> str:
        """Return a remark if the last file of a graded student is not the one with the points."""
        if not is_outdated(self.terms.course, assignment, owner):
            return ""
        why = unread.get(owner) or "it is damaged, or grading has not run since"
        return f"The last file is not graded: {why.rstrip('.')}. The points are for the one before."

    def _penalties(self, account: Account) -> dict[str, float]:
        """Return the penalty for lateness, by notebook."""
        seconds = account.lateness.seconds
        by_notebook = points_by_notebook(account.marks)
        return {
            notebook: total([self.terms.penalty(account.student, points, seconds)])
            for notebook, points in by_notebook.items()
        }

    def _lateness(self, student: str, work: HandedIn) -> Lateness:
        own = self._of(student, work)
        free = 0
        if self.terms.rules.late.free_days:
            free = self.terms.free_days(self._works(student)).get(work.assignment, 0)
        return Lateness(own.due, own.time, own.extension, free)

    # ------------------------------------------------------------ what the gradebook says

    def _submissions(self, assignment: str, students: Sequence[str]) -> dict[str, _OwnWork]:
        """Return the submissions that these students and their teams handed in, by student."""
        members = self.terms.teams.members
        wanted = {one for student in students for one in members(student, assignment)}
        came = self._came(assignment)
        found = {}
        for row in gradebooks.submissions(self._gradebook, assignment, sorted(wanted)):
            marks = [
                mark_of(grade, notebook.notebook.name)
                for notebook in row.notebooks
                for grade in notebook.grades
            ]
            if self._has_come(row, marks, came):
                marks.sort(key=lambda mark: (mark.notebook, mark.cell))
                found[row.student_id] = _OwnWork(self._handed_in(row), tuple(marks))
        return found

    @staticmethod
    def _has_come(row: Any, marks: Iterable[Mark], came: set[str]) -> bool:
        """Whether the row has a submission: an extension alone also makes a row."""
        graded = any(mark.given is not Given.NOT_YET for mark in marks)
        return row.timestamp is not None or graded or row.student_id in came

    def _came(self, assignment: str) -> set[str]:
        return {
            path.parent.name
            for room in ("submitted", "autograded")
            for path in self.terms.course.glob(f"{room}/*/{assignment}")
        }

    def _handed_in(self, row: Any) -> HandedIn:
        assignment = row.assignment.name
        due = self.terms.rules.due.get(assignment, row.assignment.duedate)
        extension = self.terms.extension(row.student_id, assignment, row.extension)
        return HandedIn(row.student_id, assignment, row.timestamp, due, extension)

    def _of(self, student: str, work: HandedIn) -> HandedIn:
        """Return a team's work with this member's own extension."""
        if student == work.student:
            return work
        own = self._extensions.get((student, work.assignment))
        extension = self.terms.extension(student, work.assignment, own)
        return replace(work, extension=extension)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Return the name of each student in the gradebook or on the roster."""
        found = {}
        for student in self._gradebook.db.query(Student):
            found[student.id] = f"{student.first_name or ''} {student.last_name or ''}".strip()
        for enrolled in self.terms.roster.students:
            name = f"{enrolled.first_name} {enrolled.last_name}".strip() or enrolled.name
            found[enrolled.id] = name or found.get(enrolled.id, "")
        return found

    @cached_property
    def _extensions(self) -> dict[tuple[str, str], timedelta]:
        rows = (
            self._gradebook.db.query(
                SubmittedAssignment.student_id, Assignment.name, SubmittedAssignment.extension
            )
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .filter(SubmittedAssignment.extension.is_not(None))
        )
        return {(student, name): extension for student, name, extension in rows}

    @cached_property
    def _all_works(self) -> dict[tuple[str, str], HandedIn]:
        """Return all submissions of all assignments, because late days are for the whole term."""
        rows = self._gradebook.db.query(
            SubmittedAssignment.student_id,
            Assignment.name,
            SubmittedAssignment.timestamp,
            Assignment.duedate,
        ).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        works = {}
        for student, name, time, due in rows.filter(SubmittedAssignment.timestamp.is_not(None)):
            own = self.terms.extension(student, name, self._extensions.get((student, name)))
            due = self.terms.rules.due.get(name, due)
            works[student, name] = HandedIn(student, name, time, due, own)
        return works

    def _works(self, student: str) -> list[HandedIn]:
        """Return the works that count for a student, with the student's own extensions."""
        found = []
        for name in {assignment for _, assignment in self._all_works}:
            team = self.terms.teams.members(student, name)
            works = [self._all_works[one, name] for one in team if (one, name) in self._all_works]
            work = counting(works)
            if work is not None:
                found.append(self._of(student, work))
        return found

    def _empty(self, assignment: str) -> tuple[Mark, ...]:
        """Return the marks of a work that is not graded yet."""
        cells = []
        for kind in (GradeCell, TaskCell):
            rows = (
                self._gradebook.db.query(kind.name, Notebook.name, kind.max_score)
                .join(Notebook, Notebook.id == kind.notebook_id)
                .join(Assignment, Assignment.id == Notebook.assignment_id)
                .filter(Assignment.name == assignment)
            )
            cells += [
                Mark(cell, name, None, float(most), Given.NOT_YET) for cell, name, most in rows
            ]
        return tuple(sorted(cells, key=lambda mark: (mark.notebook, mark.cell)))
