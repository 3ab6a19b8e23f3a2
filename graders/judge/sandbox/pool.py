"""`Workers`: run jobs in jailed processes and say what became of each. The trusted end.

    with Workers() as workers:
        outcomes = workers.run(jobs)

One warm process serves many submissions; each batch runs in a fork of it. A job that crashes,
hangs or ends its process has that as its outcome, and the jobs behind it go on in a new fork.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch

from graders.judge.records import Fault, GraderError, LaunchFacts
from graders.judge.sandbox import folders, protocol
from graders.judge.sandbox.batch import Batch, Job, Work
from graders.judge.sandbox.protocol import Device, Ending, Status

__all__ = ["Job", "Outcome", "Status", "Work", "Workers"]

BATCH_SECONDS = 120.0
_START_SECONDS = 120.0  # a cold disk may take long to give torch
_GRACE_SECONDS = 60.0
_STOP_SECONDS = 10.0
_ROOT = Path(__file__).resolve().parents[3]
_ZYGOTE = "graders/judge/sandbox/zygote.py"
# OMP_THREAD_LIMIT: libgomp ends the process when it is refused a thread that it counts on.
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_PASSED_ON = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
_MENDS = {
    "No module named 'triton'": "install it with `pip install triton` (Linux only)",
    "No module named 'torch'": "install it with `pip install torch`",
    "No module named 'numpy'": "install it with `pip install numpy`: the interpreter needs it",
}


@dataclass(frozen=True)
class Outcome:
    """What became of one job. Only `output` decides a grade; the rest explains.

    `output` and `never_stored` are the judge's own copies, present where status is
    "returned"; `returned` says in words what came back where it was "wrong-return".
    """

    status: Status
    output: torch.Tensor | None = None
    never_stored: torch.Tensor | None = None
    given: bool = True  # False: no launch was ever given the memory of the result
    inputs_changed: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    traffic: Mapping[str, Mapping[str, int]] | None = None
    error: Fault | None = None
    returned: str = ""
    seconds: float = 0.0
    signal: str = ""


class Workers:
    """A warm process and its jailed children; a context manager, safe to share among threads.

    `without` leaves out layers of the jail (see `jail.LAYERS`), which lowers the tier: for
    tests. Everything here raises GraderError where the machine, not the submission, is at
    fault.
    """

    def __init__(self, device: Device = "cpu", without: Collection[str] = ()) -> None:
        self.device = device
        self._without = tuple(without)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._directory: Path | None = None
        self._found: Mapping[str, Any] = {}
        self._errors = -1  # what the warm process writes on stderr
        self._lock = threading.Lock()
        self._finished, self._jobs = 0, 0
        self._batch: Batch | None = None

    def __enter__(self) -> Self:
        with self._lock:
            self._ensure_started()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._stop()

    @property
    def tier(self) -> str:
        """A: everything that was tried was stopped; B: not everything; C: nothing."""
        return str(self._found["tier"])

    @property
    def layers(self) -> dict[str, str]:
        """The jail's layers in words, each beginning with "on" or with "missing"."""
        return dict(self._found["layers"])

    @property
    def open_to(self) -> tuple[str, ...]:
        """What a submission was not stopped from doing when it was tried; () at tier A."""
        return tuple(self._found["open_to"])

    def run(
        self,
        jobs: Sequence[Job],
        stop_on: Collection[str] = (),
        seconds: float = BATCH_SECONDS,
    ) -> list[Outcome]:
        """Run the jobs in order; one outcome each. Those of one source share a process.

        After an outcome whose status is in `stop_on` the others are "not-run". All of them
        together have `seconds`, of the processor or on a GPU by the clock; what is left then is
        "timeout".
        """
        with self._lock:
            outcomes: list[Outcome] = []
            self._finished, self._jobs = 0, len(jobs)
            while len(outcomes) < len(jobs) and seconds > 0:
                self._ensure_started()
                fresh, took = self._run_fork(_of_one_source(jobs[len(outcomes) :]), seconds)
                seconds -= took
                outcomes += fresh
                self._finished = len(outcomes)
                stop = next((i for i, o in enumerate(outcomes) if o.status in stop_on), None)
                if stop is not None:
                    rest = len(jobs) - stop - 1
                    return outcomes[: stop + 1] + [Outcome("not-run")] * rest
        return outcomes + [Outcome("timeout")] * (len(jobs) - len(outcomes))

    @property
    def progress(self) -> tuple[int, int]:
        """How many of the jobs that run now are done, and how many there are; for people only."""
        batch = self._batch
        return self._finished + (batch.done() if batch is not None else 0), self._jobs

    def _run_fork(self, jobs: Sequence[Job], seconds: float) -> tuple[list[Outcome], float]:
        """Outcomes of at least the first of the jobs, and the seconds that it took: of the
        processor, or on a GPU by the clock."""
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
        if self.device == "cuda":
            return outcomes, time.monotonic() - started
        return outcomes, ending.processor_seconds

    def _abnormal(
        self, batch: Batch, jobs: Sequence[Job], ending: Ending, index: int
    ) -> list[Outcome]:
        """What became of the job in which the process ended.

        Where it ended while the source was loaded, that holds for all the jobs.
        """
        if ending.reason == "stalled":
            raise GraderError(
                "the machine has too much to do: in a long wait the kernel got less than its "
                "share of the processor. Judge it again when the machine has less to do"
            )
        status, name = ending.outcome()
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
        """Was that the machine or the submission? A job of our own tells."""
        constant = ["constant", 0, "int64", [1]]
        result = {"tensor": [0, "int64", [], [], 0]}
        job = Job(Work("", "<check>", (), [constant], result, ()), (), (), torch.int64)
        batch = Batch([job], _GRACE_SECONDS)
        try:
            self._exchange(batch)
            works = batch.header(0).state == protocol.DONE
        finally:
            batch.close()
        if not works:
            raise GraderError(
                "the worker processes cannot enter their jail on this machine: "
                + _last_line(self._errors)
            )

    def _exchange(self, batch: Batch) -> Ending:
        """Hand the batch over, wait until its process is dead, and learn how it ended."""
        assert self._control is not None
        request = batch.request()
        try:
            limits = batch.plan.limits.to_json()
            patience = 1.0 if self.device == "cuda" else protocol.PATIENCE
            self._control.settimeout(patience * batch.plan.seconds + _GRACE_SECONDS)
            socket.send_fds(self._control, [limits], [request, batch.memory])
            answer = self._control.recv(65_536)
        except OSError as error:
            self._stop()
            raise GraderError(f"the sandbox's warm process does not answer: {error}") from error
        except BaseException:  # Ctrl-C: the answer to this batch must not meet the next one
            self._stop()
            raise
        finally:
            os.close(request)
        if not answer:
            last = _last_line(self._errors)
            self._stop()
            raise GraderError(f"the sandbox's warm process has died: {last}")
        return Ending(**json.loads(answer))

    def _ensure_started(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._stop()
        try:
            self._start()
        except OSError as error:
            self._stop()
            raise GraderError(_broken(str(error))) from error
        except BaseException:
            self._stop()
            raise

    def _start(self) -> None:
        self._directory = folders.make()
        self._errors = os.memfd_create("tilewise-errors", os.MFD_CLOEXEC)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_ROOT / _ZYGOTE), self._config(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=_environment(self.device, self._directory),
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the judge; this ends when it does
            )
        self._found = self._greeting()

    def _config(self, socket_fd: int) -> str:
        assert self._directory is not None
        self._directory.chmod(0o755)
        scratch = self._directory / "scratch"
        scratch.mkdir(mode=0o700)
        # Anybody may read the secret and write beside it: only the jail stands in between.
        secret = self._directory / "probe" / "secret"
        secret.parent.mkdir()
        secret.parent.chmod(0o1777)
        secret.write_text("not for submissions\n")
        config = {
            "socket": socket_fd,
            "root": str(_ROOT),
            "paths": [p for p in sys.path if os.path.isabs(p) and Path(p) != _ROOT],
            "device": self.device,
            "without": self._without,
            "directory": str(self._directory),
            "secret": str(secret),
            "scratch": str(scratch) if self.device == "cuda" else None,
        }
        return json.dumps(config)

    def _greeting(self) -> Mapping[str, Any]:
        """The first message of the warm process, or a GraderError that says what is broken."""
        assert self._control is not None
        self._control.settimeout(_START_SECONDS)
        try:
            raw = self._control.recv(65_536)
        except OSError as error:
            raise GraderError(
                f"the sandbox's warm process is not ready after {_START_SECONDS:.0f} s: {error}"
            ) from error
        if not raw:
            raise GraderError(_broken(_last_line(self._errors)))
        greeting: dict[str, Any] = json.loads(raw)
        if not greeting["ready"]:
            raise GraderError(_broken(greeting["error"]))
        return greeting

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._directory is not None:
            folders.remove(self._directory)
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1
        self._process = self._control = self._directory = None


