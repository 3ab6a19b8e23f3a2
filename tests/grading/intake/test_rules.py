"""rules.toml: a misspelt name is an error, and a deleted extension ends."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from graders.grading.intake.rules import grant, read_rules
from graders.grading.plugins.configure import find_own_programs
from graders.judge.records import GraderError


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "source" / "01_vector_add").mkdir(parents=True)
    (tmp_path / "submitted" / "guest" / "01_vector_add").mkdir(parents=True)
    (tmp_path / "roster.csv").write_text("id\nada\nkurt\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[attempts]\n01_vectoradd = 3\n", "'01_vectoradd': did you mean '01_vector_add'?"),
        ("[extensions.adda]\n'*' = {days = 1}\n", "no student 'adda': did you mean 'ada'?"),
        ("[extensions.ada]\n02_x = {days = 1}\n", "no assignment '02_x'"),
        ("[extensions.zoe]\n'*' = {days = 1}\n", "no student 'zoe': see the spelling"),
    ],
)
def test_a_misspelt_name_is_an_error(course: Path, text: str, why: str) -> None:
    (course / "rules.toml").write_text(text)
    with pytest.raises(GraderError) as caught:
        read_rules(course)
    assert why in str(caught.value)


def test_names_of_the_class_are_none(course: Path) -> None:
    text = "[attempts]\n'*' = 9\n01_vector_add = 3\n"
    (course / "rules.toml").write_text(text + "[extensions.guest]\n01_vector_add = {days = 1}\n")
    assert read_rules(course).limit("guest", "01_vector_add") == 3


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's use of its sessions
def test_a_deleted_extension_ends_and_one_of_formgrader_stays(course: Path) -> None:
    find_own_programs()
    url = f"sqlite:///{course / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.add_assignment("01_vector_add", duedate="2026-03-01 10:00:00 UTC")
        gradebook.add_student("kurt")
        by_hand = gradebook.add_submission("01_vector_add", "kurt")
        by_hand.extension = timedelta(days=5)
        gradebook.db.commit()

    def extensions(text: str) -> dict[str, timedelta | None]:
        (course / "rules.toml").write_text(text)
        grant(read_rules(course), "01_vector_add", ["ada", "kurt"], url)
        with Gradebook(url) as gradebook:
            found = gradebook.assignment_submissions("01_vector_add")
            return {one.student_id: one.extension for one in found}

    by_kurt = {"kurt": timedelta(days=5)}
    given = extensions("[extensions.ada]\n01_vector_add = {days = 2}\n")
    assert given == {"ada": timedelta(days=2), **by_kurt}
    assert extensions("") == {"ada": None, **by_kurt}
    assert extensions("") == {"ada": None, **by_kurt}
