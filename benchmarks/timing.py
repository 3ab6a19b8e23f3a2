"""Can the stopwatch be believed? One command, on a GPU.

    python benchmarks/timing.py [--repetitions 20] [--sandbox 3]

asks two questions again and again: does one solution, timed twice in one run, differ by less than
3 %? Is a planted slow-down of 20 % told apart every time? Then it asks the same of the grade's
own way of timing: a right submission as fast as the model solution, and one slowed by a fifth,
each in the sandbox. Exit code 1 where an answer is no.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.workloads.checks import equal_to, whole
from benchmarks.workloads.data import inputs, normal
from solutions.reductions import softmax
from solutions.vector_add import vector_add
from triton_util.bench import CudaClock, TimingPlan, compare

REPETITIONS = 20
SHORT = TimingPlan(min_rounds=15, max_rounds=60, max_seconds=2.0, precision=0.005)
EXERCISE = "relu2d"
SLOWED = """

def slowed(x):
    launch_again = relu2d
    launch_again(x[: x.shape[0] // 5])
    return launch_again(x)
"""


def question_the_stopwatch(
    clock: CudaClock, plan: TimingPlan, repetitions: int = REPETITIONS
) -> dict[str, Any]:
    """Time one solution twice, and find a planted slow-down, again and again."""
    work = inputs((8192, 4096))
    check = whole(lambda x: torch.softmax(x, 1), 2e-3)
    differences = []
    for seed in range(repetitions):
        once, again = compare(
            {"once": softmax, "again": lambda x: softmax(x)},
            lambda number, seed=seed: work(number + 1000 * seed),
            check=check,
            plan=plan,
            clock=clock,
        )
        differences.append(abs(again.median_ms / once.median_ms - 1))
    ratios = [slow_down_seen(clock, plan, seed) for seed in range(repetitions)]
    return {
        "repetitions": repetitions,
        "largest_difference": round(max(differences), 5),
        "planted_slow_down": 1.2,
        "seen_low": [round(low, 4) for low, _ in ratios],
        "seen_middle": [round(middle, 4) for _, middle in ratios],
        "told_apart": sum(low > 1.03 for low, _ in ratios),
    }


def slow_down_seen(clock: CudaClock, plan: TimingPlan, seed: int) -> tuple[float, float]:
    """The lower end and the middle of the interval in which a slow-down of 20 % is seen."""
    n = 2**26

    def slowed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        vector_add(x[: n // 5], y[: n // 5])  # a fifth of the work is done once more
        return vector_add(x, y)

    honest, slow = compare(
        {"honest": vector_add, "slowed": slowed},
        lambda number: tuple(
            normal(number + 1000 * seed, n, dtype=torch.float32, part=part) for part in range(2)
        ),
        check=equal_to(torch.add),
        plan=plan,
        clock=clock,
    )
    interval = slow.slower_than(honest)
    return interval.low, interval.middle


def question_the_grade(repetitions: int) -> dict[str, list[str]]:
    """What the speed gate says of the model solution itself, and of one slowed by a fifth."""
    from graders.judge import discovery
    from graders.judge.pipeline import Judge
    from graders.judge.speed.gate import Stopwatch
    from graders.judge.speed.watched import WatchedWorkers
    from graders.judge.submission.loading import load

    exercise = discovery.exercise(EXERCISE)
    model = discovery.model_path(exercise)
    assert model is not None
    equal = load(model, exercise)
    slow = type(equal)("slow.py", equal.source + SLOWED, "slowed")
    bars = ((0.5, 1), (0.8, 1), (0.9, 1))
    told: dict[str, list[str]] = {"equal": [], "slowed": []}
    with Judge(mode="all") as judge, WatchedWorkers(device="cuda") as workers:
        stopwatch = Stopwatch(workers, judge.runtime.capture_others)
        for _ in range(repetitions):
            for label, submission in (("equal", equal), ("slowed", slow)):
                found = stopwatch.speed(submission, exercise, bars)
                assert found is not None
                told[label].append(found.problem or f"{found.fraction:.3f}")
    return told


def main() -> None:
    """Ask, print, and say whether it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--sandbox", type=int, default=3, help="repetitions in the sandbox")
    options = parser.parse_args()
    found = question_the_stopwatch(CudaClock(), SHORT, options.repetitions)
    print(f"{torch.cuda.get_device_name()}, {options.repetitions} repetitions")
    print(f"one solution timed twice: at most {found['largest_difference']:.2%} apart (bar: 3 %)")
    print(
        f"a planted slow-down of 20 %: told apart {found['told_apart']} of "
        f"{options.repetitions} times, seen as {min(found['seen_middle']):.3f} to "
        f"{max(found['seen_middle']):.3f}"
    )
    holds = found["largest_difference"] < 0.03 and found["told_apart"] == options.repetitions
    if options.sandbox:
        told = question_the_grade(options.sandbox)
        print(f"in the sandbox, share of the model solution's speed: {told}")
        holds = holds and all(0.97 < _share(x) < 1.03 for x in told["equal"])
        holds = holds and all(0.78 < _share(x) < 0.9 for x in told["slowed"])
    print("holds" if holds else "DOES NOT HOLD")
    raise SystemExit(0 if holds else 1)


def _share(told: str) -> float:
    """The share of speed, or 0 where there is none."""
    try:
        return float(told)
    except ValueError:
        return 0.0


if __name__ == "__main__":
    main()
