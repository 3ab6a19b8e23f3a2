"""What a warm process starts with, and what is said where it does not come up."""

from __future__ import annotations

import os
from pathlib import Path

from graders.judge.sandbox.protocol import Device

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


def environment(device: Device, directory: Path) -> dict[str, str]:
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
        # A cache there would be read by a fork that waits for another submission.
        environment |= {"CUDA_CACHE_DISABLE": "1"}
    return environment


def idle_processors() -> int:
    """How many processors of this process have nothing to do now; one at least."""
    mine = len(os.sched_getaffinity(0))
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return mine
    return min(mine, max(1, mine - running + 1))  # this process runs, too


def last_line(errors: int) -> str:
    """The last line of a file, given its descriptor: there a process says why it ended."""
    lines = os.pread(errors, 1 << 20, 0).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def broken(error: str) -> str:
    """Why a warm process does not start, and what mends it."""
    mend = next((words for sign, words in _MENDS.items() if sign in error), "")
    advice = mend or "`tilewise doctor` shows what works here"
    return f"the sandbox's warm process does not start: {error}; {advice}"
