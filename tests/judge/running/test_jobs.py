"""What is known of a case before anything runs: what the launcher returned or raised."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from graders.judge.compiling.process import CompileWorker
from graders.judge.sandbox.pool import Job, Outcome
from tests.judge.launch_trace.honest_styles import HEAD, KERNEL, LAUNCH
from tests.support.capturing import planned


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running


def first_job(worker: CompileWorker, returned: str) -> Job | Outcome:
    """The job of a launcher that launches, and returns this."""
    body = LAUNCH.replace("    return output", f"    {returned}")
    jobs, cases = planned(f"{HEAD}{KERNEL}\ndef vector_add(x, y):{body}", worker)
    return jobs.job(cases[0], "grid")


def test_cases_share_the_steps_that_made_the_memory_of_the_module(worker: CompileWorker) -> None:
    """However many cases there are: these steps are kept and sent once."""
    module = (
        "def filled(buffer):\n    for _ in range(500):\n        buffer.fill_(0)\n"
        "    return buffer\n\nKEEP = filled(torch.empty(4))\n"
    )
    body = LAUNCH.replace(
        "    return", "    add_kernel[(1,)](x, y, KEEP, 0, BLOCK_SIZE=16)\n    return"
    )
    jobs, cases = planned(f"{HEAD}{module}{KERNEL}\ndef vector_add(x, y):{body}", worker)
    made = [jobs.job(case, order) for case in cases for order in ("grid", "reversed")]
    assert len(cases) > 1
    works = [job.work for job in made if isinstance(job, Job)]
    assert len(works) == len(made)
    assert len(json.loads(works[0].earlier)) > 500
    assert len({id(work.earlier) for work in works}) == 1
    assert len({id(work.steps) for work in works}) == len(cases)


RETURNS = {
    "pass": "None",
    "return 1.0": "a value of type float",
    "return [output, x]": "a tuple of 2 values",
    "return output, x": "a tuple of 2 values",
    "return output[1:]": "shape (6,)",
    "return output.double()": "dtype float64",
    "return x": "shares its memory with argument 1",
    "return y.view(7, 1).view(7)": "shares its memory with argument 2",
    "return {'output': output}": "type dict",
}


@pytest.mark.parametrize("returned", RETURNS)
def test_what_cannot_be_a_result_is_said_in_words(worker: CompileWorker, returned: str) -> None:
    outcome = first_job(worker, returned)
    assert isinstance(outcome, Outcome)
    assert outcome.status == "wrong-return", outcome
    assert RETURNS[returned] in outcome.returned


@pytest.mark.parametrize(
    "returned",
    [
        "return output",
        "return output.view(7, 1).squeeze(1)",
        "return output.requires_grad_(False)",
        "return output.clone()",
        "return output.detach()",
    ],
)
def test_any_new_tensor_of_the_right_kind_can_be_a_result(
    worker: CompileWorker, returned: str
) -> None:
    assert isinstance(first_job(worker, returned), Job)


def test_an_error_has_its_line_and_text(worker: CompileWorker) -> None:
    outcome = first_job(worker, "return x.shape[3]")
    assert isinstance(outcome, Outcome)
    assert outcome.status == "raised"
    assert outcome.error is not None
    assert outcome.error.message.startswith("IndexError")
    assert outcome.error.line is not None
