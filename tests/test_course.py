"""The authors' lint: every lesson, in every room, keeps the conventions of the house.

A failure says which file, and what to do. `pytest tests/test_course.py -k SLUG` looks at
one lesson.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.authoring.lesson import read_solutions, stub
from graders.authoring.lint import lint_house, lint_lesson
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.report import GateStatus, Report, Verdict

ROOMS = Rooms(find_root(Path(__file__)))
LESSONS = ROOMS.lesson_files()
EXERCISES = sorted(
    (exercise.lesson, exercise.name)
    for exercise in discovery.exercises().values()
    if (ROOMS.solutions / f"{exercise.lesson}.py").is_file()
)
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def kernels(room: Path) -> list[tuple[str, Path]]:
    return [
        (name, path) for _, name in EXERCISES for path in sorted((room / name).glob("*.py"))
    ]  # fmt: skip


def named(parameters: list[tuple[str, Path]]) -> dict[str, object]:
    return {
        "argvalues": parameters,
        "ids": [
            f"{discovery.exercise(name).lesson}-{name}-{path.stem}" for name, path in parameters
        ],
    }


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """One official judge for all: its warm processes and prepared cases serve every test."""
    with Judge(official=True) as running:
        yield running


@pytest.fixture(scope="session")
def public_judge() -> Iterator[Judge]:
    """The judge as a learner has it: a mistake must be named without the hidden cases."""
    with Judge() as running:
        yield running


def findings(report: Report) -> str:
    return "; ".join(f"[{f.gate}: {f.code}] {f.title}: {f.message}" for f in report.findings)


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


@pytest.mark.parametrize(("slug", "name"), EXERCISES)
def test_the_stub_fails(slug: str, name: str, judge: Judge) -> None:
    source = IMPORTS + stub(read_solutions(ROOMS.solutions / f"{slug}.py")[name])
    report = judge.judge_text(source, discovery.exercise(name), "<stub>")
    assert report.verdict is Verdict.FAILED, (
        f"solutions/{slug}.py: the stub of {name} is {report.verdict}: {findings(report)}; "
        "put more of the solution between ### BEGIN SOLUTION and ### END SOLUTION"
    )
    assert report.points == 0


@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_one_of_two_kernels_is_checked_before_the_other_is_written(
    name: str, public_judge: Judge
) -> None:
    """The kernel for short rows has its cases; those of long rows say that a kernel is missing."""
    before, long_rows = read_solutions(ROOMS.solutions / "reductions.py")[name].rsplit("@triton", 1)
    source = f"{IMPORTS}{before}@triton{stub(long_rows)}"
    report = public_judge.judge_text(source, discovery.exercise(name), "<half>")
    assert report.cases_passed >= report.cases_total - 2
    assert [finding.code for finding in report.findings] == ["nothing-stored"], findings(report)


@pytest.mark.parametrize(("slug", "name"), EXERCISES)
def test_the_solution_passes_every_gate(slug: str, name: str, judge: Judge) -> None:
    source = IMPORTS + read_solutions(ROOMS.solutions / f"{slug}.py")[name]
    report = judge.judge_text(source, discovery.exercise(name), "<solution>")
    assert report.verdict is Verdict.PASSED, (
        f"solutions/{slug}.py: {name} is {report.verdict}: {findings(report)}; mend the "
        f"solution, or the record in graders/exercises/{slug}.py"
    )
    assert report.points == report.max_points
    for gate in ("read", "compile", "interpret"):
        assert report.gates[gate] is GateStatus.PASSED


@pytest.mark.parametrize(("name", "path"), **named(kernels(ROOMS.right_kernels)))
def test_the_right_kernel_is_accepted(name: str, path: Path, judge: Judge) -> None:
    report = judge.judge(path, discovery.exercise(name))
    assert report.verdict is Verdict.PASSED, (
        f"{ROOMS.name(path)}: is {report.verdict}: {findings(report)}; a right kernel is "
        "refused: mend the judge or the record, or the kernel if it is wrong"
    )
    told = [remark.code for remark in report.remarks]
    assert not told, f"{ROOMS.name(path)}: {told}, and it does what its exercise is about"


@pytest.mark.parametrize(("name", "path"), **named(kernels(ROOMS.wrong_kernels)))
def test_the_wrong_kernel_is_refused_by_name(name: str, path: Path, public_judge: Judge) -> None:
    code = path.stem.partition("__")[0].replace("_", "-")
    report = public_judge.judge(path, discovery.exercise(name))
    assert report.verdict is Verdict.FAILED, (
        f"{ROOMS.name(path)}: is {report.verdict}, and it is wrong: add a case that shows it to "
        f"graders/exercises/{discovery.exercise(name).lesson}.py; {findings(report)}"
    )
    assert report.points is not None
    assert report.points < report.max_points, f"{ROOMS.name(path)}: is refused with all points"
    codes = [finding.code for finding in report.findings]
    assert code in codes, (
        f"{ROOMS.name(path)}: refused as {codes} and not as {code!r}: mend the misconception in "
        f"graders/exercises/{discovery.exercise(name).lesson}.py, or rename the file"
    )


def test_what_the_interpreter_cannot_follow_is_no_zero(public_judge: Judge, tmp_path: Path) -> None:
    kernel = ROOMS.right_kernels / "copy" / "textbook.py"
    source = kernel.read_text().replace(
        "tl.store(", "libdevice.float_as_int(0.0)\n    tl.store(", 1
    )
    submission = tmp_path / "bits.py"
    submission.write_text("from triton.language.extra import libdevice\n" + source)
    report = public_judge.judge(submission, discovery.exercise("copy"))
    assert report.verdict is Verdict.UNGRADED
    assert report.points is None
    assert "float_as_int" in report.findings[0].message
