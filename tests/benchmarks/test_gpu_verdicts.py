"""The class that benchmarks/gpu_verdicts.py judges: the same each time, right and wrong kernels."""

from __future__ import annotations

import sys

import pytest
import torch

from benchmarks import gpu_verdicts
from graders.judge import discovery


def test_a_class_is_the_same_each_time_and_mixed() -> None:
    first = gpu_verdicts._submissions(100)
    assert first == gpu_verdicts._submissions(100)
    assert len(first) == 100
    assert {name for name, *_ in first} == set(discovery.of_kernels())
    assert 20 <= sum(not right for *_, right in first) <= 40


def test_the_exercises_with_a_bar_are_there() -> None:
    assert set(gpu_verdicts.COLD) <= set(discovery.of_kernels())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu_verdicts.py"])
    with pytest.raises(SystemExit, match="no GPU here"):
        gpu_verdicts.main()
