"""A session that executes a notebook: what it leaves behind, and what it believes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.grading.own_tests import execution, session
from graders.grading.own_tests.execution import SessionCell
from graders.grading.own_tests.session import CannotRun, Session

ROOT = Path(__file__).resolve().parents[2]
_ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from graders.grading.own_tests.execution import SessionCell
from graders.grading.own_tests.session import Session
running = Session()
running.run([SessionCell(0, "1", True)])
print(running.pid, flush=True)
running.run([SessionCell(0, "while True: pass", True)])
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Session]:
    made = Session()
    yield made
    made.close()


def cells(*texts: str) -> list[SessionCell]:
    return [SessionCell(number, text, is_test=False) for number, text in enumerate(texts)]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_nothing_outlives_the_command(how: signal.Signals, tmp_path: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    assert command.stdout is not None
    warm = int(command.stdout.readline())
    until(lambda: any(busy(fork) for fork in children(warm)), "the endless cell runs")
    forks = children(warm)
    command.send_signal(how)
    command.wait(60)
    command.stdout.close()
    until(lambda: not any(map(alive, (warm, *forks))), "all are gone")


def test_nothing_of_one_submission_reaches_the_next(running: Session) -> None:
    left = "import builtins\nbuiltins.left = 1\nopen('left', 'w').write('x')\nx = 1\nimport json"
    assert not failed(running, left)
    for seen in ("left", "x", "open('left')"):
        assert failed(running, seen) in ("NameError", "FileNotFoundError")


def test_what_a_cell_sends_is_read_with_limits(running: Session) -> None:
    """The submission knows the channel and writes to it what it likes."""
    send = "for d in range(3, 20):\n    try: os.write(d, {!r})\n    except OSError: pass"
    for forged in (b"[" * 100_000 + b"\n", b"no JSON\n", b"[]\n", b'{"output": 1, "done": "x"}\n'):
        run = running.run(cells(f"import os\n{send.format(forged)}", "1"))
        assert set(run.ran) <= {0, 1}
        assert run.reason or set(run.ran) == {0, 1}
    early = b'{"done": 1, "line": null}\n'
    run = running.run(cells(f"import os\n{send.format(early)}", "1 / 0"))
    assert [o["output_type"] for o in run.ran[1].outputs] == ["error"]
    assert not failed(running, "1")


def test_a_notebook_that_takes_too_long_is_ended(
    running: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "TOTAL_SECONDS", 2.0)
    run = running.run(cells("1", "while True: pass", "2"))
    assert set(run.ran) == {0}
    assert "the notebook took more than 2 s in cell 2" in run.reason


@pytest.mark.parametrize("dribbled", [b" ", b'{"output": {}}\n'])
def test_who_sends_without_end_is_ended(
    running: Session, monkeypatch: pytest.MonkeyPatch, dribbled: bytes
) -> None:
    """Each byte comes before the limit of patience for one."""
    monkeypatch.setattr(execution, "CELL_SECONDS", 1.0)
    monkeypatch.setattr(execution, "GRACE_SECONDS", 2.0)
    write = f"os.write(d, {dribbled!r})\n        except OSError: pass"
    write = f"for d in range(3, 20):\n        try: {write}"
    stubborn = "import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    run = running.run(cells(f"{stubborn}while True:\n    time.sleep(0.02)\n    {write}"))
    assert "could not be interrupted" in run.reason


def test_threads_have_a_limit(running: Session) -> None:
    start = "threading.Thread(target=time.sleep, args=(60,)).start()"
    small = "import threading, time\nthreading.stack_size(65536)\n"
    run = running.run(cells(f"{small}for _ in range(3000): {start}\ntime.sleep(60)"))
    assert "more than 200 threads" in run.reason


def test_memory_has_a_limit(running: Session) -> None:
    assert failed(running, "x = bytearray(8 << 30)") == "MemoryError"


def test_where_the_process_does_not_start_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_PROCESS", "graders.no_such_module")
    with pytest.raises(CannotRun, match="does not start"):
        Session().run(cells("1"))


def failed(running: Session, text: str) -> str:
    """The kind of the error that a cell raises, "" where it raises none."""
    run = running.run(cells(text))
    assert not run.reason
    return next((o["ename"] for o in run.ran[0].outputs if o["output_type"] == "error"), "")


def until(done: object, what: str) -> None:
    deadline = time.monotonic() + 60
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"not in 60 s: {what}"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def busy(pid: int) -> bool:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11]) > 50
    except OSError:
        return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
