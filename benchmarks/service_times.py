"""CPU seconds of one submission by gate, on this machine: what benchmarks/scale.py is fed with.

    python benchmarks/service_times.py

judges each model solution with *read* alone, with *compile* too, and with *interpret* too, and
counts the processor's time of the judge and of every process that it started. What a gate costs
is the difference. The judge is warm, as it is for everybody but the first learner of an evening.
Writes benchmarks/results/service_times.json.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from graders.judge import discovery, pipeline  # noqa: E402

FILE = ROOT / "benchmarks" / "results" / "service_times.json"
STAGES = (("read",), ("read", "compile"), ("read", "compile", "interpret", "traffic"))
EXERCISES = (
    *("vector_add", "softmax", "matmul", "attention", "transpose", "grouped_matmul"),
    *("autotuned_matmul",),
)


def cpu_seconds() -> float:
    """The processor's time of this process and of all that it has started, ended or not."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:4])  # own and ended children's, user and system
        except psutil.NoSuchProcess:
            continue  # its time is its parent's now
    return total


def measure() -> Iterator[dict[str, Any]]:
    """Seconds by gate of each exercise, with a warm judge and a text that it has not met."""
    all_gates = pipeline.GATES
    with pipeline.Judge("interpret") as judge:
        for name in EXERCISES:
            exercise = discovery.exercise(name)
            path = discovery.model_path(exercise)
            assert path is not None
            text = path.read_text(encoding="utf-8")
            judge.judge_text(text, exercise)  # prepares the cases, as the first learner's check
            spent = []
            for number, stage in enumerate(STAGES):
                pipeline.GATES = tuple(gate for gate in all_gates if gate.name in stage)
                before = cpu_seconds()
                report = judge.judge_text(f"{text}\n# {number}\n", exercise)
                spent.append(cpu_seconds() - before)
                assert report.verdict == "passed", (name, report.findings)
            pipeline.GATES = all_gates
            gates = {"read": spent[0], "compile": spent[1] - spent[0]}
            gates["interpret"] = spent[2] - spent[1]
            yield {"exercise": name} | {k: round(max(0.0, v), 3) for k, v in gates.items()}


def main() -> None:
    rows = []
    for row in measure():
        print(row, flush=True)
        rows.append(row)
    machine = {"machine": platform.machine(), "cores": os.cpu_count()}
    found = machine | {"date": time.strftime("%Y-%m-%d"), "rows": rows}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
