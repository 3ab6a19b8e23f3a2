"""The kept verdicts of a GPU are as they should be, and the documentation gives their figures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts import Row
from graders.judge import discovery

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "verdicts_h200.json"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text())


@pytest.fixture(scope="module")
def rows(kept: dict[str, Any]) -> list[Row]:
    return [Row(**{**row, "codes": tuple(row["codes"])}) for row in kept["rows"]]


def test_versions_and_date_stand_beside_the_verdicts(kept: dict[str, Any]) -> None:
    assert "H200" in kept["gpu"]
    assert {"torch", "triton", "date"} <= set(kept)


def test_interpreter_and_gpu_agree_on_every_kernel(rows: list[Row]) -> None:
    assert [row for row in rows if not (row.as_expected and row.named)] == []
    assert {row.gpu for row in rows if row.right} == {"passed"}
    assert {row.exercise for row in rows} == set(discovery.exercises())


def test_the_documentation_gives_these_figures(kept: dict[str, Any], rows: list[Row]) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    right = sum(row.right for row in rows)
    wrong = len(rows) - right
    assert f"accepted {right} of {right} right kernels" in text
    assert f"refused {wrong} of {wrong} wrong ones" in text
    version = re.match(r"\d+\.\d+", kept["triton"])
    assert version is not None
    assert f"triton {version[0]}" in text
