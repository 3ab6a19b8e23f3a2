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

from graders.judge.compiling.process import CompileWorker
from graders.judge.jail import landlock
from graders.judge.jail.jail import Device, Jail
from graders.judge.jail.probe import Probed, probe
from graders.judge.records import GraderError
from graders.judge.sandbox.pool import Workers
from tests.support.capturing import captured
from tests.support.plans import constant
from tests.support.submissions import submission

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


@pytest.fixture(scope="module")
def capturing() -> Iterator[CompileWorker]:
    with CompileWorker() as running:
        yield running


def ask(capturing: CompileWorker, body: str) -> str:
    """Run `body` where launchers run; the error that it raises, which is all that comes back."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"import os, sys\ndef vector_add(x, y):\n{lines}"
    plan = captured(submission(text, "vector_add"), capturing).plan
    raised = plan.cases[0].raised
    return "" if raised is None else f"{raised.kind}: {raised.text}"


def tell(capturing: CompileWorker, expression: str) -> str:
    """The text of what an expression gives there."""
    said = ask(capturing, f"raise LookupError(str({expression}))")
    assert said.startswith("LookupError: "), said
    return said.removeprefix("LookupError: ")


def works(workers: Workers) -> bool:
    return workers.run([constant()])[0].status == "returned"


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
        str(ROOT / "graders" / "judge" / "records.py"),
        __file__,
        "/etc/passwd",
        "/proc/self/mem",
        "/proc/self/environ",
        "/proc/<judge>/mem",
        "/proc/<judge>/environ",
    ],
)
def test_no_file_but_python_can_be_read(capturing: CompileWorker, path: str) -> None:
    path = path.replace("<judge>", str(os.getpid()))
    assert ask(capturing, f"open({path!r}, 'rb').read(1)").startswith("PermissionError")


def test_nothing_secret_is_in_the_process(capturing: CompileWorker) -> None:
    modules = tell(capturing, "sorted(m for m in sys.modules if 'graders' in m or 'sol' in m)")
    for secret in ("course", "hidden", "solutions", "cases", "discovery", "pipeline"):
        assert secret not in modules
    environment = tell(capturing, "sorted(os.environ)")
    assert not {"USER", "PGPASSWORD", "HOME"} & set(json.loads(environment.replace("'", '"')))


@pytest.mark.parametrize(
    "name",
    ["graders.course.vector_add.exercise", "graders.course.vector_add.hidden", "solutions.gelu"],
)
def test_the_judges_secrets_cannot_be_imported(capturing: CompileWorker, name: str) -> None:
    assert "Error" in ask(capturing, f"import {name}")


def test_what_a_launcher_did_is_gone_in_the_next_one(capturing: CompileWorker) -> None:
    ask(capturing, "import torch, builtins\ntorch.zeros = None\nbuiltins.left = 1")
    assert ask(capturing, "left").startswith("NameError")
    assert ask(capturing, "import torch\ntorch.zeros(1)") == ""


def test_modules_loaded_late_can_be_imported(capturing: CompileWorker) -> None:
    for name in ("math", "dataclasses", "typing", "torch.nn.functional", "numpy.testing"):
        assert ask(capturing, f"import {name}") == ""


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
        assert works(workers)


def probed(tmp_path: Path, device: Device, without: tuple[str, ...] = ()) -> Probed:
    secret = tmp_path / "secret"
    secret.write_text("the model solution")
    secret.chmod(0o644)
    return probe(Jail(device, without=without), secret)


def test_no_file_is_made_to_send_a_signal(tmp_path: Path) -> None:
    """The filter of system calls alone, as if Landlock kept no signals inside."""
    assert "signals" not in probed(tmp_path, "cpu", ("landlock", "user")).open_to
    assert "signals" in probed(tmp_path, "cpu", ("landlock", "seccomp", "user")).open_to


@needs_landlock
def test_a_kernel_that_keeps_no_signals_inside_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU threads need tgkill, which then reaches other processes of the same user."""
    version = landlock.abi()
    monkeypatch.setattr(landlock, "abi", lambda: min(5, version))
    on_cpu, on_gpu = probed(tmp_path, "cpu"), probed(tmp_path, "cuda")
    assert on_cpu.tier == "A", on_cpu.open_to
    assert (on_gpu.tier, on_gpu.open_to) == ("B", ("signals",))
    for found in (on_cpu, on_gpu):
        assert "Linux 6.12 or later would also hold back signals" in found.layers["landlock"]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_every_way_to_ask_a_file_for_signals_is_refused(device: Device) -> None:
    """One by one, where the process itself would be the target."""
    ways = (
        *("fcntl.fcntl(0, 8, me)", "fcntl.fcntl(0, 10, 23)", "fcntl.fcntl(0, 1026, 1)"),
        *("fcntl.fcntl(0, 15, struct.pack('ii', 1, me))", "fcntl.fcntl(0, 1024, 0)"),
        *("fcntl.fcntl(0, 4, 0x2000)", "fcntl.ioctl(0, 0x5452, struct.pack('i', 1))"),
        *("fcntl.ioctl(0, 0x8901, struct.pack('i', me))", "call(72, 0, 8 | 1 << 32, me)"),
        "fcntl.ioctl(0, 0x8902, struct.pack('i', me))",
    )
    text = _REFUSED.format(device=device, ways=list(ways))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" -> ") for line in done.stdout.splitlines())
    assert set(said) == {*ways, "fcntl.fcntl(0, 3)"}
    assert said.pop("fcntl.fcntl(0, 3)") == "done"
    assert set(said.values()) <= {"1", "25"}, said  # not permitted, no such command


