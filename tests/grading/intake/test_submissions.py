"""Submissions from a folder and from what an LMS packs."""

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.utils import parse_utc

from graders.grading.intake.roster import Enrolled, Roster
from graders.grading.intake.sources import MAX_FILE
from graders.grading.intake.submissions import LeftOut, Taken, take
from graders.grading.intake.teams import Teams
from graders.judge.records import GraderError

ROSTER = Roster(
    [
        Enrolled("ada", "Ada", "Lovelace", "ada@example.org", "1815"),
        Enrolled("kurt", "Kurt", "Gödel", "", "1931"),
    ]
)


@pytest.mark.parametrize(
    ("path", "student", "lms"),
    [
        ("lovelaceada_1234_567890_01_vector_add-2.ipynb", "1234", "canvas"),
        ("lovelaceada_LATE_1234_567890_01_vector_add.ipynb", "1234", "canvas"),
        ("lovelaceada_1234_567890_my_kernel.py", "1234", "canvas"),
        ("Ada Lovelace_77_assignsubmission_file_/01_vector_add.ipynb", "ada", "moodle"),
        ("Ada Lovelace_78_assignsubmission_file/answer.ipynb", "ada", "moodle"),
        ("Ada Lovelace_79_assignsubmission_file_01_vector_add.ipynb", "ada", "moodle"),
        ("CS1-99/Ada Lovelace_79_assignsubmission_file_01_vector_add.py", "ada", "moodle"),
        ("Participant_77_assignsubmission_file_/x.ipynb", "participant-77.01_a", "moodle"),
        ("submitted/ada/01_a/x.ipynb", "ada", "nbgrader"),
        ("ada/01_a/x.ipynb", "ada", "nbgrader"),
        ("ada/anything.ipynb", "ada", "folders"),
        ("ada/01_a/anything.IPYNB", "ada", "folders"),
        ("class/ada/work/x.ipynb", "ada", "folders"),
        ("ada.ipynb", "ada", "folders"),
        ("ada.py", "ada", "folders"),
    ],
)
def test_the_student_is_read_from_the_path(
    path: str, student: str, lms: str, tmp_path: Path
) -> None:
    roster = ROSTER if student == "ada" else None  # Moodle's number is no student's
    archive = packed(tmp_path, {path: "1"})
    taken = take(archive, tmp_path / "submitted", "01_a", roster=roster, lms=lms)
    assert taken.left_out == ()
    assert [found.student for found in taken.found] == [student]
    kind = Path(path).suffix.lower()
    assert (tmp_path / "submitted" / student / "01_a" / f"01_a{kind}").read_text() == "1"


@pytest.mark.parametrize(
    "path",
    [
        *("ada/notes.txt", "a/b/c/x.ipynb", "../x.ipynb", "a b.ipynb", "/ada/x.ipynb"),
        *("lovelaceada_1234_567890_x.ipynb", "Ada_7_assignsubmission_file_x.ipynb"),
    ],
)
def test_what_names_nobody_is_left_out_by_name(path: str, tmp_path: Path) -> None:
    taken = take(packed(tmp_path, {path: "1"}), tmp_path / "submitted", "01_a")
    assert taken.found == ()
    assert [left.path for left in taken.left_out] == [path]


def packed(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "lms.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_a_student_keeps_the_id_whatever_number_the_lms_gives(tmp_path: Path) -> None:
    for number, assignment in ((77, "01_a"), (4711, "02_b")):
        path = packed(tmp_path, {f"Ada Lovelace_{number}_assignsubmission_file_/x.ipynb": "1"})
        take(path, tmp_path / "submitted", assignment, roster=ROSTER, lms="moodle")
    assert {p.name for p in (tmp_path / "submitted").iterdir()} == {"ada"}
    assert {p.name for p in (tmp_path / "submitted" / "ada").iterdir()} == {"01_a", "02_b"}


CANVAS = Roster([*ROSTER.students, Enrolled("1815", "Emmy", "Noether", "", "1882")])
CANVAS = Roster([*CANVAS.students, Enrolled("hypatia", "", "", name="Hypatia")])


def test_canvas_knows_students_by_its_number_alone(tmp_path: Path) -> None:
    """Emmy's id here is Ada's number there; who has no number in the roster has a name."""
    files = {
        "goedelkurt_1931_5_a.ipynb": "by the number, however Canvas spells the name",
        "lovelaceada_1815_6_a.ipynb": "by Canvas's number, not by an id here",
        "hypatia_3_7_a.ipynb": "by the name",
    }
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", roster=CANVAS, lms="canvas")
    assert {found.student: found.path for found in taken.found} == dict(
        zip(["kurt", "ada", "hypatia"], files, strict=True)
    )


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (
            "noetheremmy_1815_5_a.ipynb",
            "1815 is Ada Lovelace (ada), and the name 'noetheremmy' is Emmy Noether (1815)",
        ),
        ("platon_1815_5_a.ipynb", "1815 is Ada Lovelace (ada), and the name 'platon' is another"),
        (
            "lovelaceada_77_5_a.ipynb",
            "'lovelaceada' is Ada Lovelace (ada), who has another Canvas number than 77",
        ),
        (
            "nobody_3_7_a.ipynb",
            "nobody with the Canvas number 3 (`lms_user_id`) or the name 'nobody'",
        ),
        ("王伟_3_7_a.ipynb", "or the name '王伟'"),
        ("x_1815_1931_5_a.ipynb", "can be read in two ways"),
        ("mallory/lovelaceada_1815_1_x.ipynb", "its name tells no student"),
        ("anon_7eF3x_1815_x.ipynb", "its name tells no student"),
    ],
)
def test_where_canvas_names_two_people_it_names_nobody(tmp_path: Path, path: str, why: str) -> None:
    files = {path: "1", "hypatia_3_8_a.ipynb": "2"} if "_3_" not in path else {path: "1"}
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", roster=CANVAS, lms="canvas")
    assert [found.student for found in taken.found] == ["hypatia"][: len(files) - 1]
    assert [left.path for left in taken.left_out] == [path]
    assert why in taken.left_out[0].why


