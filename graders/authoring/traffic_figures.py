"""Write `generated/traffic.json`: the bytes that the model solutions move, for learners."""

from __future__ import annotations

import json

from graders.authoring.rooms import Rooms
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise, GraderError
from graders.judge.running.traffic import FIGURES
from graders.judge.submission.loading import load

SECRET = b"figures"  # the bytes of histograms and losses depend on the random inputs


def figures(rooms: Rooms, judge: Judge) -> dict[str, dict[str, int]]:
    """Exercise → case → bytes, for every exercise of kernels that has a solution."""
    found = {}
    for name, exercise in sorted(discovery.of_kernels().items()):
        if (rooms.solutions / f"{exercise.lesson}.py").is_file():
            found[name] = _figures_of(rooms, exercise, judge)
    return found


def _figures_of(rooms: Rooms, exercise: Exercise, judge: Judge) -> dict[str, int]:
    solution = rooms.solutions / f"{exercise.lesson}.py"
    measured = judge.traffic_of(load(solution, exercise), exercise)
    if measured is None:
        return {}
    item, moved = measured
    if moved is None:
        raise GraderError(
            f"{rooms.name(solution)}: {exercise.name} fails on case {item.case.name!r}: "
            f"`tilewise check {rooms.name(solution)}` says why"
        )
    return {item.case.name: moved.total}


def write(rooms: Rooms) -> bool:
    """Bring the file up to date; True if it changed."""
    with Judge(secret=SECRET) as judge:
        text = json.dumps(figures(rooms, judge), indent=1) + "\n"
    if FIGURES.is_file() and FIGURES.read_text() == text:
        return False
    FIGURES.write_text(text)
    return True
