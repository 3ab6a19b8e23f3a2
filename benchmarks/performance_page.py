"""docs/performance.md, made of the figures that benchmarks/solutions.py has kept.

    python benchmarks/performance_page.py [--check]

writes the page; with --check it only says whether the page is the one that the figures give.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "benchmarks" / "results" / "h200.json"
PAGE = ROOT / "docs" / "performance.md"

INTRODUCTION = """\
# Performance of the model solutions

<!-- Made by `python benchmarks/performance_page.py` from benchmarks/results/h200.json. -->

Measured on one {gpu} on {date} with {versions}, in one run of
`python benchmarks/solutions.py`. Float16 unless a line says otherwise.

How it was measured: each contender is warmed up apart; then, in each round, the inputs are new,
the L2 cache is flushed, all contenders run once in shuffled order between two events of the
GPU, the host's clock is held against them, and *every* output is checked. Given is the median
in microseconds. "Copy" is `Tensor.copy_` of the same tensor. A fraction of a baseline is the
median of the ratios round by round, with its 95 % confidence interval, and belongs to the better
of the two forms of the solution: *plain* is the one that the lesson teaches, *fast* the one in
solutions/fast/, which exists where the plain one does not reach the bar.

Before each call the GPU idles for about a millisecond, so that the host gets ahead of it: these
are times of single calls on a GPU that is not hot. Under sustained load its power cap lowers the
clocks of matrix products by a tenth and more, for all contenders alike.

What this GPU itself reached in the same run: {gbytes_per_second} GB/s copying, {fp16_tflops} TFLOP/s in
a half-precision matrix product of size 8192 and {fp32_tflops} TFLOP/s in a float32 one of 4096.
"""  # noqa: E501


def page_of(report: dict[str, Any]) -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    parts = [
        INTRODUCTION.format(
            gpu=report["gpu"], date=report["date"], versions=versions, **report["measured"]
        ),
        "## Bars\n",
        "\n".join(bar_table(report["results"])) + "\n",
        "## Times\n",
        "\n".join(time_table(report["results"])) + "\n",
        "## Can the stopwatch be trusted?\n",
        stopwatch(report["stopwatch"]),
        *doubts(report["results"]),
    ]
    return "\n".join(parts)


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
                reached = f"**{middle:.3f}** ({low:.3f} to {high:.3f})"
            yield (
                f"| {result['name']} | {bar['at_least']:.2f} × {bar['baseline']} "
                f"| {reached} | {bar['form'] or '–'} | {verdict} |"
            )


def time_table(results: list[dict[str, Any]]) -> Iterator[str]:
    """One line per workload: every contender's time, and what the best solution makes of it."""
    labels = list(dict.fromkeys(label for result in results for label in result["timings"]))
    yield "| kernel | " + " | ".join(f"{label}, µs" for label in labels) + " | best solution |"
    yield "|---|" + "---:|" * (len(labels) + 1)
    for result in results:
        cells = [cell_of(result["timings"].get(label)) for label in labels]
        yield f"| {result['name']} | " + " | ".join(cells) + f" | {rate_of(result)} |"


def cell_of(timing: dict[str, Any] | None) -> str:
    """A time in microseconds; a dash where the contender does not exist or did not finish."""
    if timing is None or "median_ms" not in timing:
        return "–"
    return f"{timing['median_ms'] * 1e3:.1f}" + ("†" if timing["problems"] else "")


def rate_of(result: dict[str, Any]) -> str:
    """TFLOP/s of matrix products, GB/s of everything else, of the better solution."""
    times = [
        timing["median_ms"]
        for form, timing in result["timings"].items()
        if form in ("plain", "fast") and "median_ms" in timing and not timing["problems"]
    ]
    if not times:
        return "–"
    if result["tensor_cores"]:
        return f"{result['flops'] / min(times) / 1e9:.0f} TFLOP/s"
    return f"{result['bytes'] / min(times) / 1e6:.0f} GB/s"


def stopwatch(answers: dict[str, Any]) -> str:
    """The two questions to the stopwatch itself."""
    n = answers["repetitions"]
    low, high = min(answers["seen_middle"]), max(answers["seen_middle"])
    return (
        f"The same softmax under two names differed by at most "
        f"{answers['largest_difference']:.2%} in {n} runs. A vector addition that does a fifth "
        f"of its work once more, in a second launch, was told apart in {answers['told_apart']} of "
        f"{n} runs; it was seen as {low:.3f} to {high:.3f} times as slow.\n"
    )


def doubts(results: list[dict[str, Any]]) -> Iterator[str]:
    """What was not believed, refused, or disturbed."""
    lines = [
        f"- {result['name']}, {label}: {problem}"
        for result in results
        for label, timing in result["timings"].items()
        for problem in timing["problems"]
    ]
    notes = [
        f"- {result['name']}: {note}"
        for result in results
        for note in sorted(
            {note for timing in result["timings"].values() for note in timing.get("notes", [])}
        )
    ]
    if lines:
        yield "## Not timed, or not believed (†)\n"
        yield "\n".join(lines) + "\n"
    if notes:
        yield "## What disturbed the run\n"
        yield "\n".join(notes) + "\n"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    options = parser.parse_args()
    page = page_of(json.loads(FIGURES.read_text()))
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
