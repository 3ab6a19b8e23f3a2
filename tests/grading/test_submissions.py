"""Submissions from a folder and from what an LMS packs."""

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.utils import parse_utc

from graders.grading.submissions import MAX_FILE, LeftOut, recognise, take
from graders.judge.records import GraderError


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
    assert taken.left_out == (LeftOut("readme.txt", "its name tells no student"),)
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


def test_when_it_was_handed_in_is_told_by_a_file_beside_it(tmp_path: Path) -> None:
    source, submitted = tmp_path / "in", tmp_path / "submitted"
    (source / "ada").mkdir(parents=True)
    (source / "ada" / "x.ipynb").write_text("1")
    (source / "ada" / "timestamp.txt").write_text("2026-03-01 10:00:00 UTC")
    (source / "kurt.ipynb").write_text("1")
    taken = take(source, submitted, "01_a")
    assert taken.left_out == ()
    assert (submitted / "ada/01_a/timestamp.txt").read_text() == "2026-03-01 10:00:00 UTC"
    assert not (submitted / "kurt/01_a/timestamp.txt").exists()


def test_the_dates_of_a_zip_count_only_where_that_is_said(tmp_path: Path) -> None:
    path, submitted = tmp_path / "lms.zip", tmp_path / "submitted"
    stamp = submitted / "1234/01_a/timestamp.txt"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("lovelaceada_LATE_1234_5_a.ipynb", (2026, 3, 2, 12, 30, 0))
        archive.writestr(info, "right")
    taken = take(path, submitted, "01_a")
    assert [found.late for found in taken.found] == [True]
    assert not stamp.exists()
    take(path, submitted, "01_a", times=True)
    local = datetime(2026, 3, 2, 12, 30).astimezone()
    assert parse_utc(stamp.read_text()).replace(tzinfo=UTC) == local


def test_an_old_time_does_not_stay_with_a_new_notebook(tmp_path: Path) -> None:
    source, submitted = tmp_path / "in", tmp_path / "submitted"
    source.mkdir()
    (source / "ada.ipynb").write_text("1")
    take(source, submitted, "01_a", times=True)
    take(source, submitted, "01_a")
    assert (submitted / "ada/01_a/timestamp.txt").is_file()
    (source / "ada.ipynb").write_text("2")
    take(source, submitted, "01_a")
    assert not (submitted / "ada/01_a/timestamp.txt").exists()


def _damage(data: bytearray) -> None:
    data[data.index(b"hello") + 1] ^= 0xFF


def _encrypt(data: bytearray) -> None:
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1


def _undate(data: bytearray) -> None:
    date = data.index(b"PK\x01\x02") + 14
    data[date : date + 2] = b"\0\0"


@pytest.mark.parametrize(
    ("harm", "why"),
    [(_damage, "damaged in the zip"), (_encrypt, "encrypted"), (_undate, "no date that exists")],
)
def test_one_broken_file_of_a_zip_stops_nobody_else(
    tmp_path: Path, harm: Callable[[bytearray], None], why: str
) -> None:
    path, submitted = tmp_path / "lms.zip", tmp_path / "submitted"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lovelaceada_1_5_a.ipynb", "hello")
        archive.writestr("goedelkurt_2_5_a.ipynb", "right")
    data = bytearray(path.read_bytes())
    harm(data)
    path.write_bytes(data)
    taken = take(path, submitted, "01_a", times=True)
    assert [found.student for found in taken.found] == ["2"]
    assert [left.path for left in taken.left_out] == ["lovelaceada_1_5_a.ipynb"]
    assert why in taken.left_out[0].why
    assert sorted(path.name for path in submitted.iterdir()) == ["2"]


def test_a_zip_that_unpacks_to_gigabytes_is_left_out_unread(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lovelaceada_1_5_a.ipynb", bytes(MAX_FILE + 1))
    assert path.stat().st_size < 1_000_000
    taken = take(path, tmp_path / "submitted", "01_a")
    assert taken.found == ()
    assert "more than 200 MB" in taken.left_out[0].why


def test_of_several_notebooks_the_one_of_the_assignment_counts(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    names = ["01_a.ipynb", "01_a-2.ipynb", "01_a-10.ipynb", "scratch-11.ipynb"]
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"lovelaceada_1_5_{name}", name)
    taken = take(path, tmp_path / "submitted", "01_a")
    assert (tmp_path / "submitted/1/01_a/01_a.ipynb").read_text() == "01_a-10.ipynb"
    assert len(taken.left_out) == len(names) - 1
    assert all("counts for this student" in left.why for left in taken.left_out)
