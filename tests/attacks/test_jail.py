"""Every attack's Python in the process that captures, as if the text gate had seen nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.sandbox.pool import Workers
from tests.attacks import capturing
from tests.attacks.attack import Attack, honest
from tests.attacks.bait import Bait, end, survivors
from tests.attacks.catalogue import ATTACKS
from tests.attacks.unjailed import Unjailed

JAIL = pytest.mark.drawn("graders/judge/jail", "graders/judge/compiling", "tests/attacks")


@pytest.fixture(scope="module")
def bait() -> Iterator[Bait]:
    with Bait() as planted:
        yield planted


@pytest.fixture(scope="module")
def worker(bait: Bait) -> Iterator[CompileWorker]:
    with Workers() as running:
        if running.tier != "A":
            pytest.skip(f"no tier A here: {running.layers}")
    with CompileWorker(cpu_seconds=1.5) as capturing_worker:
        control = capturing.ask(capturing_worker, honest())
        assert control.report is not None, "vacuous: the honest control is not captured"
        yield capturing_worker


def text_of(answer: Answer) -> str:
    """All words that came out of the process."""
    return f"{[*answer.lines()]!r} {answer.stderr}"


def family(worker: CompileWorker) -> int:
    assert worker.pid is not None
    return worker.pid


@JAIL
@pytest.mark.parametrize("name", ATTACKS)
def test_the_jail_holds(worker: CompileWorker, bait: Bait, name: str) -> None:
    bait.reset()
    warm = family(worker)
    answer = capturing.ask(worker, bait.source(ATTACKS[name]))
    assert bait.evidence(text_of(answer), warm) == set()
    assert family(worker) == warm, "the warm process was replaced"


def test_the_control_is_still_captured(worker: CompileWorker) -> None:
    answer = capturing.ask(worker, honest())
    assert answer.report is not None
    assert answer.report["end"]["told"] == []


REAL = [n for n, a in ATTACKS.items() if a.safe_unjailed and a.evidence not in ("forged", "none")]


@pytest.fixture(scope="module")
def unjailed(bait: Bait) -> Iterator[Unjailed]:
    with Unjailed(cpu_seconds=5.0) as running:
        assert capturing.ask(running, honest()).report is not None
        yield running


@JAIL
@pytest.mark.parametrize("name", REAL)
def test_without_the_jail_the_attack_succeeds(unjailed: Unjailed, bait: Bait, name: str) -> None:
    """Otherwise the test above would show nothing."""
    bait.reset()
    answer = capturing.ask(unjailed, bait.source(ATTACKS[name]))
    try:
        found = bait.evidence(text_of(answer), family(unjailed))
        assert ATTACKS[name].evidence in found, (found, answer.at, answer.stderr)
    finally:
        end(survivors(family(unjailed)))
        bait.reset()


def test_the_catalogue_is_what_it_says() -> None:
    assert len(ATTACKS) >= 40
    kinds = {
        kind: [a for a in ATTACKS.values() if a.evidence == kind]
        for kind in ("forged", "secret", "file", "connection", "process", "none")
    }
    assert all(len(attacks) >= 3 for attacks in kinds.values())
    assert len(REAL) >= 20
    assert all(isinstance(a, Attack) and a.goal for a in ATTACKS.values())
