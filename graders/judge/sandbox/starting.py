"""What a warm process needs to start, and the message where it does not start."""

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
    """The variables that a warm process needs, and no others.

    The instructor's own environment may hold keys and passwords.
    """
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
        # The driver would read that cache in a fork which may be given another submission.
        environment |= {"CUDA_CACHE_DISABLE": "1"}
    return environment


def idle_processors() -> int:
    """How many of the processors that this process may use are idle now; at least 1."""
    mine = len(os.sched_getaffinity(0))
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return mine
    return min(mine, max(1, mine - running + 1))  # this process runs, too


def last_line(errors: int) -> str:
    """The last line of a process's error output, which says why it ended.

    `errors` is a descriptor of the file that holds the output.
    """
    lines = os.pread(errors, 1 << 20, 0).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def broken(error: str) -> str:
    """Say why a warm process does not start, and what to do about it."""
    mend = next((words for sign, words in _MENDS.items() if sign in error), "")
    advice = mend or "`tilewise doctor` shows what works here"
    return f"the sandbox's warm process does not start: {error}; {advice}"
