"""What a student uploads can say neither whose it is, nor when it came, nor stop the others."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from graders.grading.intake import gradescope, sources
from graders.grading.intake.roster import Enrolled, Roster
from graders.grading.intake.submissions import Taken, take

ROSTER = Roster(
    [
        Enrolled("alice", "Alice", "Liddell", "alice@example.org", "1234"),
        Enrolled("bob", "Bob", "Dodgson", "bob@example.org", "55"),
        Enrolled("mallory", "Mallory", "Malice", "mallory@example.org", "666"),
    ]
)
HONEST = {
    "canvas": "dodgsonbob_55_1_x.ipynb",
    "moodle": "Bob Dodgson_9_assignsubmission_file_/x.ipynb",
    "gradescope": "submission_2/x.ipynb",
    "nbgrader": "bob/01_a/x.ipynb",
    "folders": "bob/x.ipynb",
}
METADATA = """\
submission_1:
  :submitters:
  - :name: Mallory Malice
    :email: mallory@example.org
submission_2:
  :submitters:
  - :name: Bob Dodgson
    :email: bob@example.org
"""
MALLORY = {
    "canvas": "malicemallory_666_2_",
    "moodle": "Mallory Malice_8_assignsubmission_file_/",
    "gradescope": "submission_1/",
    "nbgrader": "mallory/01_a/",
    "folders": "mallory/",
}
Files = Mapping[str, str | bytes]


def packed(files: Files) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def taken(folder: Path, lms: str, files: Files) -> Taken:
    """An import of these files together with Bob's, whom nothing may keep from being taken."""
    more = {gradescope.METADATA: METADATA} if lms == "gradescope" else {}
    (folder / "lms.zip").write_bytes(packed({HONEST[lms]: "bob's", **more, **files}))
    done = take(folder / "lms.zip", folder / "submitted", "01_a", roster=ROSTER, lms=lms)
    assert [(f.student, f.path) for f in done.found if f.student == "bob"] == [("bob", HONEST[lms])]
    assert (folder / "submitted/bob/01_a/01_a.ipynb").read_text() == "bob's"
    return done


IMPERSONATING = [
    *("alice_1234_1_x.ipynb", "liddellalice_1234_1_x.ipynb", "_1234_1_x.ipynb"),
    *("Alice Liddell_7_assignsubmission_file_x.ipynb", "_1_assignsubmission_file_.ipynb"),
    *("submission_2.ipynb", "alice.ipynb", "1234.ipynb", "alice@example.org.ipynb"),
]


@pytest.mark.parametrize("name", IMPERSONATING)
@pytest.mark.parametrize("lms", list(MALLORY))
def test_the_name_of_an_upload_says_nothing_of_a_student(
    tmp_path: Path, lms: str, name: str
) -> None:
    """Mallory's upload is Mallory's, or is left out where the name can be read in two ways."""
    done = taken(tmp_path, lms, {MALLORY[lms] + name: "mallory's"})
    assert {found.student for found in done.found} <= {"bob", "mallory"}
    assert len(done.found) + len(done.left_out) == 2
    assert not (tmp_path / "submitted/alice").exists()


