"""Notebooks and folders that attack whoever opens, grades or shows them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Expected = Literal["full", "nothing", "asked", "open"]
SCRIPT = "<script>document.title = 'stolen'</script>"
FAR = "http://198.51.100.7/pixel.png"  # an address that nobody has
CHEAT = """\
import torch
import triton
import triton.language as tl

def vector_add(x, y):
    return x + y
"""


@dataclass(frozen=True)
class NotebookAttack:
    """A submission whose notebook or folder is the weapon.

    `spoil` gets the path of a notebook that holds honest code, or CHEAT where `cheats`, and
    may change whatever it likes. `expected`: all points, none, a person is asked about the
    exercise, or the whole notebook is left open for a person.
    """

    name: str
    goal: str
    spoil: Callable[[Path], None]
    cheats: bool = False
    expected: Expected = "full"
    tampered: bool = False  # worth a line of its own in the log


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The notebook's JSON, written back as it was left."""
    notebook = json.loads(path.read_text())
    yield notebook
    path.write_text(json.dumps(notebook))


Change = Callable[[Any], None]


def on_notebook(change: Change) -> Callable[[Path], None]:
    """A change of the notebook's JSON."""

    def spoil(path: Path) -> None:
        with opened(path) as notebook:
            change(notebook)

    return spoil


def on_cells(change: Change, which: str = "all") -> Callable[[Path], None]:
    """A change of every cell, or of the "graded" ones that hold code."""

    def spoil(notebook: Any) -> None:
        for cell in notebook["cells"]:
            graded = cell["metadata"].get("nbgrader", {}).get("grade")
            if which == "all" or (graded and cell["cell_type"] == "code"):
                change(cell)

    return on_notebook(spoil)


def on_text(old: str, new: str) -> Callable[[Path], None]:
    """A change of the file's text, for what no JSON library would write."""

    def spoil(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return spoil


def beside(name: str, text: str) -> Callable[[Path], None]:
    """Another file in the submission."""

    def spoil(path: Path) -> None:
        other = path.parent / name
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(text)

    return spoil


def markdown(text: str) -> Callable[[Path], None]:
    """One more text cell, and the same in the answer that a person grades."""

    def change(notebook: Any) -> None:
        cell = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": text}
        notebook["cells"].append(cell)
        answers = [c for c in notebook["cells"] if c.get("id") == "contiguity"]
        answers[0]["source"] = text

    return on_notebook(change)


def code_cell(source: Any, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "source": source}
    return cell | {"execution_count": None} | more


def _invented_grade_cell(notebook: Any) -> None:
    label = {"schema_version": 3, "grade_id": "bonus", "grade": True, "solution": False}
    label |= {"locked": True, "task": False, "cell_type": "code", "points": 1000}
    notebook["cells"].append(code_cell("1000", metadata={"nbgrader": label}))


def _forged_results(cell: Any) -> None:
    data = {"text/plain": "10"}
    result = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}
    cell["outputs"] = [result]


def _forged_report(notebook: Any) -> None:
    report = {"verdict": "passed", "points": 10, "max_points": 10, "findings": [], "gates": {}}
    notebook["metadata"]["tilewise"] = {
        "reports": {"vector_add": report},
        "mended": [SCRIPT],
        "tampered": [SCRIPT],
    }


def _live_outputs(cell: Any) -> None:
    kinds = ("text/html", "application/javascript", "image/svg+xml", "text/markdown", "text/latex")
    live = dict.fromkeys(kinds, SCRIPT)
    live["application/vnd.jupyter.widget-view+json"] = {"model_id": "a", "version_major": 2}
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": live}]


def _hostile_ids(notebook: Any) -> None:
    for cell in notebook["cells"]:
        cell["id"] = f'"><img src={FAR} onerror="x">'


