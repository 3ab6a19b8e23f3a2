"""The simulation of a deadline night, held against queues whose waits are known by theory."""

from __future__ import annotations

import json
import math
import random

import pytest

from benchmarks import scale, scale_page
from benchmarks.scale import Job, Night, fewest, jobs_of, late_wait, needed, simulate

TIMES = {"rows": {"one": {"right": {"whole": 4.0}, "wrong": {"whole": 2.0}}}}


def waiting_by_erlang(servers: int, load: float, service: float) -> float:
    """The mean wait in an M/M/c queue: Erlang's C formula (load in servers, service in seconds)."""
    terms = [load**n / math.factorial(n) for n in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last) * service / (servers - load)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.6), (4, 3.0)])
@pytest.mark.parametrize("station", ["cores", "gpus"])
def test_waits_are_those_of_erlang(servers: int, load: float, station: str) -> None:
    draw, service, now, jobs = random.Random(3), 2.0, 0.0, []
    for _ in range(40_000):
        now += draw.expovariate(load / service)
        seconds = draw.expovariate(1 / service)
        of_cores = station == "cores"
        jobs.append(Job(now, seconds if of_cores else 0.0, 0.0 if of_cores else seconds))
    cores, gpus = (servers, 1) if station == "cores" else (1, servers)
    waits = simulate(jobs, cores, gpus).waits
    mean = sum(waits) / len(waits)
    assert mean == pytest.approx(waiting_by_erlang(servers, load, service), rel=0.1)


def test_one_core_takes_one_after_the_other_and_then_the_gpu() -> None:
    jobs = [Job(0.0, 4.0, 10.0), Job(1.0, 2.0, 0.0), Job(2.0, 1.0, 5.0)]
    outcome = simulate(jobs, cores=1, gpus=1)
    # The second waits until 4; the third until 6 for the core, and from 7 until 14 for the GPU.
    assert outcome.waits == (0.0, 3.0, 4.0 + 7.0)
    assert (outcome.core_seconds, outcome.gpu_seconds) == (7.0, 15.0)


def test_arrivals_grow_as_the_night_says() -> None:
    night = Night(learners=5_000, gpu_seconds=0.0, checks=2.0, hours=6.0, rush_hours=2.0)
    jobs = jobs_of(night, TIMES, random.Random(5))
    assert len(jobs) == 10_000
    assert 0 <= jobs[0].arrival <= jobs[-1].arrival <= 6 * scale.HOUR
    before, last = ([j for j in jobs if h <= j.arrival / 3600 < h + 2] for h in (2, 4))
    assert len(last) / len(before) == pytest.approx(math.e, rel=0.1)
    assert sum(job.cpu == 4.0 for job in jobs) / 10_000 == pytest.approx(
        night.right_share, abs=0.02
    )


def test_no_fewer_machines_would_do() -> None:
    night = Night(learners=300, gpu_seconds=20.0, hours=3.0, rush_hours=1.0)
    jobs = jobs_of(night, TIMES, random.Random(7))
    cores, gpus = needed(jobs, night)
    assert late_wait(jobs, simulate(jobs, cores, gpus), night) <= night.patience_s
    assert late_wait(jobs, simulate(jobs, cores - 1, len(jobs)), night) > night.patience_s / 2
    assert late_wait(jobs, simulate(jobs, cores, gpus - 1), night) > night.patience_s


@pytest.mark.parametrize("enough", [1, 2, 3, 7, 8, 9, 100])
def test_the_fewest_are_found(enough: int) -> None:
    assert fewest(lambda n: n >= enough, 1) == enough


def test_kept_results_are_those_of_the_measured_times() -> None:
    """A row of the file comes again from the times and the seed that stand beside it."""
    kept = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    times = json.loads(scale.TIMES.read_text(encoding="utf-8"))
    one = kept["rows"][1]
    again = scale.row(Night(one["learners"], one["gpu_seconds"]), times, kept["seed"])
    assert again == one, "run: python benchmarks/scale.py, then python benchmarks/scale_page.py"


def test_the_page_is_the_one_that_the_results_give() -> None:
    report = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    times = json.loads(scale.TIMES.read_text(encoding="utf-8"))
    wanted = scale_page.page_of(report, times)
    assert scale_page.PAGE.read_text(encoding="utf-8") == wanted, (
        "run: python benchmarks/scale_page.py"
    )
    assert scale_page.PLOT.is_file()