def test_two_hand_ins_never_become_one_student(tmp_path: Path) -> None:
    """Two people of one name, of whom the roster knows one: it cannot be said which."""
    for lms, files in {
        "canvas": ["hypatia_3_7_a.ipynb", "hypatia_4_8_a.ipynb"],
        "moodle": [f"Hypatia_{n}_assignsubmission_file_/x.ipynb" for n in (7, 8)],
        "folders": ["Hypatia/x.ipynb", "hypatia/y.ipynb"],
    }.items():
        archive = packed(tmp_path, dict.fromkeys(files, "1"))
        taken = take(archive, tmp_path / "s", "01_a", roster=CANVAS, lms=lms)
        assert taken.found == ()
        assert [left.path for left in taken.left_out] == files
        assert all("2 hand-ins" in left.why for left in taken.left_out)


def test_gradescope_says_in_a_file_whose_each_submission_is(tmp_path: Path) -> None:
    metadata = """
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1815'
    :email: ADA@example.org
submission_12:
  :submitters:
  - :name: Kurt Gödel
    :sid:
    :email:
submission_13: {}
"""
    files = {
        "assignment_5_export/submission_metadata.yml": metadata,
        "assignment_5_export/submission_11/work.ipynb": "a",
        "assignment_5_export/submission_12/work.py": "k",
        "assignment_5_export/submission_13/work.ipynb": "?",
    }
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", roster=ROSTER, lms="gradescope")
    assert [(found.student, found.lms) for found in taken.found] == [
        ("ada", "gradescope"),
        ("kurt", "gradescope"),
    ]
    assert [left.path for left in taken.left_out] == list(files)[3:]


GROUP = """
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1815'
  - :name: Kurt Gödel
    :email:
  :created_at: 2026-03-01 11:30:00.123456789 +01:00
  :history:
  - :created_at: 2026-02-01 11:30:00.000000000 Z
"""


def test_a_group_hands_in_once_and_the_platform_says_when(tmp_path: Path) -> None:
    files = {"submission_metadata.yml": GROUP, "submission_11/x.ipynb": "1"}
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", roster=ROSTER, lms="gradescope")
    assert [found.student for found in taken.found] == ["ada", "kurt"]
    assert taken.groups == {"ada": "submission_11", "kurt": "submission_11"}
    stamp = (tmp_path / "s" / "ada" / "01_a" / "timestamp.txt").read_text()
    assert stamp == "2026-03-01 10:30:00.123456 UTC"
    assert not (tmp_path / "s" / "kurt").exists()


def test_where_the_instructor_names_teams_a_group_is_a_copy_for_each(tmp_path: Path) -> None:
    files = {"submission_metadata.yml": GROUP, "submission_11/x.ipynb": "1"}
    teams = Teams({"01_a": {"ada": "red"}})
    path = packed(tmp_path, files)
    taken = take(path, tmp_path / "s", "01_a", False, ROSTER, "gradescope", teams)
    assert taken.groups == {"ada": "", "kurt": ""}
    assert (tmp_path / "s" / "kurt" / "01_a" / "01_a.ipynb").is_file()


