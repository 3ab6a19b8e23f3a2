"""The warm side of every warm process: its loop, its forks and its watcher.

A warm process imports once. It forks a child before each request comes, gives the request to the
child, watches it and reports how it ended. Only the child reads a submission, so the next child
inherits no data of an earlier one. What differs between the processes is their `Role`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import os
import select
import shutil
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graders.judge.jail import jail
from graders.judge.jail.jail import Jail
from graders.judge.jail.sleep import Sleep

STOP = b"stop"  # from the judge, in the middle of a request: end it
MESSAGE_BYTES = 1 << 16  # the largest message of either side
DESCRIPTORS = 3
MOST_FORKS = 5  # that may end before they get a request
TICK_SECONDS = 0.025  # how often the limits are checked
RESIDENT_BYTES = 3 << 30  # of memory that a task actually uses
STDERR_LIMIT = 8_000
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

# A fork's work on its request: gets the message, its descriptors, the warm process's id.
ForkWork = Callable[[bytes, list[int], int], None]
Write = Callable[[bytes], None]


@dataclass(frozen=True)
class Ending:
    """How the forks of a request ended: wait status, why they were ended, and what they used.

    The reasons: "gone" if the judge has ended and "stopped" if it said so; else a limit:
    "processor" and "time" (by the clock), "memory", "asleep"; for a batch also "timeout",
    "batch-timeout" and "stalled".
    """

    status: int = 0
    reason: str = ""
    processor_seconds: float = 0.0
    seconds: float = 0.0
    memory: int = 0  # bytes, at its peak


class PreforkPool:
    """Gives each request to a fork that was made before the request came.

    A fork inherits no data of an earlier request. It runs `work` once and ends. While it waits,
    it runs `rehearse`, which gets the channel on which the request will come. `control` is the
    warm process's own connection to the judge, which a fork closes.
    """

    def __init__(
        self,
        work: ForkWork,
        control: socket.socket,
        rehearse: Callable[[socket.socket], None] = lambda _channel: None,
    ) -> None:
        self._work = work
        self._control = control
        self._rehearse = rehearse
        self._ready: tuple[int, socket.socket] | None = None

    def prepare(self, without: Sequence[int] = ()) -> None:
        """Make the next fork if there is none; the fork closes the descriptors `without`."""
        if self._ready is None:
            self._ready = self._fork(without)

    def hand_over(self, message: bytes, descriptors: Sequence[int]) -> int:
        """Send the request to the waiting fork; return the fork's process id."""
        for _ in range(MOST_FORKS):
            self.prepare()
            assert self._ready is not None
            pid, requests = self._ready
            self._ready = None
            with requests:
                try:
                    socket.send_fds(requests, [message], list(descriptors))
                    return pid
                except ConnectionError:  # it was killed while it waited
                    os.waitpid(pid, 0)
        raise OSError("no fork lives long enough to be given its work")

    def _fork(self, without: Sequence[int]) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        pid = os.fork()
        if pid:
            theirs.close()
            return pid, ours
        try:
            ours.close()
            self._control.close()
            for descriptor in without:
                os.close(descriptor)
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            self._rehearse(theirs)
            with theirs:
                message, descriptors, *_ = socket.recv_fds(theirs, MESSAGE_BYTES, DESCRIPTORS)
            if message and os.getppid() == parent:
                self._work(message, descriptors, parent)
        finally:  # on an error, the fork must not continue as the warm process
            os._exit(1)


class Role:
    """What a warm process does with its requests. `greeting` tells the judge about the process."""

    def __init__(self, control: socket.socket, greeting: Mapping[str, Any]) -> None:
        self.control = control
        self.greeting = greeting
        self.forks = PreforkPool(self.work, control, self.rehearse)

    def rehearse(self, channel: socket.socket) -> None:
        """In a fork that waits for its request: get ready."""

    def work(self, message: bytes, descriptors: list[int], parent: int) -> None:
        """In a fork: enter the jail, and do what the request asks."""
        raise NotImplementedError

    def answer(self, message: bytes, descriptors: list[int]) -> Mapping[str, Any]:
        """Hand a request to a fork, watch the fork, and return the answer to the judge."""
        raise NotImplementedError


def serve(role: Role, directory: str) -> None:
    """Answer requests until the judge is gone, then remove the process's directory."""
    gc.collect()
    gc.freeze()  # forks share these pages: the collector must not touch them
    control = role.control
    try:
        with contextlib.suppress(ConnectionError):
            send(control, {"ready": True, **role.greeting})
            while True:
                role.forks.prepare()
                message, given, *_ = socket.recv_fds(control, MESSAGE_BYTES, DESCRIPTORS)
                if not message:
                    return
                if message == STOP:  # what it was to stop has already ended
                    continue
                try:
                    answer = role.answer(message, given)
                finally:
                    for descriptor in given:
                        os.close(descriptor)
                send(control, answer)
    finally:  # the judge may have been killed
        shutil.rmtree(directory, ignore_errors=True)


