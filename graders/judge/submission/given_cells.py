"""Recognises a notebook's cells that are the lesson's own, unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from triton_util.notebook.given import fingerprint

FILE = Path(__file__).parents[2] / "course" / "generated" / "lesson_cells.json"


@cache
def fingerprints() -> dict[str, frozenset[str]]:
    """Return the fingerprints of each lesson's code cells, which `tilewise build` wrote."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {lesson: frozenset(found) for lesson, found in kept.items()}


def given_in(lesson: str) -> Callable[[str], bool]:
    """Return a predicate of a cell's text: whether the lesson contains this cell unchanged."""
    known = fingerprints().get(lesson, frozenset())
    return lambda text: fingerprint(text) in known
