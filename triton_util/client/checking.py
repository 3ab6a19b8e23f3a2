"""`check`: turns a function of the session into a card. Never raises for a learner's mistake."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import difflib
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from triton_util.client import attempts, hints, precheck, remembered
from triton_util.client.card import report_html, waiting_html
from triton_util.client.judge import JudgeProcess, JudgeUnavailable
from triton_util.client.passed import Passing, passing, passing_html, passing_lines
from triton_util.client.phrases import headline, summary
from triton_util.client.report import (
    Checked,
    MalformedReport,
    Quoted,
    ShownFinding,
    could_not_check,
    learners_mistake,
    read_report,
)
from triton_util.client.text import report_text
from triton_util.notebook.session import Display, Session, script_cells
from triton_util.notebook.shown import mark
from triton_util.notebook.source import Gathered, GatherError, gather, inner_function, is_kernel
from triton_util.notebook.staleness import outdated, told


@dataclass(frozen=True)
class CheckResult:
    """What `check` found. `passed` is True only when every gate that ran was passed.

    `judged` is False when the code in the notebook was not judged: the judge could not answer, or
    that code was never run.
    """

    exercise: str
    passed: bool
    judged: bool
    cases_passed: int
    cases_total: int
    findings: tuple[ShownFinding, ...]
    _told: str = dataclasses.field(repr=False)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self._told

    def _ipython_display_(self) -> None:
        """Show nothing, because the card is already there."""


def check(function: Any, session: Session, judge: JudgeProcess) -> CheckResult:
    """Judge `function` (or the function of that name), show the card, record the progress."""
    name = name_of(function)
    display = Display()
    with stoppable(name, display, judge):
        report = report_on(function, session, judge, shows_progress(name, display))
    return conclude(report, judge, display)


@contextlib.contextmanager
def stoppable(name: str, display: Display, judge: JudgeProcess) -> Iterator[None]:
    """Run a check; the card says that it is under way, or that the stop button ended it."""
    display.note(waiting_html(name), "")
    try:
        yield
    except KeyboardInterrupt:
        stopped = could_not_check(name, "The check was stopped.", "Run the cell to check again.")
        display.show(report_html(stopped), report_text(stopped))
        judge.start()  # the interrupt ended the judge; start now, so the next check need not wait
        raise Stopped from None


def conclude(report: Checked, judge: JudgeProcess, display: Display) -> CheckResult:
    """Show the card of a report, and record the progress."""
    found = _passing(report, judge)
    below = ("", []) if found is None else (passing_html(found), passing_lines(found))
    now = time.strftime("%H:%M:%S")
    display.show(report_html(report, below[0], now), report_text(report, below[1]))
    if report.names_exercise:
        hints.follow(report.exercise)
    if not attempts.is_validating():
        attempts.record(report)
    if report.state == "passed" and report.source:
        remembered.keep(remembered.PASSED_CODE, report.exercise, report.source)
    return _result(report)


def _passing(report: Checked, judge: JudgeProcess) -> Passing | None:
    """What to show for a passed check; a judge that has stopped in the meantime is no error."""
    if report.state != "passed":
        return None
    told: dict[str, Any] = {}
    with contextlib.suppress(JudgeUnavailable):
        asked = {"op": "passed", "exercise": report.exercise, "source": report.source}
        told = judge.ask(asked)
    with contextlib.suppress(JudgeUnavailable, KeyError):
        return passing(report, attempts.load(), exercises(judge), told)
    return None


class Stopped(KeyboardInterrupt):
    """The stop button was used: later cells do not run, and the card has already said why."""

    def _render_traceback_(self) -> list[str]:
        return ["The check was stopped."]


Progress = Callable[[int, int], None]


def shows_progress(name: str, display: Display) -> Progress:
    """Return a function that updates the waiting card as cases are done."""
    return lambda done, cases: display.note(waiting_html(name, done, cases), "")


def name_of(function: Any) -> str:
    """The name of a launcher; a string is returned as it is."""
    if isinstance(function, str):
        return function
    inner = inner_function(function)
    name = getattr(inner if inner is not None else function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def report_on(
    function: Any, session: Session, judge: JudgeProcess, progress: Progress | None = None
) -> Checked:
    """The judge's report on a function of the session; raises nothing but KeyboardInterrupt.

    `progress` is called with the number of cases done and the number of all cases.
    """
    name = name_of(function)
    return faults_told(name, lambda: _ask(function, name, session, judge, progress))


def faults_told(name: str, ask: Callable[[], Checked]) -> Checked:
    """The report that `ask` returns; if it raises, a report that says whose fault that is."""
    try:
        return ask()
    except GatherError as error:
        return learners_mistake(name, "no-source", error.title, error.message, error.next_step)
    except JudgeUnavailable as error:
        return could_not_check(name, error.message, error.mend, error.detail)
    except (MalformedReport, KeyError) as error:
        return could_not_check(
            name,
            f"The judge's answer could not be understood ({error}).",
            "Bring the course to one version (`pip install --upgrade tilewise`), and restart the "
            "notebook's kernel.",
        )
    except Exception as error:  # our own fault: report it, and let the notebook go on
        return could_not_check(
            name,
            f"Checking failed with a fault of the course's own: {type(error).__name__}: {error}",
            "Please report it with the text below.",
            "".join(traceback.format_exception(error))[-3000:],
        )


def _ask(
    function: Any, name: str, session: Session, judge: JudgeProcess, progress: Progress | None
) -> Checked:
    """Gather the source and send it to the judge, unless the text alone decides."""
    started = time.monotonic()
    before = _seen_at_once(function, name, session)
    if before is not None:
        return before
    mistake = wrong_argument(function, name, session, exercises(judge))
    if mistake is not None:
        return mistake
    source = gathered(function, name, session, given_cells(name, judge))
    behind = outdated(source, session)
    if behind is not None:
        return precheck.outdated_report(name, behind)
    request = {"op": "check", "exercise": name, "source": source.text, "name": "<notebook>"}
    report = with_places(read_report(judge.ask(request, progress)["report"]), source, session)
    waited = time.monotonic() - started  # the learner's wait; the judge counts only its own part
    where = told(source, session)
    return dataclasses.replace(report, judged=where, seconds=waited, source=source.text)


def _seen_at_once(function: Any, name: str, session: Session) -> Checked | None:
    """A report that needs no judge: an unchanged stub, or Python holds other code than shown."""
    value = session.namespace.get(name) if isinstance(function, str) else function
    if inner_function(value) is None or is_kernel(value):
        return None
    source = gathered(function, name, session)
    behind = outdated(source, session)
    if behind is not None:
        return precheck.outdated_report(name, behind)
    return precheck.untouched_report(source)


def gathered(
    function: Any, name: str, session: Session, given: frozenset[str] = frozenset()
) -> Gathered:
    """The source of the function, from the notebook or from the module that defines it.

    `given` are the fingerprints of the lesson's own cells.
    """
    value = session.namespace[name] if isinstance(function, str) else function
    inner = inner_function(value)
    if inner is not None and inner.__globals__ is not session.namespace:
        session = Session(inner.__globals__, script_cells(inner.__globals__))
    return gather(name, value, session, given)


def given_cells(name: str, judge: JudgeProcess) -> frozenset[str]:
    """The fingerprints of the code cells of the exercise's lesson."""
    answer = judge.ask({"op": "exercises"})
    lesson = next((i["lesson"] for i in answer["exercises"] if i["name"] == name), "")
    return frozenset(answer.get("given", {}).get(lesson, ()))


