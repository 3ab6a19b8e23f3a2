"""Turns a test cell's outputs into its points, and into what the notebook shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode

from graders.grading.own_tests.execution import Ran
from graders.grading.sanitise import number_output, text_output
from graders.judge.plain_text import one_line, plain, shortened

LONGEST = 20_000  # characters of one output
MOST = 200  # outputs of a cell
LONGEST_PICTURE = 2_000_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NUMPY = re.compile(r"np\.\w+\((.*)\)\Z")  # NumPy's repr of a single number
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
OPEN = "This could not be graded yet. It is not a zero: your instructor looks at it."


def settle(cell: NotebookNode, ran: Ran | None, reason: str) -> str:
    """Write a test's outputs into its cell, where nbgrader reads the points from them.

    Returns why it has no points, or "". As in nbgrader, an error gives 0, a number is partial
    credit, and anything else gives full marks; warnings on stderr cost no points.
    """
    if ran is None:
        cell.outputs = [text_output(OPEN)]
        return reason or "the test was not run"
    cell.outputs = list(_shown(ran.outputs, pictures=False))
    if ran.timed_out is not None:
        cell.outputs.append(
            _error("CellTimeoutError", f"it took more than {ran.timed_out:.0f} s", ())
        )
    if any(output.output_type == "error" for output in cell.outputs):
        return ""  # nbgrader gives 0
    points = _number(ran.outputs)
    if points is None:
        return ""
    most = float(cell.metadata["nbgrader"]["points"])
    if not 0 <= points <= most:
        cell.outputs.append(text_output(OPEN))
        return f"the test's last line gives {points:g}, and the cell has {most:g} points"
    cell.outputs.append(number_output(points))
    return ""


def shown(ran: Ran) -> list[NotebookNode]:
    """Return the outputs of an answer that a person grades."""
    return list(_shown(ran.outputs, pictures=True))


def _number(outputs: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the number that is the value of a cell's last line; None if there is none."""
    for output in outputs:
        if output.get("output_type") == "execute_result":
            text = _text(output)
            found = _NUMPY.match(text)
            try:
                return float(found[1] if found else text)
            except ValueError:
                return None
    return None


def _text(output: Mapping[str, Any]) -> str:
    data = output.get("data")
    text = data.get("text/plain") if isinstance(data, Mapping) else None
    return text if isinstance(text, str) else ""


def _shown(outputs: Iterable[Mapping[str, Any]], pictures: bool) -> Iterator[NotebookNode]:
    """Yield outputs that are safe in a notebook: short plain text, and pictures if requested."""
    left, failed = 5 * LONGEST, False
    for number, output in enumerate(outputs):
        kind = output.get("output_type")
        if failed or (number >= MOST and kind != "error"):
            continue
        if kind == "error":
            failed = True  # later outputs do not change the points
            lines = output.get("traceback")
            trace = lines if isinstance(lines, list) else []
            yield _error(_plain(output.get("ename")), _plain(output.get("evalue")), trace)
            continue
        text = _plain(output.get("text") if kind == "stream" else _text(output))[: max(0, left)]
        left -= len(text)
        picture = _picture(output) if pictures else ""
        if picture:
            data = {"image/png": picture, "text/plain": text}
            yield NotebookNode(output_type="display_data", metadata={}, data=NotebookNode(data))
        elif text:
            yield NotebookNode(output_type="stream", name="stdout", text=_ended(text))


def _picture(output: Mapping[str, Any]) -> str:
    data = output.get("data")
    picture = data.get("image/png") if isinstance(data, Mapping) else None
    whole = isinstance(picture, str) and len(picture) <= LONGEST_PICTURE
    return str(picture) if whole and _BASE64.match(str(picture)) else ""


def _error(kind: str, said: str, trace: Iterable[Any]) -> NotebookNode:
    text = "\n".join(_plain(line) for line in trace) or f"{kind}: {said}"
    return NotebookNode(
        output_type="error",
        ename=one_line(kind, 100),
        evalue=shortened(said, 1_000),
        traceback=shortened(text, LONGEST).split("\n"),
    )


def _plain(value: Any) -> str:
    return plain(_ANSI.sub("", value[:LONGEST])) if isinstance(value, str) else ""


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