def _attachments(notebook: Any) -> None:
    svg = {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg'>{SCRIPT}</svg>"}
    files = {"a.svg": svg, "b.html": {"text/html": SCRIPT}, f'"><b {SCRIPT}': {"image/png": SCRIPT}}
    cell = {"cell_type": "markdown", "id": "mine", "metadata": {}, "attachments": files}
    cell["source"] = '![x](attachment:a.svg) ![x](attachment:b.html) ![x](attachment:"><b)'
    notebook["cells"].append(cell)


def _widgets(notebook: Any) -> None:
    state = {f"model{n}": {"model_name": "HTMLModel", "state": SCRIPT * 1_000} for n in range(99)}
    kind = "application/vnd.jupyter.widget-state+json"
    notebook["metadata"]["widgets"] = {kind: {"state": state, "version_major": 2}}


def _huge_metadata(notebook: Any) -> None:
    notebook["metadata"]["mine"] = "x" * 20_000_000
    for cell in notebook["cells"]:
        cell["metadata"]["mine"] = {"x": "y" * 1_000_000}
        cell["metadata"]["editable"] = SCRIPT * 1_000


def _other_kernel(notebook: Any) -> None:
    name = f"../../evil{SCRIPT}"
    notebook["metadata"]["kernelspec"] = {"name": name, "display_name": name, "language": "bash"}
    notebook["metadata"]["language_info"] = {"name": SCRIPT, "pygments_lexer": SCRIPT}


def _thousands_of_cells(notebook: Any) -> None:
    notebook["cells"] += [code_cell("x = 1", id=f"c{n}") for n in range(20_000)]


def _deep(path: Path) -> None:
    with opened(path) as notebook:
        notebook["metadata"]["deep"] = "HERE"
    on_text('"HERE"', "[" * 100_000 + "]" * 100_000)(path)


def _raw_html(notebook: Any) -> None:
    cell = {"cell_type": "raw", "id": "mine", "source": SCRIPT}
    notebook["cells"].append(cell | {"metadata": {"raw_mimetype": "text/html", "format": "html"}})


def _odd_sources(notebook: Any) -> None:
    odd = (None, 7, {"x": 1}, True, ["\n"] * 1_000)
    notebook["cells"] += [code_cell(source, id=f"odd{n}") for n, source in enumerate(odd)]


def _broken_sources(notebook: Any) -> None:
    notebook["cells"].append(code_cell(["x = 1\n", 7]))


def _odd_metadata(notebook: Any) -> None:
    odd = ({"nbgrader": "x"}, {"nbgrader": []}, {"nbgrader": {"grade_id": 7}}, {"tags": 7})
    for number, metadata in enumerate(odd):
        notebook["cells"].append(code_cell("x = 1", id=f"odd{number}", metadata=metadata))


def _broken_metadata(notebook: Any) -> None:
    notebook["cells"].append(code_cell("x = 1", metadata=None))


def _odd_labels(cell: Any) -> None:
    cell["metadata"]["nbgrader"] |= {"schema_version": 99, "points": "1e999", "grade": "yes"}


def _surrogates(notebook: Any) -> None:
    notebook["cells"].append(code_cell("x = '\ud800'", id="\udfff"))
    notebook["metadata"]["\ud800"] = "\udfff"
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "\ud800"})


def _control_characters(notebook: Any) -> None:
    notebook["cells"].append(code_cell("x = '\x00\x1b[2J\x07\u202e\u2028'", id="\x00"))


def _swapped_answer(notebook: Any) -> None:
    """The grade cells become learner's cells, and a cell of the learner's a grade cell."""
    cells = {cell.get("id"): cell for cell in notebook["cells"]}
    one, two = cells["vector_add"]["metadata"], cells["vector_add-hidden"]["metadata"]
    one["nbgrader"], two["nbgrader"] = two["nbgrader"], one["nbgrader"]
    cells["vector_add"]["source"] = "1000"


def _old_format(path: Path) -> None:
    notebook = json.loads(path.read_text())
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
            cell["prompt_number"] = 1
        cell.pop("id", None)
        cells.append(cell)
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": SCRIPT}}
    path.write_text(json.dumps(old | {"worksheets": [{"cells": cells, "metadata": {}}]}))


def _two_answers(notebook: Any) -> None:
    """A person chooses between two different functions."""
    cells = notebook["cells"]
    answer = next(cell for cell in cells if cell.get("id") == "vector_add")
    cells.insert(0, code_cell(answer["source"], id="shown"))
    answer["source"] = CHEAT


def _fifo(path: Path) -> None:
    os.mkfifo(path.parent / "pipe")


