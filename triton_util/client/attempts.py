"""The learner's progress: a small JSON file beside the notebook, and the texts that show it.

`TILEWISE_HOME` names the folder when it is set. Otherwise it is the nearest `.tilewise` folder in
the working folder or above it; if there is none, a new one in the working folder, or
`~/.tilewise` when the working folder is read-only. A damaged file is renamed, never an error.
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
from triton_util.client.report import Checked

_FILE = "progress.json"


@dataclass(frozen=True)
class Attempts:
    """The results of one exercise. Times are UTC, ISO 8601; `passed` is "" until it passes."""

    checks: int = 0
    passed: str = ""
    best_cases: int = 0
    cases_total: int = 0
    fewest_bytes: int = 0  # moved by a correct kernel in the case `bytes_case`; 0: not counted
    bytes_case: str = ""


@dataclass(frozen=True)
class Listed:
    """One exercise of the course, as the judge lists it. `number` is the number of its lesson;
    `challenge` says how to break a solution that passed.
    """

    name: str
    lesson: str
    title: str
    number: str
    challenge: str = ""

    @property
    def place(self) -> str:
        """The lesson's file name without its ending: `01_vector_add`."""
        return f"{self.number}_{self.lesson}"


def is_validating() -> bool:
    """Whether `nbgrader validate`, or its button, runs the notebook; such a check is no attempt."""
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


def folder() -> Path:
    """The folder of the progress file; it may not exist yet."""
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
    """The recorded attempts by exercise; {} when there are none or the file cannot be read."""
    path = folder() / _FILE if path is None else path
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): _attempts(item) for name, item in stored["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        _set_aside(path)
        return {}


def record(report: Checked) -> bool:
    """Add one check to the file. Returns False if that failed (a full disk, for example).

    Checks that judged nothing are not counted: an unchanged stub, a cell that was not run, a
    failure of the judge.
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


def _fewest(report: Checked, before: Attempts) -> dict[str, Any]:
    """The bytes to record: the fewest so far, for the case that the judge counts today."""
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
    """Rename a damaged file, so that the next write does not overwrite its content."""
    with contextlib.suppress(OSError):
        path.replace(path.with_suffix(".damaged.json"))


def write(path: Path, text: str) -> None:
    """Write the file atomically: a reader never sees half a file."""
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
    """The mark of one exercise, and its state in words."""
    if attempts is None:
        return "○", "not tried yet"
    if attempts.passed:
        return "✓", f"passed on {attempts.passed[:10]}"
    best = f", at best {attempts.best_cases} of {attempts.cases_total} cases"
    tries = f"{attempts.checks} check{'s' if attempts.checks != 1 else ''}"
    return "◐", f"under way: {tries}{best if attempts.cases_total else ''}"


Answered = Mapping[str, tuple[int, int]]  # by lesson: correct answers, questions


def _quiz_state(right: int, questions: int) -> tuple[str, str]:
    mark = "✓" if right == questions else "◐" if right else "○"
    return mark, f"{right} of {questions} questions right"


def progress_text(
    exercises: Sequence[Listed], recorded: dict[str, Attempts], quizzes: Answered
) -> str:
    """The next step, then one line for each lesson, exercise and quiz."""
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

    places: all lessons, including those without exercises.
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
    """The file names of all lessons, from the judge's list of exercises."""
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
    """The first unpassed exercise after the last passed one, else the first unpassed one."""
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
        and len(set(quizzes.get(_slug(lesson), ()))) < 2  # all questions answered, or no quiz
    ]
    return (
        f"{len(passed)} of {len(exercises)} exercises passed, "
        f"{len(done)} of {len(lessons)} lessons done"
    )


def _lessons(exercises: Sequence[Listed]) -> list[str]:
    return list(dict.fromkeys(item.place for item in exercises))
