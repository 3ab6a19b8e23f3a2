"""Start a checked run: its record, the compiling process, and the program itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_util.sanitizer.gpu.described import COMPILING_VARIABLE, DEFAULT_TARGET, TARGET_VARIABLE
from triton_util.sanitizer.record import VARIABLE

CUDA_VARIABLE = "TILEWISE_CUDA"
COMPILING_SECONDS = 600.0  # limit for compiling after the program has ended
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Choices:
    """The choices of the command line.

    target: compute capability times 10.  compiles: whether launches are compiled as well.
    cuda: whether programs that ask for CUDA get an answer.
    """

    target: int = DEFAULT_TARGET
    compiles: bool = True
    cuda: bool = True


def environment(folder: Path, choices: Choices) -> dict[str, str]:
    """The environment of a checked process, which its children inherit."""
    startup = str(Path(__file__).with_name("startup"))
    paths = [startup, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRITON_INTERPRET": "1",
        VARIABLE: str(folder),
        TARGET_VARIABLE: str(choices.target),
        COMPILING_VARIABLE: str(int(choices.compiles)),
        CUDA_VARIABLE: str(int(choices.cuda)),
    }


@contextlib.contextmanager
def recording(choices: Choices) -> Iterator[Path]:
    """A folder for the record; the compiling process runs beside the code inside the block.

    Call `finish_compiling` before the record is read.
    """
    with tempfile.TemporaryDirectory(prefix="tilewise-run-") as name:
        folder = Path(name)
        worker = _start_compiling(folder) if choices.compiles else None
        try:
            yield folder
        finally:
            if worker is not None and worker.poll() is None:
                worker.kill()
                worker.wait()


def finish_compiling(folder: Path) -> None:
    """Wait until all launches have been compiled."""
    (folder / "done").touch()
    worker = _workers.pop(folder, None)
    if worker is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(COMPILING_SECONDS)


_workers: dict[Path, subprocess.Popen[bytes]] = {}


def _start_compiling(folder: Path) -> subprocess.Popen[bytes]:
    without = ("TRITON_INTERPRET", VARIABLE)
    kept = {name: value for name, value in os.environ.items() if name not in without}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH", "")]))
    kept.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    log = (folder / "compiling.log").open("wb")
    worker = subprocess.Popen(
        [sys.executable, "-m", "triton_util.sanitizer.compiling.worker", str(folder)],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=kept, start_new_session=True,
    )  # fmt: skip
    log.close()
    _workers[folder] = worker
    return worker


def execute(command: Sequence[str], folder: Path, choices: Choices) -> int:
    """Run the program and return its exit status; 128 or more if a signal ended it."""
    program = subprocess.Popen([sys.executable, *command], env=environment(folder, choices))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program itself gets the signal
    on_term = signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    try:
        status = program.wait()
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, on_term)
    (folder / "process").write_text(str(program.pid))
    return status if status >= 0 else 128 - status
