"""The puzzles, read from the package's file.

The file is compressed, so that a search of the folder does not show its model kernels.
"""

from __future__ import annotations

import gzip
import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("items.json.gz")
Lines = tuple[str, ...]


@dataclass(frozen=True)
class OrderItem:
    """The lines `first` to `last` (counted from 0, `last` excluded) of a function, to be ordered.

    extra: lines that do not belong, with the indentation that they would have.
    """

    id: str
    exercise: str
    lines: Lines
    first: int
    last: int
    extra: Lines

    @property
    def before(self) -> Lines:
        return self.lines[: self.first]

    @property
    def asked(self) -> Lines:
        return self.lines[self.first : self.last]

    @property
    def after(self) -> Lines:
        return self.lines[self.last :]


@dataclass(frozen=True)
class MendItem:
    """A kernel with a mistake: the text `lines`, and the corrections of the lines `wrong`.

    wrong: pairs of a line number, counted from 0, and its corrected text. title and message
    describe the mistake, once it is found.
    """

    id: str
    exercise: str
    lines: Lines
    wrong: tuple[tuple[int, str], ...]
    title: str
    message: str

    @property
    def mended(self) -> Lines:
        right = dict(self.wrong)
        return tuple(right.get(number, line) for number, line in enumerate(self.lines))


Item = OrderItem | MendItem


@cache
def load(file: Path = FILE) -> tuple[Item, ...]:
    """All puzzles; () if an instructor has removed the file."""
    try:
        data = json.loads(gzip.decompress(file.read_bytes()))
    except FileNotFoundError:
        return ()
    texts = data["texts"]
    orders = (_order(item, texts) for item in data["order"])
    mends = (_mend(item, texts) for item in data["mend"])
    return (*orders, *mends)


def to_data(items: Sequence[Item]) -> dict[str, Any]:
    """The data that `load` reads: each text once, referred to by its number."""
    texts: dict[Lines, int] = {}
    orders, mends = [], []
    for item in items:
        kept = {**asdict(item)}
        if isinstance(item, OrderItem):
            kept["lines"] = texts.setdefault(item.lines, len(texts))
            orders.append(kept)
        else:
            kept["lines"] = texts.setdefault(item.mended, len(texts))
            kept["wrong"] = [[number, item.lines[number]] for number, _ in item.wrong]
            mends.append(kept)
    return {"texts": ["\n".join(lines) for lines in texts], "order": orders, "mend": mends}


def compressed(data: dict[str, Any]) -> bytes:
    """The content of the file; equal puzzles give equal content."""
    return gzip.compress(json.dumps(data, indent=0).encode(), compresslevel=9, mtime=0)


def plain(lines: Sequence[str]) -> str:
    """Lines as one text, at the left margin."""
    return textwrap.dedent("\n".join(lines))


def _order(item: dict[str, Any], texts: list[str]) -> OrderItem:
    lines = tuple(texts[item["lines"]].split("\n"))
    return OrderItem(**{**item, "lines": lines, "extra": tuple(item["extra"])})


def _mend(item: dict[str, Any], texts: list[str]) -> MendItem:
    right = texts[item["lines"]].split("\n")
    lines, wrong = list(right), []
    for number, line in item["wrong"]:
        lines[number] = line
        wrong.append((number, right[number]))
    return MendItem(**{**item, "lines": tuple(lines), "wrong": tuple(wrong)})
