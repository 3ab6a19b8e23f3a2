"""Which cells of a notebook are the lesson's own, left as they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from triton_util.notebook.given import fingerprint

FILE = Path(__file__).parents[2] / "course" / "generated" / "lesson_cells.json"


@cache
def fingerprints() -> dict[str, frozenset[str]]:
    """The fingerprints of each lesson's code cells, by its slug, as `tilewise build` wrote them."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {lesson: frozenset(found) for lesson, found in kept.items()}


def given_in(lesson: str) -> Callable[[str], bool]:
    """A test of a cell's text: does the lesson hold it as it is?"""
    known = fingerprints().get(lesson, frozenset())
    return lambda text: fingerprint(text) in known
