"""The learner's progress: a small JSON file beside the notebook, and what it shows.

`TILEWISE_HOME` names the folder when it is set; otherwise the nearest `.tilewise` folder of
the working folder or above it, a new one in the working folder where that can be written,
and `~/.tilewise` where it cannot. A damaged file is set aside, never an error.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from triton_util.client.card import frame
from triton_util.client.cards.progress_map import map_html, tiles
from triton_util.client.report import Report

_FILE = "progress.json"


@dataclass(frozen=True)
class Attempts:
    """How one exercise went so far. Times are UTC, ISO 8601; `passed` is "" until it did."""

    checks: int = 0
    passed: str = ""
    best_cases: int = 0
    cases_total: int = 0
    fewest_bytes: int = 0  # that a right kernel moved in the case `bytes_case`; 0: not counted
    bytes_case: str = ""


@dataclass(frozen=True)
class Listed:
    """One exercise of the course, as the judge lists it; `number` is its lesson's, `challenge` how
    to break what passed.
    """

    name: str
    lesson: str
    title: str
    number: str
    challenge: str = ""

    @property
    def place(self) -> str:
        """The lesson as its file is called: `01_vector_add`."""
        return f"{self.number}_{self.lesson}"


def is_validating() -> bool:
    """Is the notebook run by `nbgrader validate`, or by its button? Then a check is no attempt."""
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


def folder() -> Path:
    """The folder of the progress file; it need not exist yet."""
    chosen = os.environ.get("TILEWISE_HOME")
    if chosen:
        return Path(chosen).expanduser()
    here = Path.cwd()
    for parent in (here, *here.parents):
        if (parent / ".tilewise").is_dir() and os.access(parent / ".tilewise", os.W_OK):
            return parent / ".tilewise"
    base = here if os.access(here, os.W_OK) else Path.home()
    return base / ".tilewise"


def load(path: Path | None = None) -> dict[str, Attempts]:
    """What was recorded, by exercise; {} where nothing was, or where it cannot be read."""
    path = folder() / _FILE if path is None else path
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): _attempts(item) for name, item in stored["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        _set_aside(path)
        return {}


def record(report: Report) -> bool:
    """Add one check to the file. False where it could not be written (a full disk, say).

    What is no attempt is not counted: a stub as it was, code that was not run, a judge that
    failed.
    """
    if not report.counts:
        return False
    recorded = load()
    before = recorded.get(report.exercise, Attempts())
    passed = before.passed
    if report.state == "passed" and not passed:
        passed = datetime.now(UTC).isoformat(timespec="seconds")
    recorded[report.exercise] = Attempts(
        checks=before.checks + 1,
        passed=passed,
        best_cases=max(before.best_cases, report.cases_passed),
        cases_total=report.cases_total or before.cases_total,
        **_fewest(report, before),
    )
    content = {
        "version": 1,
        "exercises": {name: asdict(item) for name, item in sorted(recorded.items())},
    }
    try:
        write(folder() / _FILE, json.dumps(content, indent=1) + "\n")
    except OSError:
        return False
    return True


def _fewest(report: Report, before: Attempts) -> dict[str, Any]:
    """The bytes to remember: the fewest so far, in the case that they are counted in today."""
    moved = report.moved
    if moved is None or report.state != "passed":
        return {"fewest_bytes": before.fewest_bytes, "bytes_case": before.bytes_case}
    known = before.bytes_case == moved.case and before.fewest_bytes
    fewest = min(moved.own, before.fewest_bytes) if known else moved.own
    return {"fewest_bytes": fewest, "bytes_case": moved.case}


def _attempts(item: dict[str, Any]) -> Attempts:
    return Attempts(
        checks=int(item["checks"]),
        passed=str(item["passed"]),
        best_cases=int(item["best_cases"]),
        cases_total=int(item["cases_total"]),
        fewest_bytes=int(item.get("fewest_bytes", 0)),
        bytes_case=str(item.get("bytes_case", "")),
    )


def _set_aside(path: Path) -> None:
    """Keep a damaged file under another name, so that the next write loses nothing of it."""
    with contextlib.suppress(OSError):
        path.replace(path.with_suffix(".damaged.json"))


def write(path: Path, text: str) -> None:
    """Write at once or not at all: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _state(attempts: Attempts | None) -> tuple[str, str]:
    """A mark and the state of one exercise in words."""
    if attempts is None:
        return "○", "not tried yet"
    if attempts.passed:
        return "✓", f"passed on {attempts.passed[:10]}"
    best = f", at best {attempts.best_cases} of {attempts.cases_total} cases"
    tries = f"{attempts.checks} check{'s' if attempts.checks != 1 else ''}"
    return "◐", f"under way: {tries}{best if attempts.cases_total else ''}"


Answered = Mapping[str, tuple[int, int]]  # by lesson: questions answered rightly, questions


def _quiz_state(right: int, questions: int) -> tuple[str, str]:
    mark = "✓" if right == questions else "◐" if right else "○"
    return mark, f"{right} of {questions} questions right"


