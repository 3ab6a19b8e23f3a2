"""`time_beside`: no time of a stub, of an error or of a wrong result without a word about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton.testing

from triton_util import time_beside

Launcher = Callable[..., Any]


@pytest.fixture(autouse=True)
def two_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopwatch that calls what it times once, and says 2 ms."""

    def do_bench(run: Callable[[], Any], return_mode: str) -> float:
        run()
        return 2.0

    monkeypatch.setattr(triton.testing, "do_bench", do_bench)


def lines(capsys: pytest.CaptureFixture[str], yours: Launcher, **named: Any) -> list[str]:
    x = torch.arange(4.0)
    time_beside(yours, {"torch": torch.neg}, x, **named)
    return capsys.readouterr().out.splitlines()


def test_rates_follow_from_bytes_and_operations(capsys: pytest.CaptureFixture[str]) -> None:
    told = lines(capsys, torch.neg, n_bytes=8e9, operations=4e12, title="minus")
    assert told[0] == "minus"
    assert " ".join(told[1].split()) == "torch: 2.0000 ms, 4,000 GB/s, 2,000.0 TFLOP/s"
    assert told[2].replace("yours:", "torch:") == told[1]


def test_a_stub_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing here yet" in lines(capsys, lambda x: None)[-1]


def test_an_error_is_told_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        raise NameError("name 'sums' is not defined")

    assert "it raised NameError: name 'sums' is not defined" in lines(capsys, broken)[-1]


@pytest.mark.parametrize(
    "wrong", [torch.abs, lambda x: -x[:2], lambda x: [-x], lambda x: torch.full_like(x, torch.nan)]
)
def test_the_time_of_a_wrong_result_means_nothing(
    capsys: pytest.CaptureFixture[str], wrong: Launcher
) -> None:
    told = lines(capsys, wrong)
    assert "this time means nothing" in told[-1]
    assert "means nothing" not in told[-2]


def test_what_is_right_may_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.arange(4.0)
    assert "nothing" not in lines(capsys, torch.abs, wanted=x)[-1]
    assert (
        "nothing" not in lines(capsys, lambda x: [x], is_right=lambda result: len(result) == 1)[-1]
    )
    assert "nothing" in lines(capsys, torch.neg, wanted=x, label="mine")[-1]
    assert "nothing" not in lines(capsys, torch.neg, wanted=x, atol=7.0)[-1]


def test_what_counts_is_a_result_in_memory_that_was_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [torch.abs, torch.neg]  # the first time, what somebody else left there
    assert "means nothing" in lines(capsys, lambda x: (found.pop() if found else torch.abs)(x))[-1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_memory_of_a_right_result_makes_no_stub_right(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.rand(2**20, device="cuda")
    time_beside(torch.empty_like, {"torch": torch.neg}, x)
    assert "means nothing" in capsys.readouterr().out
