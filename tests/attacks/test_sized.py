"""Submissions whose size is the attack: the judge stays small, and nobody else waits or loses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graders.judge.sandbox.pool import Workers
from tests.attacks.attack import honest, inside
from tests.attacks.classroom import Graded
from tests.attacks.sized import HOSTILE
from tests.support.small_course import ASSIGNMENT, EXERCISE, make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
MOST_BYTES = 600 << 20
SECONDS = 600.0  # a busy machine takes ten times as long as a quiet one
# Those that the judge is done with soon; the others use up the time of a case first.
SOON = ("module-fills", "blank-lines-in-kernel", "wide-values", "constants", "deep-value")
# Judges what its arguments name, then an honest submission, and says the most memory it took.
_JUDGE = """
import re, sys
from pathlib import Path
from graders.judge import discovery
from graders.judge.pipeline import Judge
from tests.attacks.attack import honest
from tests.attacks.sized import HOSTILE
exercise = discovery.exercise("vector_add")
with Judge(official=True) as judge:
    for name in sys.argv[1:]:
        judge.judge_text(HOSTILE[name], exercise)
    assert judge.judge_text(honest(), exercise).points == exercise.max_points
    # Of this program alone: getrusage counts what the process was before it began, too.
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print(int(peak[1]) << 10)
"""
_SLEEPING = inside("import time\ntime.sleep(1e6)")


@pytest.fixture(autouse=True)
def _jailed() -> None:
    with Workers() as workers:
        if workers.tier != "A":
            pytest.skip(f"no tier A here: {workers.layers}")


def test_the_judge_stays_small() -> None:
    command = [sys.executable, "-c", _JUDGE, *SOON]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < MOST_BYTES


def test_a_class_with_hostile_submissions_is_graded(tmp_path: Path) -> None:
    course = make(tmp_path)
    hostile = {
        "b-blank": HOSTILE["blank-lines-in-kernel"],
        "e-fills": HOSTILE["module-fills"],
        "h-sleeps": _SLEEPING,
    }
    honest_ones = [f"{letter}-honest" for letter in "acdfgij"]
    for student, code in hostile.items():
        course.hand_in(student, code)
    for student in honest_ones:
        course.hand_in(student, f"{honest()}# {student}\n")
    command = [sys.executable, "-m", "graders.cli.main", "autograde", ASSIGNMENT]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command,
        cwd=course.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    graded = Graded(course)
    assert set(graded.scores) == {*hostile, *honest_ones}
    assert {graded.points(student) for student in honest_ones} == {EXERCISE.max_points}
    assert graded.points("h-sleeps") == 0
    assert [f["code"] for f in graded.report("h-sleeps")["findings"]] == ["asleep"]
    assert None not in {graded.points(student) for student in hostile}
