"""What is compiled ahead of a GPU: what its worker will launch, and no launch twice."""

from __future__ import annotations

from typing import Any

import torch

from graders.judge.compiling import variants
from graders.judge.plan.replay import Replay
from graders.judge.plan.steps import CasePlan, Launch, Step, Trial, Tune
from tests.support.plans import new


def launch(size: int, n_elements: int = 64, grid: int = 1) -> Launch:
    """A launch of kernel 0 on one tensor."""
    positional = (new(64).to_json(), n_elements)
    return Launch(0, [grid], positional, {"BLOCK_SIZE": size}, 3)


def tune(key: str, *sizes: int, known: bool = False) -> Tune:
    """An autotuner's step: each configuration has a block size."""
    trials = tuple(
        Trial({"BLOCK_SIZE": size}, (), (launch(size),), (), (launch(size),)) for size in sizes
    )
    return Tune(0, key, len(sizes), known, "k", {}, trials, (), 3, False)


def cases(*steps: Step) -> list[CasePlan]:
    return [CasePlan(steps=(step,)) for step in steps]


def sizes(found: list[dict[str, Any]]) -> list[int]:
    return [raw["named"]["BLOCK_SIZE"] for raw in found]


def test_launches_that_specialise_alike_come_once() -> None:
    found = variants.for_verdict(cases(launch(64), launch(64, grid=7), launch(128), launch(64)))
    assert sizes(found) == [64, 128]


def test_a_grid_without_programs_is_compiled_too() -> None:
    """Triton compiles before it looks at the grid."""
    assert sizes(variants.for_verdict(cases(launch(64, grid=0)))) == [64]


def test_for_timing_every_configuration_counts() -> None:
    assert sizes(variants.for_timing(cases(tune("a", 16, 32, 64)))) == [16, 32, 64]


class Launched(Replay):
    """A replay that notes the block sizes, as on a GPU where every configuration runs."""

    def __init__(self) -> None:
        super().__init__(None, "s.py", "cuda", 1)  # type: ignore[arg-type]
        self.sizes: list[int] = []

    def _launch(self, step: Launch) -> None:
        self.sizes.append(step.named["BLOCK_SIZE"])


def test_a_tuner_gets_the_configurations_that_a_replay_takes(monkeypatch: Any) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    steps = [tune("a", 16, 32, 64), tune("b", 16, 32, 64), tune("a", 16, 32, 64, known=True)]
    steps += [tune("c", 128, 256)]
    replay = Launched()
    for step in steps:
        replay.steps([step])
    assert set(sizes(variants.for_verdict(cases(*steps)))) == set(replay.sizes)
    assert 64 not in replay.sizes, "there are three configurations and two new shapes"
