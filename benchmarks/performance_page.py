"""Make docs/performance.md from the figures that benchmarks/solutions.py has stored.

    python benchmarks/performance_page.py [--check]

writes the page; with --check it only reports whether the page matches the figures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "benchmarks" / "results" / "h200.json"
VERDICTS = ROOT / "benchmarks" / "results" / "gpu_verdicts.json"
PAGE = ROOT / "docs" / "performance.md"
FEW = 10  # rounds: with fewer, the page says how many there were
MANY = 150  # operations per byte: with fewer, moving the bytes takes longer

INTRODUCTION = """\
# Performance of the model solutions

<!-- Made by `python benchmarks/performance_page.py` from benchmarks/results/h200.json. -->

Measured on an {gpu} with {versions}, by
`python benchmarks/solutions.py`. The dtype is float16 unless a line says otherwise. Some bars are not
reached yet: the table marks them *not yet*.

How it was measured: the benchmark warms up each contender separately. Then it runs
rounds. In each round

- the inputs are new, and the L2 cache is flushed;
- all contenders run once in shuffled order, between two events of the GPU;
- the host's clock checks these times;
- the benchmark checks *every* output.

The tables give the median in microseconds, and use these words:

| word | meaning |
|---|---|
| copy | `Tensor.copy_` of the same tensor |
| copy of as many bytes | a copy that reads and writes, together, the fewest bytes that the problem needs |
| torch, fewer bits | `torch._scaled_mm` with `use_fast_accum`, which rounds its sums sooner than the exercise allows |
| plain | the solution that the lesson teaches |
| fast | the solution in solutions/fast/, which exists where the plain one does not reach the bar |
| reached | the median of the ratios round by round, for the better of the two forms, with its 95 % confidence interval (which needs six rounds) |

Before each call the GPU idles for about a millisecond, so that the host gets ahead of it. So these
are times of single calls on a GPU that is not hot. Under sustained load its power cap lowers the
clocks of matrix products by a tenth and more, for all contenders alike.

The tables mix figures of different runs, but each bar compares figures of one run. The next
table gives what the GPU itself reached in each run: in copying, in a half-precision matrix product
of size 8192, and in a float32 one of 4096.

{runs}
"""  # noqa: E501


STOPWATCH = """\
In each run the benchmark tests its stopwatch in two ways, several times each:

- It compares the same softmax under two names. The difference should be zero.
- It compares a vector addition with one that repeats a fifth of its work in a second launch. It
  should detect the slow-down each time, and see it as about 1.2 times as slow.
"""


VERDICTS_INTRODUCTION = """\
## How long a verdict takes

`python benchmarks/gpu_verdicts.py` on an {gpu} with 16 cores (torch {torch}, triton {triton},
{date}) ran `tilewise grade --mode all` on model solutions. All processes were new, and hidden cases
and speed were included.

- *GPU* is how long the worker had the GPU for the verdict.
- *Compiled on it* is the number of kernels that the worker had to compile while it had the GPU.
  The others were compiled ahead.
- The judge measures the speed where an exercise has bars for it. It then also times the model
  solution, unless that was timed within the last ten minutes.

