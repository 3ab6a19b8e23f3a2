"""A fair queue: a ring of clients, each with a ring of learners, each with a line of checks.

It is a state machine without clock, network or threads: each call passes the time. A learner with
a token is a client. Learners who share a token at one address are one client together, because one
of them can pretend to be many. A learner is in the client's ring while they have a waiting check
and no running one. A client goes to the end of the ring after each turn. So a client delays another
client's first check by one check at most, under any number of names.
"""

from __future__ import annotations

import secrets
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
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
    client: str
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
    client: str = ""  # whose ring contains the learner
    waiting: deque[ServiceJob] = field(default_factory=deque)
    running: ServiceJob | None = None
    done: deque[ServiceJob] = field(default_factory=deque)


@dataclass(frozen=True)
class NotTaken(Exception):  # noqa: N818 - an answer, not a fault
    """Why a check was not accepted, in one line, and when to try again (seconds)."""

    status: int
    message: str
    again: float = 0.0


def _before(own: str, ring: Iterable[tuple[str, int]], rounds: int) -> int:
    """Return how many turns the others in a ring have before the turn of `own`.

    `own` first waits for `rounds` turns of its own. `ring` has the names in order, each with its
    number of waiting checks.
    """
    before, ahead = True, 0
    for name, waiting in ring:
        if name == own:
            before = False
        else:
            ahead += min(waiting, rounds + before)
    return ahead


