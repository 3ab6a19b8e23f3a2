"""How many launchers that compute without a kernel get points? There must be none.

    python benchmarks/attack_launchers.py --count 10000 [--jobs N]

The launchers come from the grammar of `tests/attacks/generated.py`. Each is captured; what that
lets pass is run on two cases. With `--jobs` so many processes share the work, each with a seed of
its own; a launcher that two of them made counts once. Prints how many were refused by which code,
and every launcher that got points.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

from hypothesis import HealthCheck, Phase, given, seed, settings

from graders.judge.compiling.process import CompileWorker
from graders.judge.sandbox.pool import Workers
from tests.attacks import capturing
from tests.attacks.attack import honest
from tests.attacks.generated import launchers


def main() -> None:
    """Read the command line, try the launchers, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=1000, help="how many launchers (1000)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after (3600)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options = parser.parse_args()
    started = time.monotonic()
    verdicts = shared_out(options.count, options.seed, options.seconds, options.jobs)
    codes = Counter(verdicts.values())
    print(f"{len(verdicts)} different launchers in {time.monotonic() - started:.0f} s")
    for code, number in codes.most_common():
        print(f"{number:8d}  {code}")
    print(f"{codes['points']} got points")
    raise SystemExit(1 if codes["points"] else 0)


def shared_out(wanted: int, first_seed: int, most_seconds: float, jobs: int) -> dict[str, str]:
    """The verdict of each launcher, by the digest of its text; `jobs` processes make them."""
    each = -(-wanted // jobs)
    if jobs == 1:
        return attack(each, first_seed, most_seconds)
    found: dict[str, str] = {}
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        seeds = range(first_seed, first_seed + jobs)
        for verdicts in pool.map(attack, repeat(each), seeds, repeat(most_seconds)):
            found |= verdicts
    return found


def attack(wanted: int, number: int, most_seconds: float) -> dict[str, str]:
    """The verdict of each launcher, by the digest of its text; prints those that got points."""
    verdicts: dict[str, str] = {}
    deadline = time.monotonic() + most_seconds
    with CompileWorker(cpu_seconds=5.0) as worker, Workers() as workers:
        if capturing.verdict(worker, workers, honest()) != "points":
            raise SystemExit("the honest control gets no points: nothing would be shown")

        @seed(number)
        @settings(
            max_examples=wanted,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(source=launchers())
        def one(source: str) -> None:
            digest = hashlib.sha256(source.encode()).hexdigest()
            if digest in verdicts or time.monotonic() > deadline:
                return
            verdicts[digest] = code = capturing.verdict(worker, workers, source)
            if code == "points":
                print(source)

        one()
    return verdicts


if __name__ == "__main__":
    main()
