"""The functions a learner calls: `check`, `speed`, `hint`, `quiz`, `predict`, `catch`, `answer`…

Also `progress`; `practice` and `review`, which bring passed exercises and missed questions back;
and `validate`, which runs under nbgrader's Validate button.

All but `catch` and `practice` ask the judge, a separate process reached over a pipe
(`triton_util.client.judge`).
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from triton_util.client import (
    answering,
    attempts,
    catching,
    checking,
    guesses,
    hints,
    predicting,
    quizzes,
    timing,
    validating,
)
from triton_util.client.card import frame, inline, prose, report_html
from triton_util.client.checking import CheckResult
from triton_util.client.judge import JudgeUnavailable, NotKnown, shared
from triton_util.client.phrases import NotThere
from triton_util.client.report import could_not_check
from triton_util.client.text import report_text
from triton_util.environment import gpu_nodes, in_notebook, interpreting
from triton_util.notebook import session, shown, subprocess_run
from triton_util.puzzles import drawing

if TYPE_CHECKING:
    from triton_util.puzzles.puzzle import NoPuzzle, Puzzle

__all__ = [
    "CheckResult",
    "answer",
    "catch",
    "check",
    "hint",
    "practice",
    "predict",
    "progress",
    "quiz",
    "review",
    "speed",
    "validate",
]


def check(function: Callable[..., Any] | str = "", gpu: bool = False) -> CheckResult:
    """Check an exercise: `check(vector_add)`, or by name, `check("vector_add")`.

    function: the launcher. `check` collects its kernels, helpers, constants and imports from the
    notebook (or script) that defines it. It shows a card with its findings and returns an object
    whose `.passed` is True when every check passed. It never raises for a mistake in the code,
    and nothing that a kernel does can affect this process.

    gpu: on a machine without a GPU, send code that passes to the class GPU; the card then shows
    the result and speed from there. `triton_util.class_gpu` explains how to set its address.
    """
    place = session.of_caller(sys._getframe(1))
    if gpu and not gpu_nodes():
        from triton_util.class_gpu import checking as on_the_class_gpu

        return on_the_class_gpu.check(function, place, shared())
    result = checking.check(function, place, shared())
    if result.passed and gpu_nodes() and not interpreting():
        timing.speed(function, place, shared(), quick=True)
    return result


def validate(exercise: str) -> None:
    """Check the exercise under `nbgrader validate`, and fail the cell when the check fails.

    Elsewhere it does nothing: the lesson has a cell for `check`, and grading asks the judge itself.
    """
    if attempts.is_validating():
        place = session.of_caller(sys._getframe(1))
        validating.require(checking.check(exercise, place, shared()))


def speed(function: Callable[..., Any] | str) -> None:
    """Show how fast an exercise's launcher is: `speed(softmax)`.

    On a GPU it is timed against torch, torch.compile and, if installed, the model solution, and
    compared with the limit of the hardware. Without a GPU nothing is timed: the card shows the
    limits that bytes and operations set on known GPUs. The launcher is timed in a separate
    process, without a sandbox.
    """
    timing.speed(function, session.of_caller(sys._getframe(1)), shared())


def hint(exercise: str | Callable[..., Any] | None = None, step: int | None = None) -> None:
    """Show the next hint of an exercise, or hint `step` (1 to 3): `hint("vector_add")`.

    Without a name, it shows a hint for the exercise that was checked last.
    """

    def show(display: session.Display) -> None:
        name = hints.last() if exercise is None else checking.name_of(exercise)
        known = [item.name for item in checking.exercises(shared()) if item.number]
        _require(name, known, "exercise")
        steps = [str(item) for item in shared().ask({"op": "hints", "exercise": name})["hints"]]
        chosen = hints.choose(name, steps, step)
        display.show(hints.hint_html(name, steps, chosen), hints.hint_text(name, steps, chosen))

    _with_judge("hint", show)


def quiz(lesson: str = "", question: int | None = None, choice: str | None = None) -> None:
    """Ask the quiz of a lesson: `quiz("vector_add")`.

    In a notebook the questions are radio buttons. Everywhere, `quiz("vector_add", 1, "a")`
    answers question 1 with choice a.
    """

    def show(display: session.Display) -> None:
        known = list(checking.quiz_lessons(shared()))
        if not lesson:
            raise NotThere(f'Name a lesson: `quiz("{known[0]}")`. There are: {", ".join(known)}.')
        _require(lesson, known, "lesson with a quiz")
        answer = shared().ask({"op": "quiz", "lesson": lesson})
        questions = quizzes.read_questions(answer, lesson)
        if question is not None:
            picked = quizzes.pick(lesson, questions, question, choice)
            quizzes.keep(lesson, questions[question - 1], picked)
            display.show(quizzes.verdict_html(picked), quizzes.verdict_text(picked))
        elif in_notebook():
            display.widget(
                quizzes.quiz_widget(lesson, questions),
                quizzes.quiz_html(lesson, questions),
                quizzes.quiz_text(lesson, questions),
            )
        else:
            print(quizzes.quiz_text(lesson, questions))

    _with_judge(f"quiz {lesson}", show)


def practice(seed: int = 0) -> Puzzle | NoPuzzle:
    """Draw a puzzle from an exercise that you have passed: order its lines, or find the wrong one.

    In a notebook the puzzle has controls. Everywhere, `practice().answer([3, 1, 2])` answers with
    line numbers. A puzzle stays until it is solved. seed: changes the puzzle and the line order.
    """
    from triton_util.puzzles import page, widgets
    from triton_util.puzzles.puzzle import NoPuzzle, Puzzle

    drawn: list[Puzzle] = []

    def show(display: session.Display) -> None:
        puzzle = Puzzle(*drawing.draw(seed), seed)
        drawn.append(puzzle)
        if in_notebook():
            display.widget(
                widgets.puzzle_widget(puzzle, seed), page.puzzle_html(puzzle), puzzle.text()
            )
        else:
            print(puzzle.text())

    _with_judge("practice", show)
    return drawn[0] if drawn else NoPuzzle()


def review(choice: str | None = None) -> None:
    """Ask again a quiz question that you missed some days ago; `review("a")` answers it.

    It comes back after 1, 3, 7 and 21 days; a wrong answer restarts the series.
    """
    from triton_util.puzzles import reviewing

    _with_judge("review", lambda show: reviewing.review(choice, shared(), show))


def predict(name: str, guess: float | None = None) -> None:
    """Guess a number, then see the answer: `predict("relu_bytes", 24_000)`.

    Only the first guess counts. The judge has the answer; the notebook does not contain it.
    `progress()` shows how good the guesses were.
    """
    _with_judge(f"prediction {name}", lambda show: predicting.predict(name, guess, shared(), show))


def answer(case_study: str, text: str | None = None) -> None:
    """Show the model answer of a case study and its rubric, after you have written your answer.

    text: your answer, when the notebook's file cannot be read from here, as in Colab.
    """
    namespace = sys._getframe(1).f_globals
    _with_judge(
        f"model answer of {case_study}",
        lambda show: answering.answer(case_study, text, namespace, shared(), show),
    )


def catch(
    name: str,
    launcher: Callable[..., Any],
    *arguments: Any,
    right: Callable[..., Any],
    others: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Catch a bug: `catch("ignored_pid", copy_1, x, right=torch.clone)`; then fix the kernel.

    Runs the launcher in the checked interpreter on the arguments, and says whether they show the
    bug. Once they have shown it and the kernel is fixed, it also runs the kernel on `others`.
    """
    place = session.of_caller(sys._getframe(1))

    def run(*values: Any) -> Any:
        if interpreting():
            return launcher(*values)
        return subprocess_run.call_beside(launcher, values, place)

    catching.catch(name, run, arguments, right, others, session.Display())