def test_moodle_packs_the_file_of_a_group_for_each_member(tmp_path: Path) -> None:
    files = {
        "Red-team-Ada Lovelace_7_assignsubmission_file_/x.ipynb": "1",
        "Red-team-Kurt Gödel_8_assignsubmission_file_/x.ipynb": "1",
        "Default group-Participant_9_assignsubmission_file_/x.ipynb": "2",
    }
    path = packed(tmp_path, files)
    for _ in range(2):  # the second import changes nothing
        taken = take(path, tmp_path / "s", "01_a", roster=ROSTER, lms="moodle")
        assert {found.student: found.path for found in taken.found} == dict(
            zip(("ada", "kurt", "participant-9.01_a"), files, strict=True)
        )
        assert taken.groups == {
            "ada": "Red-team",
            "kurt": "Red-team",
            "participant-9.01_a": "Default group",
        }
        there = sorted(path.name for path in (tmp_path / "s").iterdir())
        assert there == ["ada", "participant-9.01_a"]


def test_a_hyphen_in_a_name_is_no_group(tmp_path: Path) -> None:
    roster = Roster([Enrolled("jl", "Jean-Ada", "Lovelace"), Enrolled("ada", "Ada", "Lovelace")])
    path = packed(tmp_path, {"Jean-Ada Lovelace_7_assignsubmission_file_/x.ipynb": "1"})
    taken = take(path, tmp_path / "s", "01_a", roster=roster, lms="moodle")
    assert taken.groups == {"jl": ""}


@pytest.mark.parametrize(
    ("file", "student", "why"),
    [
        ("redteam_1815_9_x.ipynb", "ada", ""),
        ("redteam_77_9_x.ipynb", "kurt", ""),  # Kurt has no number in the roster
        ("redteam_5_9_x.ipynb", "", "the Canvas number 5 is of nobody in the team 'redteam'"),
    ],
)
def test_canvas_names_a_file_like_the_group(
    tmp_path: Path, file: str, student: str, why: str
) -> None:
    roster = Roster(
        [
            Enrolled("ada", "Ada", "Lovelace", lms_user_id="1815", team="Red Team"),
            Enrolled("kurt", "Kurt", "Gödel", team="Red Team"),
            Enrolled("tony", "Tony", "Hoare", lms_user_id="5"),
        ]
    )
    teams = Teams({"*": {one.id: one.team for one in roster.students if one.team}})
    path = packed(tmp_path, {file: "1"})
    taken = take(path, tmp_path / "s", "01_a", False, roster, "canvas", teams)
    assert [found.student for found in taken.found] == [student] * bool(student)
    assert [left.why.partition(":")[0] for left in taken.left_out] == [why] * bool(why)


def test_what_a_system_packs_beside_the_files_is_no_student(tmp_path: Path) -> None:
    files = {
        "Ada Lovelace_7_assignsubmission_file_/x.ipynb": "1",
        "__MACOSX/Ada Lovelace_7_assignsubmission_file_/._x.ipynb": "2",
        "Ada Lovelace_7_assignsubmission_file_/.ipynb_checkpoints/x-checkpoint.ipynb": "3",
        ".DS_Store": "4",
        "noname.ipynb": "5",
        "Ada Lovelace_7_assignsubmission_onlinetext_/onlinetext.html": "6",
    }
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", roster=ROSTER, lms="moodle")
    assert [(found.student, found.path) for found in taken.found] == [("ada", next(iter(files)))]
    assert [left.path for left in taken.left_out] == ["noname.ipynb"]
    assert taken.beside == (list(files)[-1],)
    plain = take(
        packed(tmp_path, {"__MACOSX/x.ipynb": "1", "._ada.ipynb": "2"}), tmp_path / "p", "b"
    )
    assert plain == Taken((), ())


def test_two_of_the_same_name_and_a_second_file_are_named(tmp_path: Path) -> None:
    twins = Roster([Enrolled("a1", "Ada", "Lovelace"), Enrolled("a2", "Ada", "Lovelace")])
    path = packed(tmp_path, {"Ada Lovelace_7_assignsubmission_file_/x.ipynb": "1"})
    (left,) = take(path, tmp_path / "s", "01_a", roster=twins, lms="moodle").left_out
    assert left.why == (
        "the name 'Ada Lovelace' may be any of Ada Lovelace (a1), Ada Lovelace (a2): "
        "the roster does not tell them apart"
    )
    path = packed(tmp_path, {"1815/notes.ipynb": "1", "1815/01_a.ipynb": "2"})
    taken = take(path, tmp_path / "s", "01_a", roster=ROSTER)
    assert [found.path for found in taken.found] == ["1815/01_a.ipynb"]
    assert taken.left_out == (LeftOut("1815/notes.ipynb", "'1815/01_a.ipynb' counts for ada"),)


def test_without_a_roster_moodle_names_nobody(tmp_path: Path) -> None:
    path = packed(tmp_path, {"Ada Lovelace_7_assignsubmission_file_/x.ipynb": "1"})
    taken = take(path, tmp_path / "s", "01_a", lms="moodle")
    assert taken.found == ()
    assert (
        taken.left_out[0].why == "it names only 'Ada Lovelace': write into roster.csv who that is"
    )


