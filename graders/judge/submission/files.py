"""From a file to cells of Python text: scripts, and notebooks of every kind.

A script is one cell. Notebooks may lack metadata and cell ids, may be of any nbformat, and
may hold magics; their outputs are cut away before anything is parsed, however large.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.judge.submission.refusals import refusal

SOURCE_LIMIT = 20_000_000  # bytes, without the outputs of a notebook
FILE_LIMIT = 200_000_000  # bytes, with them
TOKEN_LIMIT = 3_000_000  # brackets and strings: bounds the time that outputs can cost
NUMBER_BITS = 10_000  # of a whole number that is written out
DEPTH_LIMIT = 150  # nested syntax: deeper trees would exhaust the stack of every visitor


@dataclass(frozen=True)
class Cell:
    """Python text as the learner wrote it. `number` counts all cells from 1; 0: a script."""

    number: int
    text: str


@dataclass(frozen=True)
class Broken:
    """A cell that is not Python, kept to explain a definition that is missed later."""

    cell: Cell
    error: SyntaxError


def read_cells(path: Path) -> list[Cell]:
    """The code cells of a notebook, or a script as one cell."""
    data = _read_bytes(path)
    if path.suffix == ".ipynb":
        return notebook_cells(data)
    if len(data) > SOURCE_LIMIT:
        raise _too_large(
            len(data), "A script of this size is no kernel: hand in the .py file only."
        )
    return [Cell(0, normalised(_decoded_script(data)))]


def normalised(text: str) -> str:
    """Text with one kind of line end, so that line numbers mean the same everywhere."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise refusal(
            "file-missing",
            "This is a folder",
            f"{path} is a folder, not a file.",
            "Name the notebook or the .py file in it.",
        )
    try:
        size = path.stat().st_size
        if size > FILE_LIMIT:
            raise _too_large(size, "Clear its outputs and save it again.")
        return path.read_bytes()
    except FileNotFoundError:
        raise refusal(
            "file-missing",
            "There is no such file",
            f"{path} does not exist.",
            "Check the spelling of the path.",
        ) from None
    except OSError as error:
        raise refusal(
            "file-missing", "The file cannot be opened", f"{path}: {error.strerror or error}."
        ) from None


def _too_large(size: int, next_step: str) -> Exception:
    return refusal(
        "too-large",
        "The file is too large",
        f"It holds {size / 1e6:.0f} MB; at most {SOURCE_LIMIT / 1e6:.0f} MB of text are read.",
        next_step,
    )


def _decoded_script(data: bytes) -> str:
    _refuse_binary(data)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise _not_utf8() from None


def _refuse_binary(data: bytes) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _not_utf8()
    if b"\0" in data:
        raise refusal(
            "binary",
            "This is a binary file",
            "The file holds bytes that no text has.",
            "Hand in a .py file or a notebook.",
        )


def _not_utf8() -> Exception:
    return refusal(
        "not-utf8",
        "The file is not UTF-8 text",
        "Its bytes cannot be read as UTF-8, the encoding of Python source.",
        "Save it again with the encoding UTF-8.",
    )


def notebook_cells(data: bytes) -> list[Cell]:
    """The code cells of a notebook's bytes, in order."""
    _refuse_binary(data)
    if not data.strip():
        raise refusal(
            "empty",
            "The notebook is empty",
            "The file holds nothing at all.",
            "Save the notebook and hand it in again.",
        )
    if len(data) > SOURCE_LIMIT:
        whole = len(data)
        data = without_outputs(data)
        if len(data) > SOURCE_LIMIT:
            raise _too_large(whole, "Clear its outputs and take large text out of its cells.")
    found = list(_code_cells(_parsed_notebook(data)))
    if not any(cell.text.strip() for cell in found):
        raise refusal(
            "empty",
            "The notebook holds no code",
            "None of its cells is a code cell with text in it.",
            "Check that the right notebook was saved.",
        )
    return found


def without_outputs(data: bytes) -> bytes:
    """The JSON of a notebook with every list of outputs emptied; broken JSON stays broken."""
    kept: list[bytes] = []
    start = depth = 0
    inside = False
    for tokens, token in enumerate(_TOKEN.finditer(data)):
        if tokens > TOKEN_LIMIT:
            raise _too_large(len(data), "Clear its outputs and save it again.")
        mark = token.group()
        if not inside and _OUTPUTS.match(mark):
            kept.append(data[start : token.end()])
            inside, depth = True, 1
        elif inside and mark == b"[":
            depth += 1
        elif inside and mark == b"]":
            depth -= 1
            if depth == 0:
                inside, start = False, token.start()
    kept.append(b"" if inside else data[start:])
    return b"".join(kept)


_OUTPUTS = re.compile(rb'"outputs"\s*:\s*\[')
_TOKEN = re.compile(rb'"outputs"\s*:\s*\[|"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]]', re.DOTALL)


def _parsed_notebook(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _not_utf8() from None
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise refusal(
            "broken-json",
            "The notebook is damaged",
            f"The file is no valid JSON{where}, so no notebook program can open it.",
            "Open it in Jupyter, save it and hand it in again.",
            original=str(error),
        ) from None
    if not isinstance(notebook, dict) or not ({"cells", "worksheets"} & notebook.keys()):
        raise refusal(
            "not-a-notebook",
            "This is not a notebook",
            "The file is JSON, but it has no cells.",
            "Hand in the .ipynb file that Jupyter saved, or a .py file.",
        )
    return notebook


def _code_cells(notebook: dict[str, Any]) -> Iterator[Cell]:
    listed = notebook.get("cells")
    if not isinstance(listed, list):  # nbformat 3 keeps them in worksheets
        sheets = notebook.get("worksheets")
        listed = (
            [
                cell
                for sheet in sheets
                if isinstance(sheet, dict)
                for cell in sheet.get("cells") or []
            ]
            if isinstance(sheets, list)
            else []
        )
    for number, cell in enumerate(listed, start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            if isinstance(source, list):
                source = "".join(line for line in source if isinstance(line, str))
            if isinstance(source, str):
                yield Cell(number, normalised(source))


def parsed(cell: Cell) -> tuple[ast.Module, str]:
    """The tree of a cell, and its text with magics blanked; raises SyntaxError.

    Only text that is no Python as it stands is searched for magics.
    """
    try:
        return _tree(cell.text), cell.text
    except SyntaxError:
        text = without_magics(cell.text)
        if text == cell.text:
            raise
        return _tree(text), text


def _check_numbers(tree: ast.Module) -> None:
    """Python reads a hexadecimal number of any length, and cannot write it again."""
    numbers = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    if any(isinstance(number, int) and number.bit_length() > NUMBER_BITS for number in numbers):
        raise SyntaxError(f"a number of more than {NUMBER_BITS:,} bits")


def _tree(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a string is no error
            tree = ast.parse(text)
            _check_depth(tree)
            _check_numbers(tree)
            compile(tree, "<submission>", "exec", dont_inherit=True)  # `return` outside a function
    except (RecursionError, MemoryError, ValueError):
        raise SyntaxError("nested too deeply") from None
    return tree


def _check_depth(tree: ast.AST) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH_LIMIT):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise SyntaxError("nested too deeply")


PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")
_LINE_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|\S+\?{1,2})\s*$")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")


def without_magics(text: str) -> str:
    """The same lines with notebook magics replaced by nothing that Python minds."""
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
