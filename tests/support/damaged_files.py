"""Notebooks and scripts with damage of every kind, made from honest ones; the same for a seed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

SCRIPT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    out = torch.empty_like(x)
    n_elements = out.numel()
    if n_elements:
        add_kernel[(triton.cdiv(n_elements, 1024),)](x, y, out, n_elements, BLOCK_SIZE=1024)
    return out
"""


@dataclass(frozen=True)
class Damaged:
    """A file's bytes, its ending, and which damage it has."""

    kind: str
    data: bytes
    suffix: str


def honest_notebook() -> dict[str, Any]:
    """A notebook that is all right: a title, the answer, a check, a picture, outputs."""
    label = {"grade_id": "vector_add", "solution": True, "grade": False, "locked": False}
    answer = {"metadata": {"nbgrader": {**label, "schema_version": 3}}, "id": "vector_add"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "cells": [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Adding\n", "Do."]},
            _code(SCRIPT.splitlines(keepends=True), **answer),
            _code("check(vector_add)", outputs=[{"output_type": "stream", "text": ["fine"]}]),
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": "![p](attachment:p.png)",
                "attachments": {"p.png": {"image/png": "iVBORw0KGgo="}},
            },
        ],
    }


def _code(source: str | list[str], **more: Any) -> dict[str, Any]:
    bare = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {**bare, "source": source, **more}


def damaged(seed: int) -> Damaged:
    """The damaged file of that number."""
    rng = Random(seed)
    kind = rng.choice(sorted(KINDS))
    made = KINDS[kind](rng)
    if isinstance(made, str):
        made = made.encode("utf-8", "surrogatepass")
    suffix = ".py" if kind.startswith("script") else ".ipynb"
    return Damaged(kind, made, suffix)


def _bytes_of(rng: Random, data: bytes) -> bytes:
    """Some bytes flipped, lost, doubled or put in."""
    for _ in range(rng.randint(1, 6)):
        place, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 30, 400))
        piece = rng.choice(
            (
                b"",
                rng.randbytes(length),
                data[place : place + length] * rng.randint(2, 50),
                rng.choice((b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[2J", b"\xed\xa0\x80")),
                rng.choice(("\u202e", "\u2028", "é", "名", "\x0c", "\r", "\\", '"')).encode(),
            )
        )
        data = data[:place] + piece + data[place + rng.choice((0, length)) :]
    return data


def _odd_value(rng: Random) -> Any:
    return rng.choice(
        (
            *(None, True, 7, -1, 4.0, float("inf"), 10**400, "", "x", [], {}, [[]], {"a": {}}),
            *("code", "\ud800", "\u202e", "x" * 100_000, ["a", 3], [None], {"source": 3}),
            _nested(rng.choice((50, 500))),
        )
    )


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                waiting.append(node[key])
    return found


def _values(rng: Random) -> str:
    """A notebook with values of wrong types, or without them."""
    notebook = copy.deepcopy(honest_notebook())
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(_places(notebook))
        if isinstance(container, dict) and rng.random() < 0.3:
            del container[key]
        else:
            container[key] = _odd_value(rng)
    if rng.random() < 0.05:
        return json.dumps(_odd_value(rng))
    return json.dumps(notebook, ensure_ascii=rng.random() < 0.5)


def _many_cells(rng: Random) -> str:
    notebook = honest_notebook()
    count = rng.choice((10, 300, 6_000))
    notebook["cells"] += [_code(rng.choice(("x = 1", "", "%time", "(" * 50))) for _ in range(count)]
    return json.dumps(notebook)


def _deep(rng: Random) -> str:
    depth = rng.choice((100, 10_000, 200_000))
    inner = rng.choice(("[", '{"a":', '{"cells":['))
    return rng.choice(('{"cells":', "", '{"nbformat": 4, "metadata": ')) + inner * depth


def _strange_cell(rng: Random) -> str:
    notebook = honest_notebook()
    cell = _code(_strange_text(rng))
    notebook["cells"].insert(rng.randrange(5), cell)
    if rng.random() < 0.5:
        cell["cell_type"] = "markdown"
    return json.dumps(notebook)


def _strange_text(rng: Random) -> str:
    size = rng.choice((10, 1_000, 100_000))
    piece = rng.choice(
        (
            *("(", "[", "x = ", "f'{x}'", "x\\\n", "'", '"""', "#", "%%bash\n", "%x\n", "!x\n"),
            *("a?", "-", "lambda: ", "x.", "x[", "1,", "x=1\n", "x=1;", "if x:\n ", "\t", "\n"),
            *("![a](attachment:", "[![", "![", "<b", "\\href", "javascript ", "é", "\u202e"),
            *("def vector_add(x, y):\n", "class A:\n  ", "for x in y: ", "async ", "@a\n", "0x"),
            *("not ", "x if y else ", "x:", "{", "}", ")", "import torch\n", "from a import *\n"),
        )
    )
    return piece * size


def _script_text(rng: Random) -> str:
    lines = SCRIPT.split("\n")
    lines.insert(rng.randrange(len(lines)), _strange_text(rng))
    return "\n".join(lines)


def _script_encoding(rng: Random) -> bytes:
    name = rng.choice(("latin-1", "utf-16", "cp1252", "rot13", "nope", "utf-7", "punycode", "hex"))
    text = f"# -*- coding: {name} -*-\n# naïve é ü\n{SCRIPT}"
    return text.encode(rng.choice(("utf-8", "latin-1", "utf-16", "utf-8-sig")))


def _script_tokens(rng: Random) -> str:
    """Words of the script lost, doubled or exchanged."""
    words = SCRIPT.split(" ")
    for _ in range(rng.randint(1, 20)):
        place = rng.randrange(len(words))
        words[place] = rng.choice(("", words[place] * 2, rng.choice(words)))
    return " ".join(words)


KINDS: dict[str, Callable[[Random], str | bytes]] = {
    "notebook bytes": lambda rng: _bytes_of(rng, json.dumps(honest_notebook()).encode()),
    "notebook values": _values,
    "notebook values, again": _values,
    "notebook of many cells": _many_cells,
    "notebook nested deeply": _deep,
    "notebook with a strange cell": _strange_cell,
    "script bytes": lambda rng: _bytes_of(rng, SCRIPT.encode()),
    "script with strange text": _script_text,
    "script in an encoding": _script_encoding,
    "script of other words": _script_tokens,
}