Most of the time goes into starting processes, which differs much between machines.
"""


CHECKS_INTRODUCTION = """\
The next table gives the second check of a changed kernel by the class's GPU, as a learner waits for
it: the verdict on the public cases, and the same with the speed where the exercise has a size for
it. The median of these {exercises} checks is {check:.1f} s, with the speed {with_speed:.1f} s. One
run gave the table above and the figures for a class below; another run gave these checks.
"""

CLASS = """\
A class of {submissions}: correct and wrong kernels of all exercises, graded officially and timed,
by {judges} judges on that one GPU. It took {seconds:.0f} s, which is {a_minute:.0f} submissions
a minute. {as_expected} of {submissions} verdicts are as expected. Of {alone} submissions that were
also judged alone, {as_alone} got the same verdict. The median submission had the GPU for
{gpu_median:.2f} s, and {speed_gpu_median:.2f} s more for its speed. A slow kernel keeps the GPU for
some seconds at most: then the judge stops timing.
"""


def page_of(report: dict[str, Any], verdicts: dict[str, Any]) -> str:
    """The whole page. verdicts: as benchmarks/gpu_verdicts.py stores them."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    runs = [report, *report.get("later", [])]
    parts = [
        INTRODUCTION.format(
            gpu=report["gpu"], versions=versions, runs="\n".join(table_of_runs(runs))
        ),
        "## Bars\n",
        "\n".join(bar_table(report["results"])) + "\n",
        "## Times\n",
        "\n".join(time_table(report["results"])) + "\n",
        "## Can the stopwatch be trusted?\n",
        STOPWATCH,
        "\n".join(stopwatch_table(runs)) + "\n",
        *doubts(report),
        VERDICTS_INTRODUCTION.format(**verdicts),
        "\n".join(verdict_table(verdicts["cold"])) + "\n",
        CHECKS_INTRODUCTION.format(exercises=len(verdicts["warm"]), **medians_of(verdicts["warm"])),
        "\n".join(check_table(verdicts["warm"])) + "\n",
        CLASS.format(**verdicts["class"]),
    ]
    return "\n".join(parts)


def verdict_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One line per exercise: how long its model solution took to grade from the command line."""
    yield "| exercise | all, s | asked | GPU, s | compiled on it | GPU for its speed, s |"
    yield "|---|---:|---:|---:|---:|---:|"
    for row in rows:
        speed = f"{row['speed_gpu']:.2f}" if row["speed_gpu"] else "–"
        asked = f"≤ {row['bar']}" + ("" if row["seconds"] <= row["bar"] else ", not here")
        yield (
            f"| {row['exercise']} | {row['seconds']:.1f} | {asked} | {row['gpu']:.2f} | "
            f"{row['compiled_on_gpu']} | {speed} |"
        )


def medians_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The median seconds of a check and of one with its speed."""
    columns = ("check", "with_speed")
    return {name: statistics.median(row[name] for row in rows if row[name]) for name in columns}


def check_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One line per exercise: how long a learner waits for a second check."""
    yield "| exercise | check, s | with speed, s | GPU, s | compiled on it |"
    yield "|---|---:|---:|---:|---:|"
    for row in rows:
        speed = f"{row['with_speed']:.1f}" if row["with_speed"] else "–"
        yield (
            f"| {row['exercise']} | {row['check']:.1f} | {speed} | {row['gpu']:.2f} | "
            f"{row['compiled_on_gpu']} |"
        )


def table_of_runs(runs: list[dict[str, Any]]) -> Iterator[str]:
    """One line per run: when it was, and what the GPU reached in it."""
    yield "| run | date | GB/s | float16 TFLOP/s | float32 TFLOP/s |"
    yield "|---:|---|---:|---:|---:|"
    for number, run in enumerate(runs, 1):
        reached = [run["measured"][x] for x in ("gbytes_per_second", "fp16_tflops", "fp32_tflops")]
        yield f"| {number} | {run['date']} | " + " | ".join(f"{x:.1f}" for x in reached) + " |"


def bar_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """One line per bar: what is required, what was reached, whether it holds."""
    yield "| kernel | at least | reached | form | |"
    yield "|---|---|---|---|---|"
    for result in results:
        for bar in result["bars"]:
            verdict = "holds" if bar["holds"] else "not yet"
            if bar["wish"]:
                verdict = "wish: reached" if bar["holds"] else "wish: not yet"
            reached = "not timed"
            if bar["reached"]:
                low, middle, high = bar["reached"]
                known = f"{low:.3f} to {high:.3f}" if low is not None else "no interval"
                reached = f"**{middle:.3f}** ({known})"
            yield (
                f"| {result['name']} | {bar['at_least']:.2f} × {bar['baseline']} "
                f"| {reached} | {bar['form'] or '–'} | {verdict} |"
            )


def time_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """One line per workload: every contender's time, and what the best solution makes of it."""
    labels = ("plain", "fast", "torch", "torch.compile")
    columns = " | ".join(f"{label}, µs" for label in labels)
    yield f"| kernel | {columns} | others, µs | best solution | run |"
    yield "|---|" + "---:|" * len(labels) + "---|---:|---:|"
    for result in results:
        timings = result["timings"]
        cells = " | ".join(cell_of(timings.get(label)) for label in labels)
        others = "; ".join(
            f"{label} {cell_of(timing)}" for label, timing in timings.items() if label not in labels
        )
        run = result.get("run", 1)
        yield f"| {result['name']} | {cells} | {others} | {rate_of(result)} | {run} |"