def progress_text(
    exercises: Sequence[Listed], recorded: dict[str, Attempts], quizzes: Answered
) -> str:
    """The next step; then lessons, their exercises and their quiz, one line each."""
    lines = [_total(exercises, recorded, quizzes)]
    following = _following(exercises, recorded)
    if following is not None:
        lines.append(f"Next: {following.name}, {following.title} (lesson {following.place})")
    for lesson in _lessons(exercises):
        lines.append(f"  {lesson}")
        for item in exercises:
            if item.place == lesson:
                mark, state = _state(recorded.get(item.name))
                lines.append(f"    {mark} {item.name}: {state}")
        count = quizzes.get(_slug(lesson))
        if count is not None:
            mark, state = _quiz_state(*count)
            lines.append(f"    {mark} quiz: {state}")
    return "\n".join(lines)


def progress_html(
    exercises: Sequence[Listed],
    recorded: dict[str, Attempts],
    quizzes: Answered,
    places: Sequence[str] = (),
) -> str:
    """A card with the next step, a tile for each lesson, and all exercises in a folded table.

    places: all lessons, those without exercises among them.
    """
    rows = []
    for lesson in _lessons(exercises):
        for item in (item for item in exercises if item.place == lesson):
            state = _state(recorded.get(item.name))
            rows.append(_row(lesson, f"<code>{html.escape(item.name)}</code>", state, item.title))
        count = quizzes.get(_slug(lesson))
        if count is not None:
            rows.append(_row(lesson, "quiz", _quiz_state(*count), "Answer the questions"))
    head = "".join(
        f'<th scope="col">{column}</th>' for column in ("lesson", "exercise", "state", "task")
    )
    table = (
        f'<div class="tw-fit"><table class="tw-progress"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    folded = f"<details><summary>All exercises and quizzes</summary>{table}</details>"
    total = _total(exercises, recorded, quizzes)
    body = _map(exercises, recorded, quizzes, places) + folded
    return frame("plain", "◆", "Your progress", total, body, "Progress")


def places(answer: Mapping[str, Any]) -> list[str]:
    """All lessons, as their files are called, in the judge's list of exercises."""
    return [f"{number}_{slug}" for slug, number in answer.get("lessons", {}).items()]


def _map(
    exercises: Sequence[Listed],
    recorded: dict[str, Attempts],
    quizzes: Answered,
    places: Sequence[str],
) -> str:
    lessons = sorted({*_lessons(exercises), *places})
    named = {place: [item.name for item in exercises if item.place == place] for place in lessons}
    passed = {name for name, item in recorded.items() if item.passed}
    tried = {name for name, item in recorded.items() if item.checks}
    following = _following(exercises, recorded)
    step = "" if following is None else _next_step(following, recorded.get(following.name))
    place = "" if following is None else following.place
    return step + map_html(tiles(lessons, named, passed, tried, quizzes), place)


def _next_step(item: Listed, attempts: Attempts | None) -> str:
    name = f"<code>{html.escape(item.name)}</code>"
    place = html.escape(item.place)
    if Path(f"{item.place}.ipynb").is_file():
        place = f'<a href="{place}.ipynb">{place}</a>'
    state = f" ({html.escape(_state(attempts)[1])})" if attempts is not None else ""
    return (
        f'<p class="tw-goal"><b>Next:</b> {name}, {html.escape(item.title)}, '
        f"in lesson {place}{state}.</p>"
    )


def _following(exercises: Sequence[Listed], recorded: dict[str, Attempts]) -> Listed | None:
    """The first exercise that is not passed behind the last one that is, else the first of all."""
    passed = [recorded.get(item.name, Attempts()).passed != "" for item in exercises]
    last = max((place for place, done in enumerate(passed) if done), default=-1)
    order = [*range(last + 1, len(exercises)), *range(last)]
    return next((exercises[place] for place in order if not passed[place]), None)


def _row(lesson: str, what: str, state: tuple[str, str], task: str) -> str:
    mark, words = state
    return (
        f"<tr><td>{html.escape(lesson)}</td><td>{what}</td>"
        f'<td><span aria-hidden="true">{mark}</span> {html.escape(words)}</td>'
        f"<td>{html.escape(task)}</td></tr>"
    )


def _slug(place: str) -> str:
    return place.partition("_")[2]


def _total(exercises: Sequence[Listed], recorded: dict[str, Attempts], quizzes: Answered) -> str:
    passed = {item.name for item in exercises if recorded.get(item.name, Attempts()).passed}
    lessons = _lessons(exercises)
    done = [
        lesson
        for lesson in lessons
        if all(item.name in passed for item in exercises if item.place == lesson)
        and len(set(quizzes.get(_slug(lesson), ()))) < 2  # all questions, or no quiz
    ]
    return (
        f"{len(passed)} of {len(exercises)} exercises passed, "
        f"{len(done)} of {len(lessons)} lessons done"
    )


def _lessons(exercises: Sequence[Listed]) -> list[str]:
    return list(dict.fromkeys(item.place for item in exercises))
