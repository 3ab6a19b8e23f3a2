"""One warm process for the captures of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge.compiling.process import CompileWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running
