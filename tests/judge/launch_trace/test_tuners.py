"""Plans that call other launches the trials of an autotuner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graders.judge.launch_trace.tuners import of_tuners
from graders.judge.plan.steps import CasePlan, Constant, Fill, Launch, Step, TensorRef, Trial, Tune

X = TensorRef(0, "float32", (8,), (1,), 0)
OUT = replace(X, storage=1)
ARGUMENTS = {"x_ptr": X.to_json(), "out_ptr": OUT.to_json()}


def launch(kernel: int = 0, *tensors: TensorRef, **named: Any) -> Launch:
    return Launch(kernel, [1], tuple(ref.to_json() for ref in tensors or (X, OUT)), named, 7)


def trial(tried: Launch, *chosen: Step, **more: Any) -> Trial:
    return Trial(
        **{"config": {}, "before": (), "after": (), **more}, launch=(tried,), chosen=chosen
    )


def tuned(*trials: Trial, **given: Any) -> Tune:
    return Tune(**{"arguments": ARGUMENTS, **given}, tuner=0, key="k", configs=9, known=False,
                kernel="kernel", trials=trials)  # fmt: skip


def messages(*steps: Step) -> list[str]:
    return [finding.message for finding in of_tuners([CasePlan(steps)])]


SMALL, LARGE = launch(BLOCK=16), launch(BLOCK=64)
HONEST = tuned(trial(SMALL, SMALL), trial(LARGE, LARGE))


def test_a_tuner_tries_what_it_launches() -> None:
    again = tuned(*(replace(one, launch=()) for one in HONEST.trials))
    zeroed = trial(SMALL, Fill(OUT, 0), SMALL, before=(Fill(OUT, 0),))
    assert messages(HONEST, again) == []
    assert messages(tuned(zeroed, trial(LARGE, LARGE))) == []


def test_a_table_that_each_trial_makes_anew_is_no_difference() -> None:
    first, second = (launch(0, X, OUT, replace(X, storage=n)) for n in (5, 6))
    made = [Constant(n, "int64", (1, 2)) for n in (5, 6)]
    assert messages(*made, tuned(trial(first, first), trial(second, second))) == []


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([tuned(trial(SMALL, LARGE))], "other kernels than it has tried"),
        ([tuned(trial(SMALL))], "other kernels than it has tried"),
        ([tuned(replace(trial(SMALL, SMALL), launch=()))], "other kernels than it has tried"),
        ([tuned(trial(SMALL, SMALL), trial(launch(1), launch(1)))], "different kernels"),
        ([tuned(trial(SMALL, SMALL), trial(launch(0, X), launch(0, X)))], "on other tensors"),
        ([tuned(trial(SMALL, SMALL, before=(LARGE,)))], "a hook"),
        ([tuned(trial(SMALL, SMALL), finish=(LARGE,))], "a hook"),
        ([tuned(trial(SMALL, SMALL), arguments={})], "not its arguments"),
    ],
)
def test_other_launches_are_no_trials(steps: list[Step], said: str) -> None:
    (message,) = messages(*steps)
    assert said in message