def exercises(judge: JudgeProcess) -> list[attempts.Listed]:
    """The exercises in the order of the course; those that no lesson uses have no number."""
    answer = judge.ask({"op": "exercises"})
    return [
        attempts.Listed(
            name=str(item["name"]),
            lesson=str(item["lesson"]),
            title=str(item["title"]),
            number=str(item["number"]),
            challenge=str(item.get("challenge", "")),
        )
        for item in answer["exercises"]
    ]


def quiz_lessons(judge: JudgeProcess) -> dict[str, int]:
    """The number of quiz questions, for each lesson that has a quiz."""
    answer = judge.ask({"op": "exercises"})
    return {str(lesson): int(count) for lesson, count in answer.get("quizzes", {}).items()}


def wrong_argument(
    function: Any, name: str, session: Session, listed: list[attempts.Listed]
) -> Checked | None:
    """A report if `function` cannot be checked; it names the launchers that the lessons ask for."""
    known = [item.name for item in listed]
    asked = [item.name for item in listed if item.number]
    if isinstance(function, str) and name not in session.namespace and name in known:
        return learners_mistake(
            name,
            "not-defined",
            f"`{name}` is not defined yet",
            f"No cell that was run defines `{name}`.",
            f"Run the cell that defines `{name}`, then check again.",
        )
    if name in known:
        value = session.namespace.get(name) if isinstance(function, str) else function
        if inner_function(value) is not None and not is_kernel(value):
            return None
    if function == "":
        return learners_mistake(
            "check",
            "no-function",
            "Which function?",
            "`check` takes the launcher of an exercise.",
            f"For instance: `check({_own(session, asked) or asked[0]})`.",
        )
    if is_kernel(function):
        return learners_mistake(
            name,
            "kernel-given",
            f"`{name}` is the kernel",
            "`check` takes the launcher: the plain Python function that allocates the result and "
            "launches the kernel.",
            f"Check its launcher: `check({_launcher_of(name, session, asked)})`.",
        )
    if inner_function(function) is None and not isinstance(function, str):
        return learners_mistake(
            name,
            "no-function",
            "This is no function",
            f"`check` was given a value of type {type(function).__name__}.",
            "Give it the launcher itself, without calling it: `check(vector_add)`.",
        )
    near = difflib.get_close_matches(name, asked, n=1)
    guess = f"Did you mean `{near[0]}`? " if near else ""
    return learners_mistake(
        name,
        "unknown-exercise",
        f"There is no exercise called `{name}`",
        "An exercise is found by the name of its launcher.",
        f"{guess}`progress()` lists the exercises.",
    )