def send(control: socket.socket, message: Mapping[str, Any]) -> None:
    """Send a message to the judge."""
    control.send(json.dumps(message).encode()[:MESSAGE_BYTES])


def watch(
    pids: Sequence[int], control: socket.socket, over: Callable[[], str], stops: bool = True
) -> Ending:
    """Wait until all these forks have ended, and reap them.

    All are ended if `over`, which is asked every tick, returns a reason, if the judge has ended,
    or with `stops` if it sends STOP.
    """
    started = time.monotonic()
    running = {os.pidfd_open(pid): pid for pid in pids}
    poll = select.poll()
    poll.register(control, select.POLLIN if stops else select.POLLHUP)
    for handle in running:
        poll.register(handle, select.POLLIN)
    reason, ended = "", []
    try:
        while running and not reason:
            stopped = False
            for handle, _ in poll.poll(TICK_SECONDS * 1000):
                if handle in running:
                    poll.unregister(handle)
                    os.close(handle)
                    ended.append(_end(running.pop(handle)))
                else:
                    stopped = True
            if stopped and running:
                reason = "stopped" if stops and control.recv(MESSAGE_BYTES) else "gone"
            elif running:
                reason = over()
    finally:
        for handle, pid in running.items():
            os.close(handle)
            ended.append(_end(pid))
    status, used = ended[-1]
    return Ending(
        status,
        reason,
        sum(one.ru_utime + one.ru_stime for _, one in ended),
        time.monotonic() - started,
        used.ru_maxrss * 1024,
    )


def _end(pid: int) -> tuple[int, Any]:
    """Kill the rest of a fork's process group, then reap the fork.

    The order matters: until the fork is reaped, no other process can get its id. Return its wait
    status and what it used.
    """
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return status, used


@dataclass(frozen=True)
class TaskHandler:
    """What a fork does inside the jail with its data and its request; it returns the last line.

    The third argument writes earlier lines. `before_jail` is called before the fork enters it.
    """

    run: Callable[[bytes, Mapping[str, Any], Write], bytes]
    before_jail: Callable[[], None] = lambda: None


class Tasks(Role):
    """A role whose forks read their data from one descriptor, and write to two others.

    A request names the task and its limits. Its descriptors are the data, and where the report
    and the errors go. `memory_bytes` is what a fork may allocate.
    """

    def __init__(
        self,
        control: socket.socket,
        greeting: Mapping[str, Any],
        tasks: Mapping[str, TaskHandler],
        inside: Jail,
        memory_bytes: int,
    ) -> None:
        super().__init__(control, greeting)
        self._tasks, self._jail, self._memory_bytes = tasks, inside, memory_bytes

    def work(self, message: bytes, descriptors: list[int], parent: int) -> None:
        data, report, errors = descriptors
        try:
            for standard, given in enumerate((os.open(os.devnull, os.O_RDONLY), report, errors)):
                os.dup2(given, standard)
            asked = json.loads(message)
            task = self._tasks[asked["task"]]
            task.before_jail()
            self._jail.enter(asked["cpu_seconds"], self._memory_bytes, parent, keep=[data])
            os.write(1, b"J")  # jailed: from here on, errors are the submission's
            held = os.pread(data, os.fstat(data).st_size, 0)
            os.close(data)
            _write(task.run(held, asked, _write))
            os._exit(0)
        except BaseException as error:
            os.write(2, f"\n{type(error).__name__}: {error}".encode()[:STDERR_LIMIT])

    def answer(self, message: bytes, descriptors: list[int]) -> Mapping[str, Any]:
        asked = json.loads(message)
        pid = self.forks.hand_over(message, descriptors)
        limits = _TaskLimits(pid, asked, descriptors[1:])
        self.forks.prepare(without=descriptors)
        return asdict(watch([pid], self.control, limits.over))


class _TaskLimits:
    """The limits of a task: its CPU time, wall time and memory, and how long it may sleep."""

    def __init__(self, pid: int, asked: Mapping[str, Any], ends: list[int]) -> None:
        self._pid, self._ends = pid, ends
        self._processor = jail.cpu_seconds(pid) + asked["cpu_seconds"]
        self._deadline = time.monotonic() + asked["wall_seconds"]
        self._sleep = None if asked.get("may_sleep") else Sleep(pid)

    def over(self) -> str:
        if time.monotonic() > self._deadline:
            return "time"
        if jail.cpu_seconds(self._pid) > self._processor:
            return "processor"
        if jail.resident_bytes(self._pid) > RESIDENT_BYTES:
            return "memory"
        if self._sleep is not None and self._sleep.too_long(self._waits_for_the_judge()):
            return "asleep"
        return ""

    def _waits_for_the_judge(self) -> bool:
        """Whether the fork may wait until the judge has read what it has written."""
        return len(select.select([], self._ends, [], 0)[1]) < len(self._ends)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


class Nowhere(io.TextIOBase):
    """Accepts printed text and discards it."""

    encoding = "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)