def _of_one_source(jobs: Sequence[Job]) -> list[Job]:
    """The jobs at the front that belong together."""
    return list(
        itertools.takewhile(lambda job: job.work.submission == jobs[0].work.submission, jobs)
    )


def _finished(batch: Batch, jobs: Sequence[Job]) -> list[Outcome]:
    """The outcomes of the jobs that are done, from the first to the last without a gap."""
    outcomes: list[Outcome] = []
    for index in range(len(jobs)):
        if batch.header(index).state != protocol.DONE:
            break
        result = batch.result(index)
        outcomes.append(
            Outcome(
                status=result.status,
                output=result.output,
                never_stored=result.never_stored,
                given=result.given,
                inputs_changed=result.inputs_changed,
                seconds=result.seconds,
                **vars(result.report),
            )
        )
    return outcomes


def _left_early(batch: Batch, ending: Ending, index: int) -> bool:
    """Whether the worker went between two jobs, as it does when a GPU is lost to it."""
    went = not ending.reason and ending.status == 0
    return went and index > 0 and batch.header(index).state == protocol.WAITING


def _environment(device: Device, directory: Path) -> dict[str, str]:
    """No more than what is needed: an instructor's environment may hold keys and passwords."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= dict.fromkeys(_ONE_THREAD, "1")
    # Huge pages make the fork, which copies the map of all memory, markedly shorter.
    environment |= {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin:/sbin", "HOME": "/nonexistent"}
    if device == "cpu":
        environment["TRITON_INTERPRET"] = "1"
    else:
        scratch = str(directory / "scratch")
        environment |= {"PATH": os.environ.get("PATH", environment["PATH"])}
        environment |= {"TRITON_CACHE_DIR": scratch, "TMPDIR": scratch, "HOME": scratch}
        environment |= {"TORCHINDUCTOR_CACHE_DIR": scratch}
    return environment


def _last_line(errors: int) -> str:
    lines = os.pread(errors, 1 << 20, 0).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def _broken(error: str) -> str:
    mend = next((words for sign, words in _MENDS.items() if sign in error), "")
    advice = mend or "`tilewise doctor` shows what works here"
    return f"the sandbox's warm process does not start: {error}; {advice}"