def _own(session: Session, asked: list[str]) -> str:
    """The exercise whose launcher the session defined last; "" if there is none."""
    return next((name for name in reversed(session.namespace) if name in asked), "")


def _launcher_of(kernel: str, session: Session, asked: list[str]) -> str:
    """The exercise whose launcher in this session uses the kernel; else an example."""
    for name in asked:
        launcher = inner_function(session.namespace.get(name))
        if launcher is not None and kernel in launcher.__code__.co_names:
            return name
    return _own(session, asked) or asked[0]


ASKING = frozenset({"check", "speed", "hint"})  # the functions that take a launcher


def not_defined(error: BaseException | None, cell: str, session: Session) -> Checked | None:
    """A report on the NameError of `check(vector_add)` and the like; None for other errors.

    Python raises it before `check` is called. Often the launcher has another name.
    """
    if not isinstance(error, NameError) or not error.name or error.name not in _asked_for(cell):
        return None
    own = [
        name
        for name, value in session.namespace.items()
        if getattr(inner_function(value), "__module__", "") == "__main__"
        and not is_kernel(value)
        and not name.startswith("_")
    ]
    named = f" Functions that are: {', '.join(f'`{name}`' for name in own[-5:])}." if own else ""
    return learners_mistake(
        error.name,
        "not-defined",
        f"`{error.name}` is not defined",
        f"No cell that was run defines a function of this name.{named}",
        f"Run the cell that defines `{error.name}`. If you gave it another name, call it "
        f"`{error.name}` again: an exercise is found by the name of its launcher.",
    )


def _asked_for(cell: str) -> set[str]:
    """The names that a cell passes to `check` and the like."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:  # magics, or text that is not Python
        return set()
    return {
        argument.id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ASKING
        for argument in call.args[:1]
        if isinstance(argument, ast.Name)
    }


def with_places(report: Checked, gathered: Gathered, session: Session) -> Checked:
    """The report with the learner's own line numbers, the text of those lines, and their cells."""
    marks = {cell.label: mark(cell.typed) for cell in session.cells if cell.typed}
    labels = dict.fromkeys(label for _, label in gathered.cells)

    def placed(finding: ShownFinding) -> ShownFinding:
        place = gathered.place(finding.line)
        quoted = [
            Quoted(near.line, text, number == finding.line)
            for number, near, text in gathered.around(finding.line)
        ]
        return dataclasses.replace(
            finding,
            where="" if place is None else str(place),
            code_line=gathered.line_text(finding.line),
            quoted=tuple(quoted),
            cell="" if place is None else marks.get(place.label, ""),
        )

    return dataclasses.replace(
        report,
        findings=tuple(map(placed, report.findings)),
        remarks=tuple(map(placed, report.remarks)),
        cells=tuple(marks[label] for label in labels if label in marks),
    )


def _result(report: Checked) -> CheckResult:
    told = f"<{report.exercise}: {headline(report)}"
    counts = summary(report) if report.cases_total and report.counts else ""
    return CheckResult(
        exercise=report.exercise,
        passed=report.state == "passed",
        judged=report.state in ("passed", "failed", "untouched"),
        cases_passed=report.cases_passed,
        cases_total=report.cases_total,
        findings=report.findings,
        _told=f"{told}, {counts}>" if counts else f"{told}>",
    )
