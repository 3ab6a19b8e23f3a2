"""Limits on the requests of each learner and of the whole class."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceLimits:
    """The limits of one service; times in seconds.

    A learner may have `waiting_each` checks in the queue and submit `per_hour`, `burst` of them at
    once. An address that uses a shared token may have as much as `learners_per_address` learners.
    `running` is how long one check may use a worker, `kept` how long its report stays available.
    """

    waiting: int = 2000
    waiting_each: int = 4
    per_hour: float = 120.0
    burst: int = 12
    learners_per_address: int = 10
    running: float = 300.0
    kept: float = 900.0
    kept_each: int = 12
    attempts: int = 3
    source_bytes: int = 200_000
    body_bytes: int = 300_000
    body_seconds: float = 10.0
    idle_seconds: float = 75.0
    connections: int = 5000


@dataclass
class _Bucket:
    left: float
    when: float


class Rate:
    """Token buckets by name: `burst` at once, and `per_second` more over time.

    Buckets that are full again are removed, so that old names use no memory.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second, self._burst = per_second, burst
        self._buckets: dict[str, _Bucket] = {}
        self._swept = 0.0

    def take(self, name: str, now: float) -> float:
        """Take one token; return 0.0 if there was one, else the seconds until there is one."""
        bucket = self._filled(name, now)
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0.0

    def _filled(self, name: str, now: float) -> _Bucket:
        self._sweep(now)
        bucket = self._buckets.setdefault(name, _Bucket(self._burst, now))
        bucket.left = min(self._burst, bucket.left + (now - bucket.when) * self._per_second)
        bucket.when = now
        return bucket

    def _sweep(self, now: float) -> None:
        full_after = self._burst / self._per_second
        if now - self._swept > full_after:
            self._swept = now
            old = [name for name, b in self._buckets.items() if now - b.when > full_after]
            for name in old:
                del self._buckets[name]
