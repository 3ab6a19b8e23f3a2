"""docs/performance.md says what the kept figures say, and the figures are those of one real run."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks import performance_page
from benchmarks.merge import merged
from benchmarks.performance_page import page_of
from triton_util.bench import find_gpu, limit_of


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return json.loads(performance_page.FIGURES.read_text())


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Any]:
    return json.loads(performance_page.VERDICTS.read_text())


def test_the_page_is_the_one_that_the_figures_give(
    report: dict[str, Any], verdicts: dict[str, Any]
) -> None:
    assert performance_page.PAGE.read_text() == page_of(report, verdicts), (
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
        flops = result["flops"] / result.get("rate", 1.0)
        least = limit_of(result["bytes"] / 2, flops, gpu, **kind).ms
        for label, timing in result["timings"].items():
            if "median_ms" in timing:
                assert timing["median_ms"] > least, (result["name"], label)
                if timing["low_ms"] is not None:
                    assert timing["low_ms"] <= timing["median_ms"] <= timing["high_ms"]
                few = f"timed in {timing['rounds']} rounds only"
                assert timing["rounds"] >= 10 or said(few, result["name"]), (result["name"], label)


def said(note: str, name: str) -> bool:
    """Whether the page has a line with this note and this name."""
    lines = performance_page.PAGE.read_text().splitlines()
    return any(note in line and name in line for line in lines)


def test_runs_are_kept_apart(report: dict[str, Any], verdicts: dict[str, Any]) -> None:
    runs = [report, *report["later"]]
    numbers = {result.get("run", 1) for result in report["results"]}
    assert numbers == set(range(1, len(runs) + 1))
    names = [result["name"] for result in report["results"]]
    assert len(names) == len(set(names))
    page = page_of(report, verdicts)
    for number, run in enumerate(runs, 1):
        assert run["versions"] == report["versions"]
        assert f"| {number} | {run['date']} | {run['measured']['gbytes_per_second']:.1f} |" in page


def test_a_later_run_replaces_what_it_measures_anew(report: dict[str, Any]) -> None:
    result = {**report["results"][0], "bytes": 1}
    run = {**report, "date": "2027-01-01", "results": [result], "failed": {}}
    both = merged(report, run)
    assert len(both["results"]) == len(report["results"])
    assert both["results"][0] == {**result, "run": len(report["later"]) + 2}
    assert both["later"][-1]["date"] == "2027-01-01"
    with pytest.raises(ValueError, match="versions"):
        merged(report, {**run, "versions": {"torch": "1"}})


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


def test_what_does_not_hold_is_said(report: dict[str, Any], verdicts: dict[str, Any]) -> None:
    worse = copy.deepcopy(report)
    bar = worse["results"][0]["bars"][0]
    bar.update(holds=False, reached=[0.1, 0.2, 0.3])
    worse["results"][1]["timings"]["plain"] = {"problems": ["its output is wrong: off by 3"]}
    page = page_of(worse, verdicts)
    assert "| **0.200** (0.100 to 0.300) | plain | not yet |" in page
    assert "plain: its output is wrong: off by 3" in page


def test_the_stopwatch_was_questioned(report: dict[str, Any]) -> None:
    for run in (report, *report["later"]):
        answers = run["stopwatch"]
        assert answers["repetitions"] == 20
        assert answers["told_apart"] == sum(low > 1.03 for low in answers["seen_low"])


def test_where_a_verdict_takes_longer_than_asked_the_page_says_so(
    report: dict[str, Any], verdicts: dict[str, Any]
) -> None:
    assert page_of(report, verdicts).count(", not here |") == 0
    late = copy.deepcopy(verdicts)
    late["cold"][1]["seconds"] = late["cold"][1]["bar"] + 0.1
    assert page_of(report, late).count(", not here |") == 1


def test_the_bars_for_verdicts_hold(verdicts: dict[str, Any]) -> None:
    for row in verdicts["cold"]:
        assert row["verdict"] == "passed"
        assert row["seconds"] <= row["bar"], row["exercise"]
    medians = performance_page.medians_of(verdicts["warm"])
    assert medians["check"] <= 3.0
    assert medians["with_speed"] <= 6.0
    assert verdicts["class"]["gpu_median"] <= 1.0
    assert verdicts["class"]["speed_gpu_median"] <= 3.0


def test_a_class_on_one_gpu_is_judged_as_one_by_one(verdicts: dict[str, Any]) -> None:
    found = verdicts["class"]
    assert found["submissions"] == found["as_expected"] == 100
    assert found["as_alone"] == found["alone"]
    assert found["a_minute"] >= 30
