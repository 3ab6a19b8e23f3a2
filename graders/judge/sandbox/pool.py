"""`Workers` runs jobs in jailed processes and returns how each ended. It runs in the judge.

    with Workers() as workers:
        outcomes = workers.run(jobs)

One warm process serves many submissions, and each batch of jobs runs in a fork of it. If a job
crashes, hangs or ends its process, that is its outcome. The next jobs run in a new fork.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Self

import torch

from graders.judge.plan.steps import Constant, steps_to_text
from graders.judge.records import GraderError
from graders.judge.sandbox import protocol, starting
from graders.judge.sandbox.batch import Batch
from graders.judge.sandbox.deadline import Deadline
from graders.judge.sandbox.protocol import BuildOrder, Device, Status, outcome_of
from graders.judge.sandbox.serving import STOP, Ending
from graders.judge.sandbox.starting import Started, idle_processors, last_line
from graders.judge.sandbox.warm import GRACE_SECONDS, WarmProcess, in_memory
from graders.judge.sandbox.work import NO_STEPS, Job, Outcome, Work

__all__ = ["NO_STEPS", "Job", "Outcome", "Status", "Work", "Workers"]

BATCH_SECONDS = 180.0
BUILD_SECONDS, BUILD_BYTES = 90.0, 6 << 30  # for compiling ahead: in all, and per process
MOST_BUILDERS = 16  # processes; a container's number of CPUs is not always known
LAUNCHES_EACH = 2  # fewer launches are not worth a process


class Workers(WarmProcess):
    """A warm process and its jailed children.

    `without`, for tests, leaves out layers of the jail (see `jail.LAYERS`), which lowers the
    tier. `capability` is the GPU's, 90 for sm_90.
    """

    def __init__(
        self,
        device: Device = "cpu",
        without: Collection[str] = (),
        capability: int = starting.USUAL_CAPABILITY,
    ) -> None:
        super().__init__()
        self.device = device
        self.capability = capability
        self.gpu_seconds = 0.0  # wall time of batches on a GPU, measured here
        self.deadline = Deadline(processor=float("inf"), ends=float("inf"))
        self.next_at_once = False  # see `protocol.Limits`
        self.compiled_there = 0  # kernels that were not compiled ahead
        self._without = tuple(without)
        self._finished, self._jobs = 0, 0
        self._batch: Batch | None = None
        self._building = False

    def __enter__(self) -> Self:
        with self._lock:
            self._ensure_started()
        return self

    def _launched(self) -> Started:
        return starting.worker(self.device, self.capability, self._without)

    @property
    def tier(self) -> str:
        """Return the tier. A: the jail stopped every attempt; B: some attempts; C: none."""
        return str(self.greeting["tier"])

    @property
    def layers(self) -> dict[str, str]:
        """Return the jail's layers in words, each beginning with "on" or with "missing"."""
        return dict(self.greeting["layers"])

    @property
    def open_to(self) -> tuple[str, ...]:
        """Return the attempts that the jail did not stop; () at tier A."""
        return tuple(self.greeting["open_to"])

    def run(
        self,
        jobs: Sequence[Job],
        stop_on: Collection[str] = (),
        seconds: float = BATCH_SECONDS,
    ) -> list[Outcome]:
        """Run the jobs in order and return one outcome each.

        Jobs of one submission share a process. After an outcome whose status is in `stop_on`, the
        rest are "not-run". `seconds` limits all of them together, in CPU time or, on a GPU, wall
        time. Jobs that are left when the time is over have the outcome "timeout". If the
        submission's deadline is already over, none is run.
        """
        if self.deadline.processor <= 0:
            return [Outcome("not-run")] * len(jobs)
        seconds = min(seconds, self.deadline.processor)
        with self._lock:
            outcomes: list[Outcome] = []
            self._finished, self._jobs = 0, len(jobs)
            while len(outcomes) < len(jobs) and seconds > 0:
                self._ensure_started()
                fresh, took = self._run_fork(_of_one_source(jobs[len(outcomes) :]), seconds)
                seconds -= took
                self.deadline.processor -= took
                outcomes += fresh
                self._finished = len(outcomes)
                stop = next((i for i, o in enumerate(outcomes) if o.status in stop_on), None)
                if stop is not None:
                    rest = len(jobs) - stop - 1
                    return outcomes[: stop + 1] + [Outcome("not-run")] * rest
        return outcomes + [Outcome("timeout")] * (len(jobs) - len(outcomes))

    def build(self, work: Work, launches: Sequence[Any]) -> str:
        """Compile launches of a submission ahead, without using the GPU.

        Later jobs with the same `work.key` use the binaries. `compiling.variants` lists
        `launches`. Return "" if every launch was compiled or failed to compile, else what ended
        it: "stopped", "time" or "memory".
        """
        if not launches:
            return ""
        request = {
            "source": work.source,
            "filename": work.filename,
            "kernels": list(work.kernels),
            "launches": list(launches),
            "capability": self.capability,
        }
        processes = min(MOST_BUILDERS, idle_processors(), max(1, len(launches) // LAUNCHES_EACH))
        order = BuildOrder(work.key, processes, BUILD_SECONDS, BUILD_BYTES)
        with self._lock:
            self._ensure_started()
            descriptor = in_memory(json.dumps(request).encode())
            self._building = True
            try:
                answer = self._asked(order.to_json(), [descriptor], BUILD_SECONDS)
            finally:
                self._building = False
                os.close(descriptor)
        return str(answer["built"])

    def stop_building(self) -> None:
        """Stop a `build` in another thread, if there is one."""
        started = self._started
        if self._building and started is not None:
            with contextlib.suppress(OSError):
                started.control.send(STOP)

    @property
    def progress(self) -> tuple[int, int]:
        """Return how many of the current jobs are done, and their number; for progress bars."""
        batch = self._batch
        return self._finished + (batch.done() if batch is not None else 0), self._jobs

    def _run_fork(self, jobs: Sequence[Job], seconds: float) -> tuple[list[Outcome], float]:
        """Run jobs in one fork; return outcomes of one or more of them, and the seconds used.

        The seconds are CPU time, or wall time on a GPU.
        """
        started = time.monotonic()
        self._batch = batch = Batch(jobs, seconds)
        try:
            ending = self._exchange(batch)
            outcomes = _finished(batch, jobs)
            if len(outcomes) < len(jobs) and not _left_early(batch, ending, len(outcomes)):
                outcomes += self._abnormal(batch, jobs, ending, len(outcomes))
        finally:
            self._batch = None
            batch.close()
        self.compiled_there += sum(outcome.compiled for outcome in outcomes)
        if self.device == "cuda":
            return outcomes, time.monotonic() - started
        return outcomes, ending.processor_seconds

    def _abnormal(
        self, batch: Batch, jobs: Sequence[Job], ending: Ending, index: int
    ) -> list[Outcome]:
        """Return the outcome of the job in which the process ended.

        If it ended while loading the source, all jobs have that outcome.
        """
        if ending.reason == "stalled":
            raise GraderError(
                "the machine has too much to do: in a long wait the kernel got less than its "
                "share of the processor. Judge it again when the machine has less to do"
            )
        status, name = outcome_of(ending)
        state = batch.header(index).state
        compiling = status == "timeout" and state == protocol.COMPILING
        outcome = Outcome(
            status=status,
            signal=name,
            seconds=jobs[index].seconds if status == "timeout" else 0.0,
            error=batch.report(index).error if compiling else None,
        )
        if index == 0 and state == protocol.WAITING and status == "exited":
            self._check_jail()
        return [outcome] * (len(jobs) - index if state == protocol.LOADING else 1)

    def _check_jail(self) -> None:
        """Raise GraderError if a job of our own does not run: then the machine is at fault."""
        constant = steps_to_text([Constant(0, "int64", (1,))])
        result = {"tensor": [0, "int64", [], [], 0]}
        job = Job(Work("", "<check>", (), constant, result, ()), (), (), torch.int64)
        batch = Batch([job], GRACE_SECONDS)
        try:
            self._exchange(batch)
            works = batch.header(0).state == protocol.DONE
        finally:
            batch.close()
        if not works and self._started is not None:
            raise GraderError(
                "the worker processes cannot enter their jail on this machine: "
                + last_line(self._started.errors)
            )

    def _exchange(self, batch: Batch) -> Ending:
        """Send the batch, wait until its process is dead, and return how it ended."""
        request = batch.request()
        patience = 1.0 if self.device == "cuda" else protocol.PATIENCE
        began = time.monotonic()
        try:
            limits = replace(batch.plan.limits, next_at_once=self.next_at_once).to_json()
            seconds = patience * batch.plan.seconds
            return Ending(**self._asked(limits, [request, batch.memory], seconds))
        finally:
            os.close(request)
            if self.device == "cuda":
                self.gpu_seconds += time.monotonic() - began

    def _asked(self, message: bytes, descriptors: list[int], seconds: float) -> dict[str, Any]:
        """Send a message and return the warm process's answer, within `seconds`."""
        try:
            self._send(message, descriptors, self.deadline.wait(seconds + GRACE_SECONDS))
            return self._received()
        except OSError as error:
            self._stop()
            raise GraderError(f"the sandbox's warm process does not answer: {error}") from error
        except BaseException:  # Ctrl-C: a later message must not read this one's answer
            self._stop()
            raise


def _of_one_source(jobs: Sequence[Job]) -> list[Job]:
    """Return the first jobs that have the same source."""
    return list(
        itertools.takewhile(lambda job: job.work.submission == jobs[0].work.submission, jobs)
    )


def _finished(batch: Batch, jobs: Sequence[Job]) -> list[Outcome]:
    """Return the outcomes of the jobs that are done, from the first up to any gap."""
    outcomes: list[Outcome] = []
    for index in range(len(jobs)):
        if batch.header(index).state != protocol.DONE:
            break
        outcomes.append(batch.outcome(index))
    return outcomes


def _left_early(batch: Batch, ending: Ending, index: int) -> bool:
    """Whether the worker ended between two jobs, as it does when it loses the GPU."""
    went = not ending.reason and ending.status == 0
    return went and index > 0 and batch.header(index).state == protocol.WAITING