_REFUSED = """
import ctypes, fcntl, os, struct
from graders.judge.jail.jail import Jail
me, libc = os.getpid(), ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if os.uname().machine != "x86_64":
        raise PermissionError(1, "its number is another one here")
    if libc.syscall(number, *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")
jail = Jail({device!r}, without=("landlock", "user"))
jail.settle(20.0, 1 << 30, os.getppid())
jail.seal()
for way in [*{ways!r}, "fcntl.fcntl(0, 3)"]:
    try:
        eval(way)
        said = "done"
    except OSError as error:
        said = error.errno
    print(way, "->", said, flush=True)
"""


def test_without_any_layer_nothing_is_promised() -> None:
    with Workers(without=("landlock", "seccomp", "limits", "user")) as workers:
        # For an ordinary user, the system itself may still keep processes apart.
        assert workers.tier == "C" or (os.getuid() != 0 and workers.tier == "B")
        assert "reading files" in workers.open_to
        assert works(workers)


_REPORT = """
import json
from graders.judge.compiling.process import CompileWorker
from graders.judge.sandbox.pool import Workers
from tests.support.capturing import captured
from tests.support.submissions import submission
SOURCE = "import os\\ndef vector_add(x, y):\\n    if len(x) == 7:\\n"
SOURCE += "        raise LookupError(os.getuid())\\n    open('/etc/passwd')\\n"
with Workers() as workers, CompileWorker() as capturing:
    cases = captured(submission(SOURCE, "vector_add"), capturing).plan.cases
    user, error = cases[0].raised.text, cases[1].raised.kind
    print(json.dumps([workers.tier, workers.layers, user, error]))
"""


def report_as(*setpriv: str) -> tuple[str, dict[str, str], int, str]:
    """Tier, layers, user of the worker and its error, in a process that `setpriv` started."""
    done = subprocess.run(
        ["setpriv", *setpriv, sys.executable, "-c", _REPORT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)},
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
        assert workers._started is not None
        workers._started.process.kill()
        workers._started.process.wait()
        assert works(workers)


def test_a_warm_process_that_dies_at_work_is_our_fault() -> None:
    with Workers() as workers:
        assert workers._started is not None
        workers._started.process.kill()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "_ensure_started", lambda: None)
            with pytest.raises(GraderError, match="warm process"):
                works(workers)
        assert works(workers)


_ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from graders.judge.sandbox.pool import Workers
from tests.support.plans import endless
with Workers() as workers:
    print(workers.pid, flush=True)
    workers.run([endless(50.0)])
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_nothing_outlives_the_judge(how: signal.Signals, tmp_path: Path) -> None:
    judge = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
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
