"""Starts the judge's warm processes, and writes the message if one does not start.

This module does not import torch. So a command can start the processes with `ahead` while it
imports torch itself; the judge then takes the started processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
import types
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.judge.jail.jail import Device
from graders.judge.sandbox import folders, gpu_lock

# The modules with the roles of the warm processes.
WORKER = "graders.judge.sandbox.serve"
COMPILER = "graders.judge.compiling.worker"
READER = "graders.judge.submission.reader_process"
USUAL_CAPABILITY = 90  # of a GPU that is not named: sm_90
_ROOT = Path(__file__).resolve().parents[3]
_ZYGOTE = "graders/judge/sandbox/zygote.py"
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
# OMP_THREAD_LIMIT: libgomp ends the process if it cannot start a thread that it expects.
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_PASSED_ON = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
_FIXES = {
    "No module named 'triton'": "install it with `pip install triton` (Linux only)",
    "No module named 'torch'": "install it with `pip install torch`",
    "No module named 'numpy'": "install it with `pip install numpy`: the interpreter needs it",
}


@dataclass
class Started:
    """A warm process, and the judge's handles of it: `errors` is a descriptor of its stderr."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    directory: Path
    errors: int

    def end(self, seconds: float = 0.0) -> None:
        """End the process, and remove its directory; it has so many seconds to end by itself."""
        self.control.close()
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        folders.remove(self.directory)
        os.close(self.errors)


_waiting: dict[Hashable, Started] = {}  # processes that are started but not taken yet


@contextlib.contextmanager
def ahead(gpu: bool) -> Iterator[None]:
    """Start the processes that a judge will need, with `gpu` also those for a GPU.

    They start in the background. If one fails here, it is started again when it is needed, and
    then the error is reported. Processes that were not taken end with the `with` block.
    """
    with contextlib.suppress(OSError):
        _waiting[_key("cpu", USUAL_CAPABILITY, ())] = _worker("cpu", USUAL_CAPABILITY, ())
        _waiting[COMPILER] = _compiler(COMPILER)
        capability = _capability_of_driver() if gpu else None
        if capability is not None:
            _waiting[_key("cuda", capability, ())] = _worker("cuda", capability, ())
    try:
        yield
    finally:
        while _waiting:
            _waiting.popitem()[1].end()


def worker(device: Device, capability: int, without: Collection[str]) -> Started:
    """Return the process that runs jobs; see `Workers` for its settings. Raises OSError."""
    there = _waiting.pop(_key(device, capability, without), None)
    return there or _worker(device, capability, without)


def compiler(module: str = COMPILER) -> Started:
    """Return the process that captures launchers and compiles kernels. Raises OSError."""
    return _waiting.pop(module, None) or _compiler(module)


def _key(device: Device, capability: int, without: Collection[str]) -> Hashable:
    return device, capability if device == "cuda" else None, tuple(without)


def _worker(device: Device, capability: int, without: Collection[str]) -> Started:
    directory = folders.make()
    directory.chmod(0o755)
    scratch = directory / "scratch"
    scratch.mkdir(mode=0o700)
    # Any user may read the secret and write beside it: only the jail protects it.
    secret = directory / "probe" / "secret"
    secret.parent.mkdir()
    secret.parent.chmod(0o1777)
    secret.write_text("not for submissions\n")
    settings = {
        "device": device,
        "capability": capability,
        "lock": str(gpu_lock.LOCK),
        "without": tuple(without),
        "secret": str(secret),
        "scratch": str(scratch) if device == "cuda" else None,
    }
    return started(WORKER, directory, worker_environment(device, directory), settings)


def _compiler(module: str) -> Started:
    directory = folders.make()
    return started(module, directory, compiler_environment(str(directory)))


def reader() -> Started:
    """Return the process that reads submissions. Raises OSError."""
    return started(READER, folders.make(), {"LC_ALL": "C.UTF-8"})


