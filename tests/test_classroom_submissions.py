"""Submissions from a folder and from what an LMS packs."""

import zipfile
from pathlib import Path

import pytest

from graders.classroom.submissions import recognise, take
from graders.judge.model import GraderError


@pytest.mark.parametrize(
    ("path", "student", "name"),
    [
        ("lovelaceada_1234_567890_01_vector_add-2.ipynb", "1234", "lovelaceada"),
        ("lovelaceada_LATE_1234_567890_01_vector_add.ipynb", "1234", "lovelaceada"),
        ("Ada Lovelace_77_assignsubmission_file_/01_vector_add.ipynb", "77", "Ada Lovelace"),
        ("Ada Lovelace_77_assignsubmission_file/answer.ipynb", "77", "Ada Lovelace"),
        ("ada/anything.ipynb", "ada", ""),
        ("ada.ipynb", "ada", ""),
    ],
)
def test_the_student_is_read_from_the_path(path: str, student: str, name: str) -> None:
    found = recognise(path)
    assert found is not None
    assert (found.student, found.name) == (student, name)


@pytest.mark.parametrize("path", ["ada/notes.txt", "a/b/c/x.ipynb", "../x.ipynb", "a b.ipynb"])
def test_what_names_nobody_is_left_out(path: str) -> None:
    assert recognise(path) is None


def test_a_folder_is_taken_twice_without_a_change(tmp_path: Path) -> None:
    source, submitted = tmp_path / "in", tmp_path / "submitted"
    (source / "ada").mkdir(parents=True)
    (source / "ada" / "x.ipynb").write_text("1")
    (source / "readme.txt").write_text("2")
    taken = take(source, submitted, "01_a")
    assert [found.student for found in taken.found] == ["ada"]
    assert taken.ignored == ("readme.txt",)
    target = submitted / "ada" / "01_a" / "01_a.ipynb"
    before = target.stat().st_mtime_ns
    take(source, submitted, "01_a")
    assert target.stat().st_mtime_ns == before
    (source / "ada" / "x.ipynb").write_text("3")
    take(source, submitted, "01_a")
    assert target.read_text() == "3"


def test_a_zip_cannot_leave_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../evil.ipynb", "x")
        archive.writestr("/etc/evil.ipynb", "x")
        archive.writestr("lovelaceada_1234_5_a.ipynb", "right")
    taken = take(path, tmp_path / "submitted", "01_a")
    assert [found.student for found in taken.found] == ["1234"]
    assert [path.name for path in tmp_path.iterdir()] in (
        ["lms.zip", "submitted"],
        ["submitted", "lms.zip"],
    )


def test_a_wrong_source_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="does not exist"):
        take(tmp_path / "none", tmp_path / "submitted", "01_a")
    (tmp_path / "x.txt").write_text("no zip")
    with pytest.raises(GraderError, match="neither a folder nor a zip"):
        take(tmp_path / "x.txt", tmp_path / "submitted", "01_a")
