"""Parses a cell of Python text: blanks notebook magics, and refuses too deeply nested code."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from dataclasses import dataclass

NUMBER_BITS = 10_000  # of an integer literal
DEPTH_LIMIT = 150  # nested syntax: deeper trees would exhaust the stack of every visitor
TOO_DEEP = "nested too deeply"
KEYWORD = "a name that reads as the keyword"


@dataclass(frozen=True)
class Cell:
    """Python text as the learner wrote it. `number` counts all cells from 1; 0 is a script."""

    number: int
    text: str


@dataclass(frozen=True)
class Broken:
    """A cell that is not Python, kept to explain a definition that is missing later."""

    cell: Cell
    error: SyntaxError


def normalised(text: str) -> str:
    """Return the text with one kind of line end, so that line numbers are the same everywhere.

    Half a surrogate pair, as a cut emoji leaves, becomes a question mark.
    """
    whole = text.encode("utf-8", "replace").decode()
    return whole.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parsed(cell: Cell) -> tuple[ast.Module, str]:
    """Return the tree of a cell, and its text with magics blanked; raises SyntaxError.

    Only text that is not Python without this is searched for magics.
    """
    try:
        return _tree(cell.text), cell.text
    except SyntaxError:
        text = without_magics(cell.text)
        if text == cell.text:
            raise
        return _tree(text), text


def _check_numbers(tree: ast.Module) -> None:
    """Refuse long hexadecimal numbers, which Python can read but not write in decimal."""
    numbers = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    if any(isinstance(number, int) and number.bit_length() > NUMBER_BITS for number in numbers):
        raise SyntaxError(f"a number of more than {NUMBER_BITS:,} bits")


def _tree(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a string is not an error
            tree = ast.parse(text)
            _check_depth(tree)
            _check_numbers(tree)
            _check_names(tree)
            compile(tree, "<submission>", "exec", dont_inherit=True)  # `return` outside a function
    except (RecursionError, MemoryError):  # MemoryError: often the parser's own stack
        raise SyntaxError(TOO_DEEP) from None
    except ValueError as error:  # for example a zero byte
        raise SyntaxError(str(error)) from None
    return tree


def _check_depth(tree: ast.AST) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH_LIMIT):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise SyntaxError(TOO_DEEP)


def _check_names(tree: ast.AST) -> None:
    """Refuse names in other alphabets' letters that Python normalises to a keyword."""
    for node in ast.walk(tree):
        for field in ("id", "arg", "attr", "name", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str) and keyword.iskeyword(name):
                place = ("", getattr(node, "lineno", 1), None, None)
                raise SyntaxError(f"{KEYWORD} {name}", place)


PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")
_LINE_MAGIC = re.compile(r"^(\s*+)(?:[%!?].*|\S+\?)\s*$")
_ASSIGNED_MAGIC = re.compile(r"^(\s*+\w[\w, ]*+=\s*+)[%!].*$")


def without_magics(text: str) -> str:
    """Return the same lines, with notebook magics replaced by valid Python."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if first[2:].split(maxsplit=1)[:1] and first[2:].split()[0] in PYTHON_CELL_MAGICS:
            lines[lines.index(first)] = ""
        else:  # another language: %%bash, %%html, %%writefile
            return "\n" * (len(lines) - 1)
    return "\n".join(_plain(line) for line in lines)


def _plain(line: str) -> str:
    magic = _LINE_MAGIC.match(line)
    if magic:
        return f"{magic[1]}pass" if magic[1] else ""
    return _ASSIGNED_MAGIC.sub(r"\1None", line)