FOLDERS = [
    *("alice/x.ipynb", "alice/01_a/01_a.ipynb", "submission_2/x.ipynb"),
    *("Alice Liddell_7_assignsubmission_file_/x.ipynb", "../alice/x.ipynb", "../../x.ipynb"),
]


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("lms", ["moodle", "gradescope", "nbgrader", "folders"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_folder_in_an_upload_says_nothing_of_a_student(
    tmp_path: Path, lms: str, name: str, inside: bool
) -> None:
    upload: Files = {MALLORY[lms] + name: "mallory's"}
    if inside:
        upload = {MALLORY[lms] + "work.zip": packed({name: "mallory's"})}
    done = taken(tmp_path, lms, upload)
    expected = {"bob"} if ".." in name else {"bob", "mallory"}
    assert {found.student for found in done.found} == expected
    assert len(done.left_out) == (".." in name)
    assert {path.name for path in tmp_path.iterdir()} == {"lms.zip", "submitted"}


@pytest.mark.parametrize("lms", ["canvas", "folders"])
def test_mallorys_folder_is_not_alices_name(tmp_path: Path, lms: str) -> None:
    """Also where it is the only folder, so that it could be one around the whole class."""
    (tmp_path / "one.zip").write_bytes(packed({"mallory/alice_1234_1_x.ipynb": "mallory's"}))
    for roster in (ROSTER, None):
        done = take(tmp_path / "one.zip", tmp_path / "s", "01_a", roster=roster, lms=lms)
        assert {found.student for found in done.found} <= {"mallory"}
        assert len(done.found) + len(done.left_out) == 1


@pytest.mark.parametrize("lms", list(MALLORY))
def test_an_uploaded_time_or_secret_sets_nothing(tmp_path: Path, lms: str) -> None:
    stamp = "2020-01-01 00:00:00 UTC"
    where = MALLORY[lms] if lms != "nbgrader" else MALLORY[lms] + "work/"
    uploads = {where + name: stamp for name in ("timestamp.txt", "submission_secret.txt")}
    taken(tmp_path, lms, {MALLORY[lms] + "x.ipynb": "mallory's", **uploads})
    work = tmp_path / "submitted/mallory/01_a"
    assert [path.name for path in work.iterdir()] == ["01_a.ipynb"]


@pytest.mark.parametrize("where", ["submission_1/", "submission_1/work/"])
def test_uploaded_metadata_is_a_file_like_any_other(tmp_path: Path, where: str) -> None:
    swapped = METADATA.replace("submission_1", "submission_3").replace("Mallory", "Alice")
    files = {"submission_1/x.ipynb": "mallory's", where + gradescope.METADATA: swapped}
    done = taken(tmp_path, "gradescope", files)
    assert {found.student for found in done.found} == {"bob", "mallory"}
    other = taken(tmp_path, "folders", {f"mallory/{gradescope.METADATA}": swapped})
    assert [found.student for found in other.found] == ["bob"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "- 1", "5", "a: [", "\t", "\0", "submission_1: &a [*a]", "? [1, 2]\n: 3", "a: *b"),
        *("[" * 100_000, "{a: " * 5_000, "- " * 20_000, "\xff\xfe", "!!python/object:os.system {}"),
        "a: &a [x,x,x]\n" + "".join(f"b{i}: &b{i} [*a,*a]\n" for i in range(1000)),
    ],
)
def test_broken_metadata_is_one_refused_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lms.zip"
    path.write_bytes(packed({gradescope.METADATA: text, "submission_1/x.ipynb": "1"}))
    done = take(path, tmp_path / "s", "01_a", roster=ROSTER, lms="gradescope")
    assert done.found == ()
    assert [left.path for left in done.left_out] == [gradescope.METADATA, "submission_1/x.ipynb"]
    assert all("\n" not in left.why for left in done.left_out)


def test_metadata_that_is_too_large_or_missing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lms.zip"
    monkeypatch.setattr(gradescope, "LARGEST", 100)
    for files, why in (({gradescope.METADATA: METADATA}, "more than"), ({}, "it is missing")):
        path.write_bytes(packed({**files, "submission_1/x.ipynb": "1"}))
        done = take(path, tmp_path / "s", "01_a", roster=ROSTER, lms="gradescope")
        assert done.left_out[0].path == gradescope.METADATA
        assert why in done.left_out[0].why


def _special(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFSOCK])
def test_a_zip_brings_no_links_and_no_devices(tmp_path: Path, kind: int) -> None:
    with zipfile.ZipFile(tmp_path / "lms.zip", "w") as archive:
        archive.writestr(_special("mallory/x.ipynb", kind), "../../source/01_a/01_a.ipynb")
    done = take(tmp_path / "lms.zip", tmp_path / "s", "01_a", roster=ROSTER)
    assert done.found == ()
    assert [left.path for left in done.left_out] == ["mallory/x.ipynb"]


