"""nbgrader preprocessors that replace `Execute` with the judge.

No line of a submission runs in nbgrader's process or in a kernel. The notebook is fixed and
cleaned, its code goes to the judge, and we write the outputs of the grade cells. If an instructor
has added tests, a jailed process executes the notebook for them (`own_tests`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Float

from graders.authoring.grade_cells import hidden_id
from graders.grading import gradebooks
from graders.grading.intake.elsewhere import PAPERS, WORKS, other_files, refuse_untouched
from graders.grading.intake.requests import requests_of
from graders.grading.intake.rules import Attempts
from graders.grading.judging import (
    STORE,
    code_of,
    graded_exercises,
    mode,
    stored_or_judged,
)
from graders.grading.ledger.accounts import Given, total
from graders.grading.ledger.book import Ledger
from graders.grading.ledger.seen import SeenWorks, digest_of_work
from graders.grading.ledger.terms import terms_of
from graders.grading.marks import CellMark, Marks
from graders.grading.mend import MasterCell, mend, released
from graders.grading.own_tests import running, telling
from graders.grading.own_tests.cells import is_test
from graders.grading.plugins.possible_answers import BESIDE, NEW_TEXT, new_text
from graders.grading.plugins.unjudged import reconsidered
from graders.grading.sanitise import clean_markdown, number_output, text_output
from graders.judge import discovery
from graders.judge.submission.given_cells import given_in
from triton_util.report import Report

Pair = tuple[NotebookNode, dict[str, Any]]


class MendNotebook(NbGraderPreprocessor):  # type: ignore[misc]
    """Fixes metadata, cell types and grade cells, and removes what a browser would run."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        masters = master_cells(resources, _coursedir(self))
        notes = mend(nb, masters)
        student, assignment, name = (
            resources["nbgrader"][key] for key in ("student", "assignment", "notebook")
        )
        refuse_untouched(nb, masters, _root(self), assignment, student)
        new = new_text(nb.cells, lesson_cells(resources, _coursedir(self), masters))
        papers = other_files(_root(self), assignment, student, PAPERS)
        nb.metadata["tilewise"] = {**notes.to_json(), NEW_TEXT: new, BESIDE: papers}
        where = f"{student}: {name}"
        if notes.mended:
            self.log.info("%s mended: %s", where, "; ".join(notes.mended))
        if notes.tampered:
            self.log.warning("%s TAMPERED WITH: %s", where, "; ".join(notes.tampered))
        return nb, resources


def master_cells(resources: dict[str, Any], coursedir: Any = None) -> list[MasterCell]:
    """Return the cells of this notebook that nbgrader knows, in the order of the lesson."""
    nbgrader = resources["nbgrader"]
    before = _cells_before(nbgrader["assignment"], nbgrader["notebook"], coursedir)
    with Gradebook(nbgrader["db_url"]) as gradebook:
        notebook = gradebook.find_notebook(nbgrader["notebook"], nbgrader["assignment"])
        tasks = {cell.name: cell.max_score for cell in notebook.task_cells}
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        masters = [
            MasterCell(
                name=cell.name,
                cell_type=cell.cell_type,
                source=cell.source,
                locked=bool(cell.locked),
                grade=cell.name in points,
                solution=cell.name in solutions,
                points=(points | tasks).get(cell.name),
                task=cell.name in tasks,
                checksum=cell.checksum,
                before=before.get(cell.name, ("", 0))[0],
            )
            for cell in notebook.source_cells
        ]
    return sorted(masters, key=lambda cell: before.get(cell.name, ("", 1 << 30))[1])


def _cells_before(assignment: str, notebook: str, coursedir: Any) -> dict[str, tuple[str, int]]:
    """Return the text before each nbgrader cell of the source notebook, and its place."""
    cells = _source_cells(assignment, notebook, coursedir, "source")
    return {
        cell.metadata["nbgrader"]["grade_id"]: (cells[index - 1].source if index else "", index)
        for index, cell in enumerate(cells)
        if "nbgrader" in cell.metadata
    }


def _source_cells(
    assignment: str, notebook: str, coursedir: Any, room: str
) -> Sequence[NotebookNode]:
    """Return the cells of a notebook in `source` or `release`; none if it is missing."""
    folder = getattr(coursedir, f"{room}_directory", room)
    path = Path(getattr(coursedir, "root", ".")) / folder / assignment / f"{notebook}.ipynb"
    return list(nbformat.read(path, as_version=4).cells) if path.is_file() else []


def lesson_cells(
    resources: dict[str, Any], coursedir: Any, masters: Sequence[MasterCell]
) -> list[NotebookNode]:
    """Return the lesson's cells, both from `source` and as learners got them."""
    nbgrader = resources["nbgrader"]
    found: list[NotebookNode] = []
    for room in ("source", "release"):
        found += _source_cells(nbgrader["assignment"], nbgrader["notebook"], coursedir, room)
    for master in masters:
        new = getattr(nbformat.v4, f"new_{master.cell_type}_cell")
        found += [new(master.source), new(released(master.source))]
    return found


