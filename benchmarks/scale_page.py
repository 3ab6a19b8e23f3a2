"""Make docs/scale.md and its plot from the results of benchmarks/scale.py.

    python benchmarks/scale_page.py

writes both.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import scale  # noqa: E402

PAGE = ROOT / "docs" / "scale.md"
PLOT = ROOT / "docs" / "images" / "scale.svg"

INTRODUCTION = """\
# How many machines a class needs

<!-- Made by `python benchmarks/scale_page.py` from benchmarks/results/. -->

In the last hours before a deadline, most learners submit. How many processor cores and GPUs do you
need so that nearly all of them wait only briefly? And what does a submission cost?

`python benchmarks/scale.py` answers by simulation. Submissions arrive and queue for a core. If they
pass on the processor, they queue for a GPU. `tests/benchmarks/test_scale.py` compares the
simulation with queues whose waits are known from theory (Erlang's formula).

## What is measured, and what is assumed

**Measured**: the processor time. `python benchmarks/service_times.py` judged {kernels} correct and
{kernels} wrong kernels of each of {exercises} exercises, on one core of an {processor}, on {date}.
The median is {right:.1f} s for a correct kernel and {wrong:.1f} s for a wrong one. The longest is
{longest}, with {most:.1f} s.

**Assumed**: everything else.

- The GPU time of a submission was measured for five exercises only
  ([performance.md](performance.md)): about half a second at most for a verdict, and one to
  three and a half seconds more if its speed counts. So each class is simulated four
  times: without a GPU, and with 1, 4 and 10 seconds of it for each submission that reaches it.
- {right_share:.0%} of the submissions pass on the processor and go on to the GPU.
- Each learner checks {checks:g} times within {hours:g} hours. Arrivals grow by a factor of 2.7
  every {rush:g} hours, so about {last:.0%} of them are in the last hour.
- 95 of 100 submissions of that hour should wait in queues for at most {patience:g} seconds. The
  judging itself takes additional time.
- A submission uses one core at a time. Queues are first come, first served.
- A core costs ${core} an hour and a GPU ${gpu}. To use the prices of your own provider, change
  `CORE_HOUR` and `GPU_HOUR` in benchmarks/scale.py.

The simulation leaves out copying, the network, machines that fail, and JupyterLab itself, which
needs memory for each learner rather than cores.
"""

AFTERWARDS = """\
| column | meaning |
| --- | --- |
| GPU s | seconds of GPU time for each submission that reaches the GPU |
| a minute | submissions in the busiest minute |
| wait s | 95 of 100 submissions of the last hour wait at most this long |
| $ all night | cost of a thousand submissions if the machines run for all {hours:g} hours |
| $ by second | cost of a thousand submissions if you pay only for the seconds at work |

The cost of a cluster that grows and shrinks is between the last two.

![{alternative}](images/scale.svg)

## How to read it

- **A few missing cores are a disaster; a few extra cores cost little.** Just below the number in
  the table, the queue grows until the deadline. Just above it, waits are almost zero.
- **A large class needs fewer machines for each learner.** {small:,} learners need
  {small_cores} cores and {large:,} need {large_cores:,}. Per learner that is {share:.0%} as many.
- **Idle machines cost the most.** The night has one busy hour. So paying by the second costs
  {saved:.0%} of paying for the night ({large:,} learners, {seconds:g} s of GPU).

On Kubernetes, the manifests in docker/kubernetes let you pay only for busy machines. Kueue admits
as many GPU jobs as there are GPUs, and the autoscaler of the cluster adds and removes nodes. For
one machine and one class, see [serve.md](serve.md).
"""


def page_of(report: dict[str, Any], times: dict[str, Any]) -> str:
    """The whole page."""
    return "\n".join([_introduction(report, times), *_table(report), "", _afterwards(report)])


def _introduction(report: dict[str, Any], times: dict[str, Any]) -> str:
    rows, one = times["rows"], report["rows"][0]
    right = {name: row["right"]["whole"] for name, row in rows.items()}
    longest = max(right, key=lambda name: right[name])
    night = scale.Night(one["learners"], one["gpu_seconds"])
    return INTRODUCTION.format(
        kernels=times["kernels"],
        exercises=len(rows),
        processor=times["processor"],
        date=times["date"],
        right=statistics.median(right.values()),
        wrong=statistics.median(row["wrong"]["whole"] for row in rows.values()),
        longest=f"`{longest}`",
        most=right[longest],
        right_share=night.right_share,
        checks=night.checks,
        hours=night.hours,
        rush=night.rush_hours,
        last=night.share_of_last_hour,
        patience=night.patience_s,
        core=f"{report['prices']['core_hour']:.2f}",
        gpu=f"{report['prices']['gpu_hour']:.2f}",
    )


def _table(report: dict[str, Any]) -> Iterator[str]:
    yield f"| {' | '.join(scale.COLUMNS)} |"
    yield f"|{' ---: |' * len(scale.COLUMNS)}"
    for one in report["rows"]:
        yield f"| {' | '.join(scale.cells(one))} |"


def _afterwards(report: dict[str, Any]) -> str:
    alike = [one for one in report["rows"] if not one["gpu_seconds"]]
    small, large = alike[1], alike[-1]
    middle = next(one for one in reversed(report["rows"]) if one["gpu_seconds"] == 4.0)
    share = large["cores"] / large["learners"] / (small["cores"] / small["learners"])
    cores = ", ".join(f"{wait:,.0f} s with {n:,}" for n, wait in report["curve"])
    return AFTERWARDS.format(
        hours=large["hours"],
        alternative=(
            f"Wait of 95 of 100 submissions in the last hour, {large['learners']:,} learners, by "
            f"the number of cores: {cores}."
        ),
        small=small["learners"],
        small_cores=small["cores"],
        large=large["learners"],
        large_cores=large["cores"],
        share=share,
        saved=middle["dollars_by_second"] / middle["dollars_all_night"],
        seconds=middle["gpu_seconds"],
    )


def draw(report: dict[str, Any]) -> None:
    """The wait of the last hour by the number of cores, and the machines by the class."""
    mpl.rcParams.update({"svg.hashsalt": "scale", "font.size": 11, "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    counts, waits = zip(*report["curve"], strict=True)
    left.plot(counts, [max(wait, 0.1) for wait in waits], "o-", color="#0b6e99")
    left.axhline(report["rows"][0]["patience_s"], color="#a33", linestyle="--")
    left.set(yscale="log", xlabel="cores", ylabel="seconds that 95 of 100 wait at most")
    left.set_title(f"{max(one['learners'] for one in report['rows']):,} learners, the last hour")
    for seconds, marker in zip(scale.GPU_SECONDS[1:], "osD", strict=True):
        rows = [one for one in report["rows"] if one["gpu_seconds"] == seconds]
        learners = [one["learners"] for one in rows]
        right.plot(learners, [one["gpus"] for one in rows], marker=marker, label=f"{seconds:g} s")
    right.set(xscale="log", yscale="log", xlabel="learners", ylabel="GPUs")
    right.legend(title="GPU time of a submission")
    right.set_title("GPUs that are needed")
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, facecolor="white", metadata={"Date": None})
    plt.close(figure)


def main() -> int:
    report = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    times = json.loads(scale.TIMES.read_text(encoding="utf-8"))
    draw(report)
    PAGE.write_text(page_of(report, times), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
