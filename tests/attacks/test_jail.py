"""Every attack against the jail alone, as if the gates in front of it had seen nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
import torch

from graders.judge.sandbox.pool import Job, Outcome, Workers
from tests.attacks.attack import Attack, honest
from tests.attacks.bait import Bait, end, survivors
from tests.attacks.catalogue import ATTACKS

SIZES = (37, 2000)
ALL_LAYERS = ("limits", "user", "landlock", "seccomp")


@pytest.fixture(scope="module")
def bait() -> Iterator[Bait]:
    with Bait() as planted:
        yield planted


@pytest.fixture(scope="module")
def workers(bait: Bait) -> Iterator[Workers]:
    with Workers() as running:
        if running.tier != "A":
            pytest.skip(f"no tier A here: {running.layers}")
        yield running


def jobs(source: str) -> list[Job]:
    return [
        Job(source, "s.py", "vector_add", (torch.randn(n), torch.randn(n)), (n,), torch.float32)
        for n in SIZES
    ]


def accepted(job: Job, outcome: Outcome) -> bool:
    """What the judge requires of a case, but for the gates."""
    x, y = job.args
    assert isinstance(x, torch.Tensor)
    return (
        outcome.status == "returned"
        and outcome.output is not None
        and torch.equal(outcome.output, x + y)
        and not outcome.inputs_changed
        and not outcome.faults
    )


def text_of(outcomes: list[Outcome]) -> str:
    """All words that came out of the worker, but not the lines of the attack's own source."""
    plain = [dataclasses.replace(o, output=None, never_stored=None) for o in outcomes]
    quoted = [
        dataclasses.replace(o, error=dataclasses.replace(o.error, source="") if o.error else None)
        for o in plain
    ]
    return repr(quoted)


def family(workers: Workers) -> int:
    assert workers._process is not None
    return workers._process.pid


@pytest.mark.parametrize("name", ATTACKS)
def test_the_jail_holds(workers: Workers, bait: Bait, name: str) -> None:
    attack = ATTACKS[name]
    bait.reset()
    warm = family(workers)
    limited = [
        dataclasses.replace(job, seconds=0.5, memory_bytes=512 << 20)
        for job in jobs(bait.source(attack))
    ]
    control = jobs(honest())[0]
    *outcomes, last = workers.run([*limited, control])
    assert bait.evidence(text_of(outcomes), warm) == set()
    assert family(workers) == warm, "the warm process was replaced"
    assert accepted(control, last), "the job behind the attack suffered from it"
    if attack.evidence == "forged" and not attack.gates_only:
        passed = [accepted(j, o) for j, o in zip(limited, outcomes, strict=True)]
        assert not all(passed), "the forged result was taken for the right one"
    if attack.evidence == "none" and not attack.may_pass and not attack.gates_only:
        assert not accepted(limited[0], outcomes[0])


REAL = [n for n, a in ATTACKS.items() if a.safe_unjailed and a.evidence not in ("forged", "none")]


@pytest.fixture(scope="module")
def unjailed(bait: Bait) -> Iterator[Workers]:
    with Workers(without=ALL_LAYERS) as running:
        yield running


@pytest.mark.parametrize("name", REAL)
def test_without_the_jail_the_attack_succeeds(unjailed: Workers, bait: Bait, name: str) -> None:
    """Otherwise the test above would show nothing."""
    attack = ATTACKS[name]
    bait.reset()
    outcomes = unjailed.run(jobs(bait.source(attack)))
    try:
        found = bait.evidence(text_of(outcomes), family(unjailed))
        assert attack.evidence in found, (found, outcomes[0].status, outcomes[0].error)
    finally:
        end(survivors(family(unjailed)))
        bait.reset()


FORGED = [n for n, a in ATTACKS.items() if a.gates_only and a.evidence == "forged"]


def test_most_computed_forgeries_are_real(workers: Workers, bait: Bait) -> None:
    """Without the gates they give the right result: it is the gates that must stop them."""
    works = 0
    for name in FORGED:
        todo = jobs(bait.source(ATTACKS[name]))
        works += all(accepted(j, o) for j, o in zip(todo, workers.run(todo), strict=True))
    assert works >= len(FORGED) // 2


def test_the_control_is_accepted(workers: Workers) -> None:
    todo = jobs(honest())
    outcomes = workers.run(todo)
    assert all(accepted(j, o) for j, o in zip(todo, outcomes, strict=True))


def test_the_catalogue_is_what_it_says() -> None:
    assert len(ATTACKS) >= 40
    kinds = {
        kind: [a for a in ATTACKS.values() if a.evidence == kind]
        for kind in ("forged", "secret", "file", "connection", "process", "none")
    }
    assert all(len(attacks) >= 3 for attacks in kinds.values())
    assert len(REAL) >= 20
    assert all(isinstance(a, Attack) and a.goal for a in ATTACKS.values())
