"""A deadline night of a class of any size: how many cores and GPUs it needs, and what it costs.

    python benchmarks/scale.py [--learners 100 1000 10000] [--seed 1]

A discrete-event simulation (simpy). Submissions arrive more and more often until the deadline.
Each takes a core for as long as benchmarks/service_times.py measured for a kernel of its exercise,
right or wrong, and, if it passes there, a GPU for a time that is *assumed*: the seconds that a
verdict occupies a GPU were measured for a few exercises only (benchmarks/gpu_verdicts.py), so the
simulation is run for several. Queues are first come, first served; one submission has one core.
Results go to benchmarks/results/scale.json; `python benchmarks/scale_page.py` makes docs/scale.md
of them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import simpy

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from triton_util.tables import aligned  # noqa: E402

TIMES = ROOT / "benchmarks" / "results" / "service_times.json"
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
LEARNERS = (100, 500, 1_000, 10_000)
GPU_SECONDS = (0.0, 1.0, 4.0, 10.0)
HOUR = 3600.0
CORE_HOUR, GPU_HOUR = 0.05, 4.0  # dollars; to be replaced by those of one's own provider


@dataclass(frozen=True)
class Night:
    """What is assumed of a deadline night, beside the measured times.

    checks: submissions of one learner, in the mean. rush_hours: the rate of arrivals grows by the
    factor e in so many hours, until the deadline. right_share: of the submissions, those that
    reach the GPU. gpu_seconds: for which each of those occupies it. patience_s: what 95 of 100
    submissions of the last hour may wait in queues.
    """

    learners: int
    gpu_seconds: float
    checks: float = 6.0
    hours: float = 12.0
    rush_hours: float = 3.0
    right_share: float = 0.4
    patience_s: float = 30.0

    @property
    def last_hour(self) -> float:
        """When the hour before the deadline begins, in seconds."""
        return (self.hours - 1) * HOUR

    @property
    def share_of_last_hour(self) -> float:
        """How many of the submissions arrive in the hour before the deadline."""
        return -math.expm1(-1 / self.rush_hours) / -math.expm1(-self.hours / self.rush_hours)


@dataclass(frozen=True)
class Job:
    """A submission: when it comes, in seconds, and for how long it needs a core and a GPU."""

    arrival: float
    cpu: float
    gpu: float


@dataclass(frozen=True)
class Outcome:
    """The wait of each job in queues, in the order of arrival, and how long machines worked."""

    waits: tuple[float, ...]
    core_seconds: float
    gpu_seconds: float


def jobs_of(night: Night, times: dict[str, Any], draw: random.Random) -> list[Job]:
    """The submissions of a night, by their arrival."""
    count = round(night.learners * night.checks)
    exercises = list(times["rows"].values())
    jobs = []
    for arrival in sorted(arrivals(night, count, draw)):
        right = draw.random() < night.right_share
        cpu = draw.choice(exercises)["right" if right else "wrong"]["whole"]
        jobs.append(Job(arrival, cpu, night.gpu_seconds if right else 0.0))
    return jobs


def arrivals(night: Night, count: int, draw: random.Random) -> Iterator[float]:
    """Times from 0 to the deadline whose density grows like exp(t / rush_hours)."""
    end, rush = night.hours * HOUR, night.rush_hours * HOUR
    for _ in range(count):  # the inverse of the distribution function
        yield rush * math.log1p(draw.random() * math.expm1(end / rush))


def simulate(jobs: Sequence[Job], cores: int, gpus: int) -> Outcome:
    """Let the jobs go through the queue of the cores, then that of the GPUs."""
    world = simpy.Environment()
    at_cores, at_gpus = simpy.Resource(world, cores), simpy.Resource(world, max(1, gpus))
    waits = [0.0] * len(jobs)

    def submission(number: int, job: Job) -> Iterator[Any]:
        yield world.timeout(job.arrival)
        for station, seconds in ((at_cores, job.cpu), (at_gpus, job.gpu)):
            if seconds:
                came = world.now
                with station.request() as turn:
                    yield turn
                    waits[number] += world.now - came
                    yield world.timeout(seconds)

    for number, job in enumerate(jobs):
        world.process(submission(number, job))
    world.run()
    return Outcome(tuple(waits), sum(job.cpu for job in jobs), sum(job.gpu for job in jobs))


def late_wait(jobs: Sequence[Job], outcome: Outcome, night: Night) -> float:
    """What 95 of 100 submissions of the last hour wait at most, in seconds."""
    waits = zip(jobs, outcome.waits, strict=True)
    late = [wait for job, wait in waits if job.arrival >= night.last_hour]
    return statistics.quantiles(late, n=20)[-1] if len(late) > 1 else 0.0


def fewest(enough: Callable[[int], bool], at_least: int) -> int:
    """The smallest number from `at_least` on that is enough; more is never less."""
    low, high = at_least - 1, at_least
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def needed(jobs: Sequence[Job], night: Night) -> tuple[int, int]:
    """The fewest cores, and with them the fewest GPUs, with which nobody waits for too long.

    Cores are counted first, with a GPU for everybody and half of the patience.
    """
    plenty = len(jobs)
    late = [job for job in jobs if job.arrival >= night.last_hour]
    # Four fifths of the last hour's work is never enough: the queue would grow until the deadline.
    cores_at_least = max(1, int(0.8 * sum(job.cpu for job in late) / HOUR))
    gpus_at_least = max(1, int(0.8 * sum(job.gpu for job in late) / HOUR))

    def waits(cores: int, gpus: int) -> float:
        return late_wait(jobs, simulate(jobs, cores, gpus), night)

    cores = fewest(lambda n: waits(n, plenty) <= night.patience_s / 2, cores_at_least)
    if not night.gpu_seconds:
        return cores, 0
    return cores, fewest(lambda n: waits(cores, n) <= night.patience_s, gpus_at_least)


def row(night: Night, times: dict[str, Any], seed: int) -> dict[str, Any]:
    """One night with the machines that it needs, and their cost."""
    jobs = jobs_of(night, times, random.Random(seed))
    cores, gpus = needed(jobs, night)
    outcome = simulate(jobs, cores, gpus)
    by_night = (cores * CORE_HOUR + gpus * GPU_HOUR) * night.hours
    by_second = (outcome.core_seconds * CORE_HOUR + outcome.gpu_seconds * GPU_HOUR) / HOUR
    return {
        **asdict(night),
        "submissions": len(jobs),
        "busiest_minute": busiest_minute(jobs),
        "cores": cores,
        "gpus": gpus,
        "late_wait_s": round(late_wait(jobs, outcome, night), 1),
        "cores_busy": round(outcome.core_seconds / (cores * night.hours * HOUR), 3),
        "dollars_all_night": round(by_night / len(jobs), 5),
        "dollars_by_second": round(by_second / len(jobs), 5),
    }


def busiest_minute(jobs: Sequence[Job]) -> int:
    """Submissions in the minute in which most arrive."""
    return max(Counter(int(job.arrival // 60) for job in jobs).values(), default=0)


def curve(night: Night, times: dict[str, Any], seed: int, cores: int) -> list[tuple[int, float]]:
    """(cores, wait of the last hour) around a number of cores, with a GPU for everybody."""
    jobs = jobs_of(night, times, random.Random(seed))
    counts = sorted({max(1, round(cores * share)) for share in (0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.2)})
    return [(n, late_wait(jobs, simulate(jobs, n, len(jobs)), night)) for n in counts]


COLUMNS = ("learners", "GPU s", "a minute", "cores", "GPUs", "wait s", "$ all night", "$ by second")


def cells(one: dict[str, Any]) -> tuple[str, ...]:
    """A row as text, under `COLUMNS`."""
    return (
        f"{one['learners']:,}",
        f"{one['gpu_seconds']:g}",
        f"{one['busiest_minute']:,}",
        f"{one['cores']:,}",
        f"{one['gpus']:,}",
        f"{one['late_wait_s']:.0f}",
        f"{1000 * one['dollars_all_night']:.2f}",
        f"{1000 * one['dollars_by_second']:.2f}",
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--learners", type=int, nargs="+", default=LEARNERS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(argv)
    times = json.loads(TIMES.read_text(encoding="utf-8"))
    nights = [Night(n, seconds) for n in asked.learners for seconds in GPU_SECONDS]
    rows = [row(night, times, asked.seed) for night in nights]
    largest = max(rows, key=lambda one: (one["learners"], -one["gpu_seconds"]))
    night = Night(largest["learners"], largest["gpu_seconds"])
    report = {
        "date": time.strftime("%Y-%m-%d"),
        "seed": asked.seed,
        "prices": {"core_hour": CORE_HOUR, "gpu_hour": GPU_HOUR},
        "rows": rows,
        "curve": curve(night, times, asked.seed, largest["cores"]),
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print("\n".join(aligned(COLUMNS, [cells(one) for one in rows])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
