"""Which launches of a plan a GPU's worker will make: what is worth compiling ahead of it.

Different launches may specialise alike; those are compiled once, where they are compiled. A
launch that is forgotten here is compiled by the worker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graders.judge.compiling.gate import specialising
from graders.judge.plan.steps import CasePlan, Launch, Step, Tune, launches_of

MOST_LAUNCHES = 600


def for_verdict(cases: Iterable[CasePlan]) -> list[dict[str, Any]]:
    """Those of the cases in their order; of a tuner's configurations the one whose turn it is.

    See `plan.replay`, which gives each new shape the next configuration.
    """
    return _distinct(_by_turns(cases))


def for_timing(cases: Iterable[CasePlan]) -> list[dict[str, Any]]:
    """Those of the cases, with every configuration of a tuner: it will choose among them."""
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
    """As far as Triton specialises on them; for a grid without programs it compiles, too."""
    found: dict[str, dict[str, Any]] = {}
    for launch in launches:
        if len(found) >= MOST_LAUNCHES:
            break
        raw = specialising(launch, tuned=False)
        found.setdefault(json.dumps(raw, sort_keys=True), raw)
    return list(found.values())
