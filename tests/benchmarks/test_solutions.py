"""The benchmark of the solutions: its checks can fail, and its bars are judged fairly."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from benchmarks import workloads
from benchmarks.solutions import checks_of, judge_bar, kept
from benchmarks.workloads import Bar, all_workloads, differs, some_lines, some_queries, whole
from triton_util.bench import Timing


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


def test_every_bar_names_a_baseline_that_is_timed() -> None:
    names = []
    for work in all_workloads():
        names.append(work.name)
        eager = set() if "torch flash" in work.baselines else {"torch"}
        assert {bar.baseline for bar in work.bars} <= eager | set(work.baselines), work.name
        assert work.solutions(), work.name
        assert work.bytes_read > 0
        assert work.bytes_written > 0
    assert len(set(names)) == len(names) == 20


def test_liger_is_optional() -> None:
    assert workloads.liger("no_such_module", "Nothing") == {}
