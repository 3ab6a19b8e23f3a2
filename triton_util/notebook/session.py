"""The current notebook or script: its names, its cells, and how to show something in it."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from triton_util.environment import in_notebook
from triton_util.notebook import shown


@dataclass(frozen=True)
class Cell:
    """Python that was run: a notebook cell, or a whole script.

    `label` names it for the learner ("cell [3]", "kernels.py"); `filename` is the file name in its
    compiled functions; `first_line` is the number of its first line as the learner counts;
    `typed` is the text as typed in the notebook, "" for a script; `ran` is the time (of
    `time.time`) at which it was run, None if unknown.
    """

    label: str
    source: str
    filename: str = ""
    first_line: int = 1
    typed: str = ""
    ran: float | None = None


@dataclass(frozen=True)
class Session:
    """The learner's global names, and the code that was run to make them, oldest first.

    `shown` are the texts that the notebook's code cells show now, None if unknown.
    """

    namespace: dict[str, Any]
    cells: tuple[Cell, ...]
    shown: tuple[str, ...] | None = None


def of_caller(frame: FrameType) -> Session:
    """The session that `frame` belongs to: the notebook, or the script of that frame."""
    shell = _shell()
    if shell is not None and frame.f_globals is shell.user_ns:
        return Session(shell.user_ns, notebook_cells(shell), shown.texts(shell))
    return Session(frame.f_globals, script_cells(frame.f_globals))


def notebook_cells(shell: Any) -> tuple[Cell, ...]:
    """The cells that were run, as plain Python (magics already translated by IPython)."""
    files = {number: name for name, number in getattr(shell.compile, "_filename_map", {}).items()}
    history, times = shell.history_manager, shown.run_times()
    typed = dict(enumerate(history.input_hist_raw))
    cells = []
    for number, source in enumerate(history.input_hist_parsed):
        body, first_line = unwrap_cell_magic(source)
        if body.strip():
            found = files.get(number, ""), first_line, typed.get(number, ""), times.get(number)
            cells.append(Cell(f"cell [{number}]", body, *found))
    return tuple(cells)


def script_cells(namespace: dict[str, Any]) -> tuple[Cell, ...]:
    """The one file that a script's or module's names come from; () if there is none."""
    filename = namespace.get("__file__")
    if not filename:
        return ()
    try:
        source = Path(filename).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    return (Cell(Path(filename).name, source, str(filename)),)


def unwrap_cell_magic(source: str) -> tuple[str, int]:
    """The Python under a cell magic such as %%time, and the line on which it starts."""
    if "run_cell_magic" not in source:
        return source, 1
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return source, 1
    if len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Call):
        call = body[0].value
        last = call.args[-1] if call.args else None
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "run_cell_magic"
            and isinstance(last, ast.Constant)
            and isinstance(last.value, str)
        ):
            return last.value, 2
    return source, 1


class Display:
    """One place in the output: HTML in a notebook, which a later `show` replaces; else text."""

    def __init__(self) -> None:
        self._handle: Any = None

    def note(self, html: str, text: str) -> None:
        """Show something that the next `show` replaces; does nothing outside a notebook."""
        if in_notebook():
            self.show(html, text)

    def show(self, html: str, text: str) -> None:
        if not in_notebook():
            print(text)
            return
        from IPython.display import display

        bundle = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def show_markdown(self, text: str) -> None:
        """Show Markdown; outside a notebook, print its source."""
        if not in_notebook():
            print(text)
            return
        from IPython.display import display

        display({"text/markdown": text, "text/plain": text}, raw=True)

    def widget(self, widget: Any, html: str, text: str) -> None:
        """Show an ipywidget, or `html` or `text` if the front end has no widgets."""
        from IPython.display import display

        view = {
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": widget.model_id,
            }
        }
        display({**view, "text/html": html, "text/plain": text}, raw=True)


def _shell() -> Any:
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()