def test_a_notebook_takes_the_place_of_an_earlier_script(tmp_path: Path) -> None:
    take(packed(tmp_path, {"ada.py": "1"}), tmp_path / "s", "01_a")
    take(packed(tmp_path, {"ada.ipynb": "2"}), tmp_path / "s", "01_a")
    assert [path.name for path in (tmp_path / "s" / "ada" / "01_a").iterdir()] == ["01_a.ipynb"]


def test_a_folder_is_taken_twice_without_a_change(tmp_path: Path) -> None:
    source, submitted = tmp_path / "in", tmp_path / "submitted"
    (source / "ada").mkdir(parents=True)
    (source / "ada" / "x.ipynb").write_text("1")
    (source / "readme.txt").write_text("2")
    taken = take(source, submitted, "01_a")
    assert [found.student for found in taken.found] == ["ada"]
    (left,) = taken.left_out
    assert left.path == "readme.txt"
    assert "its name tells no student" in left.why
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
    taken = take(path, tmp_path / "submitted", "01_a", lms="canvas")
    assert [found.student for found in taken.found] == ["1234"]
    assert [left.path for left in taken.left_out] == ["../evil.ipynb", "/etc/evil.ipynb"]
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


STAMP = "2026-03-01 10:00:00 UTC"


def test_when_it_was_handed_in_is_told_by_nbgrader_and_by_no_upload(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "ada" / "01_a").mkdir(parents=True)
    (source / "ada" / "01_a" / "x.ipynb").write_text("1")
    (source / "ada" / "01_a" / "timestamp.txt").write_text(STAMP)
    for lms, told in (("nbgrader", True), ("folders", False)):
        taken = take(source, tmp_path / lms, "01_a", roster=ROSTER, lms=lms)
        assert taken.left_out == ()
        stamp = tmp_path / lms / "ada/01_a/timestamp.txt"
        assert stamp.exists() == told
        assert not told or stamp.read_text() == STAMP


@pytest.mark.parametrize("said", ["yesterday", "2026-02-30 10:00:00 UTC", "9" * 10_000, "\xff"])
def test_a_time_that_is_none_penalises_nobody(tmp_path: Path, said: str) -> None:
    files = {"ada/01_a/x.ipynb": "1", "ada/01_a/timestamp.txt": said}
    taken = take(packed(tmp_path, files), tmp_path / "s", "01_a", lms="nbgrader")
    assert [found.student for found in taken.found] == ["ada"]
    assert [left.path for left in taken.left_out] == ["ada/01_a/timestamp.txt"]
    assert not (tmp_path / "s/ada/01_a/timestamp.txt").exists()


def test_the_dates_of_a_zip_count_only_where_that_is_said(tmp_path: Path) -> None:
    path, submitted = tmp_path / "lms.zip", tmp_path / "submitted"
    stamp = submitted / "1234/01_a/timestamp.txt"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("lovelaceada_LATE_1234_5_a.ipynb", (2026, 3, 2, 12, 30, 0))
        archive.writestr(info, "right")
    taken = take(path, submitted, "01_a", lms="canvas")
    assert [found.late for found in taken.found] == [True]
    assert not stamp.exists()
    take(path, submitted, "01_a", times=True, lms="canvas")
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
    taken = take(path, submitted, "01_a", times=True, lms="canvas")
    assert [found.student for found in taken.found] == ["2"]
    assert [left.path for left in taken.left_out] == ["lovelaceada_1_5_a.ipynb"]
    assert why in taken.left_out[0].why
    assert sorted(path.name for path in submitted.iterdir()) == ["2"]


def test_a_zip_that_unpacks_to_gigabytes_is_left_out_unread(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lovelaceada_1_5_a.ipynb", bytes(MAX_FILE + 1))
    assert path.stat().st_size < 1_000_000
    taken = take(path, tmp_path / "submitted", "01_a", lms="canvas")
    assert taken.found == ()
    assert "more than 200 MB" in taken.left_out[0].why


def test_of_several_notebooks_the_one_of_the_assignment_counts(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    names = ["01_a.ipynb", "01_a-2.ipynb", "01_a-10.ipynb", "scratch-11.ipynb"]
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"lovelaceada_1_5_{name}", name)
    taken = take(path, tmp_path / "submitted", "01_a", lms="canvas")
    assert (tmp_path / "submitted/1/01_a/01_a.ipynb").read_text() == "01_a-10.ipynb"
    assert taken.beside == ("lovelaceada_1_5_01_a-2.ipynb", "lovelaceada_1_5_01_a.ipynb")
    assert [left.path for left in taken.left_out] == ["lovelaceada_1_5_scratch-11.ipynb"]
    assert "counts for 1" in taken.left_out[0].why
