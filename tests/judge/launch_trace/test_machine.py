"""What a machine cannot do is never a submission's mistake."""

from __future__ import annotations

import pytest

from graders.judge.compiling.process import CompileWorker
from graders.judge.records import GraderError
from tests.attacks import capturing
from tests.attacks.attack import honest


class OnABrokenMachine(CompileWorker):
    """Its children end before any launcher has run."""

    module = "tests.judge.launch_trace.broken_machine"


def test_a_launcher_that_no_machine_here_can_run_is_not_refused() -> None:
    with (
        OnABrokenMachine(cpu_seconds=5.0) as worker,
        pytest.raises(GraderError, match="No module named"),
    ):
        capturing.captured(worker, honest())


def test_a_launcher_that_ends_its_process_is_refused() -> None:
    leaves = honest().replace("output = ", "import os\n    os._exit(0)\n    output = ", 1)
    assert "os._exit" in leaves
    with CompileWorker(cpu_seconds=5.0) as worker:
        assert capturing.captured(worker, leaves).ended == "exited"
