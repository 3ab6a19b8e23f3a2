"""No launcher of the grammar gets a point; `benchmarks/attack_launchers.py` tries many more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from graders.judge.compiling.process import CompileWorker
from graders.judge.sandbox.pool import Workers
from tests.attacks import capturing
from tests.attacks.attack import honest
from tests.attacks.generated import CARRIERS, MOMENTS, SUMS, launchers

FEW = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def tools() -> Iterator[tuple[CompileWorker, Workers]]:
    with CompileWorker(cpu_seconds=5.0) as worker, Workers() as workers:
        assert capturing.verdict(worker, workers, honest()) == "points", "vacuous"
        yield worker, workers


@FEW
@given(source=launchers())
def test_no_generated_launcher_gets_a_point(
    tools: tuple[CompileWorker, Workers], source: str
) -> None:
    assert capturing.verdict(*tools, source) != "points", source


@FEW
@given(source=launchers())
def test_what_is_generated_is_python(source: str) -> None:
    ast.parse(source)


def test_the_grammar_is_wide() -> None:
    assert len(CARRIERS) * len(SUMS) * len(MOMENTS) > 50_000
