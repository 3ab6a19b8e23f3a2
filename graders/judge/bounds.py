"""The bounds of fields that come from an untrusted process.

A record names them in the types of its fields: `Annotated[int, within(0, 9)]`. They change how
`triton_util.plain_data` reads a value of that type, and raise ValueError if it does not fit. (A
lambda within a field's type cannot use names of its module: give such a type a name.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated, Any

from triton_util.plain_data import Reading, reading

MAX_ITEMS = 64
MAX_NAME = 200
MAX_MESSAGE = 2_000
MAX_LINE = 1_000_000
MOST_PROGRAMS = 2**31 - 1  # along an axis
MOST_NUMBER = 2**64
MOST_BYTES = 2**60
MOST_OFFSET = 2**63  # of a wrong address: any integer may have been added to a pointer
MOST_RUNS, MOST_AXES = 16, 8

Bound = Callable[[Reading], Reading]


def fits(check: Callable[[Any], bool]) -> Bound:
    """Refuse a value for which the check is false."""

    def bound(read: Reading) -> Reading:
        def checked(data: Any) -> Any:
            found = read(data)
            if not check(found):
                raise ValueError("a value out of its bounds")
            return found

        return checked

    return bound


def within(least: int, most: int) -> Bound:
    """Refuse other numbers; NaN compares false."""
    return fits(lambda number: least <= number <= most)


def of_length(least: int, most: int) -> Bound:
    """Refuse sequences with fewer or more items."""
    return fits(lambda items: least <= len(items) <= most)


def or_else(default: Any) -> Bound:
    """Take this for a value that is refused."""

    def bound(read: Reading) -> Reading:
        def lenient(data: Any) -> Any:
            try:
                return read(data)
            except ValueError:
                return default

        return lenient

    return bound


def each(read: Reading) -> Reading:
    """Read only the first `MAX_ITEMS` items, and leave out those that are refused."""
    lenient = or_else(())(read)

    def kept(data: Any) -> Any:
        items = data[:MAX_ITEMS] if isinstance(data, list) else ()
        return tuple(one for item in items for one in lenient([item]))

    return kept


def _scalars(_: Reading) -> Reading:
    """Do the same for the entries of a mapping."""
    lenient = or_else({})(reading(Mapping[Short, Scalar]))

    def kept(data: Any) -> Any:
        entries = islice(data.items(), MAX_ITEMS) if isinstance(data, dict) else ()
        return {name: one for entry in entries for name, one in lenient(dict([entry])).items()}

    return kept


def cleaned(limit: int) -> Bound:
    """Clean and cut a text, see `text`."""
    return lambda read: lambda data: text(read(data), limit)


def text(value: object, limit: int) -> str:
    """Return a string without control, format and surrogate characters, cut to `limit`."""
    if not isinstance(value, str):
        return ""
    kept = (c for c in value[:limit] if c in "\n\t" or unicodedata.category(c)[0] != "C")
    return "".join(kept)


def line(value: object) -> int | None:
    """Return a line number, from 1; None for anything else."""
    return value if type(value) is int and 0 < value <= MAX_LINE else None


Code = Annotated[str, fits(re.compile(r"[a-z][a-z0-9-]{0,40}").fullmatch)]
Short = Annotated[str, cleaned(MAX_NAME)]
Name = Annotated[Short, or_else("")]
NameOrNone = Annotated[str | None, lambda _: lambda data: text(data, MAX_NAME) or None]
Message = Annotated[str, cleaned(MAX_MESSAGE), or_else("")]
Line = Annotated[int | None, lambda _: line]
Flag = Annotated[bool, or_else(False)]
Whole = Annotated[int, within(0, MOST_BYTES)]
WholeOrNone = Annotated[Whole | None, or_else(None)]
Number = Annotated[int, within(-MOST_BYTES, MOST_BYTES)]
Numbers = Annotated[frozenset[int], fits(lambda numbers: min(numbers, default=0) >= 0)]
Offset = Annotated[int, within(-MOST_OFFSET, MOST_OFFSET)]
# Where program (0, 0, 0) starts, and one number for each axis of the grid.
FOUR = fits(lambda numbers: numbers is None or len(numbers) == 4)
FirstsOrNone = Annotated[
    tuple[Annotated[Number | None, or_else(None)], ...], FOUR, or_else((None,) * 4)
]
# Of a `records.AccessMap`: its numbers do not contradict each other.
AGREEING = fits(
    lambda found: (
        found is None
        or (len(found.steps) == len(found.block) and all(row.on <= row.lanes for row in found.rows))
    )
)
Programs = Annotated[int, within(0, MOST_PROGRAMS)]
Sizes = Annotated[tuple[Whole, ...], of_length(0, MOST_AXES)]
Steps = Annotated[tuple[Number | None, ...], of_length(0, MOST_AXES)]
# The first and the last of a run of neighbouring elements.
Run = Annotated[tuple[Number, Number], fits(lambda run: run[0] <= run[1])]
Runs = Annotated[tuple[Run, ...], of_length(0, MOST_RUNS)]
Scalar = Annotated[int | float, within(-MOST_NUMBER, MOST_NUMBER)] | bool | Short | None
Scalars = Annotated[Mapping[str, Any], _scalars]
