"""From a lesson's notebook and what its cells showed to a page in Markdown."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from docutils.utils.math.latex2mathml import tex2mathml

from tilewise_site.running import Shown

UNFINISHED = "# YOUR CODE HERE"
_FENCE = "`" * 9
_WAITS = "Nothing to see here yet: this cell needs your own answer, in your notebook."
_PROGRESS = "In your notebook this shows which exercises you have passed."
_WITH_STUB = "With the exercise still unfinished. Yours will show more."


@dataclass(frozen=True)
class Lesson:
    """One notebook: `cells` as nbformat reads them, `name` as the file is called."""

    name: str
    cells: tuple[nbformat.NotebookNode, ...]

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def title(self) -> str:
        heading = str(self.cells[0].source).splitlines()[0]
        return heading.removeprefix("# ")

    @property
    def sources(self) -> list[str]:
        """The code cells, in order."""
        return [str(cell.source) for cell in self.cells if cell.cell_type == "code"]

    @property
    def minutes(self) -> str:
        found = re.search(r"(\d+|ten) minutes", str(self.cells[0].source))
        return {"ten": "10"}.get(found[1], found[1]) if found else ""

    @property
    def exercises(self) -> list[str]:
        """The names that the lesson's exercises have in their headings."""
        text = "\n".join(str(cell.source) for cell in self.cells)
        return re.findall(r"^## Exercise: `(\w+)`", text, re.MULTILINE)


def read_lessons(folder: Path) -> list[Lesson]:
    """All lessons in their order."""
    return [
        Lesson(path.stem, tuple(nbformat.read(path, as_version=4).cells))
        for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    ]


def page(lesson: Lesson, shown: Sequence[Shown], links: str) -> str:
    """The lesson as Markdown; outputs are raw HTML. `links`: HTML that stands under the title."""
    outputs = iter(shown)
    unfinished: set[str] = set()
    parts = []
    for place, cell in enumerate(lesson.cells):
        source = str(cell.source)
        if cell.cell_type == "markdown":
            if "colab-badge" in source:
                source = raw(links)
            elif source == "YOUR ANSWER HERE":
                source = _note("Your answer goes into your notebook.")
            parts.append(with_formulas(source))
            continue
        output = next(outputs)
        if UNFINISHED in source:
            unfinished |= _defined(source)
        parts.append(_code_cell(source, output, place, unfinished))
    return "\n\n".join(part for part in parts if part) + "\n"


def raw(content: str) -> str:
    """HTML that Sphinx passes on as it is."""
    return f"{_FENCE}{{raw}} html\n{content}\n{_FENCE}" if content else ""


def with_formulas(text: str) -> str:
    """Markdown with `$$…$$` as MathML, which browsers show without a library."""

    def replaced(match: re.Match[str]) -> str:
        formula = tex2mathml(match[1].strip(), as_block=True)
        return f"\n\n{raw(f'<div class=tw-formula>{formula}</div>')}\n\n"

    return re.sub(r"\$\$(.+?)\$\$", replaced, text, flags=re.DOTALL)


def _code_cell(source: str, output: Shown, place: int, unfinished: set[str]) -> str:
    """Code and what it showed; where something to do has taken the place of code, that first."""
    shown = output.html
    if source.startswith("# @title"):
        return ""
    if place < 4 and "from triton_util import check" in source:
        return _folded("What the first cell imports", source)
    if _asks_only(source) or _repeats_an_explorer(source):
        return ""
    if "tw-prediction" in shown:
        return f"{_box(shown)}\n\n{_folded('The code behind it', source)}"
    if _only_calls(source, ("figures.", "quiz(")):
        return _box(shown)
    code = f"{_FENCE}python\n{source}\n{_FENCE}"
    if _only_calls(source, ("progress(",)):
        return f"{code}\n\n{_note(_PROGRESS)}"
    waits = UNFINISHED not in source and unfinished & _used(source)
    if output.failed or (waits and not shown):
        return f"{code}\n\n{_note(_WAITS)}"
    if not shown:
        return code
    note = _note(_WITH_STUB) if waits and "tw-card" not in shown else ""
    return f"{code}\n\n{_box(shown)}" + (f"\n\n{note}" if note else "")


def _box(shown: str) -> str:
    return raw(f'<div class="tw-out" data-pagefind-ignore>{shown}</div>')


def _note(text: str) -> str:
    return raw(f'<p class="tw-note">{html.escape(text)}</p>')


def _folded(title: str, source: str) -> str:
    opening = raw(f'<details class="tw-code"><summary>{html.escape(title)}</summary>')
    return f"{opening}\n\n{_FENCE}python\n{source}\n{_FENCE}\n\n{raw('</details>')}"


def _asks_only(source: str) -> bool:
    """Whether a cell only says `guess = None`: the page has a field for it."""
    body = _parsed(source)
    return bool(body) and all(
        isinstance(node, ast.Assign)
        and all(
            isinstance(part, ast.Constant) and part.value is None
            for part in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        )
        for node in body
    )


def _repeats_an_explorer(source: str) -> bool:
    """Whether a cell only prints what the explorer above it shows."""
    body = _parsed(source)
    return bool(body) and all(
        re.match(r"print\(explore\.\w+_text\(", ast.unparse(node)) for node in body
    )


def _only_calls(source: str, beginnings: tuple[str, ...]) -> bool:
    body = _parsed(source)
    return len(body) == 1 and ast.unparse(body[0]).startswith(beginnings)


def _parsed(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def _defined(source: str) -> set[str]:
    return {node.name for node in _parsed(source) if isinstance(node, ast.FunctionDef)}


def _used(source: str) -> set[str]:
    names = (node for part in _parsed(source) for node in ast.walk(part))
    return {node.id for node in names if isinstance(node, ast.Name)}
