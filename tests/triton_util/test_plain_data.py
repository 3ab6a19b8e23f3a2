"""What crosses a process is read by the types of a record's fields, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest

from triton_util.plain_data import Reading, plain, read


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    size: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    colour: Colour
    pair: tuple[int, float] | None
    kind: Literal["a", 1] = "a"
    counts: Mapping[str, int] = field(default_factory=dict)
    args: tuple[Inner | int | float | bool, ...] = ()
    rest: Any = None


WHOLE = {
    "inner": {"size": 1, "names": ["x"]},
    "colour": "red",
    "pair": [1, 2],
    "kind": 1,
    "counts": {"a": 2},
    "args": [{"size": 3}, 1, 1.5, True],
    "rest": [{}],
}


def test_every_kind_of_field_is_read() -> None:
    assert read(Outer, WHOLE) == Outer(
        inner=Inner(1, ("x",)),
        colour=Colour.RED,
        pair=(1, 2.0),
        kind=1,
        counts={"a": 2},
        args=(Inner(3), 1, 1.5, True),
        rest=[{}],
    )


def test_missing_fields_take_defaults_and_unknown_ones_are_ignored() -> None:
    found = read(Outer, {"inner": {"size": 1}, "colour": "red", "pair": None, "new": 1})
    assert found == Outer(Inner(1), Colour.RED, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"inner": {}},
        {"inner": {"size": "1"}},
        {"inner": {"size": True}},
        {"inner": {"size": 1, "names": "x"}},
        {"inner": [1]},
        {"colour": "blue"},
        {"colour": None},
        {"pair": [1]},
        {"pair": [1, 2, 3]},
        {"kind": True},
        {"counts": [1]},
        {"counts": {"a": None}},
        {"args": [None]},
    ],
    ids=str,
)
def test_anything_else_is_refused(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(Outer, {**WHOLE, **wrong})


def test_a_record_that_is_no_object_is_refused() -> None:
    for data in (None, [], "x", 1):
        with pytest.raises(ValueError, match="instead of"):
            read(Outer, data)


def test_plain_data_has_lists_and_strings() -> None:
    assert plain({"a": (Colour.RED, [1])}) == {"a": ["red", [1]]}


def doubled(read: Reading) -> Reading:
    return lambda data: 2 * read(data)


@dataclass(frozen=True)
class Bounded:
    size: Annotated[int, doubled, doubled] = 0
    numbers: frozenset[Annotated[int, doubled]] = frozenset()


def test_an_annotation_changes_how_its_type_is_read() -> None:
    assert read(Bounded, {"size": 1, "numbers": [1, 2]}) == Bounded(4, frozenset({2, 4}))
    with pytest.raises(ValueError, match="instead of"):
        read(Bounded, {"size": "1"})
