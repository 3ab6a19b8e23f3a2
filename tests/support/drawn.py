"""Which costly tests a run makes, in which order, and until when. tests/conftest.py applies it.

Judging all known kernels takes half an hour or more. A run first judges the kernels of the
exercises that the change touches, then others in an order that the commit draws. A test belongs
to a known kernel if its parameter is called `<lesson>/<exercise>/<name>`. The marker `drawn`
names folders: unless the change touches one, or the test's file, only some parameters run.

    TILEWISE_KERNELS=touched      of untouched exercises one kernel in sixty, of other drawn tests
                                  one in six; the default
    TILEWISE_KERNELS=sample       the same as if nothing were touched: `make test-oldest`
    TILEWISE_KERNELS=all          all, until the time for kernels is used: the default of CI=true;
                                  of other drawn tests the same as with `touched`
    TILEWISE_KERNELS=nightly      all of both, and some other tests have more parameters
    TILEWISE_JUDGING_MINUTES=30   how long kernels are judged, in all processes at once

The change is the difference to the commit where the branch left the main branch; on the main
branch itself, to the parent commit. Files that are not committed yet belong to the change.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from graders.grading.closure import closure

ROOT = Path(__file__).resolve().parents[2]
KERNELS, MINUTES = "TILEWISE_KERNELS", "TILEWISE_JUDGING_MINUTES"
MODES = ("touched", "sample", "all", "nightly")
ONE_IN, ONE_TEST_IN = 60, 6  # kernels, and other tests that are drawn
ROUNDS = 10  # parts of the kernels of each exercise; divides ONE_IN, so the sample is in part 0
LATEST_MINUTES = 50  # of a run, after which no kernel is judged: continuous integration has 90
MAIN = ("origin/main", "main")
# where a file or folder is called as a lesson or an exercise
NAMED = ("solutions/", "tests/judge/beginners/")
KERNELS_OF = re.compile(r"tests/course/\w+/(\w+)/")  # an exercise


class Exercise(NamedTuple):
    lesson: str
    name: str


def exercise_of(nodeid: str) -> Exercise | None:
    """The exercise of the known kernel that this test judges; None for any other test."""
    words = nodeid.partition("[")[2].split("/", 2)
    return Exercise(*words[:2]) if len(words) == 3 and words[0] in lessons() else None


@cache
def lessons() -> frozenset[str]:
    return frozenset(path.stem for path in (ROOT / "solutions").glob("[a-z]*.py"))


def mode() -> str:
    """What the environment asks for."""
    asked = os.environ.get(KERNELS) or ("all" if os.environ.get("CI") == "true" else MODES[0])
    if asked not in MODES:
        raise ValueError(f"{KERNELS} is {asked!r}: set it to one of {', '.join(MODES)}")
    return asked


def draw(commit: str, name: str) -> int:
    """A number that follows from both, so that each commit draws others."""
    return int(hashlib.sha256(f"{commit} {name}".encode()).hexdigest()[:12], 16)


@dataclass(frozen=True)
class Plan:
    """Decides which kernels are judged; the same in every process of a run."""

    commit: str
    changed: tuple[str, ...] = ()  # paths
    touched: tuple[str, ...] = ()  # names of lessons and exercises, and other words
    mode: str = "touched"
    minutes: float = 30.0

    @classmethod
    def of_environment(cls) -> Self:
        """The plan for this tree, from git and the environment."""
        paths, minutes = changed(), float(os.environ.get(MINUTES) or cls.minutes)
        names = tuple(sorted(touched(paths)))
        return cls(_git("rev-parse", "HEAD"), tuple(paths), names, mode(), minutes)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        lists = {name: tuple(data[name]) for name in ("changed", "touched")}
        return cls(**{**data, **lists})

    def to_data(self) -> dict[str, Any]:
        """For another process: xdist sends plain values."""
        return {**asdict(self), "changed": list(self.changed), "touched": list(self.touched)}

    def touches(self, exercise: Exercise) -> bool:
        return not {*exercise}.isdisjoint(self.touched)

    def chosen(self, nodeid: str, folders: Sequence[str] | None = None) -> bool:
        """Whether a test may run, if time is left. folders: those of its marker `drawn`."""
        exercise = exercise_of(nodeid)
        if (exercise is None and folders is None) or self.mode == "nightly":
            return True
        if exercise is not None and self.mode == "all":
            return True
        if exercise is not None:
            touched, one_in = self.touches(exercise), ONE_IN
        else:
            rooms = (nodeid.partition("::")[0], *(folders or ()))
            touched, one_in = any(path.startswith(rooms) for path in self.changed), ONE_TEST_IN
        if self.mode != "sample" and touched:
            return True
        return draw(self.commit, nodeid) % one_in == 0

    def group(self, nodeid: str) -> str:
        """What runs in one process, one after the other: a file, or some kernels of an exercise.

        A file prepares things for all of its tests; the kernels need no more than a judge. (The
        marker `xdist_group` would do the same, but pytest 9.2 does not read it.)
        """
        file, exercise = nodeid.partition("::")[0], exercise_of(nodeid)
        if exercise is None:
            return file
        return f"{file} {exercise.name} {draw(self.commit, nodeid) % ROUNDS}"

    def place(self, nodeid: str) -> tuple[Any, ...]:
        """Sorts tests: those of no kernel first, then touched exercises, then the others.

        Every exercise has its turn in each round.
        """
        exercise = exercise_of(nodeid)
        if exercise is None:
            return (0,)
        part, turn = draw(self.commit, nodeid) % ROUNDS, draw(self.commit, exercise.name)
        return (1, not self.touches(exercise), part, turn, self.group(nodeid))


# ---------------------------------------------------------------- what the change touches


def changed() -> list[str]:
    """Paths of files that differ from the base, or that git does not know yet."""
    paths = _git("diff", "--name-only", _base())
    return [*paths.splitlines(), *_git("ls-files", "--others", "--exclude-standard").splitlines()]


def _base() -> str:
    forks = (_git("merge-base", "HEAD", main) for main in MAIN)
    fork = next(filter(None, forks), "")
    return fork if fork and fork != _git("rev-parse", "HEAD") else "HEAD^"


def _git(*words: str) -> str:
    """What git answers; nothing where it cannot, as in an archive or a shallow clone."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def touched(paths: Iterable[str]) -> set[str]:
    """The lessons and exercises to which files belong, by their names or by imports."""
    changed = set(paths)
    own = [Path(path) for path in changed if path.startswith(NAMED)]
    names = {part.partition(".")[0] for path in own for part in path.parts}
    names |= {found[1] for path in changed if (found := KERNELS_OF.match(path))}
    if any(path.startswith("graders/") for path in changed):
        names |= {lesson for lesson, files in _imported().items() if changed & files}
    return names


