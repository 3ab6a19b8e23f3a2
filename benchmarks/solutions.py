"""The model solutions on a GPU: one command, one table, one run.

    python benchmarks/solutions.py [--only TEXT] [--output FILE] [--seconds 6]

times each solution (plain and fast) against torch, torch.compile and, where it is installed,
Liger-Kernel; says for every bar of benchmarks/workloads.py whether it holds; and ends with the
questions to the stopwatch itself of `benchmarks/timing.py`. The figures are written as JSON;
`python benchmarks/performance_page.py` makes docs/performance.md of them.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.timing import SHORT, question_the_stopwatch
from benchmarks.workloads import Bar, Workload, all_workloads, equal_to
from triton_util.bench import (
    Check,
    CudaClock,
    Timing,
    TimingPlan,
    compare,
    find_gpu,
    floor_of,
    measure_mine,
)


def contenders_of(work: Workload) -> dict[str, Callable[..., torch.Tensor]]:
    """Solutions and baselines, by label."""
    torch.compiler.reset()
    eager = {} if "torch flash" in work.baselines else {"torch": work.reference}
    compiled = torch.compile(lambda *args: work.reference(*args), dynamic=False)
    others = {} if not eager else {"torch.compile": compiled}
    return {**work.solutions(), **eager, **others, **work.baselines}


def time_workload(work: Workload, clock: CudaClock, plan: TimingPlan) -> dict[str, Any]:
    """Time one workload and return what is kept of it."""
    gpu = find_gpu(torch.cuda.get_device_name())
    read, written = work.bytes_read, work.bytes_written
    kind = {"tensor_cores": work.tensor_cores}
    floor_ms = 0.0 if gpu is None else floor_of(read, written, work.flops, gpu, **kind)
    contenders = contenders_of(work)
    timings = compare(
        contenders,
        work.make_inputs,
        check=checks_of(work, contenders),
        floor_ms=floor_ms,
        plan=plan,
        clock=clock,
    )
    by_label = {timing.label: timing for timing in timings}
    return {
        "name": work.name,
        "bytes": read + written,
        "flops": work.flops,
        "tensor_cores": work.tensor_cores,
        "floor_ms": round(floor_ms, 5),
        "timings": {label: kept(timing) for label, timing in by_label.items()},
        "bars": [judge_bar(bar, by_label) for bar in work.bars],
    }


def checks_of(work: Workload, labels: Iterable[str]) -> dict[str, Check]:
    """The check of each contender: the copies are baselines only, and are checked as copies."""
    checks = dict.fromkeys(labels, work.check)
    if "copy" in checks:
        checks["copy"] = equal_to(lambda x, *_others: x)
    checks.pop("copy of a contiguous tensor", None)  # its memory is another one
    return checks


def kept(timing: Timing) -> dict[str, Any]:
    """What is written down of a timing, in milliseconds."""
    if not timing.samples:
        return {"problems": list(timing.problems)}
    interval = timing.interval
    clocks = [state.sm_mhz for state in timing.states]
    return {
        "median_ms": round(interval.middle, 5),
        "low_ms": round(interval.low, 5),
        "high_ms": round(interval.high, 5),
        "spread_ms": round(timing.spread_ms, 5),
        "rounds": len(timing.samples),
        "sm_mhz": [min(clocks), max(clocks)] if clocks else [],
        "problems": list(timing.problems),
        "notes": list(timing.notes),
    }


def judge_bar(bar: Bar, timings: dict[str, Timing]) -> dict[str, Any]:
    """How many times as fast as the baseline the best solution is, round by round."""
    baseline = timings[bar.baseline]
    solutions = [timings[form] for form in ("plain", "fast") if form in timings]
    believed = [timing for timing in solutions if timing.believed]
    result = {"baseline": bar.baseline, "at_least": bar.factor, "wish": bar.wish}
    if not believed or not baseline.believed:
        return {**result, "form": "", "reached": [], "holds": False}
    best = min(believed, key=lambda timing: timing.median_ms)
    interval = baseline.slower_than(best)
    reached = [round(x, 4) for x in (interval.low, interval.middle, interval.high)]
    return {
        **result,
        "form": best.label,
        "reached": reached,
        "holds": interval.middle >= bar.factor,
    }


def surroundings() -> dict[str, Any]:
    """What the figures depend on."""
    versions = {"torch": torch.__version__, "cuda": torch.version.cuda}
    for package in ("triton", "liger-kernel"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    versions["cudnn"] = str(torch.backends.cudnn.version())
    return {
        "gpu": torch.cuda.get_device_name(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions,
    }


def print_line(result: dict[str, Any]) -> None:
    """Print one workload: times, fractions of the bars, and doubts."""
    times = ", ".join(
        f"{label} {timing['median_ms'] * 1e3:.1f} µs" if "median_ms" in timing else f"{label} –"
        for label, timing in result["timings"].items()
    )
    print(f"{result['name']}: {times}", flush=True)
    for bar in result["bars"]:
        reached = f"{bar['reached'][1]:.3f}" if bar["reached"] else "not timed"
        verdict = "holds" if bar["holds"] else "wished for" if bar["wish"] else "DOES NOT HOLD"
        need = f"at least {bar['at_least']:.2f} × {bar['baseline']}"
        print(f"    {need}: {reached} ({bar['form']}) {verdict}", flush=True)
    for label, timing in result["timings"].items():
        for problem in timing["problems"]:
            print(f"    {label}: {problem}", flush=True)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    parser.add_argument("--output", type=Path, help="where the figures go, as JSON")
    parser.add_argument("--seconds", type=float, default=6.0, help="patience per workload")
    options = parser.parse_args()
    clock = CudaClock()
    plan = TimingPlan(min_rounds=15, max_rounds=200, max_seconds=options.seconds, precision=0.002)
    report = {**surroundings(), "results": []}
    mine = measure_mine(clock, plan)
    report["measured"] = {
        name: round(getattr(mine, name), 1)
        for name in ("gbytes_per_second", "fp16_tflops", "fp32_tflops")
    }
    print(report["gpu"], report["measured"], flush=True)
    for work in all_workloads():
        if options.only in work.name:
            report["results"].append(time_workload(work, clock, plan))
            print_line(report["results"][-1])
            torch.cuda.empty_cache()
            if options.output:
                options.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    report["stopwatch"] = question_the_stopwatch(clock, SHORT)
    print(report["stopwatch"])
    if options.output:
        options.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
