"""What is wanting in a verdict is found, and a wrong kernel is compiled only where it matters."""

from __future__ import annotations

import pytest

from graders.authoring.kernels import wrong_kernels
from graders.judge import pipeline
from graders.judge.pipeline import Judge
from tests.support import drawn, known_kernels
from tests.support.capturing import SECRET
from tests.support.known_kernels import LATER, MORE_FINDINGS, ROOMS, Kernel, Told

KERNEL = known_kernels.kernels("wrong")[0]
REFUSED = Told("failed", 0, 10, (KERNEL.code,), (), ("read",))
PASSED = ("read", "compile", "interpret")


@pytest.mark.parametrize(
    ("kind", "told", "said"),
    [
        ("right", Told("passed", 10, 10, (), (), PASSED), ""),
        ("right", Told("passed", 8, 10, (), (), PASSED), "is passed"),
        ("right", Told("passed", 10, 10, (), ("idle",), PASSED), "idle"),
        ("right", Told("passed", 10, 10, (), (), ("read", "interpret")), "compile"),
        ("right", Told("failed", 0, 10, ("timeout",), (), ("read",)), "is failed"),
        ("wrong", REFUSED, ""),
        ("wrong", Told("passed", 10, 10, (), (), PASSED), "is passed"),
        ("wrong", Told("failed", 10, 10, (KERNEL.code,), (), ()), "all points"),
        ("wrong", Told("failed", 0, 10, ("values",), (), ()), "refused as"),
        ("wrong", Told("failed", 0, 10, ("values", KERNEL.code), (), ()), "refused as"),
        ("wrong", Told("failed", 0, 10, (KERNEL.code, "values"), (), ()), "refused as"),
        ("wrong", Told("ungraded", None, 10, (), (), ()), "is ungraded"),
        ("stub", Told("failed", 2, 10, ("nothing-stored",), (), ()), "has 2 points"),
    ],
)
def test_what_is_wanting_is_said(kind: str, told: Told, said: str) -> None:
    wanting = Kernel(KERNEL.exercise, kind, KERNEL.path, KERNEL.name).wanting(told)
    assert said in wanting if said else not wanting


def test_exceptions_are_kernels_that_exist() -> None:
    for exercise, stems in MORE_FINDINGS.items():
        for stem in stems:
            assert stem in wrong_kernels(ROOMS.kernels(exercise))
    assert all(stem in MORE_FINDINGS[exercise] for exercise, stem in LATER)


@pytest.mark.parametrize(
    ("first", "compiled"),
    [
        (REFUSED, [False]),
        (Told("failed", 0, 10, ("values",), (), ()), [False, True]),
        (Told("passed", 10, 10, (), (), ("read", "interpret")), [False, True]),
    ],
)
def test_a_wrong_kernel_is_compiled_if_nothing_else_refuses_it_by_name(
    first: Told, compiled: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(drawn.KERNELS, raising=False)
    gates = pipeline.GATES
    seen: list[bool] = []

    def asked(_: Kernel, judge: Judge) -> Told:
        seen.append(any(gate.name == "compile" for gate in pipeline.GATES))
        return first if len(seen) == 1 else REFUSED

    monkeypatch.setattr(Kernel, "_asked", asked)
    with Judge(secret=SECRET) as judge:
        assert KERNEL.ask(judge) == REFUSED
    assert seen == compiled
    assert gates == pipeline.GATES


def test_the_nightly_run_compiles_every_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(drawn.KERNELS, "nightly")
    seen: list[bool] = []

    def asked(_: Kernel, judge: Judge) -> Told:
        seen.append(any(gate.name == "compile" for gate in pipeline.GATES))
        return REFUSED

    monkeypatch.setattr(Kernel, "_asked", asked)
    with Judge(secret=SECRET) as judge:
        assert KERNEL.ask(judge) == REFUSED
    assert seen == [True]
