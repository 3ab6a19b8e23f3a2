"""The jail holds, whoever runs it; where a layer is missing the tier says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from graders.judge.records import GraderError
from graders.judge.sandbox import landlock
from graders.judge.sandbox.pool import Job, Outcome, Workers

ROOT = Path(__file__).resolve().parents[3]
# What Docker leaves to a container's root.
DOCKER_CAPABILITIES = (
    "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,"
    "+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap"
)
needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def ask(workers: Workers, body: str) -> Outcome:
    """Run `body` in a worker; what it prints comes back."""
    source = "import os, sys\ndef solve():\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    (outcome,) = workers.run([Job(source, "s.py", "solve", (), (1,), torch.float32)])
    return outcome


@needs_landlock
def test_everything_is_enforced_here(workers: Workers) -> None:
    assert workers.tier == "A", (workers.layers, workers.open_to)
    assert workers.open_to == ()
    assert all(words.startswith("on") for words in workers.layers.values())


@needs_landlock
@pytest.mark.parametrize(
    "path",
    [
        str(ROOT / "pyproject.toml"),
        str(ROOT / "graders" / "judge" / "model.py"),
        __file__,
        "/etc/passwd",
        "/proc/self/mem",
        "/proc/self/environ",
        "/proc/<judge>/mem",
        "/proc/<judge>/environ",
    ],
)
def test_no_file_but_python_can_be_read(workers: Workers, path: str) -> None:
    path = path.replace("<judge>", str(os.getpid()))
    outcome = ask(workers, f"open({path!r}, 'rb').read(1)")
    assert outcome.error is not None
    assert outcome.error.message.startswith("PermissionError")


def test_nothing_secret_is_in_the_process(workers: Workers) -> None:
    body = (
        "print([m for m in sys.modules if m.partition('.')[0] in ('graders', 'solutions')])\n"
        "print([m for m in sys.modules if '.exercises' in m or '.hidden' in m])\n"
        "print(sorted(os.environ))\n"
        "print([fd for fd in range(3, 100) if os.path.exists(f'/proc/self/fd/{fd}')])"
    )
    modules, secrets, environment, descriptors = ask(workers, body).stdout.splitlines()
    assert modules == secrets == descriptors == "[]"
    assert "TRITON_INTERPRET" in environment
    assert not {"USER", "PGPASSWORD", "PYTHONPATH"} & set(json.loads(environment.replace("'", '"')))


@pytest.mark.parametrize("name", ["graders", "graders.exercises", "graders.hidden", "solutions"])
def test_the_judges_modules_cannot_be_imported(workers: Workers, name: str) -> None:
    outcome = ask(workers, f"import {name}")
    assert outcome.error is not None
    assert "ModuleNotFoundError" in outcome.error.message


def test_what_a_job_did_is_gone_in_the_next_batch(workers: Workers) -> None:
    ask(workers, "import torch, builtins\ntorch.zeros = None\nbuiltins.left = 1")
    assert ask(workers, "import torch\ntorch.zeros(1)\nleft").error is not None
    assert ask(workers, "import torch\nprint(torch.zeros(1).item())").stdout == "0.0\n"


def test_modules_loaded_late_can_be_imported(workers: Workers) -> None:
    for name in ("math", "dataclasses", "typing", "torch.nn.functional", "numpy.testing"):
        assert ask(workers, f"import {name}\nprint('here')").stdout == "here\n"


LEFT_OUT = {
    ("landlock",): ("A", set()),  # seccomp closes files where Landlock does not
    ("seccomp",): ("B", {"network", "local sockets"}),
    ("landlock", "seccomp"): ("B", {"reading files", "network"}),
    ("landlock", "seccomp", "limits"): ("B", {"reading files", "new processes"}),
}


@needs_landlock
@pytest.mark.parametrize("without", LEFT_OUT, ids=" ".join)
def test_a_missing_layer_is_named(without: tuple[str, ...]) -> None:
    tier, open_to = LEFT_OUT[without]
    with Workers(without=without) as workers:
        assert workers.tier == tier
        assert set(workers.open_to) >= open_to
        for layer, words in workers.layers.items():
            assert words.startswith("missing" if layer in without else "on")
        assert ask(workers, "print('works')").stdout == "works\n"


def test_without_any_layer_nothing_is_promised() -> None:
    with Workers(without=("landlock", "seccomp", "limits", "user")) as workers:
        # For an ordinary user, the system itself may still keep processes apart.
        assert workers.tier == "C" or (os.getuid() != 0 and workers.tier == "B")
        assert "reading files" in workers.open_to
        assert ask(workers, "print('works')").stdout == "works\n"


_REPORT = """
import json, torch
from graders.judge.sandbox.pool import Job, Workers
SOURCE = "import os\\ndef solve():\\n    print(os.getuid())\\n    open('/etc/passwd')\\n"
with Workers() as workers:
    (outcome,) = workers.run([Job(SOURCE, "s.py", "solve", (), (1,), torch.float32)])
    print(json.dumps([workers.tier, workers.layers, outcome.stdout, outcome.error.message]))
