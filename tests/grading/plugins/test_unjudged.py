"""A zero of the judge stays open if the kernel may be somewhere else."""

from __future__ import annotations

from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from graders.grading.marks import Marks, marks
from graders.grading.plugins.unjudged import reconsidered
from tests.support.small_course import EXERCISE
from triton_util.report import Finding, Report, Verdict

IMPORTS = "import triton\nimport triton.language as tl"
STUB = "def vector_add(x, y):\n    # 1. Load with tl.load(p).\n    # 2. tl.store(p, v)\n    pass"
KERNEL = "def add_kernel(p):\n    x = tl.load(p)\n    tl.store(p, x + 1)"
CHECK = "check(vector_add)"


def zero(code: str, message: str = "What happened.", points: float = 0) -> Marks:
    finding = Finding("read", code, "A title", message, line=1, next_step="A step.")
    report = Report(
        "x", EXERCISE.name, Verdict.FAILED, points, EXERCISE.max_points, {}, (finding,), "A", 0.1,
        public_points=points,
    )  # fmt: skip
    return marks(EXERCISE, report)


def cells(*more: Any, stub: str = STUB) -> list[Any]:
    return [
        new_code_cell(IMPORTS),
        answer("vector_add", stub),
        new_code_cell(CHECK),
        answer("softmax", "def softmax(x):\n    tl.load(x)\n    tl.store(x, max_kernel)"),
        *more,
    ]


def answer(name: str, source: str) -> Any:
    label = {"grade_id": name, "solution": True, "grade": False}
    return new_code_cell(source, metadata={"nbgrader": label})


LESSON = [new_code_cell(IMPORTS), new_code_cell(STUB), new_code_cell(CHECK)]


def reason(found: list[Any], judged: Marks, beside: tuple[str, ...] = ()) -> str:
    """Why the exercise is open; "" if it keeps its points."""
    return reconsidered(judged, new_notebook(cells=found), LESSON, beside).reason


UNTOUCHED, MISSING = zero("stub-unchanged"), zero("function-missing")
FENCED = f"Here it is:\n```python\n{KERNEL}\n```\nIt works."
QUOTED = "> " + KERNEL.replace("\n", "\n> ")


@pytest.mark.parametrize(
    "cell",
    [
        new_markdown_cell(FENCED),
        new_markdown_cell(QUOTED),
        new_code_cell("# " + KERNEL.replace("\n", "\n# ")),
        new_code_cell(f"code = '''\n{KERNEL}\n'''"),
        new_code_cell("class Answer:\n    " + KERNEL.replace("\n", "\n    ")),
        new_code_cell(KERNEL),
    ],
)
def test_a_kernel_in_another_cell_leaves_the_exercise_open(cell: Any) -> None:
    assert "it may be in cell 5" in reason(cells(cell), UNTOUCHED)


def test_code_in_its_place_that_the_judge_could_not_use_leaves_it_open() -> None:
    commented = STUB + "\n    # " + KERNEL.replace("\n", "\n    # ")
    assert "it may be in cell 2" in reason(cells(stub=commented), UNTOUCHED)
    assert "it may be in cell 2" in reason(cells(stub=KERNEL), MISSING)
    assert "two different functions" in reason(cells(), zero("defined-twice"))


def test_another_file_leaves_it_open() -> None:
    assert "it may be in 'add.py'" in reason(cells(), MISSING, ("add.py",))


@pytest.mark.parametrize(
    ("more", "judged"),
    [
        ((), UNTOUCHED),
        ((), MISSING),
        ((new_markdown_cell("Use tl.load(p), I think."),), UNTOUCHED),
        ((new_code_cell(STUB),), UNTOUCHED),
        ((new_code_cell(KERNEL.replace("add_kernel", "max_kernel")),), UNTOUCHED),  # of softmax
        ((new_code_cell(KERNEL),), zero("missing-mask")),
        ((new_code_cell(KERNEL),), zero("stub-unchanged", points=4)),
    ],
)
def test_a_zero_without_other_work_stays(more: tuple[Any, ...], judged: Marks) -> None:
    assert reason(cells(*more), judged) == ""


def test_an_attempt_in_its_place_was_judged() -> None:
    assert reason(cells(stub=f"{KERNEL}\n\n\n{STUB}"), UNTOUCHED) == ""


def test_cells_in_another_order_leave_it_open_if_a_name_is_missing() -> None:
    lacking = zero("raised", "NameError: name 'triton' is not defined")
    turned = list(reversed(cells(stub=f"{STUB}\n")))
    assert "not in the order of the lesson" in reason(turned, lacking)
    assert reason(cells(), lacking) == ""
    assert reason(turned, zero("raised", "ZeroDivisionError")) == ""
