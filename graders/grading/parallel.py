"""Judges many submissions in parallel, in local processes or on a Dask cluster.

Both give the same marks, in any order. If a worker dies, another one gets its submission. After
three deaths the submission stays ungraded; it never gets a zero.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import connection
from multiprocessing.util import Finalize
from typing import Any

from graders.grading import fork_server
from graders.grading.judging import MODE, close_marker, mark_code, mode, warm_marker
from graders.grading.marks import UNSANDBOXED, Marker, Marks, ungraded_marks, unsandboxed_allowed
from graders.grading.store import judge_version
from graders.judge import discovery
from graders.judge.records import GraderError
from graders.judge.sandbox import folders

ATTEMPTS = 3
CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Task:
    """One submission's code at one exercise. `key` says what its marks depend on.

    `earlier` are marks, as JSON data, that need only a GPU's verdict.
    """

    key: str
    code: tuple[str, ...]
    exercise: str
    earlier: dict[str, Any] | None = None


Judged = tuple[Task, Marks]
Judging = Callable[[Iterable[Task]], Iterator[Judged]]


@cache
def _secret() -> str:
    return secrets.token_hex(32)


@dataclass(frozen=True)
class Terms:
    """What the command and its workers must agree on, so that grades are the same everywhere.

    `earlier` are the marks to complete, if any. `secret` is the seed of all cases' numbers; each
    grading command makes a new one.
    """

    earlier: dict[str, Any] | None = None
    judge: str = field(default_factory=judge_version)
    unsandboxed: bool = field(default_factory=unsandboxed_allowed)
    mode: str = field(default_factory=mode)
    secret: str = field(default_factory=_secret, repr=False)


Ask = Callable[[tuple[str, ...], str, Terms], dict[str, Any]]


def judge_task(code: tuple[str, ...], exercise: str, terms: Terms) -> dict[str, Any]:
    """Judge a task in a worker, with its own warm judge; return marks as JSON data."""
    earlier = None if terms.earlier is None else Marks.from_json(terms.earlier)
    return mark_code(list(code), exercise, _marker(terms), earlier).to_json()


def warm_up(terms: Terms) -> None:
    """Start a worker's judge before the first task."""
    _marker(terms).warm()


def _marker(terms: Terms) -> Marker:
    if judge_version() != terms.judge:
        raise GraderError(
            "this worker has other versions of the judge, torch or triton than the command that "
            "asks it: install the same on all machines"
        )
    os.environ[UNSANDBOXED] = "1" if terms.unsandboxed else "0"
    os.environ[MODE] = terms.mode
    return warm_marker(bytes.fromhex(terms.secret))


def died(task: Task) -> Marks:
    """Return the marks of a submission whose worker died each time."""
    reason = f"the process that judged it died {ATTEMPTS} times; look at memory and disk space"
    return ungraded_marks(discovery.exercise(task.exercise), reason)


def failed(task: Task, error: object) -> Marks:
    """Return the marks of a submission on which the judge failed."""
    reason = f"{type(error).__name__}: {error}"
    return ungraded_marks(discovery.exercise(task.exercise), reason)


