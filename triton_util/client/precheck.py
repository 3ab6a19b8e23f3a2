"""Reports that need no judge: the stub is unchanged, or Python holds other code than shown."""

from __future__ import annotations

import ast

from triton_util.client.report import Checked, ShownFinding
from triton_util.notebook.source import Gathered
from triton_util.notebook.staleness import Outdated, with_age
from triton_util.notebook.stubs import STUB_MARK, definitions, nothing_yet, untouched


def untouched_report(source: Gathered) -> Checked | None:
    """A report that the stub is unchanged; None if code was written or there was no stub."""
    if STUB_MARK not in source.text:
        return None
    functions, kernels = definitions(ast.parse(source.text))
    launcher = functions.get(source.launcher)
    if launcher is None:
        return None
    empty = untouched(launcher, kernels, source.text.split("\n"))
    if not empty:
        return None
    findings = tuple(_nothing_yet(function, source) for function in empty)
    return Checked(source.launcher, "untouched", {}, findings)


def _nothing_yet(function: ast.FunctionDef, source: Gathered) -> ShownFinding:
    title, message, step = nothing_yet(function.name, source.launcher)
    place = source.place(function.lineno)
    return ShownFinding(
        "read",
        "stub-unchanged",
        title,
        message,
        next_step=step,
        where="" if place is None else str(place),
        code_line=source.line_text(function.lineno),
        line=function.lineno,
    )


def outdated_report(exercise: str, found: Outdated) -> Checked:
    """A report on the cell that did not take effect, and on the age of the code that did."""
    label = found.newer or found.held.label
    cell = label[:1].upper() + label[1:]
    held = f"Python still holds the `{found.name}` of {with_age(found.held)}"
    title, message, step = {
        "unreadable": (
            f"{cell} cannot be read",
            f"It was to define `{found.name}`, and Python does not understand it: "
            f"{found.problem}. {held}. Nothing was checked.",
            f"Fix {label}, run it, and check again.",
        ),
        "failed": (
            f"{cell} ended before it defined `{found.name}`",
            f"An error stopped it. {held}. Nothing was checked.",
            f"Fix the error that {label} shows, run it, and check again.",
        ),
        "edited": (
            f"{cell} was edited and not run",
            f"The notebook shows another text for `{found.name}` than the one that ran: {held}. "
            "Nothing was checked.",
            "Run the cell that you edited (Shift+Enter), and check again.",
        ),
        "gone": (
            f"`{found.name}` is shown in no cell",
            f"{held}, and no cell shows that text any more. Nothing was checked.",
            f"Write `{found.name}` in a cell, run it, and check again.",
        ),
    }[found.why]
    where = f"{found.newer}, line {found.line}" if found.line is not None else ""
    finding = ShownFinding(
        "read",
        f"cell-{found.why}",
        title,
        message,
        next_step=step,
        where=where,
        code_line=found.code_line,
    )
    return Checked(exercise, "outdated", {}, (finding,))
