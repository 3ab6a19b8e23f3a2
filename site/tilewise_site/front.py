"""What the front page shows that is computed: a real card, a picture, counts, the lessons."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from graders.authoring import kernels
from graders.authoring.rooms import Rooms
from tilewise_site.lessons import Lesson
from tilewise_site.running import Shown
from triton_util.tiling.orders import grouped

# A mistake in the tour's exercise: it has no points, so nothing that counts is given away.
WRONG_KERNEL = "copy", "load_ignores_pid"
_IMPORTS = (
    "import torch\nimport triton\nimport triton.language as tl\nfrom triton_util import check"
)


def wrong_kernel(repository: Path) -> str:
    """The code of the wrong kernel, from its first line after the imports."""
    text = kernels.wrong_kernel(Rooms(repository), *WRONG_KERNEL)
    return text[text.index("@triton.jit") :].rstrip()


def example_sources(repository: Path) -> list[str]:
    """Cells whose last one shows the card."""
    return [_IMPORTS, wrong_kernel(repository), "check(copy)"]


def finding(repository: Path, shown: Sequence[Shown]) -> dict[str, Any]:
    """Code and card of the example. Raises ValueError where the judge did not turn it down."""
    card = shown[-1].html
    counted = re.search(r"(\d+) of (\d+) cases passed", card)
    if "tw-failed" not in card or not counted:
        raise ValueError(f"no card that turns {WRONG_KERNEL} down:\n{card[-2000:]}")
    code = highlight(wrong_kernel(repository), PythonLexer(), HtmlFormatter())
    return {"code": code, "card": card, "passed": int(counted[1]), "total": int(counted[2])}


def counts(repository: Path) -> dict[str, int]:
    """How many kernels keep the judge honest."""
    folders = sorted((repository / "tests/course").glob("*/*/"))
    return {
        "wrong": sum(len(kernels.wrong_kernels(folder)) for folder in folders),
        "right": sum(len(kernels.correct_kernels(folder)) for folder in folders),
    }


def lesson_entry(lesson: Lesson) -> dict[str, Any]:
    """A lesson as the front page lists it."""
    return {
        "name": lesson.name,
        "number": lesson.number,
        "title": lesson.title,
        "line": _promise(str(lesson.cells[0].source)),
        "minutes": lesson.minutes,
        "exercises": lesson.exercises,
    }


def _promise(first_cell: str) -> str:
    """What one can do after the lesson, in the lesson's own words, without marks."""
    text = re.sub(r"[*`]", "", " ".join(first_cell.split("\n", 1)[-1].split()))
    promised = re.search(r"At the end of this lesson (.+?[.])(?: |$)", text)
    if promised:
        return promised[1][0].upper() + promised[1][1:]
    sentences = [part for part in re.split(r"(?<=[.]) ", text) if part.startswith("You ")]
    return max(sentences, key=len, default="")


def tiles_picture(rows: int = 7, columns: int = 6, group: int = 3, reached: int = 13) -> str:
    """A matrix of tiles in grouped order, as far as `reached`; the last row sticks out."""
    side, gap = 54, 8
    order = grouped(rows, columns, group)
    place = {tile: number for number, tile in enumerate(order)}

    def corner(tile: tuple[int, int]) -> tuple[int, int]:
        return tile[1] * (side + gap) + gap, tile[0] * (side + gap) + gap

    parts = []
    for tile, number in sorted(place.items()):
        x, y = corner(tile)
        state = "off" if tile[0] == rows - 1 else ""
        state = state or ("now" if number == reached else "done" if number < reached else "")
        parts.append(
            f'<rect class="t {state}" x="{x}" y="{y}" width="{side}" height="{side}" rx="7"/>'
        )
        if state != "off":
            middle = f'x="{x + side / 2:g}" y="{y + side / 2 + 5:g}"'
            parts.append(f'<text class="p {state}" {middle}>{html.escape(str(number))}</text>')
    width, height = columns * (side + gap) + gap, rows * (side + gap) + gap
    return f'<svg viewBox="0 0 {width} {height}" focusable="false">{"".join(parts)}</svg>'