"""


def report_as(*setpriv: str) -> tuple[str, dict[str, str], int, str]:
    """Tier, layers, user of the worker and its error, in a process that `setpriv` started."""
    done = subprocess.run(
        ["setpriv", *setpriv, sys.executable, "-c", _REPORT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": "/nonexistent"},
    )
    assert done.returncode == 0, done.stderr
    tier, layers, stdout, error = json.loads(done.stdout)
    return tier, layers, int(stdout), error


@as_root
@needs_landlock
def test_it_holds_for_an_ordinary_user() -> None:
    # One capability is left, to read a Python that is installed beneath /root.
    tier, layers, uid, error = report_as(
        *("--reuid=1234", "--regid=1234", "--clear-groups", "--no-new-privs"),
        *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
    )
    assert tier == "A"
    assert layers["user"] == "on (an ordinary user already)"
    assert uid == 1234
    assert "PermissionError" in error


@as_root
@needs_landlock
def test_it_holds_for_root_in_a_container() -> None:
    tier, _, uid, error = report_as(f"--bounding-set={DOCKER_CAPABILITIES}", "--inh-caps=-all")
    assert tier == "A"
    assert uid != 0
    assert "PermissionError" in error


@as_root
@needs_landlock
def test_root_without_capabilities_is_said_to_stay_root() -> None:
    tier, layers, uid, error = report_as(
        "--bounding-set=-all,+dac_read_search", "--inh-caps=-all", "--no-new-privs"
    )
    assert tier == "A"  # the other layers stop what was tried
    assert layers["user"].startswith("missing")
    assert uid == 0
    assert "PermissionError" in error


def test_a_dead_warm_process_is_replaced() -> None:
    with Workers() as workers:
        assert workers._process is not None
        workers._process.kill()
        workers._process.wait()
        assert ask(workers, "print('again')").stdout == "again\n"


def test_a_warm_process_that_dies_at_work_is_our_fault() -> None:
    with Workers() as workers:
        assert workers._process is not None
        workers._process.kill()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "_ensure_started", lambda: None)
            with pytest.raises(GraderError, match="warm process"):
                ask(workers, "pass")
        assert ask(workers, "print('again')").stdout == "again\n"


_ENDLESS = """
import signal, torch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from graders.judge.sandbox.pool import Job, Workers
SOURCE = "def solve():\\n    while True: pass\\n"
with Workers() as workers:
    print(workers._process.pid, flush=True)
    workers.run([Job(SOURCE, "s.py", "solve", (), (1,), torch.float32, seconds=50.0)])
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_nothing_outlives_the_judge(how: signal.Signals, tmp_path: Path) -> None:
    judge = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert judge.stdout is not None
    warm = int(judge.stdout.readline())
    until(lambda: bool(children(warm)), "the endless job runs")
    (worker,) = children(warm)
    judge.send_signal(how)
    judge.wait(30)
    judge.stdout.close()
    until(lambda: not alive(worker) and not alive(warm), "both are gone")
    assert list(tmp_path.iterdir()) == []


def until(done: object, what: str) -> None:
    deadline = time.monotonic() + 15
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"not in 15 s: {what}"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
