"""The model solutions on a GPU: one command, one table, one run.

    python benchmarks/solutions.py [--only TEXT ...] [--new] [--output FILE] [--seconds 6]

times each solution (plain and fast) against torch, torch.compile and, where it is installed,
Liger-Kernel; says for every bar of benchmarks/workloads/ whether it holds; and ends with the
questions to the stopwatch itself of `benchmarks/timing.py`. The figures are written as JSON after
each workload; `python benchmarks/merge.py` adds them to those that are kept, and
`python benchmarks/performance_page.py` makes docs/performance.md of these. A
workload that fails is said and left out, and the exit code is then 1; where it leaves the GPU
unusable, the run goes on in a new process.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.performance_page import FIGURES
from benchmarks.timing import SHORT, question_the_stopwatch
from benchmarks.workloads import all_workloads
from benchmarks.workloads.baselines import AS_MANY
from benchmarks.workloads.checks import equal_to
from benchmarks.workloads.records import Bar, Workload
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

UNCHECKED = ("copy of a contiguous tensor", AS_MANY)  # they copy memory of their own


def contenders_of(work: Workload) -> dict[str, Callable[..., torch.Tensor]]:
    """Solutions and baselines, by label."""
    torch.compiler.reset()
    return {**work.solutions(), **work.timed_references, **work.baselines}


def time_workload(work: Workload, clock: CudaClock, plan: TimingPlan) -> dict[str, Any]:
    """Time one workload and return what is kept of it."""
    gpu = find_gpu(torch.cuda.get_device_name())
    read, written = work.bytes_read, work.bytes_written
    kind = {"tensor_cores": work.tensor_cores}
    least = work.flops / work.rate
    floor_ms = 0.0 if gpu is None else floor_of(read, written, least, gpu, **kind)
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
        "rate": work.rate,
        "floor_ms": round(floor_ms, 5),
        "timings": {label: kept(timing) for label, timing in by_label.items()},
        "bars": [judge_bar(bar, by_label) for bar in work.bars],
    }


def checks_of(work: Workload, labels: Iterable[str]) -> dict[str, Check]:
    """The check of each contender: the copies are baselines only, and are checked as copies."""
    checks: dict[str, Check] = {label: work.check for label in labels if label not in UNCHECKED}
    if "copy" in checks:
        checks["copy"] = equal_to(lambda x, *_others: x)
    checks.update({label: check for label, check in work.checks.items() if label in checks})
    return checks


def finite(number: float, digits: int) -> float | None:
    """The rounded number; None for the end of an interval for which there were too few rounds."""
    return round(number, digits) if math.isfinite(number) else None


def kept(timing: Timing) -> dict[str, Any]:
    """What is written down of a timing, in milliseconds."""
    if not timing.samples:
        return {"problems": list(timing.problems)}
    interval = timing.interval
    clocks = [state.sm_mhz for state in timing.states]
    return {
        "median_ms": round(interval.middle, 5),
        "low_ms": finite(interval.low, 5),
        "high_ms": finite(interval.high, 5),
        "spread_ms": round(timing.spread_ms, 5),
        "rounds": len(timing.samples),
        "sm_mhz": [min(clocks), max(clocks)] if clocks else [],
        "problems": list(timing.problems),
        "notes": list(timing.notes),
    }


def judge_bar(bar: Bar, timings: dict[str, Timing]) -> dict[str, Any]:
    """How many times as fast as the baseline the best solution is, round by round."""
    baseline = timings.get(bar.baseline)
    solutions = [timings[form] for form in ("plain", "fast") if form in timings]
    believed = [timing for timing in solutions if timing.believed]
    result = {"baseline": bar.baseline, "at_least": bar.factor, "wish": bar.wish}
    if not believed or baseline is None or not baseline.believed:
        return {**result, "form": "", "reached": [], "holds": False}
    best = min(believed, key=lambda timing: timing.median_ms)
    interval = baseline.slower_than(best)
    reached = [finite(x, 4) for x in (interval.low, interval.middle, interval.high)]
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


def chosen(only: Iterable[str], new: bool) -> list[Workload]:
    """The workloads whose names contain one of the texts; with `new`, those not measured yet."""
    texts = list(only) or [""]
    known = {result["name"] for result in json.loads(FIGURES.read_text())["results"]}
    return [
        work
        for work in all_workloads()
        if any(text in work.name for text in texts) and not (new and work.name in known)
    ]


def keep(report: dict[str, Any], output: Path | None) -> None:
    """Write what there is so far."""
    if output:
        output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def time_all(
    works: Iterable[Workload],
    report: dict[str, Any],
    time_one: Callable[[Workload], dict[str, Any]],
    output: Path | None,
) -> bool:
    """Time what the report does not have yet. False where the GPU can no longer be used."""
    done = {result["name"] for result in report["results"]} | set(report["failed"])
    for work in works:
        if work.name in done:
            continue
        begin = time.monotonic()
        try:
            report["results"].append(time_one(work))
            print_line(report["results"][-1])
        except Exception as error:  # one that fails must not hide the others
            report["failed"][work.name] = f"{type(error).__name__}: {error}"[:300]
            print(f"{work.name}: FAILED, {report['failed'][work.name]}", flush=True)
        keep(report, output)
        print(f"    ({time.monotonic() - begin:.0f} s)", flush=True)
        if not usable():
            return False
    return True


def usable() -> bool:
    """Whether the GPU still does what it is told: after a bad access it does nothing more."""
    if not torch.cuda.is_available():
        return True
    try:
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
    except Exception:
        return False
    return True


def begun(output: Path | None, clock: CudaClock, plan: TimingPlan) -> dict[str, Any]:
    """A new report, with what this GPU reaches."""
    report = {**surroundings(), "results": [], "failed": {}}
    mine = measure_mine(clock, plan)
    report["measured"] = {
        name: round(getattr(mine, name), 1)
        for name in ("gbytes_per_second", "fp16_tflops", "fp32_tflops")
    }
    print(report["gpu"], report["measured"], flush=True)
    keep(report, output)
    return report


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="workloads with one of these texts")
    parser.add_argument("--new", action="store_true", help="those that h200.json has not")
    parser.add_argument("--output", type=Path, help="where the figures go, as JSON")
    parser.add_argument("--seconds", type=float, default=6.0, help="patience per workload")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --output")
    options = parser.parse_args()
    clock = CudaClock()
    plan = TimingPlan(min_rounds=15, max_rounds=200, max_seconds=options.seconds, precision=0.002)
    if options.resume:
        report = json.loads(options.output.read_text())
    else:
        report = begun(options.output, clock, plan)
    works = chosen(options.only, options.new)
    if not time_all(works, report, lambda work: time_workload(work, clock, plan), options.output):
        if not options.output:
            return 1
        again = [argument for argument in sys.argv if argument != "--resume"]
        os.execv(sys.executable, [sys.executable, *again, "--resume"])
    report["stopwatch"] = question_the_stopwatch(clock, SHORT)
    print(report["stopwatch"])
    keep(report, options.output)
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
