"""Fixes a submitted notebook in which cells or metadata were lost, deleted, doubled or changed.

Everyday accidents (metadata lost in Colab, a deleted test cell, a copied cell) are fixed and
noted. Changes that could only serve to forge a grade are undone and reported by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from graders.grading.intake.overwritten import added_lines, written_file
from graders.grading.own_tests.cells import judged_exercises
from graders.grading.sanitise import clean_notebook, storable
from graders.judge.submission.refusals import refusal

MAX_CELLS = 2_000  # nbgrader takes milliseconds for each, about ten times
_FENCES = ("```", "```python", "```py", "``` python", "``` py")
_DEFINED = re.compile(r"^def (\w+)", re.MULTILINE)
_BEGIN_HIDDEN, _END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


@dataclass(frozen=True)
class MasterCell:
    """A cell that nbgrader knows, as it is in the gradebook, without a solution."""

    name: str
    cell_type: str
    source: str
    locked: bool
    grade: bool
    solution: bool
    points: float | None = None
    checksum: str | None = None
    before: str = ""  # the text of the previous cell in the lesson
    task: bool = False  # nbgrader's manually graded task: answers may be in the cells around it

    def metadata(self) -> dict[str, Any]:
        """Return the metadata that nbgrader expects in the cell."""
        metadata: dict[str, Any] = {
            "schema_version": 3,
            "grade_id": self.name,
            "grade": self.grade,
            "solution": self.solution,
            "locked": self.locked,
            "task": self.task,
            "cell_type": self.cell_type,
        }
        if self.points is not None:
            metadata["points"] = self.points
        if self.checksum is not None:
            metadata["checksum"] = self.checksum
        return metadata


@dataclass
class Notes:
    """What was found: `mended` lists accidents; a person should look at `tampered`."""

    tampered: list[str] = field(default_factory=list)
    _mended: dict[str, list[str]] = field(default_factory=dict)

    def mend(self, what: str, name: str) -> None:
        """Note an accident: what was done, and to which cell."""
        self._mended.setdefault(what, []).append(name)

    @property
    def mended(self) -> list[str]:
        """Return one line for each kind of accident, with its cells."""
        return [f"{what}: {', '.join(names)}" for what, names in self._mended.items()]

    def to_json(self) -> dict[str, list[str]]:
        return {"mended": self.mended, "tampered": self.tampered}


def _is_another(notebook: NotebookNode, exercises: Set[str]) -> bool:
    """Whether a notebook without the assignment's cells is another one's, or has no code.

    It is another one's if it has cells of another one, or functions but not those of the exercises.
    """
    foreign = any("nbgrader" in cell.metadata for cell in notebook.cells)
    defined = {name for cell in notebook.cells for name in _DEFINED.findall(cell.source)}
    empty = not any(cell.source.strip() for cell in notebook.cells)
    return foreign or empty or bool(defined and not defined & exercises)


def mend(notebook: NotebookNode, masters: Sequence[MasterCell]) -> Notes:
    """Fix and clean the notebook in place, so that it has every master cell exactly once.

    Raises SubmissionError if a lesson's notebook has none of them and is of another lesson, or
    empty. A script, or a new notebook with the kernel, counts.
    """
    notes = Notes()
    for cell in notebook.cells:
        if not isinstance(cell.get("metadata"), Mapping):
            cell.metadata = NotebookNode()
        cell.source = storable(cell.get("source"))
    _keep_overwritten(notebook, masters, notes)
    found = _find(notebook, masters, notes)
    judged = judged_exercises((m.name, m.source) for m in masters if m.grade)
    if not found and judged and _is_another(notebook, set(judged)):
        raise refusal(
            "other-notebook",
            "It is not the notebook of this assignment",
            "None of the assignment's cells is in it; it may be empty, or of another lesson.",
            "Ask for the right notebook.",
        )
    _cut(notebook, found, notes)
    notes.tampered += clean_notebook(notebook)
    _remove_foreign_metadata(notebook, found, notes)
    for master in masters:
        if master.name in found:
            _restore(found[master.name], master, notes)
    _put_back_missing(notebook, masters, found, notes)
    _unique_ids(notebook)
    return notes


def _keep_overwritten(notebook: NotebookNode, masters: Sequence[MasterCell], notes: Notes) -> None:
    """Copy what the student wrote into a locked cell to a new raw cell below it."""
    locked = {master.name: master for master in masters if master.locked}
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        master = locked.get(_grade_id(cell) or str(cell.get("id")))
        own = added_lines(cell.source, master.source) if master else ""
        if master and own:
            cells.append(nbformat.v4.new_raw_cell(own))
            notes.mend("your text in it was copied to a new cell below", master.name)
    notebook.cells = cells


def _find(
    notebook: NotebookNode, masters: Sequence[MasterCell], notes: Notes
) -> dict[str, NotebookNode]:
    """Find each master's cell in the submission, by nbgrader's id, cell id, or content."""
    found: dict[str, NotebookNode] = {}
    taken: set[int] = set()  # a cell may define two launchers, but matches only one master
    for master in masters:
        candidates = [cell for cell in notebook.cells if _grade_id(cell) == master.name]
        if len(candidates) > 1:
            notes.mend("copied, the last one counts", master.name)
        if not candidates:
            marked = _by_other_marks(notebook, master)
            candidates = [cell for cell in marked if id(cell) not in taken]
            if candidates:
                notes.mend("metadata lost and restored", master.name)
        if elsewhere := _in_text_cells(notebook, master, candidates):
            candidates = elsewhere
        if candidates:
            found[master.name] = candidates[-1]
            taken.add(id(candidates[-1]))
    return found


def _in_text_cells(
    notebook: NotebookNode, master: MasterCell, candidates: list[NotebookNode]
) -> list[NotebookNode]:
    """Return the cells with the answer that define nothing, if its place is missing or untouched.

    They are raw or text cells, or write a file. The judge itself finds an answer in another code
    cell.
    """
    if master.locked or not master.solution or master.cell_type != "code":
        return []
    if any(not _same(cell.source, master.source) for cell in candidates):
        return []
    return [
        cell
        for cell in _definitions(notebook, master.name)
        if not _same(cell.source, master.source)
    ]


def _definitions(notebook: NotebookNode, function: str) -> list[NotebookNode]:
    """Return the cells with the function, unless a code cell defines it when it is run."""
    found = [
        cell
        for cell in notebook.cells
        if _grade_id(cell) is None and _defines(_code(cell), function)
    ]
    live = [c for c in found if c.cell_type == "code" and not written_file(c.source)]
    return [] if live else found


def _code(cell: NotebookNode) -> str:
    """Return the code in a cell; a markdown cell has some if it is one fenced block."""
    if cell.cell_type == "markdown":
        lines = cell.source.strip().splitlines()
        fenced = len(lines) > 2 and lines[0].strip() in _FENCES and lines[-1].strip() == "```"
        return "\n".join(lines[1:-1]) if fenced else ""
    return written_file(cell.source) or str(cell.source)


def _by_other_marks(notebook: NotebookNode, master: MasterCell) -> list[NotebookNode]:
    free = [cell for cell in notebook.cells if _grade_id(cell) is None]
    by_id = [cell for cell in free if cell.get("id") == master.name]
    if by_id:
        return by_id
    if master.locked:
        return [cell for cell in free if _same(cell.source, released(master.source))]
    if master.cell_type == "code":
        return [cell for cell in free if defines(cell, master.name)]
    return [
        cell
        for previous, cell in zip(notebook.cells, notebook.cells[1:], strict=False)
        if master.before and _same(previous.source, master.before) and _grade_id(cell) is None
    ]


def defines(cell: NotebookNode, function: str) -> bool:
    """Whether the code cell seems to define the function; the text is searched, not parsed."""
    return cell.cell_type == "code" and _defines(cell.source, function)


def _defines(text: str, function: str) -> bool:
    return function in _DEFINED.findall(text)


def released(source: str) -> str:
    """Return a cell's source as learners get it: without its hidden tests."""
    kept = []
    place = 0
    while (begin := source.find(_BEGIN_HIDDEN, place)) >= 0:
        end = source.find(_END_HIDDEN, begin)
        if end < 0:
            break
        kept.append(source[place:begin])
        place = end + len(_END_HIDDEN)
    return "".join([*kept, source[place:]])


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()


