"""How long a lesson takes: an estimate from what there is to read, to run and to write."""

from __future__ import annotations

from dataclasses import dataclass

from graders.authoring.lesson import BEGIN, END

WORDS = 180  # a minute of technical text
CELL, PREDICTION, QUESTION, FIX, CASE_STUDY_POINT = 0.5, 1.0, 1.0, 3.0, 2.0  # minutes for each
DRILL_POINTS, DRILL = 5, 5.0
EXERCISE, LINE = 10.0, 0.5  # to read the contract, check and fix; for each line to write
TOLERANCE = 0.3
SESSION = 60  # a longer lesson should be split


@dataclass(frozen=True)
class LessonWork:
    """What a lesson asks of a learner. `exercises` has the points and the lines of each one.

    The part for the GPU is not counted, because most learners read it and do not run it.
    """

    words: int
    cells: int
    predictions: int
    questions: int
    fixes: int
    case_study_points: int
    exercises: tuple[tuple[int, int], ...]


def estimate(work: LessonWork) -> float:
    """The minutes that the work takes."""
    written = (
        DRILL if points <= DRILL_POINTS else EXERCISE + LINE * lines
        for points, lines in work.exercises
    )
    return (
        work.words / WORDS
        + work.cells * CELL
        + work.predictions * PREDICTION
        + work.questions * QUESTION
        + work.fixes * FIX
        + work.case_study_points * CASE_STUDY_POINT
        + sum(written)
    )


def lines_to_write(solution: str) -> int:
    """How many lines the learner writes: those of the solution's regions, without comments."""
    regions = (part.partition(END)[0] for part in solution.split(BEGIN)[1:])
    lines = (line.strip() for region in regions for line in region.splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def is_near(stated: float, minutes: float) -> bool:
    """Tell whether the stated time differs from the estimate by 30 % of it at most."""
    return abs(stated - minutes) <= TOLERANCE * minutes
