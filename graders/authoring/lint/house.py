"""The rules for every lesson and its files. Messages name the file and the fix."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from graders.authoring.course import stale
from graders.authoring.kernels import correct_kernels, wrong_kernels
from graders.authoring.lesson import (
    BEGIN,
    END,
    Lesson,
    read_lesson,
    read_solutions,
    solution_lines,
    stub,
)
from graders.authoring.lint.text import lint_text
from graders.authoring.rooms import Rooms, slug_of
from graders.judge import discovery
from graders.judge.calling import words
from graders.judge.diagnosis import factors, generic, patterns, source_hints
from graders.judge.launch_trace.findings import WORDS
from graders.judge.records import (
    Case,
    Exercise,
    Hidden,
    Misconception,
    Question,
    Remark,
    TensorSpec,
)
from graders.judge.running.traffic import FIGURES
from graders.judge.static import findings

MIN_CORRECT_KERNELS, MIN_MISTAKES = {10: 8, 5: 4}, 6  # correct ones by points: a drill has 5
MIN_QUESTIONS, MAX_QUESTIONS, CHOICES = 3, 6, 4
MIN_REGION = 3  # line ends: a shorter passage may occur in the text by chance
# Codes that the judge can report in any exercise: a wrong kernel may be named after one.
OF_EVERY_EXERCISE = {
    *generic.FAULTS,
    *(pattern.code for pattern in patterns.PATTERNS),
    *(rule.code for rule in factors.RULES),
    *findings.TITLES,
    *WORDS,
    *words.ENDED,
    *(suspect.code for suspect in source_hints.SUSPECTS),
    *("compile-error", "crashed", "exited", "inputs-changed", "not-finite", "out-of-memory"),
    *("raised", "swapped-results", "timeout", "too-much-traffic", "too-slow", "undefined-name"),
    *("wrong-return", "wrong-unit", "wrong-values"),
}


def lint_lesson(rooms: Rooms, path: Path) -> list[str]:
    """Every finding about one lesson that needs no kernel run."""
    lesson = read_lesson(path)
    messages = [*_title(rooms, lesson), *_todos(rooms, lesson), *lint_text(rooms, lesson)]
    if lesson.names("exercise"):
        messages += [*_rooms_match(rooms, lesson), *_records(rooms, lesson)]
        messages += _leaks(rooms, lesson)
    if not messages and path.with_suffix(".ipynb") in stale(rooms, lesson.slug):
        messages.append(
            f"{rooms.name(path.with_suffix('.ipynb'))}: not what its lesson gives; "
            "run `tilewise build` and commit it"
        )
    return messages


def lint_house(rooms: Rooms) -> list[str]:
    """Messages on files in one folder without a counterpart in another."""
    slugs = {slug_of(path) for path in rooms.lesson_files()}
    messages = []
    contracts = rooms.course.glob("*/exercise.py")
    homes = {path.parent: path.parent.name for path in contracts}
    homes |= {path: path.stem for path in rooms.solutions.glob("[a-z]*.py")}
    for path, slug in sorted(homes.items()):
        if slug not in slugs:
            messages.append(
                f"{rooms.name(path)}: there is no lesson NN_{slug}.py; write it with "
                "`tilewise new`, or delete this"
            )
    for folder in sorted(rooms.kernels("*", "*").parent.parent.glob("[a-z]*/[a-z]*")):
        exercise = discovery.exercises().get(folder.name)
        if exercise is None or exercise.lesson != folder.parent.name:
            messages.append(
                f"{rooms.name(folder)}: the lesson has no exercise of this name; rename it"
            )
    return messages


def _title(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    if not lesson.title:
        yield f"{rooms.name(lesson.path)}: the first heading is empty; give the lesson a title"


def _todos(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    slug = lesson.slug
    for path in (
        lesson.path,
        rooms.solutions / f"{slug}.py",
        rooms.exercise(slug),
        rooms.hidden(slug),
    ):
        count = path.read_text(encoding="utf-8").count("TODO") if path.is_file() else 0
        if count:
            yield f"{rooms.name(path)}: {count} times TODO; write what is asked for there"


def _rooms_match(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    slug = lesson.slug
    for path in (rooms.solutions / f"{slug}.py", rooms.exercise(slug), rooms.hidden(slug)):
        if not path.is_file():
            yield f"{rooms.name(path)}: is missing; `tilewise new` shows its form"
    solved = set(read_solutions(rooms.solutions / f"{slug}.py"))
    asked = set(lesson.names("exercise"))
    recorded = {name for name, found in discovery.exercises().items() if found.lesson == slug}
    for name in sorted(asked - recorded):
        yield f"{rooms.name(rooms.exercise(slug))}: has no {name!r}; the lesson asks for it"
    for name in sorted(recorded - asked):
        yield f'{rooms.name(lesson.path)}: never asks for {name!r}; add `# %% exercise="{name}"`'
    for name in sorted(recorded ^ solved):
        where = rooms.solutions / f"{slug}.py" if name in recorded else rooms.exercise(slug)
        yield f"{rooms.name(where)}: has nothing about {name!r}; the rooms must match"


def _records(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    slug, where = lesson.slug, f"graders/course/{lesson.slug}/exercise.py"
    for name in lesson.names("exercise"):
        exercise = discovery.exercises().get(name)
        if exercise is not None:
            yield from _record(where, exercise)
            yield from _hidden_record(slug, exercise)
            yield from _kernels(rooms, exercise)
            if exercise.function is None:
                yield from _contract(rooms, exercise)
                yield from _traffic(rooms, exercise)
    yield from _quiz(f"graders/course/{slug}/quiz.py", slug)


def _record(where: str, exercise: Exercise) -> Iterator[str]:
    name = exercise.name
    if len([hint for hint in exercise.hints if len(hint) > 40]) != 3:
        yield f"{where}: {name} needs three hints, from a nudge to nearly the line"
    if not (40 < len(exercise.challenge) < 130 and exercise.challenge.endswith("?")):
        yield f"{where}: {name} needs a challenge in one line: break what, and what happens?"
    if exercise.max_points not in MIN_CORRECT_KERNELS:
        yield (
            f"{where}: {name} has {exercise.max_points} points; distribute 10 over `parts`, or 5 "
            "if it is a drill of five minutes"
        )
    parts = {case.part for case in exercise.cases}
    for part in sorted(parts ^ set(exercise.parts)):
        yield f"{where}: {name} has cases or points for the part {part!r}, not both; fix `parts`"
    names = [case.name for case in exercise.cases]
    for case in sorted({case for case in names if names.count(case) > 1}):
        yield f"{where}: {name} has two cases called {case!r}; rename one"
    codes = [misconception.code for misconception in exercise.misconceptions]
    for code in sorted({code for code in codes if codes.count(code) > 1}):
        yield f"{where}: {name} has two misconceptions {code!r}; rename one"
    named: list[Misconception | Remark] = [*exercise.misconceptions, *exercise.remarks]
    for told in named:
        if not (told.title and len(told.message) > 30 and told.next_step):
            yield f"{where}: {name}: {told.code} needs title, message and next_step"
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", told.code):
            yield f"{where}: {name}: the code {told.code!r} is not small-letters-and-hyphens"
    for found in exercise.misconceptions:
        if not found.expected_wrong and found.detector is None and not found.faults:
            yield (
                f"{where}: {name}: {found.code} can never be seen; add expected_wrong, faults or "
                "detector"
            )


def _contract(rooms: Rooms, exercise: Exercise) -> Iterator[str]:
    where, contract = rooms.name(rooms.contract(exercise.lesson)), discovery.contract(exercise.name)
    if contract is None:
        yield f"{where}: CONTRACTS[{exercise.name!r}] is missing; write what its launcher accepts"
    elif contract.make is None and tuple(contract.inputs) != exercise.parameters:
        yield f"{where}: {exercise.name}: the inputs are not the launcher's parameters; name those"


def _hidden_record(slug: str, exercise: Exercise) -> Iterator[str]:
    where = f"graders/course/{slug}/hidden.py"
    try:
        records = importlib.import_module(f"graders.course.{slug}.hidden").HIDDEN
    except (ModuleNotFoundError, AttributeError):
        return  # _rooms_match reports it
    record = records.get(exercise.name)
    if not isinstance(record, Hidden) or not record.cases:
        yield f"{where}: HIDDEN[{exercise.name!r}] is missing or has no cases; write some"
        return
    for part in sorted({case.part for case in record.cases} - set(exercise.parts)):
        yield f"{where}: {exercise.name} has hidden cases of the unknown part {part!r}"
    public = {(case.args, case.name) for case in exercise.cases}
    for case in record.cases:
        if (case.args, case.name) in public:
            yield f"{where}: {exercise.name}: {case.name!r} is a public case; change it"
    for what in ("dtype", "view"):
        for value in sorted(_values(record.cases, what) - _values(exercise.cases, what)):
            yield f"{where}: {exercise.name}: no public case has the {what} {value}; add one"


def _values(cases: Iterable[Case], what: str) -> set[str]:
    specs = (arg for case in cases for arg in case.args if isinstance(arg, TensorSpec))
    return {str(getattr(spec, what)) for spec in specs}


def _kernels(rooms: Rooms, exercise: Exercise) -> Iterator[str]:
    folder = rooms.kernels(exercise.name, exercise.lesson)
    where, wrong = rooms.name(folder), wrong_kernels(folder)
    least = MIN_CORRECT_KERNELS.get(exercise.max_points, 8)
    if (count := len(correct_kernels(folder))) < least:
        yield f"{where}: has {count} correct kernels; write {least} in other styles"
    codes = {name.partition("__")[0].replace("_", "-") for name in wrong}
    if len(codes) < MIN_MISTAKES:
        yield (
            f"{where}: has wrong kernels for {len(codes)} mistakes; write {MIN_MISTAKES} or more, "
            "each named after the misconception that the judge must report"
        )
    known = OF_EVERY_EXERCISE | {found.code for found in exercise.misconceptions}
    known |= {promise.code for promise in exercise.requirements}
    known |= {promise.code for promise in exercise.compiler_requirements}
    known |= {remark.code for remark in exercise.remarks if remark.promised}
    for code in sorted(codes - known):
        yield f"{where}: no misconception has the code {code!r}; rename the kernel"
    for name, kernel in wrong.items():
        if not kernel.text.startswith('"""'):
            yield f"{where}: {name} needs a docstring that names its mistake"


