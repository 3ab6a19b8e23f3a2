"""Notices that a student's work may be in another file than the one that counts.

Students often work in a copy of the notebook and hand in both. So an untouched notebook is not
graded while another file of the student may be the work: a person has to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.handed_in import ARCHIVES, KINDS, counting, is_students, listed
from graders.grading.mend import MasterCell
from graders.judge.submission.refusals import SubmissionError, refusal

WORKS = (*KINDS, *ARCHIVES)
PAPERS = (  # which may have a written answer
    ".ipynb",
    *ARCHIVES,
    *(".doc", ".docx", ".odt", ".rtf", ".pages", ".pdf", ".txt", ".md", ".tex", ".html", ".htm"),
    *(".png", ".jpg", ".jpeg", ".gif", ".heic", ".webp"),
)


def note_unread(course: Path, assignment: str, unread: Mapping[str, Sequence[str]]) -> None:
    """Store which files of each imported student were not read, because another one counts."""
    known = read_json(_place(course, assignment))
    now = {**known, **{student: list(paths) for student, paths in unread.items()}}
    now = {student: paths for student, paths in now.items() if paths}
    if now != known:
        write_atomically(_place(course, assignment), now)


def refuse_untouched(
    notebook: NotebookNode,
    masters: Iterable[MasterCell],
    course: Path,
    assignment: str,
    student: str,
) -> None:
    """Raise SubmissionError if the fixed notebook is untouched and there are other files."""
    others = other_files(course, assignment, student, WORKS)
    if others and _is_untouched(notebook, masters):
        counts = _counts(course, assignment, student)
        raise refusal(
            "file-missing",
            "The work may be in another file",
            f"{counts} is as it was released, and {listed(others)} was handed in, too.",
            "Look at it, or ask for one notebook with the work.",
        )


def other_files(course: Path, assignment: str, student: str, endings: tuple[str, ...]) -> list[str]:
    """Return a student's files with these endings that do not count; not those of the assignment.

    A file that was not imported has its path in the source of the import.
    """
    folder = course / "submitted" / student / assignment
    ours = {path.name for path in (course / "source" / assignment).glob("*")}
    ours.add(_counts(course, assignment, student))
    found = [path.name for path in folder.glob("*") if path.name not in ours and is_students(path)]
    found += read_json(_place(course, assignment)).get(student, [])
    return [name for name in found if name.lower().endswith(endings)]


def _counts(course: Path, assignment: str, student: str) -> str:
    """Return the name of the file that counts."""
    try:
        return counting(course / "submitted" / student / assignment, assignment).name
    except SubmissionError:
        return f"{assignment}{KINDS[0]}"


def _is_untouched(notebook: NotebookNode, masters: Iterable[MasterCell]) -> bool:
    """Whether all cells for answers are as they were released."""
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    answers = [master for master in masters if master.solution and master.name in cells]
    return bool(answers) and all(
        cells[master.name].source.split() == master.source.split() for master in answers
    )


def _place(course: Path, assignment: str) -> Path:
    return course / ".tilewise" / "unread" / f"{assignment}.json"
