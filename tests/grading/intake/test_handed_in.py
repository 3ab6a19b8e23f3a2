"""Which file of a student's folder counts, and what is said where none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from graders.grading.intake import removed_links
from graders.grading.intake.handed_in import counting
from graders.judge.submission.refusals import SubmissionError


def folder_with(course: Path, *names: str) -> Path:
    """submitted/ada/01_a with these files."""
    folder = course / "submitted" / "ada" / "01_a"
    folder.mkdir(parents=True)
    for name in ("timestamp.txt", *names):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("1")
    return folder


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        (["01_a.ipynb", "other.ipynb", "x.py"], "01_a.ipynb"),
        (["work.IPYNB", "x.py", "y.py"], "work.IPYNB"),
        (["01_a.IPYNB", "other.ipynb"], "01_a.IPYNB"),
        (["kernel.py", "notes.txt"], "kernel.py"),
    ],
)
def test_the_file_that_counts(tmp_path: Path, names: list[str], counts: str) -> None:
    assert counting(folder_with(tmp_path, *names), "01_a").name == counts


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["übung.ipynb", "王.ipynb"], ["2 notebooks", "'übung.ipynb', '王.ipynb'", "01_a.ipynb"]),
        (["a.py", "b.py"], ["2 scripts", "01_a.py"]),
        (["work/x.ipynb"], ["in a folder, 'work/x.ipynb'", "without the folder"]),
        (["work.zip"], ["'work.zip' is packed", "Unpack it"]),
        (["work.html"], ["'work.html' is a page to read", "(.ipynb)"]),
        (["work.docx"], ["'work.docx' is neither a notebook nor", "(.ipynb)"]),
        ([], ["The folder is empty", "Ask for the notebook"]),
    ],
)
def test_what_was_handed_in_instead_is_said(
    tmp_path: Path, names: list[str], said: list[str]
) -> None:
    with pytest.raises(SubmissionError) as caught:
        counting(folder_with(tmp_path, *names), "01_a")
    told = f"{caught.value.finding.message} {caught.value.finding.next_step}"
    assert all(part in told for part in said), told
    assert "\n" not in told


def test_a_link_that_collecting_removed_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    removed_links.keep(folder, ["01_a.ipynb"])
    with pytest.raises(SubmissionError, match=r"'01_a.ipynb' was a link"):
        counting(folder, "01_a")
    removed_links.keep(folder, [])
    with pytest.raises(SubmissionError, match="The folder is empty"):
        counting(folder, "01_a")
