"""What the warm process may cost the judge: time of the processor and memory."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator

import pytest

from graders.judge.compiling.process import PLAN_LIMIT, Answer, CompileWorker
from graders.judge.jail.jail import resident_bytes
from graders.judge.launch_trace.gate import CAPTURE_SECONDS
from graders.judge.plan.reader import PlanError, plan_from_lines
from tests.support.capturing import captured
from tests.support.submissions import submission

MOST_BYTES = 512 << 20
# Of each what Python makes of it is largest for its length.
DENSE = {
    "objects": ('{"case": [', '{"":0},', "0]}"),
    "lists": ('{"case": [', "[],", "0]}"),
    "steps": ('{"case": {"result": null, "inputs": [], "raised": null, "steps": [', "[1],", "0]}}"),
    "texts": ('{"told": [', '"\u20ac",', "0]}"),
    "lines": ("", '{"case":{}}\n', ""),
}


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running


def peak_of_reading(data: bytes) -> int:
    """Bytes of memory that reading an answer takes at most, measured in a fork."""
    result, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            before = resident_bytes(os.getpid())
            with contextlib.suppress(PlanError):
                plan_from_lines(Answer(None, {}, data, False, "", 0, "").lines(), 40)
                os._exit(1)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            os.write(told, str(most - before).encode())
        finally:
            os._exit(0)
    os.close(told)
    with open(result) as file:
        said = file.read()
    assert os.waitpid(pid, 0)[1] == 0, "nonsense was taken for a plan"
    return int(said)


@pytest.mark.parametrize("name", DENSE)
def test_the_largest_plan_fits_into_the_memory_of_the_trusted_side(name: str) -> None:
    before, unit, after = DENSE[name]
    data = (before + unit * (PLAN_LIMIT // len(unit.encode())) + after).encode()
    taken = peak_of_reading(data) + 2 * len(data)
    assert taken < MOST_BYTES, f"{taken >> 20} MiB"


def test_what_is_remembered_is_bounded_by_its_size() -> None:
    worker = CompileWorker()
    for number in range(1_000):
        worker.remember(str(number), number, 1 << 18)
    kept = [number for number in range(1_000) if worker.remembered(str(number)) is not None]
    assert kept == [*range(984, 1_000)]


def test_a_plan_that_is_too_long_ends_the_launcher(worker: CompileWorker) -> None:
    text = "import os\ndef vector_add(x, y):\n    while True:\n        os.write(1, b' ' * 4096)\n"
    found = captured(submission(text, "vector_add"), worker)
    assert found.ended == "out-of-memory"


def test_a_launcher_has_less_time_than_a_compiler(worker: CompileWorker) -> None:
    text = (
        "import resource\ndef vector_add(x, y):\n"
        "    raise LookupError(resource.getrlimit(resource.RLIMIT_CPU)[0])\n"
    )
    raised = captured(submission(text, "vector_add"), worker).plan.cases[0].raised
    assert raised is not None
    assert int(raised.text) <= CAPTURE_SECONDS + 2 < worker.cpu_seconds


def test_a_launcher_that_catches_the_end_of_its_time_is_ended() -> None:
    text = (
        "def vector_add(x, y):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass\n"
    )
    with CompileWorker(cpu_seconds=1.0) as short:
        assert captured(submission(text, "vector_add"), short).ended == "timeout"