def started(
    module: str,
    directory: Path,
    environment: Mapping[str, str],
    settings: Mapping[str, Any] = types.MappingProxyType({}),
) -> Started:
    """Start a process with the role of a module; `settings` are those of its `prepare`."""
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    errors = -1
    try:
        with theirs:
            errors = os.memfd_create("tilewise-errors", os.MFD_CLOEXEC)
            config = {
                **settings,
                "module": module,
                "socket": theirs.fileno(),
                "root": str(_ROOT),
                "paths": [p for p in sys.path if os.path.isabs(p) and Path(p) != _ROOT],
                "directory": str(directory),
            }
            process = subprocess.Popen(
                [sys.executable, "-I", str(_ROOT / _ZYGOTE), json.dumps(config)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the judge only; this ends with it
            )
    except BaseException:
        control.close()
        folders.remove(directory)
        if errors >= 0:
            os.close(errors)
        raise
    return Started(process, control, directory, errors)


def _capability_of_driver() -> int | None:
    """Return the compute capability of the first GPU, 90 for sm_90, without torch.

    None if there is no GPU, or no driver.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) != 0:
            return None
        device, found = ctypes.c_int(), [ctypes.c_int(), ctypes.c_int()]
        answers = [driver.cuDeviceGet(ctypes.byref(device), 0)]
        for value, attribute in zip(found, (_MAJOR, _MINOR), strict=True):
            answers.append(driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
    except (OSError, AttributeError):
        return None
    return None if any(answers) else 10 * found[0].value + found[1].value


# Only these: a submission's launcher runs there, and an environment may contain passwords.
_PASSED_TO_COMPILER = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")


def compiler_environment(cache: str) -> dict[str, str]:
    """Return the compiler's environment: no interpreter, no GPU, no files in the user's cache."""
    kept = {name: os.environ[name] for name in _PASSED_TO_COMPILER if name in os.environ}
    kept |= {
        "TRITON_CACHE_DIR": cache,
        "TRITON_DEFAULT_FP_FUSION": "1",  # set explicitly: 3.10 will change its default
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        # Huge pages make forking much faster, because a fork copies the page tables.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Otherwise some versions of torch make a folder named after the user.
        "TORCHINDUCTOR_CACHE_DIR": cache,
    }
    return kept


def worker_environment(device: Device, directory: Path) -> dict[str, str]:
    """Return only the variables that a warm process needs.

    The instructor's own environment may contain keys and passwords.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= dict.fromkeys(_ONE_THREAD, "1")
    # Huge pages make forking much faster, because a fork copies the page tables.
    environment |= {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin:/sbin", "HOME": "/nonexistent"}
    if device == "cpu":
        environment["TRITON_INTERPRET"] = "1"
    else:
        scratch = str(directory / "scratch")
        environment |= {"PATH": os.environ.get("PATH", environment["PATH"])}
        environment |= {"TRITON_CACHE_DIR": scratch, "TMPDIR": scratch, "HOME": scratch}
        environment |= {"TORCHINDUCTOR_CACHE_DIR": scratch}
        # A fork with another submission would read that cache through the driver.
        environment |= {"CUDA_CACHE_DISABLE": "1"}
    return environment


def idle_processors() -> int:
    """Return how many of this process's CPUs are idle now; at least 1."""
    mine = len(os.sched_getaffinity(0))
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return mine
    return min(mine, max(1, mine - running + 1))  # this process runs, too


def last_line(errors: int) -> str:
    """Return the last line of a process's stderr, which says why it ended.

    `errors` is a descriptor of the file with the output.
    """
    lines = os.pread(errors, 1 << 20, 0).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def broken(error: str) -> str:
    """Return why a warm process does not start, and what to do about it."""
    fix = next((words for sign, words in _FIXES.items() if sign in error), "")
    advice = fix or "`tilewise doctor` shows what works here"
    return f"the sandbox's warm process does not start: {error}; {advice}"
