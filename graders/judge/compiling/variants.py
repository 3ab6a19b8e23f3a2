"""Predicts which launches a worker on a GPU will make, so that they can be compiled ahead.

If several launches need the same compiled kernel, it is compiled once. A launch that was not
predicted only costs time: the worker then compiles it itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graders.judge.plan.specialising import specialising
from graders.judge.plan.steps import CasePlan, Launch, Step, Tune, launches_of

MOST_LAUNCHES = 600


def for_verdict(cases: Iterable[CasePlan]) -> list[dict[str, Any]]:
    """Return the launches of the cases, in order, as the gate *gpu* makes them.

    For each new shape, an autotuner launches its next configuration, as `plan.replay` does when
    it runs the plan on the GPU.
    """
    return _distinct(_by_turns(cases))


def for_timing(cases: Iterable[CasePlan]) -> list[dict[str, Any]]:
    """Return the launches of the cases, with every configuration that an autotuner will try."""
    return _distinct(launch for case in cases for launch in launches_of(case.steps))


def _by_turns(cases: Iterable[CasePlan]) -> Iterator[Launch]:
    turns: dict[int, int] = {}
    choices: dict[tuple[int, str], int] = {}
    for case in cases:
        for step in case.steps:
            if isinstance(step, Launch):
                yield step
            elif isinstance(step, Tune):
                yield from launches_of(_chosen(step, turns, choices))


def _chosen(
    step: Tune, turns: dict[int, int], choices: dict[tuple[int, str], int]
) -> Sequence[Step]:
    key = step.tuner, step.key
    if len(step.trials) > 1 and not step.known:
        choices[key] = turns.get(step.tuner, 0) % len(step.trials)
        turns[step.tuner] = turns.get(step.tuner, 0) + 1
    trial = step.trials[min(choices.get(key, 0), len(step.trials) - 1)]
    return [*trial.before, *trial.launch, *trial.after, *trial.chosen, *step.finish]


def _distinct(launches: Iterable[Launch]) -> list[dict[str, Any]]:
    """Return each launch once, reduced to what Triton specialises a kernel on.

    Launches on an empty grid stay, because Triton compiles their kernels, too.
    """
    found: dict[str, dict[str, Any]] = {}
    for launch in launches:
        if len(found) >= MOST_LAUNCHES:
            break
        raw = specialising(launch)
        found.setdefault(json.dumps(raw, sort_keys=True), raw)
    return list(found.values())