def _grade_id(cell: NotebookNode) -> str | None:
    name = _label(cell).get("grade_id")
    return name if isinstance(name, str) else None


def _label(cell: NotebookNode) -> Mapping[str, Any]:
    """Return the cell's metadata for nbgrader; empty if it is missing or malformed."""
    label = cell.metadata.get("nbgrader")
    return label if isinstance(label, Mapping) else {}


def _cut(notebook: NotebookNode, found: Mapping[str, NotebookNode], notes: Notes) -> None:
    """Cut a notebook with too many cells to the first ones and those that nbgrader knows."""
    count = len(notebook.cells)
    if count <= MAX_CELLS:
        return
    known = {id(cell) for cell in found.values()}
    later = [cell for cell in notebook.cells[MAX_CELLS:] if id(cell) in known]
    notebook.cells = notebook.cells[:MAX_CELLS] + later
    notes.tampered.append(f"the notebook held {count:,} cells: cut to {MAX_CELLS:,}")


def _remove_foreign_metadata(
    notebook: NotebookNode, found: Mapping[str, NotebookNode], notes: Notes
) -> None:
    """Remove nbgrader's metadata from all cells other than those that were found."""
    known = {id(cell) for cell in found.values()}
    for number, cell in enumerate(notebook.cells, start=1):
        if id(cell) in known or "nbgrader" not in cell.metadata:
            continue
        name = _grade_id(cell)
        if name is not None and name not in found:
            notes.tampered.append(
                f"cell {number} claimed to be the unknown grade cell {_short(name)}"
            )
        del cell.metadata["nbgrader"]


