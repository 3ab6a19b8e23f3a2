"""What a learner calls: `check`, `speed`, `hint`, `quiz`, `progress`; and `validate`.

All of them ask the judge, a process of its own behind a pipe (`triton_util.client.judge`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from triton_util.client import attempts, checking, hints, quizzes, timing, validating
from triton_util.client.card import report_html
from triton_util.client.checking import CheckResult
from triton_util.client.judge import JudgeUnavailable, shared
from triton_util.client.report import could_not_check
from triton_util.client.text import report_text
from triton_util.environment import gpu_nodes, in_notebook, interpreting
from triton_util.notebook import session

__all__ = ["CheckResult", "check", "hint", "progress", "quiz", "speed", "validate"]


def check(function: Callable[..., Any] | str) -> CheckResult:
    """Check an exercise: `check(vector_add)`, or by name, `check("vector_add")`.

    function: the launcher. Its kernels, helpers, constants and imports are gathered from the
    notebook (or script) that it was defined in. Shows a card with what was found; returns an
    object whose `.passed` is True when everything held. Never raises for a mistake in the
    code, and nothing that a kernel does reaches this process.
    """
    place = session.of_caller(sys._getframe(1))
    result = checking.check(function, place, shared())
    if result.passed and gpu_nodes() and not interpreting():
        timing.speed(function, place, shared(), quick=True)
    return result


def validate(exercise: str) -> None:
    """In `nbgrader validate`: check the exercise, and fail the cell where the check fails.

    Elsewhere it does nothing: the lesson has a cell for `check`, and grading asks the judge itself.
    """
    if validating.is_validating():
        place = session.of_caller(sys._getframe(1))
        validating.require(checking.check(exercise, place, shared()))


def speed(function: Callable[..., Any] | str) -> None:
    """Show how fast an exercise's launcher is: `speed(softmax)`.

    On a GPU it is timed against torch, torch.compile and, where that is installed, the model
    solution, and placed against the limit of the hardware. Without a GPU nothing is timed: the
    card says what bytes and operations allow on GPUs that are known. The launcher is timed in
    a process beside the notebook, without a sandbox.
    """
    timing.speed(function, session.of_caller(sys._getframe(1)), shared())


def hint(exercise: str | Callable[..., Any], step: int | None = None) -> None:
    """Show the next hint of an exercise, or hint `step` (1 to 3): `hint("vector_add")`.

    Raises ValueError for an exercise or a step that there is not.
    """
    name = exercise if isinstance(exercise, str) else getattr(exercise, "__name__", str(exercise))

    def show(display: session.Display) -> None:
        known = [item.name for item in checking.exercises(shared())]
        _require(name, known, "exercise")
        steps = [str(item) for item in shared().ask({"op": "hints", "exercise": name})["hints"]]
        chosen = hints.choose(name, steps, step)
        display.show(hints.hint_html(name, steps, chosen), hints.hint_text(name, steps, chosen))

    _with_judge(f"hint for {name}", show)


def quiz(lesson: str, question: int | None = None, choice: str | None = None) -> None:
    """Ask the quiz of a lesson: `quiz("vector_add")`.

    In a notebook the questions are radio buttons. Anywhere, `quiz("vector_add", 1, "a")`
    answers question 1 with choice a. Raises ValueError for what there is not.
    """

    def show(display: session.Display) -> None:
        _require(lesson, checking.quiz_lessons(shared()), "lesson with a quiz")
        questions = quizzes.read_questions(shared().ask({"op": "quiz", "lesson": lesson}))
        if question is not None:
            picked = quizzes.pick(lesson, questions, question, choice)
            display.show(quizzes.verdict_html(picked), quizzes.verdict_text(picked))
        elif in_notebook():
            display.widget(
                quizzes.quiz_widget(questions),
                quizzes.quiz_html(lesson, questions),
                quizzes.quiz_text(lesson, questions),
            )
        else:
            print(quizzes.quiz_text(lesson, questions))

    _with_judge(f"quiz {lesson}", show)


def progress() -> None:
    """Show which exercises of the course are passed, under way or not tried yet."""

    def show(display: session.Display) -> None:
        listed = [item for item in checking.exercises(shared()) if item.number]
        recorded = attempts.load()
        display.show(
            attempts.progress_html(listed, recorded), attempts.progress_text(listed, recorded)
        )

    _with_judge("progress", show)


def _require(name: str, known: list[str], kind: str) -> None:
    if name not in known:
        raise ValueError(f"there is no {kind} {name!r}; there are: {', '.join(known)}")


def _with_judge(what: str, show: Callable[[session.Display], None]) -> None:
    display = session.Display()
    try:
        show(display)
    except JudgeUnavailable as error:
        report = could_not_check(what, error.message, error.mend, error.detail)
        display.show(report_html(report), report_text(report))


if in_notebook():
    # Its start takes seconds, and the learner reads before checking.
    shared().start()