def _imported() -> dict[str, set[str]]:
    """The files of the course that a lesson's records import.

    What more than half of the lessons import belongs to none of them.
    """
    files = {
        lesson: {
            path.relative_to(ROOT).as_posix()
            for path in closure(
                [f"graders.course.{lesson}.exercise", f"graders.course.{lesson}.hidden"],
                without=("graders.judge", "triton_util"),
            ).modules.values()
        }
        for lesson in lessons()
    }
    users = Counter(path for paths in files.values() for path in paths)
    common = {path for path, count in users.items() if count > len(files) / 2}
    return {lesson: paths - common for lesson, paths in files.items()}


# ---------------------------------------------------------------- until when


@dataclass(frozen=True)
class Budget:
    """Time for judging, shared by all processes of a run through an empty file.

    The clock starts when the first of them asks: the file's date says when that was. The time is
    also used up when the run is too old, so that a slow machine still ends in time.
    """

    file: Path
    minutes: float
    run_started: float

    @property
    def used(self) -> bool:
        with suppress(FileExistsError):
            self.file.open("x").close()
        end = self.file.stat().st_mtime + 60 * self.minutes
        return time.time() >= min(end, self.run_started + 60 * LATEST_MINUTES)


def summary(plan: Plan, ran: Iterable[Exercise], known: Iterable[Exercise]) -> str:
    """One line for the end of a run: for how many known kernels a test ran."""
    some, every = Counter(ran), Counter(known)
    touched = [exercise for exercise in every if plan.touches(exercise)]
    names = ", ".join(sorted(exercise.name for exercise in touched)) or "no exercise"
    done, most = (sum(count[exercise] for exercise in touched) for count in (some, every))
    return (
        f"{some.total()} of {every.total()} tests of known kernels ran, {done} of {most} of those "
        f"that the change touches ({names})"
    )
