"""Errors in a tutor's words.

`translate` looks up a message of triton's interpreter or compiler in the table of `messages`, and
returns what is wrong, what to do, and the learner's line.  It needs no triton and no GPU, so that
both a process that compiles and one that interprets can use it.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_util.interpreter.blame import describe, is_our_fault
from triton_util.interpreter.faults import Fault
from triton_util.interpreter.messages import calls, lines
from triton_util.interpreter.messages.table import ROWS

MOST_NAMES = 500  # names that a guess considers
_KEYWORDS = frozenset(keyword.kwlist)


@dataclass(frozen=True)
class Translated:
    """What an error means.

    kind: the row of the table.  message: one sentence.  advice: what to do.
    line: from 1, within the text that the compiler shows (the kernel from its `def` on), or None.
    source: the learner's line, or "".  original: the whole text of the error.
    """

    kind: str
    message: str
    advice: str
    line: int | None
    source: str
    original: str

    def __str__(self) -> str:
        where = f"\n    {self.source}" if self.source else ""
        return f"{self.message}{where}\n{self.advice}"


def translate(error: BaseException | str, source: str = "") -> Translated | None:
    """The error in a tutor's words; None if the table has no row for it.

    error: an exception (its causes are read too) or its text.  source: the text of the kernel or
    file, which distinguishes a misspelt name from one that is set in one branch only.
    """
    text = full_text(error)
    line, shown = _place(text)
    found = _lookup(text)
    if found is None:
        return None
    row, sentence, advice, groups = found
    kind = _refined(row, groups, text, shown, source)
    if kind == "no-such-function":
        advice = calls.meant_function(groups["name"]) or advice
    elif told := lines.words(kind, groups):
        sentence, advice = told
    elif kind != row:
        sentence, advice = _row(kind)
    return Translated(
        kind, _filled(sentence, groups), _filled(advice, groups).strip(), line, shown.strip(), text
    )


def full_text(error: BaseException | str) -> str:
    """The message of an error and of everything that caused it, the outermost first."""
    if isinstance(error, str):
        return error
    parts: list[str] = []
    step: BaseException | None = error
    while step is not None and len(parts) < 8:
        parts.append(f"{type(step).__name__}: {step}")
        step = step.__cause__
    return "\n".join(parts)


def fault_from(error: BaseException, place: dict[str, Any]) -> Fault:
    """A fault for an exception that a kernel or a launch raised.

    "kernel-error" if the kernel caused it, "not-interpreted" if the engine did.
    """
    original = full_text(error)
    known = translate(error, "\n".join((str(place.get("source", "")), *_names_at(error))))
    if is_our_fault(error, known is not None):
        advice = "Run it on a GPU, or write the same with other functions of tl."
        return Fault("not-interpreted", describe(error), cause=advice, original=original, **place)
    if known is None:
        return Fault(
            code="kernel-error",
            message=f"The kernel stopped with {type(error).__name__}: {error}",
            original=original,
            kind="other",
            **place,
        )
    return Fault(
        code="kernel-error",
        message=known.message,
        cause=known.advice,
        original=original,
        kind=known.kind,
        **place,
    )


def _names_at(error: BaseException) -> list[str]:
    """The names that are defined where a NameError arose; [] for other errors."""
    step = error.__traceback__ if isinstance(error, NameError) else None
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return []
    code, known = step.tb_frame.f_code, step.tb_frame.f_globals
    return [*code.co_varnames, *code.co_freevars, *(n for n in known if not n.startswith("_"))]


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], str, str], ...]:
    return tuple((kind, re.compile(p, re.MULTILINE), text, tip) for kind, p, text, tip in ROWS)


def _lookup(text: str) -> tuple[str, str, str, dict[str, str]] | None:
    message = _message_only(text)
    for kind, pattern, sentence, advice in _patterns():
        match = pattern.search(message)
        if match:
            groups = {k: v for k, v in match.groupdict().items() if v is not None}
            return kind, sentence, advice, groups
    return None


_BEGINS = re.compile(r"at (\d{1,9}):\d{1,9}:\Z")


def _taken_apart(text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The text without the compiler's excerpts of source, and the excerpts with their lines.

    An excerpt begins after `at LINE:COLUMN:` and ends with a line that contains only a ^.
    """
    kept: list[str] = []
    found: list[tuple[int, list[str]]] = []
    begun: list[str] = []  # the lines of an excerpt that has not ended yet
    for line in text.split("\n"):
        if begun and line.lstrip(" ") == "^":
            begins = _BEGINS.search(begun[0])
            assert begins is not None
            found.append((int(begins[1]), begun[1:]))
            kept.append(begun[0][: begins.start()])
            begun = []
        elif begun or _BEGINS.search(line):
            begun.append(line)
        else:
            kept.append(line)
    return "\n".join(kept + begun), found


