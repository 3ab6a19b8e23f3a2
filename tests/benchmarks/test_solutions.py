"""The benchmark of the solutions: its checks can fail, and its bars are judged fairly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import solutions
from benchmarks.performance_page import rate_of
from benchmarks.solutions import checks_of, chosen, judge_bar, kept, time_all
from benchmarks.workloads import all_workloads
from benchmarks.workloads.baselines import liger
from benchmarks.workloads.checks import differs, only, some_lines, some_queries, whole
from benchmarks.workloads.elementwise import random_of
from benchmarks.workloads.products import uneven
from benchmarks.workloads.records import Bar
from triton_util.bench import Timing

ROOT = Path(__file__).parents[2]


def normal(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def test_differs_tells_rounding_from_error() -> None:
    expected = normal(64, 64, dtype=torch.float32)
    assert differs(expected.half(), expected, 1e-3) == ""
    wrong = expected.clone()
    wrong[7, 7] += 0.1
    assert "off by" in differs(wrong, expected, 1e-3)
    wrong[7, 7] = float("nan")
    assert "off by" in differs(wrong, expected, 1e-3)
    assert "shape" in differs(expected[:3], expected, 1e-3)


def test_whole_looks_at_every_element() -> None:
    x = normal(100, 50)
    check = whole(lambda y: torch.softmax(y, 1), 2e-3, n_rows=32)
    right = torch.softmax(x.float(), 1).half()
    assert check((x,), right) == ""
    right[99, 49] += 0.05
    assert check((x,), right) != ""


def test_some_lines_catches_one_wrong_tile() -> None:
    a, b = normal(256, 64), normal(64, 256)
    check = some_lines(torch.matmul, 2e-3)
    product = (a.float() @ b.float()).half()
    assert check((a, b), product) == ""
    product[128:192, 64:128] = 0
    assert check((a, b), product) != ""


@pytest.mark.parametrize("causal", [False, True])
def test_some_queries_catches_a_wrong_mask(causal: bool) -> None:
    q, k, v = normal(1, 4, 64, 16), normal(1, 4, 64, 16) + 0.5, normal(1, 4, 64, 16) + 1
    wide = (x.float() for x in (q, k, v))
    right = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=causal).half()
    assert some_queries((q, k, v, causal), right) == ""
    assert some_queries((q, k, v, not causal), right) != ""


def test_only_the_copies_are_checked_as_copies() -> None:
    work = next(work for work in all_workloads() if work.exercise == "strided_copy")
    checks = checks_of(work, ["plain", "copy", "copy of a contiguous tensor"])
    x = normal(4, 4)
    assert checks["plain"] is work.check
    assert checks["copy"]((x,), x.clone()) == ""
    assert checks["copy"]((x,), x + 1) != ""
    assert "copy of a contiguous tensor" not in checks


def timing(label: str, *samples: float, problems: tuple[str, ...] = ()) -> Timing:
    return Timing(label, samples, samples, problems)


def judged(factor: float, *timings: Timing) -> dict[str, Any]:
    return judge_bar(Bar("torch", factor), {one.label: one for one in timings})


def test_the_better_form_is_held_against_the_bar() -> None:
    torch_, plain = timing("torch", *[2.0] * 10), timing("plain", *[1.9] * 10)
    fast = timing("fast", *[1.0] * 10)
    result = judged(1.5, torch_, plain, fast)
    assert (result["form"], result["reached"][1], result["holds"]) == ("fast", 2.0, True)
    assert not judged(1.5, torch_, plain)["holds"]


def test_what_is_not_believed_holds_nothing() -> None:
    forged = timing("fast", *[0.01] * 10, problems=("faster than the hardware",))
    result = judged(1.5, timing("torch", *[2.0] * 10), forged)
    assert not result["holds"]
    assert result["reached"] == []
    assert kept(forged)["problems"] == ["faster than the hardware"]
    assert kept(timing("fast", problems=("it raised",))) == {"problems": ["it raised"]}


def test_a_baseline_that_is_not_there_holds_nothing() -> None:
    result = judged(1.5, timing("plain", *[1.0] * 10))
    assert (result["holds"], result["reached"]) == (False, [])


def test_every_bar_names_a_baseline_that_is_timed() -> None:
    names = []
    for work in all_workloads():
        names.append(work.name)
        timed = {*work.baselines, "Liger-Kernel"}
        timed |= {"torch"} if work.eager else set()
        timed |= {"torch.compile"} if work.compiled else set()
        assert {bar.baseline for bar in work.bars} <= timed, work.name
        assert set(work.checks) <= timed, work.name
        assert work.solutions(), work.name
        assert work.bytes_read > 0
        assert work.bytes_written > 0
    assert len(set(names)) == len(names) >= 47


def test_liger_is_optional() -> None:
    assert liger("no_such_module", "Nothing") == {}


def test_work_is_chosen_by_several_texts_or_because_it_is_new() -> None:
    names = [work.name for work in chosen(["cumsum", "transpose int8"], new=False)]
    assert len(names) == 3
    assert all("cumsum" in name or name.startswith("transpose int8") for name in names)
    assert len(chosen([], new=False)) == len(list(all_workloads()))
    known = {result["name"] for result in json.loads(solutions.FIGURES.read_text())["results"]}
    assert not known & {work.name for work in chosen([], new=True)}
    assert {work.name for work in chosen(["vector_add"], new=False)} <= known


def result_of(work: Any) -> dict[str, Any]:
    return {"name": work.name, "timings": {}, "bars": []}


def test_a_failure_is_kept_and_the_rest_goes_on(tmp_path: Path) -> None:
    works, output = chosen(["matmul"], new=False)[:3], tmp_path / "figures.json"
    seen: list[list[str]] = []

    def time_one(work: Any) -> dict[str, Any]:
        if output.exists():
            seen.append([result["name"] for result in json.loads(output.read_text())["results"]])
        if work is works[1]:
            raise RuntimeError("out of luck")
        return result_of(work)

    report: dict[str, Any] = {"results": [], "failed": {}}
    assert time_all(works, report, time_one, output)
    written = json.loads(output.read_text())
    assert [result["name"] for result in written["results"]] == [works[0].name, works[2].name]
    assert written["failed"] == {works[1].name: "RuntimeError: out of luck"}
    assert seen == [[works[0].name], [works[0].name]], "written after each workload"


def test_a_resumed_run_does_only_what_is_missing() -> None:
    works, timed = chosen(["matmul"], new=False)[:3], []

    def time_one(work: Any) -> dict[str, Any]:
        timed.append(work.name)
        return result_of(work)

    report = {"results": [result_of(works[0])], "failed": {works[1].name: "it crashed"}}
    assert time_all(works, report, time_one, None)
    assert timed == [works[2].name]


def test_a_gpu_that_is_lost_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solutions, "usable", lambda: False)
    report: dict[str, Any] = {"results": [], "failed": {}}
    assert not time_all(chosen(["matmul"], new=False), report, result_of, None)
    assert len(report["results"]) == 1


def test_only_what_tensor_cores_limit_is_told_in_operations() -> None:
    timings = {"plain": {"median_ms": 1.0, "problems": []}}
    few = {"timings": timings, "tensor_cores": True, "flops": 1e9, "bytes": 1e9}
    assert rate_of(few) == "1000 GB/s"
    assert rate_of({**few, "flops": 1e12}) == "1000 TFLOP/s"


def test_whole_keeps_integers_and_slices_what_has_rows() -> None:
    x, targets = normal(8, 50), torch.arange(8)
    check = whole(
        lambda x, y: torch.nn.functional.cross_entropy(x, y, reduction="none"), 1e-3, 3, 2
    )
    losses = torch.logsumexp(x.float(), 1) - x.float()[targets, targets]
    assert check((x, targets), losses) == ""
    assert check((x, targets), losses.flip(0)) != ""
    assert "rows" in check((x, targets), losses[:4])
    chosen_only = only(lambda args: args[1:], lambda args, actual: f"{len(args)} args")
    assert chosen_only((x, targets), losses) == "1 args"


def test_experts_are_uneven_and_some_have_no_rows() -> None:
    offsets = uneven(3, 1000, 64)
    sizes = offsets.diff()
    assert (offsets[0], offsets[-1], len(offsets)) == (0, 1000, 65)
    assert (sizes >= 0).all()
    assert (sizes == 0).any()
    assert sizes.max() > 3 * sizes.float().mean()


def test_random_numbers_are_those_that_philox_gives() -> None:
    """Philox4x32-10 of the counter 0 with the key 0 begins with 0x6627e8d5, as published."""
    first = random_of(0, torch.zeros(1, dtype=torch.int64))
    assert float(first) == pytest.approx(0x6627E8D5 * 4.6566127342e-10, rel=1e-6)


@pytest.fixture(scope="module")
def small() -> dict[str, dict[str, str]]:
    """What the checks say of each workload, made small, in the interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "tests/benchmarks/run_small_workloads.py"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_right_solutions_pass_the_checks_and_wrong_ones_do_not(
    small: dict[str, dict[str, str]],
) -> None:
    assert len(small) >= 16
    for name, said in small.items():
        spoiled = said.pop("spoiled")
        assert spoiled, f"{name}: wrong numbers were not seen"
        assert not any(said.values()), (name, said)


@pytest.mark.parametrize(
    "file", sorted((ROOT / "benchmarks" / "results").glob("*.json")), ids=lambda file: file.name
)
def test_results_are_json_for_any_parser(file: Path) -> None:
    """Python alone writes and reads Infinity and NaN."""

    def refused(number: str) -> None:
        raise AssertionError(f"{file.name} holds {number}")

    json.loads(file.read_text(), parse_constant=refused)


def test_too_few_rounds_for_an_interval_are_kept_without_one() -> None:
    few = kept(Timing("few", (1.0, 1.1), (1.0, 1.1)))
    assert (few["low_ms"], few["high_ms"]) == (None, None)
