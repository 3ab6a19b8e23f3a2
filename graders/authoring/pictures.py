"""Figures that a lesson shows before it is run: on GitHub, in a viewer, in JupyterLab.

The built notebook contains a cell's figure if drawing it needs no kernel, no GPU and no answer: if
its code uses only `triton_util.figures`, torch, and names that such code has set. The build runs
that code, so the stored figure is the one that the cell draws; running the cell replaces it.
Figures below a prediction are not stored, because they may show the answer.

Other versions of the libraries produce other bytes. So a figure is copied from the existing
notebook as long as its code, and the drawing modules, are those from which it was drawn.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from graders.grading.closure import closure

FIGURES = "triton_util.figures"
PLAIN = ("torch", "math")  # modules whose functions are deterministic, except for:
FICKLE = frozenset(("cuda", "empty", "empty_like", "rand", "randint", "randn", "randperm"))
PURE = frozenset(("dict", "float", "int", "len", "list", "max", "min", "range", "sum", "tuple"))
KEY = "drawn_from"  # in the metadata of an output: the digest of its code and modules
DPI = 120
COLOURS = 64
FORM = f"{DPI} dots per inch, {COLOURS} colours, as wide as the cell draws it"


def add_pictures(notebook: NotebookNode, before: Path) -> None:
    """Add figures to the cells that only draw; `before` is the notebook built last."""
    known = {output["metadata"][KEY]: outputs for output, outputs in _drawn(before)}
    reader, predicted = _Reader(), False
    for cell in notebook.cells:
        code = reader.picture_of(cell.source) if cell.cell_type == "code" else ()
        if code and not predicted:
            key = _digest(code)
            cell.outputs = known[key] if key in known else _draw(code, key)
        predicted = cell.cell_type == "code" and "predict(" in cell.source


def _drawn(path: Path) -> Iterator[tuple[NotebookNode, list[NotebookNode]]]:
    """Each figure of a built notebook, and the outputs of its cell."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError, nbformat.ValidationError):
        return  # there is none yet, or a merge has broken it
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if KEY in output.get("metadata", {}):
                yield output, cell.outputs


@dataclass
class _Reader:
    """Which names of a notebook the build can compute, and by which statements."""

    known: dict[str, tuple[int, ...]] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    drawing: set[str] = field(default_factory=set)

    def picture_of(self, source: str) -> tuple[str, ...]:
        """The statements that draw this cell's figure; () if it has no figure of this kind.

        Pass the cells in the order in which a learner runs them.
        """
        try:
            body = ast.parse(source).body
        except SyntaxError:  # a notebook command, such as %time
            return ()
        if not body:
            return ()
        last = body[-1]
        plain = [self._read(statement) for statement in body if statement is not last]
        draws = isinstance(last, ast.Expr) and self.drawing & _loaded(last)
        needed = self._needed(last) if draws else None
        if needed is None:
            self._read(last)
        if needed is None or not all(plain):
            return ()
        return (*(self.statements[number] for number in needed), ast.unparse(last))

    def _read(self, statement: ast.stmt) -> bool:
        """Record the names that a statement sets; returns whether the build can compute them."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return self._import(statement)
        needed = self._needed(statement.value) if isinstance(statement, ast.Assign) else None
        if needed is not None:
            return self._set(_stored(statement), statement, needed)
        # An unknown statement may change the values that it uses.
        for name in _stored(statement) | (_loaded(statement) - self.imported):
            self.known.pop(name, None)
        return False

    def _import(self, statement: ast.Import | ast.ImportFrom) -> bool:
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            whole = f"{module}.{alias.name}".strip(".")
            name = alias.asname or alias.name
            one = ast.ImportFrom(module, [alias], 0) if module else ast.Import([alias])
            draws = f"{whole}.".startswith(f"{FIGURES}.")
            if draws or whole in PLAIN:
                self._set({name}, one, ())
                self.imported.add(name)
                self.drawing |= {name} if draws else set()
            else:
                self.known.pop(name, None)
        return True

    def _set(self, names: set[str], statement: ast.stmt, needed: tuple[int, ...]) -> bool:
        self.statements.append(ast.unparse(statement))
        for name in names:
            self.known[name] = (*needed, len(self.statements) - 1)
        return True

    def _needed(self, value: ast.AST) -> tuple[int, ...] | None:
        """The numbers of the statements that an expression needs; None if one is unknown."""
        names = _loaded(value) - _stored(value) - PURE  # stored: variables of comprehensions
        asked = {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}
        if names - self.known.keys() or asked & FICKLE:
            return None
        return tuple(sorted({number for name in names for number in self.known[name]}))


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and type(n.ctx) is ast.Load}


def _stored(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store}
    defined = (ast.FunctionDef, ast.ClassDef)
    return names | {n.name for n in ast.walk(node) if isinstance(n, defined)}


def _digest(code: tuple[str, ...]) -> str:
    """A digest of what a figure depends on: its code, and those of our modules it imports."""
    modules = {FIGURES}
    for node in ast.walk(ast.parse("\n".join(code))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    drawing = closure(sorted(modules)).digest()
    return hashlib.sha256("\n".join((*code, drawing, FORM)).encode()).hexdigest()[:16]


def _draw(code: tuple[str, ...], key: str) -> list[NotebookNode]:
    """The outputs of a cell that draws: the figure, and the same in words."""
    from triton_util.figures.drawing import CSS_PIXELS_PER_INCH, Drawing

    *before, last = code
    namespace: dict[str, Any] = {}
    for statement in before:
        exec(statement, namespace)
    drawing = eval(last, namespace)
    if not isinstance(drawing, Drawing):
        return []
    words = html.escape(drawing.alt)
    folded = f"<details><summary>The picture in words</summary>{words}</details>"
    width = round(drawing.figure.get_figwidth() * CSS_PIXELS_PER_INCH)
    shown = {KEY: key, "image/png": {"width": width}}
    return [
        _output({"image/png": _png(drawing), "text/plain": drawing.alt}, shown),
        _output({"text/html": folded, "text/plain": drawing.alt}, {}),
    ]


def _png(drawing: Any) -> str:
    """The figure in few colours, to keep notebooks small enough to review."""
    from PIL import Image

    picture = Image.open(io.BytesIO(drawing.png(dpi=DPI))).convert("RGB")
    colours = 256 if drawing.photograph else COLOURS
    small = io.BytesIO()
    picture.quantize(colours).save(small, format="png", optimize=True)
    return base64.b64encode(small.getvalue()).decode("ascii")


def _output(data: Mapping[str, str], metadata: Mapping[str, Any]) -> NotebookNode:
    made = nbformat.v4.new_output("display_data", data=dict(data), metadata=dict(metadata))
    assert isinstance(made, NotebookNode)
    return made
