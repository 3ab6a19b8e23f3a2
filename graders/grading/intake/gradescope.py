"""Reads Gradescope's submission_metadata.yml: who handed in each submission, and when.

The file contains text that students wrote. So only a few short texts are kept: the YAML events
are read one by one, with limits on size and depth, and without anchors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graders.grading.intake import timestamps
from graders.judge.records import GraderError

METADATA = "submission_metadata.yml"
LARGEST = 50_000_000  # bytes
DEEPEST, LONGEST, LARGEST_GROUP = 50, 200, 100
_PERSON = (":sid", ":email", ":name")


@dataclass(frozen=True)
class HandIn:
    """Who handed it in, as (SID, e-mail address, name) each, and when."""

    people: tuple[tuple[str, str, str], ...]
    time: datetime | None = None


def read_metadata(text: str) -> Mapping[str, HandIn]:
    """Return a HandIn (who and when) for each submission; GraderError if unreadable."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, HandIn] = {}
    try:
        for path, said in _texts(yaml, yaml.parse(text, Loader=loader)):
            _note(found, path, said)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise GraderError("it is not YAML as Gradescope writes it") from error
    if not any(one.people for one in found.values()):
        raise GraderError("it names nobody")
    return found


def _note(found: dict[str, HandIn], path: tuple[str, ...], said: str) -> None:
    """Store one text of the file if it says who or when."""
    if not path[0].startswith("submission_"):
        return
    known = found.setdefault(path[0], HandIn(()))
    if path[1:] == (":created_at",):
        found[path[0]] = HandIn(known.people, _time(said))
    elif len(path) == 4 and path[1] == ":submitters" and path[3] in _PERSON:
        people = [*known.people]
        number = min(int(path[2]), LARGEST_GROUP)
        while len(people) <= number:
            people.append(("", "", ""))
        at = _PERSON.index(path[3])
        person = people[number]
        people[number] = (*person[:at], said[:LONGEST], *person[at + 1 :])  # type: ignore[assignment]
        found[path[0]] = HandIn(tuple(people), known.time)


def _texts(yaml: Any, events: Iterator[Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each text of a YAML file with the keys that lead to it; list items have numbers."""
    stack: list[list[Any]] = []  # [is a mapping, key that waits for its value, items so far]

    def path() -> tuple[str, ...]:
        return tuple(str(key if mapping else count) for mapping, key, count in stack)

    def ends() -> None:  # of a value
        if stack:
            stack[-1][1] = None
            stack[-1][2] += 1

    for event in events:
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(stack) >= DEEPEST:
                raise ValueError("too deep")
            if stack and stack[-1][0] and stack[-1][1] is None:
                raise ValueError("a key that is no text")
            stack.append([isinstance(event, yaml.MappingStartEvent), None, 0])
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            stack.pop()
            ends()
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            said = getattr(event, "value", "")
            if stack and stack[-1][0] and stack[-1][1] is None:
                stack[-1][1] = said[:LONGEST]
                continue
            empty = getattr(event, "style", None) is None and said in ("", "~", "null")
            if 2 <= len(stack) <= 4:
                yield path(), "" if empty else said
            ends()


def _time(said: str) -> datetime | None:
    try:
        return timestamps.parse(said)
    except ValueError:
        return None
