"""The roster: what it says of students, and what is wrong with it, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from graders.grading.intake.roster import Enrolled, Roster, enter, read_roster
from graders.grading.plugins.configure import find_own_programs
from graders.judge.records import GraderError

TEXT = "id,first_name,last_name,email,lms_user_id,section\nada, Ada ,Lovelace,,1815,B\n,,,,,\n"


def test_a_roster_is_read_with_columns_that_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("\ufeff" + TEXT)
    assert read_roster(tmp_path).students == (Enrolled("ada", "Ada", "Lovelace", "", "1815"),)
    assert not read_roster(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "`id` is missing"),
        ("name\nada\n", "`id` is missing"),
        ("id\nada\nada\n", "the id ada stands there twice"),
        ("id\n../ada\n", "'../ada' is no id of a student"),
        ("id,first_name\n,Ada\n", "'' is no id"),
    ],
)
def test_what_is_wrong_with_a_roster_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(GraderError) as caught:
        read_roster(tmp_path)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("id", "kurt"), ("canvas", "1931"), ("canvas", "77"), ("gradescope", "1931")),
        *(("email", "KURT@example.org"), ("name", "Kurt Gödel"), ("name", "go\u0308delkurt")),
        *(("name", "Gödel, Kurt"), ("name", "Gödel K. F.")),
    ],
)
def test_a_student_has_many_names(kind: str, text: str) -> None:
    kurt = Enrolled("kurt", "Kurt", "Gödel", "kurt@example.org", "1931", "77", name="Gödel, K. F.")
    roster = Roster([kurt, Enrolled("1931", "Ada", "Lovelace")])
    assert kurt in roster.by(kind, text)
    assert len(roster.by(kind, text)) == 1 + (kind == "gradescope")
    assert not roster.by(kind, "goedelkurt")


def test_names_reach_the_gradebook_and_nothing_is_emptied(tmp_path: Path) -> None:
    find_own_programs()
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.add_student("ada", first_name="A.", email="kept@example.org")
    enter(Roster([Enrolled("ada", "Ada", "Lovelace"), Enrolled("kurt", "Kurt")]), url)
    with Gradebook(url) as gradebook:
        found = {s.id: (s.first_name, s.last_name, s.email) for s in gradebook.students}
    assert found == {
        "ada": ("Ada", "Lovelace", "kept@example.org"),
        "kurt": ("Kurt", None, None),
    }