NOTEBOOKS = (
    NotebookAttack("invented-grade-cell", "be graded for a cell of one's own",
                   on_notebook(_invented_grade_cell), tampered=True),
    NotebookAttack("forged-results", "leave numbers in the grade cells",
                   on_cells(_forged_results, "graded"), cheats=True, expected="nothing"),
    NotebookAttack("forged-report", "leave the judge's report in the metadata",
                   on_notebook(_forged_report), cheats=True, expected="nothing"),
    NotebookAttack("swapped-labels", "swap the labels of answer and grade cell",
                   on_notebook(_swapped_answer), expected="nothing", tampered=True),
    NotebookAttack("odd-labels", "confuse nbgrader by its own metadata",
                   on_cells(_odd_labels, "graded"), tampered=True),
    NotebookAttack("two-answers", "show one function to people and another one to the judge",
                   on_notebook(_two_answers), expected="asked"),
    NotebookAttack("live-outputs", "run a script in the grader's browser", on_cells(
        lambda cell: _live_outputs(cell) if cell["cell_type"] == "code" else None)),
    NotebookAttack("hostile-ids", "break out of an anchor", on_notebook(_hostile_ids)),
    NotebookAttack("attachments", "attach a live picture", on_notebook(_attachments)),
    NotebookAttack("widgets", "leave the state of widgets", on_notebook(_widgets)),
    NotebookAttack("raw-html", "leave a cell that is shown as it is", on_notebook(_raw_html)),
    NotebookAttack("other-kernel", "be run by another program", on_notebook(_other_kernel)),
    NotebookAttack("huge-metadata", "fill the disk", on_notebook(_huge_metadata)),
    NotebookAttack("thousands-of-cells", "cost time", on_notebook(_thousands_of_cells),
                   tampered=True),
    NotebookAttack("odd-sources", "end the run by cells without text", on_notebook(_odd_sources)),
    NotebookAttack("broken-sources", "end the run by lines that are none",
                   on_notebook(_broken_sources), expected="open"),
    NotebookAttack("odd-metadata", "end the run by cells without metadata",
                   on_notebook(_odd_metadata)),
    NotebookAttack("broken-metadata", "end the run by a cell without metadata",
                   on_notebook(_broken_metadata), expected="open"),
    NotebookAttack("surrogates", "end the run by text that no file can hold",
                   on_notebook(_surrogates)),
    NotebookAttack("control-characters", "write to the grader's terminal",
                   on_notebook(_control_characters)),
    NotebookAttack("scripts-in-text", "run a script in the grader's browser", markdown(
        f"{SCRIPT}\n\n<iframe src={FAR}></iframe><object data={FAR}></object>\n\n"
        "<svg/onload=alert(1)>\n\n<a href=javascript:alert(1)>x</a>\n\n<base href=//evil>")),
    NotebookAttack("links-in-text", "make a link that runs", markdown(
        "[x](javascript:alert(1)) [y](JaVaScRiPt&colon;alert(1)) [z][ref] <javascript:alert(1)>\n\n"
        "[ref]: data:text/html;base64,PHNjcmlwdD4=\n\n[w](vbscript:x) [v](\x01javascript:x)")),
    NotebookAttack("pictures-in-text", "learn who grades when", markdown(
        f"![x]({FAR}) <img src={FAR}>\n\n![y][ref]\n\n[ref]: {FAR}\n\n"
        f"<style>@import url({FAR});</style>\n\n[![z]({FAR})]({FAR})")),
    NotebookAttack("formulas-in-text", "run something through MathJax", markdown(
        r"$\href{javascript:alert(1)}{x}$ $\require{unicode}$ $$\html{<script>}$$ "
        r"$\cssId{a}{\class{b}{c}}$ \unicode{x1}")),
    NotebookAttack("nested-markdown", "cost time by nested quotes and lists",
                   markdown("> " * 2_000 + "x\n\n" + "- " * 2_000 + "x\n\n" + "[" * 20_000)),
    NotebookAttack("deep-json", "exhaust the stack", _deep, expected="open"),
    NotebookAttack("not-json", "end the run", lambda path: path.write_text("{" * 10_000) and None,
                   expected="open"),
    NotebookAttack("json-of-another-kind", "end the run",
                   lambda path: path.write_text('{"cells": 7}') and None, expected="open"),
    NotebookAttack("other-format", "end the run", on_text('"nbformat": 4', '"nbformat": 99'),
                   expected="open"),
    NotebookAttack("format-of-tomorrow", "be written in a format that is still to come",
                   on_text('"nbformat_minor": 5', '"nbformat_minor": 999999')),
    NotebookAttack("old-format", "be read in another way by nbgrader and the judge", _old_format),
    NotebookAttack("doubled-keys", "be read in another way by nbgrader and the judge",
                   on_text('"nbformat": 4', '"cells": [], "nbformat": 4'), cheats=True,
                   expected="open"),  # the last key counts: a notebook without the kernel
    NotebookAttack("infinite-points", "claim infinitely many points", on_text(
        '"points": 4', '"points": Infinity'), tampered=True),
    NotebookAttack("modules-beside", "be imported by the grader", lambda path: [
        beside(f"{name}.py", "raise SystemExit('taken over')")(path)
        for name in ("sitecustomize", "torch", "triton", "graders", "json", "conftest")] and None),
    NotebookAttack("configuration-beside", "configure the grader", beside(
        "nbgrader_config.py", "raise SystemExit('taken over')")),
    NotebookAttack("gradebook-beside", "bring a gradebook along",
                   beside("gradebook.db", "not a database")),
    NotebookAttack("hidden-beside", "overwrite the hidden cases",
                   beside("graders/course/vector_add/hidden.py", "HIDDEN = None")),
    NotebookAttack("other-notebook", "bring another notebook along",
                   beside("02_other.ipynb", '{"cells": []}')),
    NotebookAttack("odd-file-names", "break out of a line of the log", lambda path: [
        beside(name, "x")(path) for name in ("a\nb", "-rf", "$(touch x)", SCRIPT.replace("/", "_"))
    ] and None),
    NotebookAttack("pipe", "let the grader wait for ever", _fifo, expected="open"),
    NotebookAttack("broken-timestamp", "end the run", beside("timestamp.txt", "tomorrow, perhaps"),
                   expected="open"),
)  # fmt: skip
