"""Each file that is taken belongs to the student who handed it in; each other one is named.

Rosters and uploads are generated, with what confuses names: ids that are another's number on the
platform, equal names, accents in both of Unicode's forms, Chinese, one word, `_` and `-`, uploads
that are called like another's, and rosters from which numbers, addresses or names are missing.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from graders.grading.intake.roster import Enrolled, read_roster
from graders.grading.intake.submissions import Taken, take

ASSIGNMENT = "10_matmul"
COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")
NUMBERS = [str(number) for number in range(1, 13)]
WORDS = [
    *("Ada", "ada", "Li", "王", "伟", "李娜", "Gödel", "Godel", "Zoë", "O'Brien", "Jean-Luc"),
    *("de_la_Cruz", "Cruz_12", "Ada_3", "3", "12", "X Æ", "김", "Müller", "Nguyễn", "LATE", "file"),
    *("submission_1", "_1_assignsubmission_file_", "anon"),
]
FILES = [
    *(f"{ASSIGNMENT}.ipynb", f"{ASSIGNMENT}-2.IPYNB", "x.py", "work.ipynb", "7_work.ipynb"),
    *("2024_x.ipynb", "liada_3_4_x.ipynb", "ada_li_5_6_10_x.ipynb", "3_4_5_6.ipynb", "王.ipynb"),
    *("Ada Li_7_assignsubmission_file_x.ipynb", "1_LATE_2_3_x.ipynb", "notes.txt", "page.html"),
]


@dataclass(frozen=True)
class Member:
    """A student as she is, of whom the roster may know less, and her number in one assignment."""

    true: Enrolled
    known: Enrolled
    participant: str


def names() -> st.SearchStrategy[str]:
    """A part of a name, composed or decomposed."""
    forms = st.sampled_from(["NFC", "NFD"])
    return st.builds(
        lambda word, form: unicodedata.normalize(form, word), st.sampled_from(WORDS), forms
    )


@st.composite
def classes(draw: st.DrawFn) -> list[Member]:
    """A class in which nobody shares an id, a number or an address; names may be equal."""
    size = draw(st.integers(1, 6))
    ids = draw(st.permutations([*NUMBERS, "ada", "li", "Ada-Li", "a_3", "王伟"]))
    numbers = draw(st.permutations(NUMBERS))
    places = draw(st.permutations(NUMBERS))
    members = []
    for at in range(size):
        true = Enrolled(
            unicodedata.normalize("NFC", ids[at]),
            draw(st.one_of(st.just(""), names())),
            draw(names()),
            f"{at}@example.org",
            numbers[at],
        )
        gone = draw(st.sets(st.sampled_from(["first_name", "email", "lms_user_id"]), max_size=2))
        members.append(Member(true, replace(true, **dict.fromkeys(gone, "")), places[at]))
    return members


def canvas_name(student: Enrolled) -> str:
    """As Canvas makes it of the sortable name."""
    parts = [student.last_name, student.first_name]
    name = re.sub(r"_(\d+)_", r"\1", ", ".join(filter(None, parts))).lower()
    marks = ("M", "L", "N")
    return "".join(c for c in name if c == "_" or unicodedata.category(c)[0] in marks)


def packed_as(lms: str, member: Member, file: str, place: int, late: bool) -> str:
    """The path under which the platform packs a file of this student."""
    student = member.true
    name = " ".join(filter(None, [student.first_name, student.last_name]))
    if lms == "canvas":
        mark = "_LATE" if late else ""
        return f"{canvas_name(student)}{mark}_{student.lms_user_id}_{place + 3}_{file}"
    if lms == "moodle":
        folder = f"{name.replace('_', ' ')}_{member.participant}_assignsubmission_file_"
        return f"{folder}/{file}" if not late else f"{folder}{file}"
    if lms == "gradescope":
        return f"submission_{place + 1}/{file}"
    if lms == "nbgrader":
        return f"{student.id}/{ASSIGNMENT}/{file}"
    return f"{student.id}/{file}"


def metadata(places: Mapping[int, Member]) -> str:
    """Gradescope's. JSON is YAML, and quotes what YAML would read otherwise."""
    import json

    said = {
        f"submission_{place + 1}": {
            ":submitters": [
                {
                    ":name": f"{member.true.first_name} {member.true.last_name}".strip(),
                    ":sid": member.true.lms_user_id,
                    ":email": member.true.email,
                }
            ]
        }
        for place, member in places.items()
    }
    return json.dumps(said)


