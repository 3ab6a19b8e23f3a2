"""How long does a learner wait for feedback? Times check(vector_add), warm, all public cases.

What is timed is the whole way of a check in a notebook: gathering the source from the session,
the judge behind its pipe with every gate that runs here, and making the card. Printed apart are
the answer to an untouched stub, which needs no judge; the first check with a judge that was never
started; and the first check with one that warmed up while PyTorch was imported, as the set-up
cell of a lesson has it. Prints every kernel's median and spread, beside them what the notebook,
the judge and its workers spent of the processor (on a machine with other work the rest is waiting),
and ends with exit code 1 when one of the three is above its bar.

    python benchmarks/feedback.py [--repeat 9] [--bar 0.5] [--first 3.0] [--stub 0.3]
"""

from __future__ import annotations

import argparse
import contextlib
import linecache
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triton_util.client import checking
from triton_util.client.card import report_html
from triton_util.client.judge import JudgeProcess
from triton_util.client.report import Checked
from triton_util.notebook.session import Cell, Session

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
RIGHT = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    n_elements = output.numel()
    add_kernel[(triton.cdiv(n_elements, 1024),)](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output
"""
WRONG = RIGHT.replace(", mask=mask", "")
STUB = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    # YOUR CODE HERE
    pass


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # YOUR CODE HERE
    pass
"""


def session_of(*cells: str) -> Session:
    """A session in which these cells were run, as a notebook would run them."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran = []
    for number, source in enumerate(cells, start=1):
        filename = f"<cell {number} {hash(source)}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, "exec"), namespace)
        ran.append(Cell(f"cell [{number}]", source, filename))
    return Session(namespace, tuple(ran))


def check_once(session: Session, judge: JudgeProcess) -> tuple[Checked, float]:
    """One check as the notebook does it, and how many seconds it took."""
    started = time.perf_counter()
    report = checking.report_on(session.namespace["vector_add"], session, judge)
    report_html(report)
    return report, time.perf_counter() - started


def family(process: int) -> Iterator[int]:
    """A process and those that descend from it."""
    yield process
    with contextlib.suppress(OSError):
        for listed in Path(f"/proc/{process}/task").glob("*/children"):
            for child in listed.read_text().split():
                yield from family(int(child))


def spent() -> float:
    """Seconds of the processor, of this process and all that it has started. Linux only."""
    ticks = 0
    for process in family(os.getpid()):
        with contextlib.suppress(OSError):  # it has just ended
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # of its own and of children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(
    name: str, session: Session, judge: JudgeProcess, repeat: int
) -> tuple[float, set[str]]:
    """Print one row; the median in seconds, and the outcomes that occurred."""
    before = spent()
    reports, seconds = zip(*(check_once(session, judge) for _ in range(repeat)), strict=True)
    busy = (spent() - before) / repeat
    states = {report.state for report in reports}
    last = reports[-1]
    print(
        f"{name:<18} {statistics.median(seconds):>8.3f} {min(seconds):>8.3f} {max(seconds):>8.3f}"
        f" {busy:>10.2f}"
        f"   {'/'.join(sorted(states))}, {last.cases_passed} of {last.cases_total} cases"
    )
    return statistics.median(seconds), states


def first_checks() -> tuple[float, float, float]:
    """Print and return three times: an untouched stub, a judge started for the check, a warm one.

    The judge of the last begins as in a notebook, before PyTorch is imported, and is given the
    time that its warming up takes, which is printed.
    """
    judge = JudgeProcess()
    try:
        _, untouched = check_once(session_of(IMPORTS, STUB), judge)
        right = session_of(IMPORTS, RIGHT)
        report, cold = check_once(right, judge)
    finally:
        judge.close()
    print(f"CPU cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}, sandbox {report.sandbox}")
    print(f"untouched stub, no judge:        {untouched:6.2f} s")
    print(f"first check, judge not started:  {cold:6.2f} s, {report.state}")
    judge = JudgeProcess()
    try:
        started = time.perf_counter()
        judge.ask({"op": "warm"})
        warming = time.perf_counter() - started
        report, first = check_once(right, judge)
    finally:
        judge.close()
    print(
        f"first check, judge warmed up:    {first:6.2f} s, {report.state} ({warming:.1f} s to warm)"
    )
    return untouched, cold, first


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeat", type=int, default=9, help="checks per row")
    arguments.add_argument("--bar", type=float, default=0.5, help="seconds allowed, median")
    arguments.add_argument("--first", type=float, default=3.0, help="seconds of the first check")
    arguments.add_argument("--stub", type=float, default=0.3, help="seconds for a stub")
    options = arguments.parse_args()
    untouched, _, first = first_checks()
    right, wrong = session_of(IMPORTS, RIGHT), session_of(IMPORTS, WRONG)
    judge = JudgeProcess()
    try:
        judge.ask({"op": "warm"})
        print(
            f"{'later check':<18} {'median s':>8} {'min':>8} {'max':>8} {'processor':>10}   outcome"
        )
        median, states = measure("right kernel", right, judge, options.repeat)
        _, refused = measure("mask forgotten", wrong, judge, options.repeat)
    finally:
        judge.close()
    if states != {"passed"} or refused != {"failed"}:
        print("the verdicts are not those of a right and a wrong kernel: the times mean nothing")
        return 1
    bars = (
        ("untouched stub", untouched, options.stub),
        ("first check after warming up", first, options.first),
        ("median of the right kernel", median, options.bar),
    )
    for what, seconds, bar in bars:
        holds = "holds" if seconds <= bar else "DOES NOT HOLD"
        print(f"{what} at most {bar:g} s: {holds}")
    return 0 if all(seconds <= bar for _, seconds, bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
