"""`answer`: shows the model answer and the rubric of a case study, once the learner has answered.

The learner's answer is read from the notebook's file, from the cell below the question, or passed
as text when that file cannot be found (Colab). In a class a person grades that cell; the model
answer then comes with the feedback and is not shown here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triton_util.client import guesses
from triton_util.client.card import frame, prose
from triton_util.client.judge import JudgeProcess
from triton_util.notebook.session import Display

FEWEST_WORDS = 20
STUB = "YOUR ANSWER HERE"
_FILE_OF_VSCODE = "__vsc_ipynb_file__"
_FILE_OF_JUPYTER = "JPY_SESSION_NAME"


def answer(
    name: str,
    text: str | None,
    namespace: Mapping[str, Any],
    judge: JudgeProcess,
    display: Display,
) -> None:
    """Show the model answer of a case study, or say what to do first."""
    model = str(judge.ask({"op": "model_answer", "case_study": name})["text"])
    cell = None if text is not None else _cell(name, namespace)
    if cell is not None and _graded(cell):
        _say(display, "In your class a person reads this answer; the model answer comes with it.")
        return
    if text is None and cell is None:
        _say(
            display,
            "The cell with your answer was not found from here. Give the answer as text: "
            f'`answer("{name}", """your answer""")`.',
        )
        return
    own = text if text is not None else _source(cell or {})
    if len(own.replace(STUB, "").split()) < FEWEST_WORDS:
        _say(
            display,
            f"First write your own answer, {FEWEST_WORDS} words or more, in the cell below the "
            "question. Save the notebook (Ctrl+S), and run this cell again.",
        )
        return
    guesses.keep("answers", name, True)
    display.show_markdown(
        f"**A model answer, and how it is marked.** Mark your own by it.\n\n{model}"
    )


def _say(display: Display, told: str) -> None:
    display.show(frame("plain", "?", "Your answer first", "", prose(told), "Case study"), told)


def _cell(name: str, namespace: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer's cell in the notebook's file; None when the file or the cell is missing."""
    path = namespace.get(_FILE_OF_VSCODE) or os.environ.get(_FILE_OF_JUPYTER, "")
    try:
        cells = json.loads(Path(str(path)).read_text(encoding="utf-8"))["cells"]
        return next((dict(cell) for cell in cells if cell.get("id") == name), None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _graded(cell: Mapping[str, Any]) -> bool:
    """Whether nbgrader has marked the cell as graded, which means that it belongs to a class."""
    metadata = cell.get("metadata", {})
    return bool(metadata.get("nbgrader", {}).get("grade"))
