"""The authors' lint: every lesson, in every room, keeps the conventions of the house.

A failure says which file, and what to do. `pytest tests/test_course.py -k SLUG` looks at
one lesson.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.authoring.lesson import read_solutions, stub
from graders.authoring.lint.house import lint_house, lint_lesson
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery
from graders.judge.pipeline import Judge
from tests.support.capturing import SECRET
from tests.support.known_kernels import IMPORTS, Kernel, kernels
from tests.support.paths import correct
from triton_util.report import Verdict

ROOMS = Rooms(find_root(Path(__file__)))
LESSONS = ROOMS.lesson_files()


def of_kind(kind: str) -> pytest.MarkDecorator:
    """A test for each stub, solution, correct or wrong kernel; support/drawn.py reads the ids."""
    return pytest.mark.parametrize("kernel", kernels(kind), ids=lambda kernel: kernel.id)


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """One official judge for all: its warm processes and prepared cases serve every test."""
    with Judge(official=True, secret=SECRET) as running:
        yield running


@pytest.fixture(scope="session")
def public_judge() -> Iterator[Judge]:
    """The judge as a learner has it: a mistake must be named without the hidden cases."""
    with Judge(secret=SECRET) as running:
        yield running


def test_no_file_stands_alone_in_its_room() -> None:
    messages = lint_house(ROOMS)
    assert messages == [], "\n".join(messages)


def test_the_judge_knows_the_order_of_the_lessons() -> None:
    known = [f"{number}_{slug}" for slug, number in discovery.numbers().items()]
    assert known == [path.stem for path in LESSONS], "run `tilewise build` and commit order.json"
    assert [slug for slug in discovery.lessons() if slug in discovery.numbers()] == [
        slug for slug in discovery.numbers() if slug in discovery.lessons()
    ]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_lesson_keeps_the_conventions(path: Path) -> None:
    messages = lint_lesson(ROOMS, path)
    assert messages == [], "\n".join(messages)


@of_kind("stub")
def test_the_stub_fails(kernel: Kernel, judge: Judge) -> None:
    told = kernel.ask(judge)
    assert not kernel.wanting(told), (
        f"{ROOMS.name(kernel.path)}: the stub of {kernel.exercise} {kernel.wanting(told)}: "
        f"{told.said}; put more of the solution between ### BEGIN SOLUTION and ### END SOLUTION"
    )


@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_one_of_two_kernels_is_checked_before_the_other_is_written(
    name: str, public_judge: Judge
) -> None:
    """The kernel for short rows has its cases; those of long rows say that a kernel is missing."""
    before, long_rows = read_solutions(ROOMS.solutions / "reductions.py")[name].rsplit("@triton", 1)
    source = f"{IMPORTS}{before}@triton{stub(long_rows)}"
    report = public_judge.judge_text(source, discovery.exercise(name), "<half>")
    assert report.cases_passed >= report.cases_total - 2
    assert [finding.code for finding in report.findings] == ["nothing-stored"]


@of_kind("solution")
def test_the_solution_passes_every_gate(kernel: Kernel, judge: Judge) -> None:
    told = kernel.ask(judge)
    assert not kernel.wanting(told), (
        f"{ROOMS.name(kernel.path)}: {kernel.exercise} {kernel.wanting(told)}: {told.said}; fix "
        f"the solution, or the record in {record_of(kernel)}"
    )


@of_kind("right")
def test_the_right_kernel_is_accepted(kernel: Kernel, judge: Judge) -> None:
    told = kernel.ask(judge)
    assert not kernel.wanting(told), (
        f"{ROOMS.name(kernel.path)}: {kernel.wanting(told)}: {told.said}; a correct kernel is "
        "refused or remarked upon: fix the judge or the record, or the kernel if it is wrong"
    )


@of_kind("wrong")
def test_the_wrong_kernel_is_refused_by_name(kernel: Kernel, public_judge: Judge) -> None:
    """Without the hidden cases: a learner must hear of it, too."""
    told = kernel.ask(public_judge)
    assert not kernel.wanting(told), (
        f"{ROOMS.name(kernel.path)}: {kernel.wanting(told)}, and it must be refused as "
        f"{kernel.code!r} first: add a case that shows it to {record_of(kernel)}, fix the "
        f"misconception, or rename the file; {told.said}"
    )


def record_of(kernel: Kernel) -> str:
    return f"graders/course/{discovery.exercise(kernel.exercise).lesson}/exercise.py"


def test_what_the_interpreter_cannot_follow_is_no_zero(public_judge: Judge, tmp_path: Path) -> None:
    source = correct("copy").replace("tl.store(", "libdevice.float_as_int(0.0)\n    tl.store(", 1)
    submission = tmp_path / "bits.py"
    submission.write_text("from triton.language.extra import libdevice\n" + source)
    report = public_judge.judge(submission, discovery.exercise("copy"))
    assert report.verdict is Verdict.UNGRADED
    assert report.points is None
    assert "a person has to look" in report.findings[0].message