def _traffic(rooms: Rooms, exercise: Exercise) -> Iterator[str]:
    """Report a missing figure: without it the gate *traffic* would silently be skipped."""
    path = rooms.generated / FIGURES.name
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if exercise.name not in known:
        yield (
            f"{rooms.name(path)}: nothing is known of {exercise.name}; run `tilewise build "
            "--traffic` and commit it"
        )


def _quiz(where: str, slug: str) -> Iterator[str]:
    if slug not in discovery.lessons():
        return  # _rooms_match reports it
    questions = discovery.quiz(slug)
    if not MIN_QUESTIONS <= len(questions) <= MAX_QUESTIONS:
        asked = f"{MIN_QUESTIONS} to {MAX_QUESTIONS}"
        yield f"{where}: QUIZ has {len(questions)} questions; write {asked}"
    for question in questions:
        yield from _question(where, question)


def _question(where: str, question: Question) -> Iterator[str]:
    short = question.prompt[:40]
    if sum(choice.right for choice in question.choices) != 1:
        yield f"{where}: the question {short!r} needs exactly one right choice"
    if len(question.choices) != CHOICES:
        yield f"{where}: the question {short!r} needs {CHOICES} choices"
    for choice in question.choices:
        if not choice.text or len(choice.answer) <= 15:
            yield f"{where}: the choice {choice.text[:40]!r} needs an answer"


def _leaks(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    """Report text of a solution or of a model answer in a learner's notebook."""
    notebook = lesson.path.with_suffix(".ipynb")
    if not notebook.is_file():
        return
    cells = {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    }
    for name, solution in read_solutions(rooms.solutions / f"{lesson.slug}.py").items():
        own = cells.get(name, "").replace(stub(solution), "")
        for line in solution_lines(solution):
            if line in own:
                yield f"{rooms.name(notebook)}: the cell {name} holds the solution's {line!r}"
        for region in solution_regions(solution):
            for cell in (key for key, text in cells.items() if region in _flat(text)):
                yield f"{rooms.name(notebook)}: cell {cell} holds a region of {name}'s solution"
    for name in lesson.names("model_answer"):
        answer = _flat(lesson.model_answer(name))
        for cell in (key for key, text in cells.items() if answer[:200] in _flat(text)):
            yield f"{rooms.name(notebook)}: cell {cell} holds the model answer of {name}"


def solution_regions(solution: str) -> list[str]:
    """The regions of a solution that are too long to match by chance, flattened."""
    regions = [part.partition(END)[0] for part in solution.split(BEGIN)[1:]]
    return [_flat(region) for region in regions if region.strip().count("\n") >= MIN_REGION]


def _flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))
