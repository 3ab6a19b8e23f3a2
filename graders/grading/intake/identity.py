"""Finds who handed in a file: looks up in the roster what the platform says, without guessing.

A student is found by the platform's own names and numbers. If two of them point to two different
people, the file is left out and both people are named.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from graders.authoring.class_folder import ROSTER
from graders.grading.intake.platforms import Claim, Person
from graders.grading.intake.roster import STUDENT, Enrolled, Roster, folded
from graders.grading.intake.teams import Teams
from graders.judge.plain_text import quoted

Answer = tuple[str, str]  # the id of a student and "", or "" and the reason


def whose(
    claim: Claim, lms: str, roster: Roster, assignment: str, teams: Teams | None = None
) -> list[Answer]:
    """Return the owner of a file: one student, or each member of a group."""
    if lms == "moodle" and folded(claim.people[0].name) == "participant":
        return [(participant(claim.sender, assignment), "")]
    if not roster:
        return [_without_roster(claim, person, lms) for person in claim.people]
    if lms == "canvas":
        named = teams.called(claim.people[0].name, assignment) if teams is not None else ()
        return [_canvas(claim, roster, named)]
    return [_found(person, lms, roster) for person in claim.people]


def participant(number: str, assignment: str) -> str:
    """Return the name for an anonymous Moodle student; the number differs by assignment."""
    return f"participant-{number}.{assignment}"


def _without_roster(claim: Claim, person: Person, lms: str) -> Answer:
    """Return the platform's own number, if it is the same in every assignment."""
    if claim.instead is not None:
        return "", _two_ways(claim)
    said = person.id or person.number or person.folder
    student = unicodedata.normalize("NFC", said)
    if lms != "moodle" and STUDENT.match(student) and student not in (".", ".."):
        return student, ""
    told = " or ".join(quoted(text) for text in (said, person.email, person.name) if text)
    return "", f"it names only {told or 'nobody'}: write into {ROSTER} who that is"


def _found(person: Person, lms: str, roster: Roster) -> Answer:
    if lms == "gradescope":
        return _gradescope(person, roster)
    if lms == "nbgrader":
        return _only(roster.by("id", person.id), f"the id {quoted(person.id)}")
    if lms == "moodle":
        return _only(roster.by("name", person.name), f"the name {quoted(person.name)}")
    kinds = ("id", "email", "name", "canvas", "gradescope")
    found = set[Enrolled]().union(*(roster.by(kind, person.folder) for kind in kinds))
    return _only(found, f"the id, e-mail address or name {quoted(person.folder)}")


def _only(found: Iterable[Enrolled], what: str) -> Answer:
    """Return the only student among these, or why there is none."""
    students = list(found)
    if len(students) == 1:
        return students[0].id, ""
    if not students:
        return "", f"the roster has nobody with {what}"
    return "", f"{what} may be any of {_called(students)}: the roster does not tell them apart"


def _called(students: Iterable[Enrolled]) -> str:
    return ", ".join(sorted(student.called for student in students))


# ---------------------------------------------------------------- Canvas


def _canvas(claim: Claim, roster: Roster, team: tuple[str, ...]) -> Answer:
    """Find by number, which the name must fit; find only students without a number by name.

    For a group, Canvas writes the group's name and the number of one member. `team` are the
    members of the class's team with that name.
    """
    person = claim.people[0]
    if team:
        return _of_team(person, roster, team)
    if claim.instead is not None:
        complete = all(student.canvas_numbers for student in roster.students)
        if roster.by("canvas", claim.instead.number) or not complete:
            return "", _two_ways(claim)
    numbered, named = roster.by("canvas", person.number), roster.by("name", person.name)
    number, name = f"the Canvas number {person.number}", f"the name {quoted(person.name)}"
    if len(numbered) > 1:
        return _only(numbered, number)
    if numbered:
        (student,) = numbered
        others = named - numbered
        if student not in named and (others or not student.may_be_called(person.name)):
            whom = f"is {_called(others)}" if others else "is another"
            return "", (
                f"{number} is {student.called}, and {name} {whom}: correct {ROSTER}, where a "
                "column `name` may say what Canvas calls the student"
            )
        return student.id, ""
    if not named:
        return "", f"the roster has nobody with {number} (`lms_user_id`) or {name}"
    contradicted = [student for student in named if student.canvas_numbers]
    if contradicted:
        return "", (
            f"{name} is {_called(named)}, who has another Canvas number than {person.number}: "
            f"correct `lms_user_id` in {ROSTER}"
        )
    return _only(named, name)


def _of_team(person: Person, roster: Roster, team: tuple[str, ...]) -> Answer:
    """Return the member whose number it is; any member if the roster has no such number."""
    numbered = {student.id for student in roster.by("canvas", person.number)}
    members = {student for one in team for student in roster.by("id", one)}
    if numbered & set(team):
        return _only(roster.by("canvas", person.number), f"the Canvas number {person.number}")
    if numbered or all(student.canvas_numbers for student in members):
        return "", (
            f"the Canvas number {person.number} is of nobody in the team {quoted(person.name)}: "
            f"correct {ROSTER} or the teams"
        )
    return sorted(student.id for student in members if not student.canvas_numbers)[0], ""


def _two_ways(claim: Claim) -> str:
    """Return why a file named `ada_12_34_56_x.ipynb` has no clear owner."""
    first, other = claim.people[0], claim.instead or claim.people[0]
    return (
        f"its name can be read in two ways, as {quoted(first.name)} with the Canvas number "
        f"{first.number} and as {quoted(other.name)} with {other.number}: give everybody a "
        f"number in {ROSTER}, or rename the upload so that it does not begin with a number"
    )


# ---------------------------------------------------------------- Gradescope


def _gradescope(person: Person, roster: Roster) -> Answer:
    """Find the student who matches SID, address and name, as far as these are known."""
    said = {"gradescope": person.number, "email": person.email, "name": person.name}
    words = {"gradescope": "the SID", "email": "the e-mail address", "name": "the name"}
    hits = {kind: found for kind, text in said.items() if (found := roster.by(kind, text))}
    told = {kind: f"{words[kind]} {quoted(text)}" for kind, text in said.items() if text}
    if not hits:
        return "", f"the roster has nobody with {' or '.join(told.values()) or 'no name'}"
    common = set.intersection(*hits.values())
    if not common:
        who = ", and ".join(f"{told[kind]} is {_called(found)}" for kind, found in hits.items())
        return "", f"{who}: correct {ROSTER}"
    student, why = _only(common, " and ".join(told[kind] for kind in hits))
    if why:
        return "", why
    (known,) = common
    if set(hits) == {"name"}:
        here = {"gradescope": known.sid or known.lms_user_id, "email": known.email}
        against = [told[kind] for kind in here if here[kind] and said[kind]]
    else:
        alone = "name" not in hits and len(hits) == 1
        against = [told["name"]] if alone and not known.may_be_called(person.name) else []
    if against:
        which = " and ".join(told[kind] for kind in hits)
        return "", f"{which} is {known.called}, and {against[0]} is another: correct {ROSTER}"
    return student, ""