def _message_only(text: str) -> str:
    return _taken_apart(text)[0]


def _place(text: str) -> tuple[int | None, str]:
    """(line, its text) of the first excerpt, which is the kernel's, not a library function's."""
    _, excerpts = _taken_apart(text)
    if not excerpts:
        return None, ""
    line, shown = excerpts[0]
    return line, shown[-1] if shown else ""


def _refined(kind: str, groups: dict[str, str], text: str, shown: str, source: str) -> str:
    """Refine messages that mean different things in different lines; fills `groups`."""
    groups.setdefault("guess", "")
    line = shown or ("" if "\n" in source else source)
    if kind == "undefined-name":
        return _undefined(groups, text, source)
    if kind == "no-such-function":
        groups["guess"] = "Check the spelling, or write it with other functions of tl."
    if kind.startswith("call-argument"):
        groups["usage"] = calls.usage(groups["function"])
        near = calls.meant_parameter(groups.get("name", ""))
        groups["guess"] = near or groups["usage"]
        groups["function"] = calls.written(groups["function"])
    indexed = re.search(r"\w\[", shown)
    if kind == "jit-missing" and indexed and "]" in shown[indexed.end() :] and "tl.arange" in shown:
        return "pointer-indexed"
    if kind in ("unknown-argument", "constexpr-missing"):
        groups.setdefault("name", groups.get("other") or groups.get("names", ""))
    return lines.by_line(kind, line, groups)


def _undefined(groups: dict[str, str], text: str, source: str) -> str:
    """The cause of an undefined name, by where it is used."""
    name = groups["name"] = groups.get("name") or groups.get("other", "")
    near = _names_near(text, source, name)
    before = "\n".join(part.rpartition("\n")[0] for part in map(str.rstrip, _parts(text)))
    kind, instead = lines.undefined(name, set(near))
    if lines.is_set(name, f"{text}\n{source}"):
        early = bool(before) and lines.too_early(name, before)
        groups["guess"] = instead or "Set it above this line."
        return "used-before-set" if early else "defined-in-one-branch"
    groups["guess"] = _followed(instead or calls.meant(name, near))
    return kind or "undefined-name"


def _followed(sentence: str) -> str:
    return f"{sentence} " if sentence else ""


def _names_near(text: str, source: str, wrong: str) -> list[str]:
    """The names in the source of the kernel, or in the compiler's excerpt of it."""
    found = dict.fromkeys(re.findall(r"(?<![.\w])[A-Za-z_]\w*", f"{source}\n{_excerpts(text)}"))
    return [name for name in found if name != wrong and name not in _KEYWORDS][:MOST_NAMES]


def _excerpts(text: str) -> str:
    return "\n".join(_parts(text))


def _parts(text: str) -> list[str]:
    """The compiler's excerpts of the source, each up to the line of the error."""
    return ["".join(f"{line}\n" for line in shown) for _, shown in _taken_apart(text)[1]]


def _row(kind: str) -> tuple[str, str]:
    return next((row[2], row[3]) for row in ROWS if row[0] == kind)


def _filled(sentence: str, groups: dict[str, str]) -> str:
    """The sentence with its names filled in, and the compiler's block types in words."""
    filled = re.sub(r"\{(\w+)\}", lambda match: groups.get(match.group(1), "it"), sentence)
    return _BLOCK_TYPE.sub(_describe_block, filled)


# <['64', '64'], fp16>
_BLOCK_TYPE = re.compile(r"<\[(['\d, ]+)\], (\w+)>")


def _describe_block(match: re.Match[str]) -> str:
    shape = match[1].replace("'", "")
    return f"a block of {match[2]} of shape ({shape})"
