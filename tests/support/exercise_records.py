"""Small exercise records for tests of the judge's parts."""

from __future__ import annotations

from typing import Any

import torch

from graders.judge.records import Case, Exercise, TensorSpec


def an_exercise(
    name: str = "vector_add",
    parameters: tuple[str, ...] = ("x", "y"),
    cases: tuple[Case, ...] = (),
    **fields: Any,
) -> Exercise:
    """An exercise on vectors of a few sizes; `cases` replaces them."""
    vectors = tuple(
        Case(f"{size}", tuple(TensorSpec((size,)) for _ in parameters)) for size in (7, 100, 1024)
    )
    usual: dict[str, Any] = {
        "lesson": "test",
        "title": name,
        "reference": lambda x, *rest: x + sum(rest) if rest else x,
        "hints": ("", "", ""),
        "misconceptions": (),
        "parts": {"core": 10},
    }
    return Exercise(name=name, parameters=parameters, cases=cases or vectors, **{**usual, **fields})


HALF = torch.float16
