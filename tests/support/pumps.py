"""Texts on which a pattern that looks at a place twice would take long, made of the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

parse: Any = re._parser.parse  # type: ignore[attr-defined]

COMMON = (
    *(
        " ",
        "\t",
        "\n",
        " \n",
        "\n ",
        "\r\n",
        "a",
        "0",
        "_",
        ".",
        ",",
        "a.",
        "a,",
        "a ",
        "a\n",
        "0 ",
    ),
    *("(", ")", "[", "]", "{", "}", "<", ">", "()", "[]", "=", "a=", "a = ", ":", "-", "*", "/"),
    *("'", '"', "\\", "#", "`", "@", "%", "&", "|", "a(", "a[", "def a(", "é", "\0"),
)
CANDIDATES = "a0 _(.\n\t\"'[]{}<>=,:;#%\\/-A\0"
CATEGORIES = {"DIGIT": "0", "WORD": "a", "SPACE": " ", "NOT_DIGIT": "a", "NOT_WORD": " "}
CATEGORIES |= {"NOT_SPACE": "a"}


def pumps(pattern: str, flags: int) -> list[str]:
    """Pieces to be repeated, after a beginning that is not: `beginning`, NUL, `piece`."""
    parts = list(_flat(parse(pattern, flags)))
    found = [("", piece) for piece in COMMON]
    for end in range(len(parts)):
        before = _example(parts[:end])
        found.append(("", _example(parts[: end + 1])))
        if _is_endless(parts[end]):
            found.append((before, _example([parts[end]])))
            found += [(before, f"{_example([parts[end]])}{other}") for other in (" ", "\n", "a")]
    return [f"{before}\1{piece}" for before, piece in dict.fromkeys(found) if piece]


def pumped(pump: str, length: int) -> str:
    """The beginning once, and its piece again and again; nothing that a pattern wants behind it."""
    before, _, piece = pump.partition("\1")
    return before + piece * (length // len(piece)) + "\2"


def _flat(parsed: Any) -> Iterator[Any]:
    for operation, data in parsed:
        name = operation.name
        if name == "SUBPATTERN":
            yield from _flat(data[3])
        elif name == "ATOMIC_GROUP":
            yield from _flat(data)
        elif name == "BRANCH":
            yield from _flat(max(data[1], key=len))
        else:
            yield operation, data
            if name.endswith("_REPEAT") and len(data[2]) >= 1:
                yield from _flat(data[2])


def _is_endless(part: Any) -> bool:
    return part[0].name.endswith("_REPEAT") and part[1][1] >= 100


def _example(parts: Any) -> str:
    """A short text that the parts match, as far as this is easy to find out."""
    made = ""
    for operation, data in parts:
        name = operation.name
        if name == "LITERAL":
            made += chr(data)
        elif name == "NOT_LITERAL":
            made += next(c for c in CANDIDATES if ord(c) != data)
        elif name == "ANY":
            made += "a"
        elif name == "IN":
            made += _member(data)
        elif name.endswith("_REPEAT"):
            made += _example(data[2]) * max(1, min(data[0], 40))
        elif name == "SUBPATTERN":
            made += _example(data[3])
        elif name == "ATOMIC_GROUP":
            made += _example(data)
        elif name == "BRANCH":
            made += _example(data[1][0])
    return made


def _member(data: Any) -> str:
    if data[0][0].name == "NEGATE":
        taken = {value for op, value in data[1:] if op.name == "LITERAL"}
        taken |= {ord(CATEGORIES[v.name[9:]]) for op, v in data[1:] if op.name == "CATEGORY"}
        return next((c for c in CANDIDATES if ord(c) not in taken), "\3")
    operation, value = data[0]
    if operation.name == "CATEGORY":
        return CATEGORIES[value.name[9:]]
    return chr(value if operation.name == "LITERAL" else value[0])
