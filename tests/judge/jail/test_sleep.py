"""A process that sleeps is told from one that the machine gives no processor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE

import pytest

from graders.judge.jail import sleep
from graders.judge.jail.sleep import Sleep

SPIN = "while True: pass"
NAPS = "import time\nwhile True:\n    time.sleep(0.01)"  # wakes all the time, and computes nothing


@contextmanager
def running(program: str) -> Iterator[int]:
    """A process that does this, and has begun to."""
    command = [sys.executable, "-c", f"print(flush=True)\n{program}"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


def slept(pid: int, looks: int = 40, waits_for_us: bool = False) -> float:
    """How long it is seen to sleep in so many looks, two seconds at most."""
    watched = Sleep(pid)
    for _ in range(looks):
        time.sleep(0.05)
        watched.too_long(waits_for_us)
    return watched.seconds


@pytest.mark.parametrize(
    "program", ["import time\ntime.sleep(100)", "import os\nos.read(0, 1)", NAPS]
)
def test_who_sleeps_is_seen_to(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleep, "MOST_SECONDS", 0.5)
    with running(program) as pid:
        watched = Sleep(pid)
        while not watched.too_long():
            time.sleep(0.02)
        assert slept(pid, looks=10, waits_for_us=True) == 0


def test_who_computes_does_not_sleep() -> None:
    with running(SPIN) as pid:
        assert slept(pid) < 0.2


def test_who_is_stopped_does_not_sleep() -> None:
    with running(SPIN) as pid:
        os.kill(pid, signal.SIGSTOP)
        assert slept(pid) < 0.2


def test_who_gets_no_processor_does_not_sleep() -> None:
    """It has the lowest priority, among several that compute on the same processor."""
    processor = min(os.sched_getaffinity(0))
    pin = f"import os\nos.sched_setaffinity(0, [{processor}])\n"
    others = running(pin + SPIN), running(pin + SPIN), running(pin + SPIN)
    with others[0], others[1], others[2], running(f"{pin}os.nice(19)\n{SPIN}") as pid:
        assert slept(pid) < 0.2


def test_a_look_that_comes_late_counts_little() -> None:
    """A watcher that was stopped itself does not know what the process did meanwhile."""
    with running("import time\ntime.sleep(100)") as pid:
        watched = Sleep(pid)
        time.sleep(1.0)
        watched.too_long()
        assert watched.seconds <= sleep.LONGEST_LOOK


def test_where_nobody_counts_nobody_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleep, "_used", lambda _pid: None)
    with running("import time\ntime.sleep(100)") as pid:
        assert slept(pid, looks=10) == 0
