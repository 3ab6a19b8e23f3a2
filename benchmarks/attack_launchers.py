"""How many launchers that compute without a kernel get points? There must be none.

    python benchmarks/attack_launchers.py --count 10000

The launchers come from the grammar of `tests/attacks/generated.py`. Each is captured; what that
lets pass is run on two cases. Prints how many were refused by which code, and every launcher that
got points.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

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
    given_options = parser.parse_args()
    started = time.monotonic()
    codes = attack(given_options.count, given_options.seed, given_options.seconds)
    total = codes.total()
    print(f"{total} different launchers in {time.monotonic() - started:.0f} s")
    for code, count in codes.most_common():
        print(f"{count:8d}  {code}")
    print(f"{codes['points']} got points")
    raise SystemExit(1 if codes["points"] else 0)


def attack(count: int, number: int, most_seconds: float) -> Counter[str]:
    """How often each verdict was given; prints the launchers that got points."""
    codes: Counter[str] = Counter()
    known: set[str] = set()
    deadline = time.monotonic() + most_seconds
    with CompileWorker(cpu_seconds=5.0) as worker, Workers() as workers:
        if capturing.verdict(worker, workers, honest()) != "points":
            raise SystemExit("the honest control gets no points: nothing would be shown")

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(source=launchers())
        def one(source: str) -> None:
            if source in known or time.monotonic() > deadline:
                return
            known.add(source)
            code = capturing.verdict(worker, workers, source)
            codes[code] += 1
            if code == "points":
                print(source)

        one()
    return codes


if __name__ == "__main__":
    main()
