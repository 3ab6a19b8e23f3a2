"""Nothing of a submission, and no secret, is in the memory that the next one's process inherits.

What is scanned is the memory of the warm processes: a child begins with exactly that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.judge import discovery
from graders.judge.cases.prepared import prepare
from graders.judge.compiling.gate import compile_gate
from graders.judge.compiling.process import CompileWorker
from graders.judge.running.interpret import run_cases
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Workers
from graders.judge.submission.loading import from_text
from tests.judge.launch_trace.honest_styles import HEAD, KERNEL, LAUNCH
from tests.support.capturing import SECRET, VECTORS, captured
from tests.support.paths import ROOT

NO_LETTERS = bytes({*range(256)} - {*range(32, 127)})
MARK = "zebra_quartz"
# The mark stands in every name, in a text, in a comment and in what is printed.
MARKED = (
    f"{HEAD}\n# {MARK}_comment\n{MARK}_TEXT = '{MARK} text'\n"
    + KERNEL.replace("pid", f"{MARK}_pid").replace("    mask", f"    print('{MARK} p')\n    mask")
    + f"\ndef vector_add(x, y):\n    {MARK}_local = {MARK}_TEXT, '{MARK} constant'\n"
    + f"    print({MARK}_local)\n"
    + LAUNCH
).replace("add_kernel", f"{MARK}_kernel")  # fmt: skip


def memory_of(pid: int) -> Iterator[bytes]:
    """What a process may write to, mapping by mapping."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found is None or "[v" in line:
                continue
            first, last = (int(place, 16) for place in found.groups())
            for start in range(first, last, 64 << 20):
                memory.seek(start)
                try:
                    yield memory.read(min(64 << 20, last - start))
                except OSError:
                    continue  # reserved, and never used


def found_in(pid: int, words: list[str]) -> set[str]:
    """Which of the words, of ASCII, stand in a process's memory.

    What is no letter of ASCII is left out first: a quarter of the memory remains, and Python's
    wide texts, which have zeros between the letters, are found like all others.
    """
    sought = {word: word.encode("ascii") for word in words}
    found: set[str] = set()
    for part in memory_of(pid):
        text = part.translate(None, NO_LETTERS)
        found |= {word for word, form in sought.items() if form in text}
    return found


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, int]]:
    """Warm processes, by name, that have served a submission: run, captured and compiled."""
    with Workers() as workers, CompileWorker() as compiler:
        submission = from_text(MARKED, VECTORS)
        plan = captured(submission, compiler)
        assert plan.findings == ()
        assert MARK in str(plan.plan.kernels)
        run = run_cases(
            PlannedJobs(submission.source, plan),
            prepare(VECTORS, VECTORS.cases, SECRET),
            workers,
            orders=False,
        )
        assert run.failures == []
        compile_gate(submission, plan, compiler)
        broken = MARKED.replace(
            "output = torch", f"raise ValueError('{MARK} raised')\n    output = torch"
        )
        captured(broken, compiler)
        assert workers.pid is not None
        assert compiler.pid is not None
        yield {"running": workers.pid, "compiling": compiler.pid}


def test_the_scan_finds_what_is_there(served: dict[str, int]) -> None:
    assert found_in(served["running"], ["warm_kernel"]) == {"warm_kernel"}
    assert found_in(served["compiling"], ["warm_kernel"]) == {"warm_kernel"}
    assert found_in(os.getpid(), [MARK]) == {MARK}


@pytest.mark.parametrize("process", ["running", "compiling"])
def test_nothing_of_an_earlier_submission_is_left(served: dict[str, int], process: str) -> None:
    assert found_in(served[process], [MARK]) == set()


@pytest.mark.parametrize("process", ["running", "compiling"])
def test_no_secret_was_ever_there(served: dict[str, int], process: str) -> None:
    secrets = [line for path in SOLUTIONS for line in telling_lines(path)]
    for name in discovery.exercises():
        hidden = discovery.hidden(name)
        assert hidden is not None
        names = [case.name for case in hidden.cases]
        secrets += [name for name in names if len(name) > 14 and name.isascii()]
    assert len(secrets) > 100
    assert found_in(served[process], secrets) == set()


SOLUTIONS = sorted((ROOT / "solutions").glob("*.py"))


def telling_lines(path: Path) -> list[str]:
    """The longest lines of a solution: no other text has them."""
    lines = {line.strip() for line in path.read_text().splitlines() if line.isascii()}
    return sorted((line for line in lines if "import" not in line), key=len)[-6:]
