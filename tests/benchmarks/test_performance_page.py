"""docs/performance.md says what the kept figures say, and the figures are those of one real run."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks import performance_page
from benchmarks.performance_page import page_of
from triton_util.bench import find_gpu, limit_of


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return json.loads(performance_page.FIGURES.read_text())


def test_the_page_is_the_one_that_the_figures_give(report: dict[str, Any]) -> None:
    assert performance_page.PAGE.read_text() == page_of(report), (
        "run: python benchmarks/performance_page.py"
    )


def test_every_line_names_versions_and_date(report: dict[str, Any]) -> None:
    assert {"torch", "triton", "cuda", "cudnn", "liger-kernel"} <= set(report["versions"])
    assert len(report["date"].split("-")) == 3


def test_no_kept_time_beats_the_hardware(report: dict[str, Any]) -> None:
    gpu = find_gpu(report["gpu"])
    assert gpu is not None
    for result in report["results"]:
        kind = {"tensor_cores": result["tensor_cores"]}
        least = limit_of(result["bytes"] / 2, result["flops"], gpu, **kind).ms
        for label, timing in result["timings"].items():
            if "median_ms" in timing:
                assert timing["median_ms"] > least, (result["name"], label)
                assert timing["low_ms"] <= timing["median_ms"] <= timing["high_ms"]
                assert timing["rounds"] >= 10


def test_bars_follow_from_the_times(report: dict[str, Any]) -> None:
    for result in report["results"]:
        for bar in result["bars"]:
            if not bar["reached"]:
                assert not bar["holds"]
                continue
            assert bar["holds"] == (bar["reached"][1] >= bar["at_least"])
            mine = result["timings"][bar["form"]]["median_ms"]
            theirs = result["timings"][bar["baseline"]]["median_ms"]
            assert bar["reached"][1] == pytest.approx(theirs / mine, rel=0.03)


def test_what_does_not_hold_is_said(report: dict[str, Any]) -> None:
    worse = copy.deepcopy(report)
    bar = worse["results"][0]["bars"][0]
    bar.update(holds=False, reached=[0.1, 0.2, 0.3])
    worse["results"][1]["timings"]["plain"] = {"problems": ["its output is wrong: off by 3"]}
    page = page_of(worse)
    assert "| **0.200** (0.100 to 0.300) | plain | not yet |" in page
    assert "plain: its output is wrong: off by 3" in page


def test_the_stopwatch_was_questioned(report: dict[str, Any]) -> None:
    answers = report["stopwatch"]
    assert answers["repetitions"] == 20
    assert answers["told_apart"] == sum(low > 1.03 for low in answers["seen_low"])