def cell_of(timing: dict[str, Any] | None) -> str:
    """A time in microseconds; a dash where the contender does not exist or did not finish."""
    if timing is None or "median_ms" not in timing:
        return "–"
    return f"{timing['median_ms'] * 1e3:.1f}" + ("†" if timing["problems"] else "")


def rate_of(result: dict[str, Any]) -> str:
    """TFLOP/s where the tensor cores set the pace, GB/s elsewhere, of the better solution."""
    times = [
        timing["median_ms"]
        for form, timing in result["timings"].items()
        if form in ("plain", "fast") and "median_ms" in timing and not timing["problems"]
    ]
    if not times:
        return "–"
    if result["tensor_cores"] and result["flops"] > MANY * result["bytes"]:
        return f"{result['flops'] / min(times) / 1e9:.0f} TFLOP/s"
    return f"{result['bytes'] / min(times) / 1e6:.0f} GB/s"


def stopwatch_table(runs: list[dict[str, Any]]) -> Iterator[str]:
    """One line per run: what it answered to the two questions to the stopwatch itself."""
    yield "| run | softmax, largest difference | slow-down detected | seen as |"
    yield "|---:|---:|---:|---:|"
    for number, run in enumerate(runs, 1):
        answers = run["stopwatch"]
        low, high = min(answers["seen_middle"]), max(answers["seen_middle"])
        yield (
            f"| {number} | {answers['largest_difference']:.2%} | {answers['told_apart']} of "
            f"{answers['repetitions']} | {low:.3f} to {high:.3f} |"
        )


def doubts(report: dict[str, Any]) -> Iterator[str]:
    """What was not believed, refused, or disturbed."""
    results = report["results"]
    lines = [
        f"- {result['name']}, {label}: {problem}"
        for result in results
        for label, timing in result["timings"].items()
        for problem in timing["problems"]
    ]
    lines += [f"- {name}: {problem}" for name, problem in report.get("failed", {}).items()]
    if lines:
        yield "## Not timed, or not believed (†)\n"
        yield "Where a fast form was wrong, the solution now uses the plain form for such inputs.\n"
        yield "\n".join(lines) + "\n"
    noted: dict[str, dict[str, None]] = {}  # the workloads, without repetition, by note
    for result in results:
        for timing in result["timings"].values():
            for note in timing.get("notes", []):
                noted.setdefault(note, {})[result["name"]] = None
    for result in results:
        rounds = min(timing.get("rounds", FEW) for timing in result["timings"].values())
        if rounds < FEW:
            note = f"timed in {rounds} rounds only, because the workload's time limit was reached"
            noted.setdefault(note, {})[result["name"]] = None
    if noted:
        yield "## What disturbed the runs\n"
        yield "\n".join(f"- {note}: {'; '.join(names)}" for note, names in noted.items()) + "\n"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    options = parser.parse_args()
    page = page_of(json.loads(FIGURES.read_text()), json.loads(VERDICTS.read_text()))
    if options.check:
        fresh = PAGE.exists() and PAGE.read_text() == page
        print(f"{PAGE.name} is {'up to date' if fresh else 'not what the figures give'}")
        return 0 if fresh else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page)
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