def progress() -> None:
    """Show which exercises are passed, begun or not tried yet, and how good the guesses were."""

    def show(display: session.Display) -> None:
        listed = [item for item in checking.exercises(shared()) if item.number]
        recorded = attempts.load()
        answered = quizzes.answered(checking.quiz_lessons(shared()))
        told = guesses.told(guesses.load()), drawing.told()
        places = attempts.places(shared().ask({"op": "exercises"}))
        html = attempts.progress_html(listed, recorded, answered, places)
        text = attempts.progress_text(listed, recorded, answered)
        below = [line for line in told if line]
        display.show(html + "".join(map(prose, below)), "\n".join([text, *below]))

    _with_judge("progress", show)


def _require(name: str, known: list[str], kind: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        guess = f" Did you mean `{near[0]}`?" if near else ""
        raise NotThere(f"There is no {kind} `{name}`.{guess} There are: {', '.join(known)}.")


def _with_judge(what: str, show: Callable[[session.Display], None]) -> None:
    display = session.Display()
    try:
        show(display)
    except (NotThere, NotKnown) as error:
        said = error.message if isinstance(error, NotKnown) else str(error)
        said = said[:1].upper() + said[1:]
        display.show(frame("outdated", "?", inline(said), "", "", "Not there"), f"? {said}")
    except JudgeUnavailable as error:
        report = could_not_check(what, error.message, error.mend, error.detail)
        display.show(report_html(report), report_text(report))


def _explain_names(shell: Any) -> None:
    """After a cell that passes an undefined launcher to `check` or the like, show a card."""

    def look(result: Any) -> None:
        place = session.Session(shell.user_ns, ())
        cell = getattr(result.info, "raw_cell", "") or ""
        report = checking.not_defined(result.error_in_exec, cell, place)
        if report is not None:
            session.Display().show(report_html(report), report_text(report))

    shell.events.register("post_run_cell", look)


if in_notebook():
    # The judge takes seconds to start; it can do so while the learner reads.
    shared().start()
    shown.watch_the_clock(sys.modules["IPython"].get_ipython())
    _explain_names(sys.modules["IPython"].get_ipython())
