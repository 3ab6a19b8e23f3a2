"""What is known of a case before anything runs: what the launcher returned or raised."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge.compiling.process import CompileWorker
from graders.judge.sandbox.pool import Job, Outcome
from tests.judge.capture.honest_styles import HEAD, KERNEL, LAUNCH
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
