"""Marks that were given before, by what they depend on: regrade only what changed.

One small file per mark, written beside and renamed, so that a run that is killed loses
nothing and a second run finds everything that the first one finished.
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

# What runs when a submission is judged: the judge, the programs that it starts as processes, and
# what makes a mark of its report. All else follows from what these import.
JUDGING = (
    "graders.judge.pipeline",
    "graders.judge.submission.reader_process",
    "graders.judge.sandbox.zygote",
    "graders.judge.compiling.worker",
    "graders.judge.speed.measuring",
    "graders.grading.marks",
)
# What runs where there is a GPU and nowhere else: no verdict without one depends on it.
GPU_ONLY = (
    "graders.judge.compiling.variants",
    "graders.judge.plan.timing",
    "graders.judge.running.gpu",
    "graders.judge.running.gpu_differences",
    "graders.judge.sandbox.ahead_compilers",
    "graders.judge.sandbox.gpu_lock",
    "graders.judge.sandbox.job_tensors_gpu",
    "graders.judge.sandbox.watched",
    "graders.judge.speed.gate",
    "graders.judge.speed.inputs",
    "graders.judge.speed.measuring",
    "graders.judge.speed.model_times",
)
# What a learner's notebook shows of results; a verdict does not depend on it.
SHOWING = (
    *("triton_util.client", "triton_util.explain.page", "triton_util.bench.page"),
    "triton_util.explain.listing",
)
ORDER = "order.json"  # of the lessons; no mark depends on it
MODEL_ANSWERS = "model_answers.json"  # of case studies, which people grade
REGISTERS = "registers.json"  # of the model solutions; the card of a passed check shows them
UNTIMED = ("interpret", "without gpu")  # modes whose marks know no speed


@cache
def judge_version() -> str:
    """A digest of everything that judges: the gates, the engine, torch and triton."""
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
    """A digest of the code that judges: the same on machines with different libraries.

    gpu: whether what runs on a GPU alone counts, too.
    """
    without = (*SHOWING, *(() if gpu else GPU_ONLY))
    found = closure(JUDGING, root, without).digest()
    remember()
    return found


@cache
def exercise_version(exercise: str, timed: bool = True, root: Path = ROOT) -> str:
    """A digest of what judges this exercise and no other lesson's.

    Its record, its hidden cases and the misconceptions that they import; what the model solution
    moves, which the traffic gate compares with; the cells that its lesson gives; and where speed
    is measured (`timed`) the model solution itself and the sizes.
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
    """What the data beside the records, by exercise or by lesson, says of this one."""
    files = sorted((root / "graders" / "course" / "generated").glob("*.json"))
    data = [
        json.loads(file.read_text(encoding="utf-8"))
        for file in files
        if file.name not in (ORDER, MODEL_ANSWERS, REGISTERS)
    ]
    return [[table.get(exercise), table.get(slug)] for table in data]


def key(code: Sequence[str], exercise: str, mode: str, judge: str | None = None) -> str:
    """What a mark depends on: the submission's code cells, the exercise, the judge, the mode.

    `judge` is its version, with the libraries of this machine where it is not given.
    """
    version = exercise_version(exercise, timed=not mode.startswith(UNTIMED))
    parts = [judge or judge_version(), version, exercise, mode, *code]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class MarksStore:
    """A folder of marks by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Marks | None:
        """The mark of that key; None when there is none or its file is damaged."""
        try:
            return Marks.from_json(json.loads(self._path(name).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, name: str, marks: Marks) -> None:
        """Keep a mark. What could not be graded is never kept: the next run tries again."""
        if marks.reason:
            return
        write_atomically(self._path(name), marks.to_json())

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json"
