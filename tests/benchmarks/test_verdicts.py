"""The kept verdicts of a GPU are as they should be, and the documentation gives their figures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts import Row, kernels, known_rows
from graders.judge import discovery

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "verdicts_h200.json"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text())


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(known_rows(KEPT).values())


def test_versions_and_date_stand_beside_the_verdicts(kept: dict[str, Any]) -> None:
    assert "H200" in kept["gpu"]
    assert {"torch", "triton", "date"} <= set(kept)


def test_interpreter_and_gpu_agree_on_every_kernel(rows: list[Row]) -> None:
    assert [row for row in rows if not (row.as_expected and row.named)] == []
    assert {row.gpu for row in rows if row.right} == {"passed"}


def not_yet_run(rows: list[Row]) -> list[str]:
    """Kernels of tests/ that the kept verdicts do not know."""
    known = {row.key for row in rows}
    return [
        f"{name}/{kernel.name}"
        for name in discovery.of_kernels()
        for kernel, right in kernels(name)
        if (name, right, kernel.name) not in known
    ]


def test_every_kernel_has_run_on_a_gpu(rows: list[Row]) -> None:
    """A new kernel is no fault: it is said, until somebody with a GPU runs the benchmark."""
    if new := not_yet_run(rows):
        pytest.skip(
            f"not yet run on a GPU: {len(new)} of {len(rows) + len(new)} kernels "
            f"({', '.join(new[:8])}{', …' if new[8:] else ''}); on one: "
            f"python benchmarks/verdicts.py --json {KEPT.relative_to(ROOT)} --new"
        )


def test_a_kernel_that_is_not_in_the_data_is_listed(rows: list[Row]) -> None:
    kept = [row for row in rows if row.exercise != "softmax"]
    assert {name.partition("/")[0] for name in not_yet_run(kept)} >= {"softmax"}
    assert not {name for name in not_yet_run(rows) if name == "softmax/online"}


def test_the_documentation_gives_these_figures(kept: dict[str, Any], rows: list[Row]) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    right = sum(row.right for row in rows)
    wrong = len(rows) - right
    assert f"accepted {right} of {right} correct kernels" in text
    assert f"refused {wrong} of {wrong} wrong ones" in text
    version = re.match(r"\d+\.\d+", kept["triton"])
    assert version is not None
    assert f"triton {version[0]}" in text
