"""The sweep of sizes offers what the fast forms take, and can be put together without a GPU."""

from __future__ import annotations

import itertools

import torch

from benchmarks import sweep
from benchmarks.workloads import all_workloads
from solutions.fast import few_tiles


def test_each_sweep_has_choices_and_a_baseline() -> None:
    names = [work.name for work in all_workloads()]
    for work, choices in itertools.chain.from_iterable(topic() for topic in sweep.TOPICS):
        assert work.name in names
        contenders = sweep.contenders_of(work, choices)
        assert set(choices) < set(contenders) or "torch.compile" in {b.baseline for b in work.bars}
        assert all(callable(contender) for contender in contenders.values())


def test_a_choice_stands_behind_the_inputs() -> None:
    told = sweep.named(lambda *args: torch.tensor(args), 2, (7,), (8, 9))
    assert told["(8, 9)"](1, 2, 3).tolist() == [1, 2, 8, 9]


def test_constants_are_set_while_it_runs() -> None:
    before = few_tiles.EARLY
    run = sweep.with_constants(few_tiles, lambda: few_tiles.EARLY, EARLY=not before)
    assert (few_tiles.EARLY, run(), few_tiles.EARLY) == (before, not before, before)
