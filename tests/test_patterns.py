"""No regular expression takes longer than its text is long: a submission may choose the text."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path

import pytest

from graders.judge.compiling import findings
from graders.judge.diagnosis import raised
from tests.support.patterns import Found, patterns
from tests.support.processor_time import processor_seconds
from tests.support.pumps import pumped, pumps
from triton_util.interpreter.messages import translation
from triton_util.sanitizer.compiling import refusals

ROOT = Path(__file__).parent.parent
PACKAGES = ("graders", "triton_util")
LONG = 50_000  # characters; the square of it is more than a thousand million steps
MOST_SECONDS = 0.5  # of the processor; a linear pattern takes a few thousandths
# Patterns that stand in a table: by the file that searches for them.
TABLES = {
    "graders/judge/compiling/findings.py": [
        (row.pattern, 0) for row in (*findings.ROWS, *findings.LATE_ROWS)
    ],
    "graders/judge/diagnosis/raised.py": [(pattern, 0) for pattern, _, _ in raised.ROWS],
    "triton_util/interpreter/messages/translation.py": [
        (row[1], re.MULTILINE) for row in translation.ROWS
    ],
    "triton_util/sanitizer/compiling/refusals.py": [(row[0], 0) for row in refusals._WORDS],
}


@cache
def everything() -> tuple[Found, ...]:
    found, _ = patterns(ROOT, PACKAGES)
    for place, table in TABLES.items():
        found += [Found(place, re.compile(p, flags), frozenset({"search"})) for p, flags in table]
    return tuple(found)


def test_every_pattern_is_known() -> None:
    """A pattern that a variable holds needs its table above."""
    found, unknown = patterns(ROOT, PACKAGES)
    assert len(found) > 80
    assert sorted(unknown) == sorted(TABLES)


def text_of(found: Found) -> str:
    pattern = found.pattern.pattern
    return pattern.decode() if isinstance(pattern, bytes) else str(pattern)


def flags_of(found: Found) -> int:
    return found.pattern.flags & ~re.UNICODE


def backtracks(pattern: str, flags: int = 0) -> bool:
    """Whether regexploit finds a text on which the pattern tries many ways to match."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it asks for sre_parse
        from regexploit.ast.sre import SreOpParser
        from regexploit.redos import find

    class Parser(SreOpParser):  # type: ignore[misc]
        """With what Python 3.11 added: what never gives back a character cannot try again."""

        def from_POSSESSIVE_REPEAT(self, data):  # type: ignore[no-untyped-def]  # noqa: N802
            least, _, part = data
            return self.from_MAX_REPEAT((least, max(least, 1), part))

        def from_ATOMIC_GROUP(self, data):  # type: ignore[no-untyped-def]  # noqa: N802
            return self.sequence_or_singleton(data)

    return any(redos.starriness > 1 for redos in find(Parser().parse_sre(pattern, flags)))


def test_regexploit_finds_nothing() -> None:
    assert backtracks(r"(a+)+b")
    assert backtracks(r"a*a*a*b")
    assert [f.where for f in everything() if backtracks(text_of(f), flags_of(f))] == []


def takes_long(found: Found) -> str:
    """A piece of text that, repeated, takes the pattern too long; "" where none was found."""
    binary = isinstance(found.pattern.pattern, bytes)
    for pump in pumps(text_of(found), flags_of(found)):
        text = pumped(pump, LONG)
        try:
            with processor_seconds(MOST_SECONDS):
                perform(found, text.encode() if binary else text)
        except AssertionError:
            return pump
    return ""


def perform(found: Found, text: str | bytes) -> None:
    for method in found.methods:
        if method in ("sub", "subn"):
            getattr(found.pattern, method)(text[:0], text)
        elif method == "finditer":
            for _ in found.pattern.finditer(text):
                pass
        else:
            getattr(found.pattern, method)(text)


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\s+$", r"\s*\n\)", r"^\s*@jit", r"\w+\.x", r"<style[^>]*>.*?</style>", r"\[([^\]]*)\]"),
        *(
            r"at \d+:\n((?:.*\n)*?) *\^",
            r"x = \(.*?\) end",
            r"(a|a)+b",
            r"First .* second .* third",
        ),
    ],
)
def test_the_pumps_show_what_looks_at_a_place_twice(pattern: str) -> None:
    flags = re.MULTILINE | re.DOTALL
    assert takes_long(Found("here", re.compile(pattern, flags), frozenset({"search"})))


def test_no_pattern_looks_at_a_place_twice() -> None:
    slow = {f.where: takes_long(f) for f in everything()}
    assert {where: pump for where, pump in slow.items() if pump} == {}