class AskJudge(NbGraderPreprocessor):  # type: ignore[misc]
    """Fills the grade cells with the judge's results; replaces `Execute`."""

    cell_seconds = Float(
        None,
        allow_none=True,
        help="Seconds of the processor for a cell of a notebook with own tests.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        code = code_of(nb)
        marks: dict[str, CellMark] = {}
        reports, left = {}, dict[str, str]()
        bonus: dict[str, float | None] = resources.setdefault("tilewise_bonus", {})
        for exercise in graded_exercises(nb):
            stored = stored_or_judged(code, exercise, STORE.resolve())
            judged = self._reconsidered(stored, nb, resources)
            if judged is not stored:
                left |= dict.fromkeys(judged.cells(), judged.report["findings"][0]["message"])
            marks |= judged.cells()
            if mode() != "interpret":
                bonus[hidden_id(exercise)] = judged.bonus
            reports[exercise] = _with_examples(judged.report, code)
        ungraded = resources.setdefault("tilewise_ungraded", {})
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name in marks and (reason := _fill(cell, marks[name])):
                ungraded[name] = reason
        own = running.run(nb, _beside(resources), self.cell_seconds)
        unsettled = _unsettled(nb, {*marks, *own.settled, *own.reasons})
        left |= own.reasons | dict.fromkeys(unsettled, "nothing has graded this cell")
        for name, reason in left.items():
            ungraded.setdefault(name, reason)
        student = resources["nbgrader"]["student"]
        for name, reason in ungraded.items():
            self.log.error("%s: %s is UNGRADED: %s", student, name, reason)
        known = {"reports": reports, "own": own.notes, "open": left}
        nb.metadata.setdefault("tilewise", {}).update(known)  # for reports and feedback
        return nb, resources

    def _reconsidered(self, judged: Marks, nb: NotebookNode, resources: dict[str, Any]) -> Marks:
        assignment, student, name = (
            resources["nbgrader"][key] for key in ("assignment", "student", "notebook")
        )
        given = _source_cells(assignment, name, _coursedir(self), "release")
        return reconsidered(judged, nb, given, other_files(_root(self), assignment, student, WORKS))


def _beside(resources: Mapping[str, Any]) -> Path | None:
    """Return the folder where nbgrader put the notebook and the assignment's files."""
    folder = resources.get("metadata", {}).get("path")
    return Path(folder) if folder else None


def _unsettled(nb: NotebookNode, settled: set[str]) -> list[str]:
    """Return the cells to which nbgrader would give full marks because they show no error."""
    names = [cell.metadata["nbgrader"]["grade_id"] for cell in nb.cells if is_test(cell)]
    return [name for name in names if name not in settled]


def _with_examples(report: Mapping[str, Any], code: list[str]) -> dict[str, Any]:
    """Return the judge's report, with the learner's line for each finding.

    Lines that the lesson gives are left out.
    """
    whole = Report.from_json(report)
    given = given_in(discovery.exercise(whole.exercise).lesson)
    findings = []
    for finding in whole.findings:
        cell = re.fullmatch(r"cell (\d+)", finding.where)
        text = code[int(cell[1]) - 1] if cell and int(cell[1]) <= len(code) else ""
        lines = [] if given(text) else text.split("\n")
        number = finding.line or 0
        example = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        findings.append({**finding.to_line(), "where": finding.where, "example": example})
    return {**whole.to_line(), "findings": findings}


def _fill(cell: NotebookNode, mark: CellMark) -> str:
    """Write a mark into its cell; return why it has no points, or ""."""
    points = cell.metadata["nbgrader"]["points"]
    if mark.points is None:
        cell.outputs = [text_output(mark.text)]
        return mark.text
    if mark.max_points != points:
        reason = (
            f"the gradebook has {points:g} points for this cell, the exercise {mark.max_points:g}: "
            "run `tilewise course update` and `nbgrader generate_assignment --force`"
        )
        cell.outputs = [text_output("This could not be graded yet. It is not a zero.")]
        return reason
    cell.outputs = [text_output(mark.text), number_output(mark.points)]
    return ""


class SaveGrades(SaveAutoGrades):  # type: ignore[misc]
    """Saves grades as nbgrader does, but leaves ungraded cells without a number for a person.

    A bonus for speed becomes nbgrader's extra credit, so the maximum of an assignment does not
    change after it was generated. If kernels did not run on a GPU, extra credit stays as it is.
    A cell graded by hand needs a person again only if the student handed in other work.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        nbgrader = resources["nbgrader"]
        seen = SeenWorks(_root(self), nbgrader["assignment"], nbgrader["notebook"])
        work = digest_of_work(nb)
        self._same_work = seen.get(nbgrader["student"]) == work
        noted = nb.metadata.get("tilewise", {})
        self._new_text = bool(noted.get(NEW_TEXT) or noted.get(BESIDE))
        saved: Pair = super().preprocess(nb, resources)
        seen.put(nbgrader["student"], work)  # last: a run killed earlier asks for a person again
        return saved

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        closed = grade.manual_score is not None and not grade.needs_manual_grade
        if name in resources.get("tilewise_ungraded", {}) or self._may_be_elsewhere(cell):
            grade.auto_score = None
            grade.needs_manual_grade = True
        else:
            super()._add_score(cell, resources)
            bonus = resources.get("tilewise_bonus", {})
            if name in bonus:
                grade.extra_credit = bonus[name]
        if closed and self._same_work:
            grade.needs_manual_grade = False
        self.gradebook.db.commit()

    def _add_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        super()._add_comment(cell, resources)
        if self._may_be_elsewhere(cell):  # otherwise nbgrader says that there is no response
            name = cell.metadata["nbgrader"]["grade_id"]
            where = (self.notebook_id, self.assignment_id, self.student_id)
            self.gradebook.find_comment(name, *where).auto_comment = None
            self.gradebook.db.commit()

    def _may_be_elsewhere(self, cell: NotebookNode) -> bool:
        """Whether a written answer is missing here but may be in another cell."""
        return self._new_text and utils.is_grade(cell) and utils.is_solution(cell)


class SettlePenalty(NbGraderPreprocessor):  # type: ignore[misc]
    """Replaces nbgrader's `AssignLatePenalties`: the ledger computes the penalties."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        nbgrader = resources["nbgrader"]
        with gradebooks.shared(), Gradebook(nbgrader["db_url"]) as gradebook:
            terms = terms_of(_root(self), self.config, self.parent)
            Ledger(gradebook, terms).settle(nbgrader["assignment"], [nbgrader["student"]])
        return nb, resources


def _coursedir(preprocessor: Any) -> Any:
    converter = getattr(preprocessor.parent, "parent", None)  # exporter → converter
    return getattr(converter, "coursedir", None)


def _root(preprocessor: Any) -> Path:
    """Return the folder of the class."""
    return Path(getattr(_coursedir(preprocessor), "root", "."))


class GetMarks(GetGrades):  # type: ignore[misc]
    """For feedback: shows the student's account, and removes hidden tests.

    A cell without a grade says so, instead of showing zero.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        self._own = nb.metadata.get("tilewise", {}).get("own", {})
        nbgrader, root = resources["nbgrader"], _root(self)
        texts = [{"cell_type": c.cell_type, "source": c.source} for c in nb.cells]  # as handed in
        self.notebook_id, self.assignment_id = nbgrader["notebook"], nbgrader["assignment"]
        with gradebooks.shared(), Gradebook(nbgrader["db_url"]) as self.gradebook:
            ledger = Ledger(self.gradebook, terms_of(root, self.config, self.parent))
            (self._account,) = ledger.accounts(self.assignment_id, [nbgrader["student"]])
            self.student_id = self._account.work or nbgrader["student"]  # who handed in for a team
            read: Pair = NbGraderPreprocessor.preprocess(self, nb, resources)
            limit = ledger.terms.rules.limit(nbgrader["student"], self.assignment_id)
        taken = self._account.penalties.get(self.notebook_id, 0.0)
        marks = [mark for mark in self._account.marks if mark.notebook == self.notebook_id]
        nbgrader["late_penalty"] = taken
        nbgrader["score"] = total([*(mark.points or 0.0 for mark in marks), -taken])
        nbgrader["max_score"] = total(mark.max_points for mark in marks)
        nbgrader["remark"] = self._account.remark
        nbgrader["late_days"] = self._account.lateness.free_days
        attempts = Attempts(root, self.assignment_id)
        nbgrader["attempts"] = attempts.told(self.student_id, limit)
        nbgrader["requests"] = requests_of(root, self.assignment_id, self.student_id, texts)
        return read

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> Pair:
        cell.metadata["number"] = cell_index + 1  # findings give cell numbers
        known = self._own.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if known is not None:
            telling.tell(cell, known)
        if cell.cell_type == "markdown":
            cell.source = clean_markdown(cell.source)  # also if plain nbgrader autograded it
        elif utils.is_grade(cell) and not utils.is_solution(cell):
            cell.source = released(cell.source).strip()
        read: Pair = super().preprocess_cell(cell, resources, cell_index)
        return read

    def _get_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        label = cell.metadata["nbgrader"]
        mark = self._account.mark(label["grade_id"], self.notebook_id)
        label["ungraded"] = mark is None or mark.points is None
        label["score"] = 0.0 if mark is None else mark.points or 0.0
        label["points"] = 0.0 if mark is None else mark.max_points
        if mark is not None and mark.given is Given.OUTDATED:
            label["comment"] = None  # it is about earlier work
