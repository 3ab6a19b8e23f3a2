"""Find the exercises: every folder of `graders/course` with an exercise record."""

from __future__ import annotations

import difflib
import importlib
import json
from functools import cache
from pathlib import Path

from graders.judge.cases.contract import Contract
from graders.judge.records import Exercise, GraderError, Hidden, Question, Workload

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "graders" / "course"
GENERATED = COURSE / "generated"  # what `tilewise build` derives from lessons and solutions


@cache
def exercises() -> dict[str, Exercise]:
    """All exercises by the name of their launcher, or of their plain function."""
    found: dict[str, Exercise] = {}
    for slug in lessons():
        for exercise in importlib.import_module(f"graders.course.{slug}.exercise").EXERCISES:
            if exercise.name in found:
                raise GraderError(f"two exercises are called {exercise.name!r}: rename one of them")
            found[exercise.name] = exercise
    return found


def of_kernels() -> dict[str, Exercise]:
    """The exercises that ask for a launcher of kernels, not for a plain function."""
    return {name: found for name, found in exercises().items() if found.function is None}


@cache
def lessons() -> tuple[str, ...]:
    """The slugs of the lessons that have an exercise record, in the order of the course.

    Records that an author writes before the lesson exists come last.
    """
    found = {contract.parent.name for contract in COURSE.glob("*/exercise.py")}
    return (*(slug for slug in numbers() if slug in found), *sorted(found - set(numbers())))


@cache
def numbers() -> dict[str, str]:
    """The numbers of the lessons by their slugs, in the order of the course: {"tour": "00", …}.

    They come from a file that `tilewise build` derives, because learners have no lessons folder.
    """
    stems = json.loads((GENERATED / "order.json").read_text(encoding="utf-8"))
    return {slug: number for number, _, slug in (stem.partition("_") for stem in stems)}


def quiz(lesson: str) -> tuple[Question, ...]:
    """The quiz of a lesson, or () if it has none."""
    if lesson not in lessons():
        raise KeyError(_unknown("lesson", lesson, lessons()))
    if not (COURSE / lesson / "quiz.py").is_file():
        return ()
    return tuple(importlib.import_module(f"graders.course.{lesson}.quiz").QUIZ)


def exercise(name: str) -> Exercise:
    """The exercise of that name. Otherwise raises a KeyError whose text lists the known ones."""
    known = exercises()
    if name not in known:
        raise KeyError(_unknown("exercise", name, tuple(known)))
    return known[name]


def contract(name: str) -> Contract | None:
    """What the launcher of that exercise must accept, as data; None if its author wrote none."""
    known = exercises().get(name)
    if known is None:  # an exercise that a test makes
        return None
    try:
        module = importlib.import_module(f"graders.course.{known.lesson}.contract")
    except ModuleNotFoundError:
        return None
    found: Contract | None = module.CONTRACTS.get(name)
    return found


def hidden(name: str) -> Hidden | None:
    """The hidden cases of an exercise; None in a learner's installation, which has none."""
    lesson = exercises()[name].lesson
    try:
        module = importlib.import_module(f"graders.course.{lesson}.hidden")
    except ModuleNotFoundError:
        return None
    found = module.HIDDEN.get(name)
    if found is not None and not isinstance(found, Hidden):
        raise GraderError(f"graders/course/{lesson}/hidden.py: {name!r} is not a Hidden record")
    return found


def workload(name: str) -> Workload | None:
    """The size at which the speed of an exercise is measured, or None if it has none."""
    lesson = exercises()[name].lesson
    if not (COURSE / lesson / "workloads.py").is_file():
        return None
    found: Workload | None = importlib.import_module(
        f"graders.course.{lesson}.workloads"
    ).WORKLOADS.get(name)
    return found


def model_path(exercise: Exercise) -> Path | None:
    """The file of the model solution; None in a learner's installation, which has none."""
    path = ROOT / "solutions" / f"{exercise.lesson}.py"
    return path if path.is_file() else None


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"there is no {kind} {name!r}.{guess} Known: {', '.join(sorted(known))}"
