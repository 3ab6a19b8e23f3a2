"""Whose turn it is: learners in a ring, each with a line of checks, of which one runs at a time.

A state machine without clock, network or threads: each call says what time it is. A learner is in
the ring while a check of theirs waits and none runs, and goes to its end each time that one of
their checks ends; so nobody's ten checks delay another one's first by more than one.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any, Literal

from graders.service.limits import Rate, ServiceLimits

State = Literal["waiting", "running", "done"]
GUESS = 10.0  # seconds of one check, until one has been measured
MEMORY = 0.1  # the weight of the newest check in the running mean


@dataclass(eq=False)
class ServiceJob:
    """One check of one learner. `answer` is there once it is done; `source` until then."""

    id: str
    learner: str
    key: str
    exercise: str
    source: str
    arrived: float
    state: State = "waiting"
    attempts: int = 0
    started: float = 0.0
    ended: float = 0.0
    answer: dict[str, Any] | None = None


@dataclass
class _Line:
    waiting: deque[ServiceJob] = field(default_factory=deque)
    running: ServiceJob | None = None
    done: deque[ServiceJob] = field(default_factory=deque)


@dataclass(frozen=True)
class NotTaken(Exception):  # noqa: N818 - an answer, not a fault
    """Why a check was not taken, in one line, and when to come again (seconds)."""

    status: int
    message: str
    again: float = 0.0


class FairQueue:
    """All checks that wait, run, or were done lately."""

    def __init__(self, limits: ServiceLimits | None = None) -> None:
        self.limits = limits or ServiceLimits()
        self.mean_seconds = GUESS
        self._lines: dict[str, _Line] = {}
        self._ring: OrderedDict[str, None] = OrderedDict()
        self._jobs: dict[str, ServiceJob] = {}
        self._keys: dict[tuple[str, str], ServiceJob] = {}
        self._done: OrderedDict[str, ServiceJob] = OrderedDict()
        self._rate = Rate(self.limits.per_hour / 3600, self.limits.burst)
        self.waiting = 0
        self.running = 0

    def submit(self, learner: str, key: str, exercise: str, source: str, now: float) -> ServiceJob:
        """Take a check. The same key of the same learner is the same check: it runs once.

        Raises NotTaken where a limit is reached.
        """
        self.forget_old(now)
        known = self._keys.get((learner, key))
        if known is not None:
            return known
        line = self._lines.get(learner) or _Line()
        if len(line.waiting) >= self.limits.waiting_each:
            raise NotTaken(
                429,
                f"You have {len(line.waiting)} checks waiting already: wait until one of them has "
                "been answered.",
                self.mean_seconds,
            )
        if self.waiting >= self.limits.waiting:
            raise NotTaken(
                503,
                f"The class's queue is full ({self.waiting} checks wait): try again in a few "
                "minutes.",
                60.0,
            )
        again = self._rate.take(learner, now)
        if again:
            raise NotTaken(
                429,
                f"You have asked for many checks in a short time: the next one is taken in "
                f"{again:.0f} s.",
                again,
            )
        job = ServiceJob(secrets.token_urlsafe(24), learner, key, exercise, source, now)
        self._lines[learner] = line
        self._jobs[job.id] = self._keys[learner, key] = job
        line.waiting.append(job)
        self.waiting += 1
        self._enter(learner)
        return job

    def _enter(self, learner: str) -> None:
        """Put a learner at the end of the ring, unless one of their checks runs."""
        line = self._lines[learner]
        if line.waiting and line.running is None and learner not in self._ring:
            self._ring[learner] = None

    def next(self, now: float) -> ServiceJob | None:
        """The check whose turn it is; from now on it runs."""
        if not self._ring:
            return None
        learner, _ = self._ring.popitem(last=False)
        line = self._lines[learner]
        job = line.running = line.waiting.popleft()
        job.state, job.started, job.attempts = "running", now, job.attempts + 1
        self.waiting -= 1
        self.running += 1
        return job

    def again(self, job: ServiceJob) -> None:
        """Put a running check back: it is the next one, since it is no fault of its learner's."""
        line = self._lines[job.learner]
        assert line.running is job
        line.running = None
        line.waiting.appendleft(job)
        job.state = "waiting"
        self.waiting += 1
        self.running -= 1
        self._ring[job.learner] = None
        self._ring.move_to_end(job.learner, last=False)

    def finish(self, job: ServiceJob, answer: dict[str, Any], now: float) -> None:
        """Keep the answer for the learner, and let the learner's next check wait its turn."""
        line = self._lines[job.learner]
        assert line.running is job
        line.running = None
        self.running -= 1
        seconds = now - job.started
        self.mean_seconds += MEMORY * (seconds - self.mean_seconds)
        self._end(job, line, answer, now)
        self._enter(job.learner)

    def withdraw(self, job: ServiceJob, answer: dict[str, Any], now: float) -> bool:
        """Take a waiting check back for its learner; False where it runs or is done."""
        if job.state != "waiting":
            return False
        line = self._lines[job.learner]
        line.waiting.remove(job)
        self.waiting -= 1
        if not line.waiting:
            self._ring.pop(job.learner, None)
        self._end(job, line, answer, now)
        return True

    def _end(self, job: ServiceJob, line: _Line, answer: dict[str, Any], now: float) -> None:
        job.state, job.ended, job.answer, job.source = "done", now, answer, ""
        line.done.append(job)
        self._done[job.id] = job
        if len(line.done) > self.limits.kept_each:
            self._forget(line.done[0])

    def of(self, learner: str, job_id: str) -> ServiceJob | None:
        """The check of that id, for the learner whose it is; None for everybody else."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.learner == learner else None

    def position(self, job: ServiceJob) -> int:
        """How many checks will start before this one; 0: it is the next, or runs already."""
        if job.state != "waiting":
            return 0
        own = self._lines[job.learner]
        place = own.waiting.index(job)
        rounds = place + (own.running is not None)  # turns of their own that come first
        if not rounds:  # as for nearly everybody: one check of each learner before them comes first
            return list(self._ring).index(job.learner)
        before, ahead = True, place
        for learner in self._ring:
            if learner == job.learner:
                before = False
                continue
            others = len(self._lines[learner].waiting)
            ahead += min(others, rounds + before)
        return ahead

    def expected_wait(self, job: ServiceJob, workers: int, position: int) -> float | None:
        """Seconds until its report, as the last checks make likely; None without a worker.

        `position` is the check's own: finding it out is a walk along all learners.
        """
        if job.state == "done" or not workers:
            return 0.0 if job.state == "done" else None
        turns = (position + self.running) / workers if job.state == "waiting" else 0.5
        return max(1.0, turns) * self.mean_seconds

    def forget_old(self, now: float) -> None:
        """Drop reports that nobody has fetched in time."""
        while self._done:
            oldest = next(iter(self._done.values()))
            if now - oldest.ended <= self.limits.kept:
                return
            self._forget(oldest)

    def _forget(self, job: ServiceJob) -> None:
        if self._jobs.pop(job.id, None) is None:
            return
        self._keys.pop((job.learner, job.key), None)
        del self._done[job.id]
        line = self._lines[job.learner]
        line.done.remove(job)
        if not (line.waiting or line.running or line.done):
            del self._lines[job.learner]