def imported(
    lms: str, members: Sequence[Member], uploads: Mapping[str, str], more: Mapping[str, str]
) -> tuple[Taken, dict[str, str]]:
    """What an import takes, and the text that stands with each student afterwards."""
    with tempfile.TemporaryDirectory() as name:
        course = Path(name)
        lines = [",".join(COLUMNS)]
        lines += [",".join(getattr(m.known, column) for column in COLUMNS) for m in members]
        (course / "roster.csv").write_text("\n".join(lines), encoding="utf-8")
        with zipfile.ZipFile(course / "lms.zip", "w") as archive:
            for path, text in {**uploads, **more}.items():
                archive.writestr(path, text)
        taken = take(
            course / "lms.zip",
            course / "submitted",
            ASSIGNMENT,
            roster=read_roster(course),
            lms=lms,
        )
        there = (course / "submitted").glob(f"*/{ASSIGNMENT}/{ASSIGNMENT}.*")
        return taken, {path.parents[1].name: path.read_text() for path in there}


@pytest.mark.parametrize("lms", ["canvas", "moodle", "gradescope", "nbgrader", "folders"])
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_each_file_is_its_students_or_is_named(lms: str, data: st.DataObject) -> None:
    members = data.draw(classes())
    uploads: dict[str, str] = {}
    called: dict[str, str] = {}
    for place, member in enumerate(members):
        files = data.draw(st.lists(st.sampled_from(FILES), max_size=3, unique=True))
        late = data.draw(st.booleans())
        for file in files:
            path = packed_as(lms, member, file, place, late)
            uploads[path], called[path] = f"{member.true.id} handed in {file}", file
    more = {"submission_metadata.yml": metadata(dict(enumerate(members)))}
    taken, there = imported(lms, members, uploads, more if lms == "gradescope" else {})
    for student, text in there.items():
        assert text.startswith(f"{student} handed in "), "a file counts for another student"
    assert set(there) == {found.student for found in taken.found}
    assert len(taken.found) == len(there), "two files count for one student"
    said = [*(found.path for found in taken.found), *taken.beside]
    named = {*said, *(left.path for left in taken.left_out)}
    mentioned = " ".join(left.why for left in taken.left_out)
    for path in uploads:
        assert path in named or called[path] in mentioned, f"{path} is named nowhere"
    event(f"{lms}: {'all' if not taken.left_out else 'some' if taken.found else 'none'}")


@pytest.mark.parametrize("lms", ["canvas", "moodle", "gradescope", "nbgrader", "folders"])
def test_an_ordinary_class_is_taken_whole(lms: str) -> None:
    """Otherwise leaving everything out would do."""
    parts = [("Ada", "Li"), ("Jean-Luc", "O'Brien"), ("伟", "王"), ("", "Plato"), ("Zoë", "Gödel")]
    members = []
    for at, (first, last) in enumerate(parts):
        form = unicodedata.normalize("NFD" if at % 2 else "NFC", last)
        student = Enrolled(str(at + 1), first, form, f"{at}@example.org", str(9 - at))
        members.append(Member(student, student, str(at + 50)))
    uploads = {
        packed_as(lms, member, f"{ASSIGNMENT}.ipynb", at, at == 2): f"{member.true.id} handed in"
        for at, member in enumerate(members)
    }
    more = {"submission_metadata.yml": metadata(dict(enumerate(members)))}
    taken, there = imported(lms, members, uploads, more if lms == "gradescope" else {})
    assert there == {member.true.id: f"{member.true.id} handed in" for member in members}
    if lms != "folders":  # ids here are numbers of others on the platform
        assert taken.left_out == ()


@pytest.mark.parametrize("lms", ["canvas", "moodle", "gradescope"])
def test_a_name_that_is_only_partly_known_may_be_this_one(lms: str) -> None:
    """Two students are called Ada Li; of one of them the roster knows only `Li`."""
    true = [Enrolled(id, "Ada", "Li", f"{id}@example.org", f"7{id}") for id in "12"]
    nothing = {"email": "", "lms_user_id": ""}
    known = [replace(true[0], **nothing), replace(true[1], first_name="", **nothing)]
    members = [Member(t, k, f"5{at}") for at, (t, k) in enumerate(zip(true, known, strict=True))]
    path = packed_as(lms, members[1], f"{ASSIGNMENT}.ipynb", 1, late=False)
    more = {"submission_metadata.yml": metadata({1: members[1]})} if lms == "gradescope" else {}
    taken, there = imported(lms, members, {path: "2 handed in"}, more)
    assert there == {}
    assert any("Li (2)" in left.why for left in taken.left_out)