class FairQueue:
    """All checks that are waiting, running, or recently done."""

    def __init__(self, limits: ServiceLimits | None = None) -> None:
        self.limits = limits or ServiceLimits()
        self.mean_seconds = GUESS
        self._lines: dict[str, _Line] = {}
        self._ring: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()  # clients' learners
        self._waiting: Counter[str] = Counter()  # checks, by client
        self._jobs: dict[str, ServiceJob] = {}
        self._keys: dict[tuple[str, str], ServiceJob] = {}
        self._done: OrderedDict[str, ServiceJob] = OrderedDict()
        per_second, burst = self.limits.per_hour / 3600, self.limits.burst
        together = self.limits.learners_per_address
        self._rate = Rate(per_second, burst)
        self._rate_together = Rate(per_second * together, burst * together)
        self.waiting = 0
        self.running = 0

    def submit(
        self, learner: str, key: str, exercise: str, source: str, now: float, client: str = ""
    ) -> ServiceJob:
        """Add a check. The same key of the same learner is the same check: it runs once.

        `client` names learners who may be the same person; "" for a learner with their own token.
        Raises NotTaken if a limit is reached.
        """
        self.forget_old(now)
        known = self._keys.get((learner, key))
        if known is not None:
            return known
        line = self._lines.get(learner) or _Line()
        client = client or learner
        self._admit(learner, client, line, now)
        job = ServiceJob(secrets.token_urlsafe(24), learner, client, key, exercise, source, now)
        self._lines[learner] = line
        self._jobs[job.id] = self._keys[learner, key] = job
        line.waiting.append(job)
        self._count(job, 1)
        self._enter(learner)
        return job

    def _admit(self, learner: str, client: str, line: _Line, now: float) -> None:
        """Raise NotTaken if a limit of the learner, the client or the whole class is reached."""
        if len(line.waiting) >= self.limits.waiting_each:
            raise NotTaken(
                429,
                f"You have {len(line.waiting)} checks waiting already: wait until one of them has "
                "been answered.",
                self.mean_seconds,
            )
        together = self.limits.waiting_each * self.limits.learners_per_address
        if self._waiting[client] >= together:
            raise NotTaken(
                429,
                f"{together} checks from your address wait already: try again when some of them "
                "have been answered. Who has a token of their own need not wait for others.",
                self.mean_seconds,
            )
        if self.waiting >= self.limits.waiting:
            raise NotTaken(
                503,
                f"The class's queue is full ({self.waiting} checks wait): try again in a few "
                "minutes.",
                60.0,
            )
        for rate, name, who in (
            (self._rate, learner, "You have"),
            (self._rate_together, client, "Learners at your address have"),
        ):
            again = rate.take(name, now)
            if again:
                raise NotTaken(
                    429,
                    f"{who} asked for many checks in a short time: the next one is taken in "
                    f"{again:.0f} s.",
                    again,
                )

    def _count(self, job: ServiceJob, more: int) -> None:
        self.waiting += more
        self._waiting[job.client] += more
        if not self._waiting[job.client]:
            del self._waiting[job.client]

    def _enter(self, learner: str, first: bool = False) -> None:
        """Put a learner at the end of the client's ring, unless one of their checks runs.

        A client that is not in the ring goes to its end, too. With `first`, both go to the front.
        """
        line = self._lines[learner]
        if not line.waiting or line.running is not None:
            return
        if learner in self._ring.get(line.client, ()):
            return
        line.client = line.waiting[0].client
        own = self._ring.setdefault(line.client, OrderedDict())
        own[learner] = None
        if first:
            own.move_to_end(learner, last=False)
            self._ring.move_to_end(line.client, last=False)

    def _leave(self, learner: str) -> None:
        client = self._lines[learner].client
        own = self._ring.get(client)
        if own is not None:
            own.pop(learner, None)
            if not own:
                del self._ring[client]

    def next(self, now: float) -> ServiceJob | None:
        """Return the check whose turn it is, and mark it as running."""
        if not self._ring:
            return None
        client, own = next(iter(self._ring.items()))
        learner = next(iter(own))
        self._leave(learner)
        if client in self._ring:
            self._ring.move_to_end(client)
        line = self._lines[learner]
        job = line.running = line.waiting.popleft()
        job.state, job.started, job.attempts = "running", now, job.attempts + 1
        self._count(job, -1)
        self.running += 1
        return job

    def again(self, job: ServiceJob) -> None:
        """Put a running check back as the next one, because its learner is not at fault."""
        line = self._lines[job.learner]
        assert line.running is job
        line.running = None
        line.waiting.appendleft(job)
        job.state = "waiting"
        self._count(job, 1)
        self.running -= 1
        self._enter(job.learner, first=True)

    def finish(self, job: ServiceJob, answer: dict[str, Any], now: float) -> None:
        """Store the answer for the learner, and queue the learner's next check."""
        line = self._lines[job.learner]
        assert line.running is job
        line.running = None
        self.running -= 1
        seconds = now - job.started
        self.mean_seconds += MEMORY * (seconds - self.mean_seconds)
        self._end(job, line, answer, now)
        self._enter(job.learner)

    def withdraw(self, job: ServiceJob, answer: dict[str, Any], now: float) -> bool:
        """Withdraw a waiting check; return False if it runs or is done."""
        if job.state != "waiting":
            return False
        line = self._lines[job.learner]
        line.waiting.remove(job)
        self._count(job, -1)
        if not line.waiting:
            self._leave(job.learner)
        self._end(job, line, answer, now)
        return True

    def _end(self, job: ServiceJob, line: _Line, answer: dict[str, Any], now: float) -> None:
        job.state, job.ended, job.answer, job.source = "done", now, answer, ""
        line.done.append(job)
        self._done[job.id] = job
        if len(line.done) > self.limits.kept_each:
            self._forget(line.done[0])

    def of(self, learner: str, job_id: str) -> ServiceJob | None:
        """Return the check with that id if it is the learner's own, else None."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.learner == learner else None

    def position(self, job: ServiceJob) -> int:
        """Return how many checks will start before this one; 0 if it is next or already runs."""
        if job.state != "waiting":
            return 0
        line = self._lines[job.learner]
        place = line.waiting.index(job)
        running = line.running is not None
        own = self._ring.get(line.client, ())
        learners = ((name, len(self._lines[name].waiting)) for name in own)
        turns = place + _before(job.learner, learners, place + running)  # of the same client
        clients = ((name, self._waiting[name]) for name in self._ring)
        return turns + _before(line.client, clients, turns + running)

    def expected_wait(self, job: ServiceJob, workers: int, position: int) -> float | None:
        """Estimate the seconds until its report from recent checks; None without a worker.

        `position` is the check's own, passed in because computing it visits all learners.
        """
        if job.state == "done" or not workers:
            return 0.0 if job.state == "done" else None
        turns = (position + self.running) / workers if job.state == "waiting" else 0.5
        return max(1.0, turns) * self.mean_seconds

    def forget_old(self, now: float) -> None:
        """Drop reports that were not fetched in time."""
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