def test_a_link_in_a_folder_is_named_and_not_followed(tmp_path: Path) -> None:
    source, secret = tmp_path / "in", tmp_path / "secret"
    (source / "mallory").mkdir(parents=True)
    secret.mkdir()
    (secret / "x.ipynb").write_text("the model solution")
    (source / "mallory" / "a.ipynb").symlink_to(secret / "x.ipynb")
    (source / "alice").symlink_to(secret)
    (source / "bob.ipynb").write_text("bob's")
    done = take(source, tmp_path / "s", "01_a", roster=ROSTER)
    assert [found.student for found in done.found] == ["bob"]
    assert [left.path for left in done.left_out] == ["alice", "mallory/a.ipynb"]
    assert all("it is a link" in left.why for left in done.left_out)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("X.ipynb", "x.ipynb"),
        ("\u00fc.ipynb", "u\u0308.ipynb"),
        ("straße.ipynb", "STRASSE.ipynb"),
        ("x.ipynb", "./x.ipynb"),
        ("a/x.ipynb", "a\\x.ipynb"),
    ],
)
@pytest.mark.parametrize("lms", ["moodle", "gradescope", "folders"])
def test_names_that_some_disk_takes_for_one_are_refused(
    tmp_path: Path, lms: str, one: str, other: str
) -> None:
    names = sorted([MALLORY[lms] + one, MALLORY[lms] + other])
    done = taken(tmp_path, lms, dict.fromkeys(names, "1"))
    assert [found.student for found in done.found] == ["bob"]
    assert [left.path for left in done.left_out] == names
    assert all("the same name" in left.why for left in done.left_out)


def test_an_entry_that_a_zip_has_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lms.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mallory/x.ipynb", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("mallory/x.ipynb", "2")
    done = take(path, tmp_path / "s", "01_a", roster=ROSTER)
    assert (done.found, len(done.left_out)) == ((), 2)


@pytest.mark.parametrize("lms", list(MALLORY))
def test_a_packed_notebook_is_taken_and_its_bombs_are_not(tmp_path: Path, lms: str) -> None:
    work = packed({"work/x.ipynb": "mallory's", "work/picture.png": "p", "__MACOSX/x.ipynb": "?"})
    done = taken(tmp_path, lms, {MALLORY[lms] + "w.zip": work})
    assert done.left_out == ()
    assert (tmp_path / "submitted/mallory/01_a/01_a.ipynb").read_text() == "mallory's"


def _bombs() -> dict[str, bytes]:
    with zipfile.ZipFile(linked := io.BytesIO(), "w") as archive:
        archive.writestr(_special("x.ipynb", stat.S_IFLNK), "/etc/passwd")
    many = packed({f"{n}.txt": "" for n in range(sources.MAX_ENTRIES + 1)})
    return {
        "a file of 200 MB": packed({"x.ipynb": bytes(sources.MAX_FILE + 1)}),
        "many files": many,
        "a zip in a zip": packed({"x.zip": packed({"x.ipynb": "1"})}),
        "no zip": b"PK\x03\x04" + bytes(100),
        "a large zip": bytes(sources.MAX_PACKED + 1),
        "a link": linked.getvalue(),
        "out of it": packed({"../x.ipynb": "1", "/x.ipynb": "2"}),
        "nothing": packed({}),
    }


@pytest.mark.parametrize(("what", "data"), _bombs().items())
def test_a_hostile_zip_is_one_student_without_a_file(
    tmp_path: Path, what: str, data: bytes
) -> None:
    done = taken(tmp_path, "moodle", {MALLORY["moodle"] + "w.zip": data})
    assert [found.student for found in done.found] == ["bob"]
    assert len(done.left_out) == 1 + (what == "out of it")
    assert all("w.zip" in left.path and "\n" not in left.why for left in done.left_out)
