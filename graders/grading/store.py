"""Caches marks by what they depend on, so that only changed work is graded again.

Each mark has one small file, written atomically. So a killed run loses no finished marks, and a
second run finds all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graders.grading.atomic_files import write_atomically
from graders.grading.closure import ROOT, closure, digest_of, remember
from graders.grading.marks import Marks
from graders.judge import discovery
from graders.judge.records import GraderError

# The modules that run when a submission is judged: the judge, the programs that it starts as
# processes, and the module that makes a mark of its report. Their imports are found from them.
JUDGING = (
    "graders.judge.pipeline",
    "graders.judge.submission.reader_process",
    "graders.judge.sandbox.zygote",
    "graders.judge.sandbox.serve",
    "graders.judge.compiling.worker",
    "graders.judge.speed.measuring",
    "graders.grading.marks",
)
# Modules that run only with a GPU: a verdict without one does not depend on them.
GPU_ONLY = (
    "graders.judge.compiling.variants",
    "graders.judge.plan.timing",
    "graders.judge.running.gpu",
    "graders.judge.running.gpu_differences",
    "graders.judge.sandbox.ahead_compilers",
    "graders.judge.sandbox.gpu_lock",
    "graders.judge.sandbox.job_tensors_gpu",
    "graders.judge.speed.watched",
    "graders.judge.speed.gate",
    "graders.judge.speed.inputs",
    "graders.judge.speed.measuring",
    "graders.judge.speed.model_times",
)
# Modules that show results in a learner's notebook; a verdict does not depend on them.
SHOWING = (
    *("triton_util.client", "triton_util.explain.page", "triton_util.bench.page"),
    "triton_util.explain.listing",
)
ORDER = "order.json"  # of the lessons; marks do not depend on it
MODEL_ANSWERS = "model_answers.json"  # of case studies, which people grade
REGISTERS = "registers.json"  # of the model solutions; the card of a passed check shows them
UNTIMED = ("interpret", "without gpu")  # modes whose marks contain no speed


@cache
def judge_version() -> str:
    """Return a digest of everything that judges: the gates, the engine, torch and triton."""
    from importlib.metadata import PackageNotFoundError, version

    digest = hashlib.sha256(sources_version().encode())
    for library in ("torch", "triton", "numpy"):
        try:
            digest.update(f"{library} {version(library)}\n".encode())
        except PackageNotFoundError as error:
            raise GraderError(
                f"{library} is not installed here, so nothing can be judged: `tilewise doctor` "
                "says what to install"
            ) from error
    return digest.hexdigest()[:16]


@cache
def sources_version(root: Path = ROOT, gpu: bool = True) -> str:
    """Return a digest of the code that judges, which does not depend on installed libraries.

    gpu: whether modules that run only with a GPU count, too.
    """
    without = (*SHOWING, *(() if gpu else GPU_ONLY))
    found = closure(JUDGING, root, without).digest()
    remember()
    return found


@cache
def exercise_version(exercise: str, timed: bool = True, root: Path = ROOT) -> str:
    """Return a digest of what only this exercise's verdict depends on.

    It covers the record, the hidden cases and the misconceptions that they import, the bytes that
    the model solution moves (for the traffic gate), and the cells that the lesson gives. If speed
    is measured (`timed`), it also covers the model solution itself and the sizes.
    """
    slug = discovery.exercise(exercise).lesson
    parts_of_lesson = ("exercise", "hidden", *(("workloads",) if timed else ()))
    names = [f"graders.course.{slug}.{part}" for part in parts_of_lesson]
    judging = closure(names, root, without=SHOWING)
    parts = [judging.digest(), _figures(root, exercise, slug)]
    model = root / "solutions" / f"{slug}.py"
    if timed and model.is_file():
        parts.append(digest_of(model.read_bytes()))
    remember()
    return digest_of(json.dumps(parts).encode())


def _figures(root: Path, exercise: str, slug: str) -> list[Any]:
    """Return this exercise's entries, and its lesson's, in the data beside the records."""
    files = sorted((root / "graders" / "course" / "generated").glob("*.json"))
    data = [
        json.loads(file.read_text(encoding="utf-8"))
        for file in files
        if file.name not in (ORDER, MODEL_ANSWERS, REGISTERS)
    ]
    return [[table.get(exercise), table.get(slug)] for table in data]


def key(code: Sequence[str], exercise: str, mode: str, judge: str | None = None) -> str:
    """Return a key for a mark: a hash of the code cells, the exercise, the judge and the mode.

    `judge` is the judge's version; by default it includes this machine's libraries.
    """
    version = exercise_version(exercise, timed=not mode.startswith(UNTIMED))
    parts = [judge or judge_version(), version, exercise, mode, *code]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class MarksStore:
    """A folder of marks by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Marks | None:
        """Return the mark with that key; None if it is missing or its file is damaged."""
        try:
            return Marks.from_json(json.loads(self._path(name).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, marks: Marks) -> None:
        """Store a mark, except an ungraded one, so that the next run tries again."""
        if marks.reason:
            return
        write_atomically(self._path(name), marks.to_json())

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json"
