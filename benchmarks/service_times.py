"""What a submission costs a processor: seconds by gate, for each exercise.

    python benchmarks/service_times.py [--only EXERCISE ...] [--kernels 3]

judges, officially and one after the other, some known right kernels of each
exercise, and as many wrong ones, and writes the mean seconds of the processor (user and
system, of the judge and all its processes) that each gate took to
benchmarks/results/service_times.json, which benchmarks/scale.py reads. The gates run one after
the other here, so that each has its own figure. The judge is warm: it has judged before. Seconds
of a processor hardly depend on what else runs; the file says on which one they were taken.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.verdicts import kernels  # noqa: E402
from graders.judge import discovery, pipeline  # noqa: E402
from graders.judge.gates.protocol import Context, Gate, GateResult  # noqa: E402
from graders.judge.pipeline import Judge  # noqa: E402
from triton_util.report import Verdict  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "service_times.json"


def cpu_seconds() -> float:
    """What this process and all that it started have used of the processor so far."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:4])  # its own, and of those of its that have ended
        except psutil.NoSuchProcess:
            continue
    return total


@contextmanager
def counted(spent: dict[str, float]) -> Iterator[None]:
    """While this lasts, each gate adds what it uses to `spent`, and waits for those before it."""
    before = pipeline.GATES

    def measured(gate: Gate) -> Gate:
        def run(context: Context) -> GateResult:
            start = cpu_seconds()
            try:
                return gate.run(context)
            finally:
                spent[gate.name] += cpu_seconds() - start

        return replace(gate, run=run, concurrent=False)

    pipeline.GATES = tuple(map(measured, before))
    try:
        yield
    finally:
        pipeline.GATES = before


def spread(known: list[Path], count: int) -> list[Path]:
    """Some of them, from the first to the last in the order of their names."""
    step = max(1, len(known) // count)
    return known[::step][:count]


def measure(judge: Judge, exercise: str, count: int) -> dict[str, dict[str, float]]:
    """Mean seconds by gate of right and of wrong kernels, and of a verdict as a whole."""
    record = discovery.exercise(exercise)
    own = list(kernels(exercise))
    found: dict[str, dict[str, float]] = {}
    for kind, due in (("right", Verdict.PASSED), ("wrong", Verdict.FAILED)):
        chosen = spread([kernel for kernel, right in own if right == (kind == "right")], count)
        spent: dict[str, float] = defaultdict(float)
        for kernel in chosen:
            with counted(spent):
                start = cpu_seconds()
                report = judge.judge_text(kernel.text, record)
                spent["whole"] += cpu_seconds() - start
            if report.verdict is not due:
                raise SystemExit(f"{kernel.name} is {report.verdict}")
        found[kind] = {gate: round(seconds / len(chosen), 3) for gate, seconds in spent.items()}
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--kernels", type=int, default=3)
    asked = parser.parse_args(argv)
    names = asked.only or sorted(discovery.exercises())
    rows = {}
    with Judge(official=True) as judge:
        judge.judge_text("", discovery.exercise("vector_add"))
        measure(judge, "vector_add", 1)
        for name in names:
            rows[name] = measure(judge, name, asked.kernels)
            told = {kind: row["whole"] for kind, row in rows[name].items()}
            print(
                f"{name:28} right {told['right']:6.2f} s   wrong {told['wrong']:6.2f} s", flush=True
            )
    report = {
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "processor": processor(),
        "kernels": asked.kernels,
        "rows": rows,
    }
    if not asked.only:
        RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def processor() -> str:
    """The name of this processor, as Linux says it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


if __name__ == "__main__":
    raise SystemExit(main())
