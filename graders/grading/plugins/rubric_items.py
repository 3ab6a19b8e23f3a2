"""Reads rubric.toml: items that a click gives, with points and a comment, on formgrader's page.

    [01_vector_add]
    contiguity = [
      {label = "Row stride", points = 3, comment = "You name the row stride."},
      {label = "No repair", points = -1},
    ]

The items go to the page's script. It writes into nbgrader's own fields for points and comment, so
formgrader saves them as if a person had typed them.
"""

from __future__ import annotations

import tomllib
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from graders.judge.plain_text import quoted

FILE = "rubric.toml"
_KEYS = {"label", "points", "comment"}
_page: ContextVar[dict[str, Any]] = ContextVar("rubric", default={})  # noqa: B039 - never changed


def of_page() -> dict[str, Any]:
    """Return what the script of the current page gets: `items` by question, or an `error`."""
    return _page.get()


def set_page(course: Path, assignment: str) -> None:
    """Read the items of an assignment for the page that is being written."""
    try:
        _page.set({"items": read_items(course, assignment)})
    except ValueError as error:
        _page.set({"error": f"{FILE}: {error}"})


def read_items(course: Path, assignment: str) -> dict[str, list[dict[str, Any]]]:
    """Return the items by question; ValueError if the file is wrong."""
    try:
        found = tomllib.loads((course / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(str(error.strerror)) from error
    known = {path.name for path in course.glob("source/*") if path.is_dir()}
    for name in found:
        if known and name not in known:
            close = get_close_matches(name, known, 1)
            guess = f": did you mean {quoted(close[0])}?" if close else ""
            raise ValueError(f"the class has no assignment {quoted(name)}{guess}")
    questions = found.get(assignment, {})
    if not isinstance(questions, dict):
        raise ValueError(f"[{assignment}] is a table of questions")
    return {str(name): [_item(name, item) for item in _list(name, items)]
            for name, items in questions.items()}  # fmt: skip


def _list(question: str, items: Any) -> list[Any]:
    if not isinstance(items, list) or not items:
        raise ValueError(f"{question} is a list of items: [{{label = …, points = …}}]")
    return items


def _item(question: str, item: Any) -> dict[str, Any]:
    if not isinstance(item, dict) or not {"label", "points"} <= set(item) <= _KEYS:
        raise ValueError(f'an item of {question} is {{label = "…", points = 1, comment = "…"}}')
    points = item["points"]
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ValueError(f"the points of an item of {question} are a number")
    label = " ".join(str(item["label"]).split())
    comment = " ".join(str(item.get("comment", "")).split()) or label
    return {"label": label, "points": points, "comment": comment}