def _restore(cell: NotebookNode, master: MasterCell, notes: Notes) -> None:
    """Restore one cell's type and metadata, and its text if it is locked."""
    points = _label(cell).get("points")
    if points is not None and points != master.points:
        notes.tampered.append(f"{master.name} claimed {_short(points)} points")
    if cell.cell_type != master.cell_type:
        notes.mend(f"{cell.cell_type} cell made a {master.cell_type} cell again", master.name)
        if master.cell_type == "code":
            cell.source = _code(cell) or cell.source
        _change_type(cell, master.cell_type)
    if master.solution and not master.locked and written_file(cell.source):
        notes.mend("the file that the cell writes counts as the answer", master.name)
        cell.source = written_file(cell.source)
    if master.locked:
        if not _same(cell.source, released(master.source)) and not _same(
            cell.source, master.source
        ):
            notes.tampered.append(f"{master.name} is a grade cell and was changed: restored")
        cell.source = master.source
    cell.metadata = NotebookNode({"nbgrader": NotebookNode(master.metadata())})


def _change_type(cell: NotebookNode, cell_type: str) -> None:
    cell.cell_type = cell_type
    if cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _put_back_missing(
    notebook: NotebookNode,
    masters: Sequence[MasterCell],
    found: dict[str, NotebookNode],
    notes: Notes,
) -> None:
    """Insert missing cells after their predecessor in the lesson, else at the end."""
    previous: NotebookNode | None = None
    for master in masters:
        if master.name not in found:
            cell = _fresh_cell(master)
            place = _index(notebook, previous) + 1 if previous is not None else len(notebook.cells)
            notebook.cells.insert(place, cell)
            found[master.name] = cell
            notes.mend("missing and put back", master.name)
        previous = found[master.name]


def _short(value: Any) -> str:
    """Return a value from a submission as short ASCII text."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _index(notebook: NotebookNode, cell: NotebookNode) -> int:
    return next(i for i, other in enumerate(notebook.cells) if other is cell)


def _fresh_cell(master: MasterCell) -> NotebookNode:
    if master.cell_type == "markdown":
        cell = nbformat.v4.new_markdown_cell(master.source)
    elif master.locked:
        cell = nbformat.v4.new_code_cell(master.source)
    else:  # not a stub, which could hide a definition in another cell
        cell = nbformat.v4.new_code_cell(f"# {master.name} is missing from the submission.")
    cell.id = master.name
    cell.metadata = NotebookNode({"nbgrader": NotebookNode(master.metadata())})
    return cell


def _unique_ids(notebook: NotebookNode) -> None:
    """Make cell ids unique, because they become anchors of the feedback page."""
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.id in seen:
            cell.id = f"cell-{number}"
        seen.add(cell.id)
    notebook.nbformat_minor = max(5, notebook.get("nbformat_minor", 5))