def _prepare_worker(threads: int) -> None:
    import torch  # the judge uses it to compare; workers share the cores

    torch.set_num_threads(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command handles Ctrl-C
    Finalize(None, close_marker, exitpriority=100)  # these processes do not run atexit
    threading.Thread(target=_end_with_the_command, daemon=True).start()


def _end_with_the_command() -> None:
    """Make a worker end with the command, because a killed command cannot end its workers."""
    command = multiprocessing.parent_process()
    if command is not None:
        connection.wait([command.sentinel])
        folders.remove_all()
        os._exit(1)


@dataclass
class LocalProcesses:
    """Judges with `workers` processes on this machine. Call it with the tasks."""

    workers: int
    ask: Ask = judge_task
    _attempts: dict[str, int] = field(default_factory=dict)
    _early: Future[ProcessPoolExecutor] | None = None

    def start(self, tasks: int) -> None:
        """Start processes for this many tasks in the background, so a later call is faster."""
        if tasks:
            fork_server.start()
            thread = ThreadPoolExecutor(1)
            self._early = thread.submit(self._warm_pool, min(tasks, self.workers))
            thread.shutdown(wait=False)

    def _warm_pool(self, processes: int) -> ProcessPoolExecutor:
        """Return a pool of warm processes: a task given earlier would start a cold process."""
        pool = self._pool()
        wait([pool.submit(warm_up, Terms()) for _ in range(processes)])
        return pool

    @property
    def has_gpu(self) -> bool:
        """Whether kernels can run on a GPU."""
        import torch  # slow to import, and needed only for a GPU

        return torch.cuda.is_available()

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        waiting, again = iter(tasks), deque[Task]()
        while True:
            early, self._early = self._early, None
            pool = early.result() if early is not None else self._pool()
            running: dict[Future[dict[str, Any]], Task] = {}
            try:
                yield from self._run(pool, waiting, again, running)
                return
            except BrokenProcessPool:
                for task in running.values():
                    self._attempts[task.key] = self._attempts.get(task.key, 0) + 1
                    if self._attempts[task.key] < ATTEMPTS:
                        again.append(task)
                    else:
                        yield task, died(task)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _pool(self) -> ProcessPoolExecutor:
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        return ProcessPoolExecutor(
            self.workers,
            mp_context=fork_server.context(),
            initializer=_prepare_worker,
            initargs=(threads,),
        )

    def _run(
        self,
        pool: ProcessPoolExecutor,
        waiting: Iterator[Task],
        again: deque[Task],
        running: dict[Future[dict[str, Any]], Task],
    ) -> Iterator[Judged]:
        """Submit just enough tasks to keep the pool busy, so that few are in memory at once.

        If a pool breaks, each task that was running is tried again alone, to find the one that
        breaks it.
        """
        while True:
            limit = 1 if again else 2 * self.workers
            while len(running) < limit:
                task = again.popleft() if again else next(waiting, None)
                if task is None:
                    break
                fork_server.start()  # only now: without a task it is not needed
                try:
                    running[
                        pool.submit(self.ask, task.code, task.exercise, Terms(task.earlier))
                    ] = task
                except BrokenProcessPool:
                    again.appendleft(task)
                    raise
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                error = future.exception()
                if isinstance(error, BrokenProcessPool):  # keep the task in `running`
                    raise error
                task = running.pop(future)
                if error is not None:
                    yield task, failed(task, error)
                else:
                    yield task, Marks.from_json(future.result())


@dataclass
class DaskCluster:
    """Judges on a Dask cluster; work for a GPU goes to workers that declare one."""

    address: str
    ask: Ask = judge_task
    has_gpu = True  # work for a GPU waits for a worker that has one

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        from distributed import Client, as_completed  # only if a cluster is used

        try:
            client = Client(self.address, set_as_default=False, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise GraderError(f"no Dask scheduler answers at {self.address}: {error}") from error
        resources = None if mode() == "interpret" else {"GPU": 1}
        with client:
            _need_workers(client, self.address, resources)
            waiting, running = iter(tasks), {}
            completed = as_completed(loop=client.loop)  # otherwise it looks for a default client

            def submit_next() -> None:
                task = next(waiting, None)
                if task is not None:
                    future = client.submit(
                        self.ask,
                        task.code,
                        task.exercise,
                        Terms(task.earlier),
                        pure=False,
                        resources=resources,
                    )
                    running[future.key] = task
                    completed.add(future)

            for _ in range(2 * max(1, sum(client.nthreads().values()))):
                submit_next()
            for future in completed:
                task = running.pop(future.key)
                submit_next()
                yield task, _dask_marks(future, task)


def _need_workers(client: Any, address: str, resources: dict[str, int] | None) -> None:
    """Raise GraderError if no worker can do the work, which would otherwise wait for ever."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise GraderError(
            f"the Dask scheduler at {address} has no workers: start some with "
            f"`dask worker {address}`"
        ) from error
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    for name in resources or ():
        if not any(worker["resources"].get(name) for worker in workers):
            raise GraderError(
                f"no worker of the Dask scheduler at {address} declares a {name}: start one with "
                f"`dask worker {address} --resources {name}=1`, or grade with --mode interpret"
            )


def _dask_marks(future: Any, task: Task) -> Marks:
    """Return a task's marks. Dask gives a lost worker's tasks to another one, up to a limit.

    A result can be lost after the task has finished. So this reads its error, not its status:
    for the error, Dask waits until the task has been computed again.
    """
    error = future.exception()
    if error is None:
        return Marks.from_json(future.result())
    return died(task) if type(error).__name__ == "KilledWorker" else failed(task, error)
