"""The jail of one forked process: limits, an unprivileged user, Landlock, seccomp.

It is prepared once in the warm process; each fork then enters it in about a millisecond.
`probe` tests whether it works on this machine.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import resource
import signal
import sys
import sysconfig
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from graders.judge.jail import landlock, seccomp

# What a process uses: only the CPU, a GPU, or (for a notebook's session) the CPU with threads,
# timers and its own files in one directory.
Device = Literal["cpu", "cuda", "session"]

LAYERS = ("limits", "user", "landlock", "seccomp")
# What an installation of the course adds to Python's own directories. Submissions do not need it,
# and on an instructor's machine it contains the hidden cases.
_OURS = ("graders", "solutions", "lessons", "tests", "tilewise", "triton_util", "__editable__")
PACKAGE_DIRECTORIES = ("site-packages", "dist-packages")
SESSION_FILE_BYTES = 16 << 20  # the largest file that a notebook's session may write

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_NOBODY = 65_534
_FIRST_PRIVATE_UID = 2_000_000_000  # plus the warm process's id: a user id of its own

_libc = ctypes.CDLL(None, use_errno=True)


class Jail:
    """A prepared jail. `layers` describes for each of LAYERS if this machine supports it.

    Each description begins with "on" or with "missing".
    """

    def __init__(
        self,
        device: Device = "cpu",
        readable: Collection[Path] = (),
        scratch: Path | None = None,
        without: Collection[str] = (),
        compiles_only: bool = False,
        opens_files: bool = True,
    ) -> None:
        """Prepare every layer.

        `readable` are paths that may be read, `scratch` is a directory that may be written to.
        `without` leaves out layers, for tests. `compiles_only` is for a process that compiles
        for the device without opening it. Without `opens_files`, not even a module can be imported.
        """
        self.device = device
        self._opens_files = opens_files
        self._devices = () if compiles_only else tuple(Path("/dev").glob("nvidia*"))
        self.uid = _free_uid() if os.getuid() == 0 and "user" not in without else None
        self.layers = dict.fromkeys(LAYERS, "missing (left out on purpose)")
        self._ruleset: landlock.Ruleset | None = None
        self._filter: seccomp.Filter | None = None
        self._limits = "limits" not in without
        if self._limits:
            self.layers["limits"] = "on"
        if "user" not in without:
            self.layers["user"] = self._user_layer()
        if "landlock" not in without:
            self._prepare_landlock(readable, scratch)
        if "seccomp" not in without:
            self._prepare_seccomp()

    def _user_layer(self) -> str:
        if os.getuid() != 0:
            return "on (an ordinary user already)"
        if self.uid is None:
            return "missing (root here may not become another user)"
        return f"on (user {self.uid})"

    def _prepare_landlock(self, readable: Collection[Path], scratch: Path | None) -> None:
        try:
            self._ruleset = landlock.Ruleset()
        except OSError as error:
            self.layers["landlock"] = f"missing ({error})"
            return
        if self._opens_files:
            self._ruleset.allow([*python_files(), *readable], landlock.READ)
            self._ruleset.allow(map(Path, ("/dev/urandom", "/dev/null")), landlock.READ)
        if self.device == "cuda":
            _allow_gpu(self._ruleset, scratch, self._devices)
        elif self.device == "session":
            _allow_session(self._ruleset, scratch)
        self.layers["landlock"] = f"on (version {landlock.abi()})"
        if landlock.abi() < landlock.SCOPES_SIGNALS:
            self.layers["landlock"] += "; Linux 6.12 or later would also hold back signals"

    def _prepare_seccomp(self) -> None:
        try:
            if self.device == "cuda":
                self._filter = seccomp.driving_gpu()
            elif self.device == "session":
                self._filter = seccomp.session()
            else:
                may_open = self._opens_files and self._ruleset is not None
                self._filter = seccomp.computing(may_open)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            self.layers["seccomp"] = f"missing ({error}: install libseccomp and pyseccomp)"
            return
        self.layers["seccomp"] = f"on ({self._filter.length} instructions)"

    def enter(
        self, cpu_seconds: float, memory_bytes: int, parent: int, keep: Collection[int] = ()
    ) -> None:
        """Jail the calling process permanently. `parent` is the id of the warm process.

        Closes every file descriptor from 3 on that is not in `keep`. Raises OSError if a layer
        fails now that was available when the jail was prepared.
        """
        self.settle(cpu_seconds, memory_bytes, parent, keep)
        self.seal()

    def settle(
        self, cpu_seconds: float, memory_bytes: int, parent: int, keep: Collection[int] = ()
    ) -> None:
        """Enter all layers except the filter of system calls, which `seal` adds.

        Before `seal`, a fork can wait for its request. The file descriptors `keep` stay open.
        """
        os.setsid()
        if self._limits:
            _limit(self.device, cpu_seconds, memory_bytes)
        _close_all_but({*keep, *([self._ruleset.fd] if self._ruleset else [])})
        self.change_user()
        _prctl(_PR_SET_DUMPABLE, 0)
        die_with(parent)  # after the change of user, which would clear it
        no_new_privileges()
        if self._ruleset:
            if self.device == "cuda":  # the driver writes /proc/self/coredump_filter
                own = landlock.READ | landlock.WRITE_FILE | landlock.TRUNCATE
                self._ruleset.allow([Path(f"/proc/{os.getpid()}")], own)
            self._ruleset.restrict()

    def change_user(self) -> None:
        """Become the jail's own user, if there is one."""
        if self.uid is not None:
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)

    def seal(self, cpu_seconds: float | None = None) -> None:
        """Enter the last layer, in all threads. `cpu_seconds` limits CPU time from now on."""
        if self._limits and cpu_seconds is not None:
            used = math.ceil(time.process_time())
            _lower(resource.RLIMIT_CPU, used + int(cpu_seconds) + 2)
        if self._filter:
            self._filter.apply()


def _close_all_but(keep: Collection[int]) -> None:
    """Close the file descriptors from 3 on."""
    first = 3
    for descriptor in sorted(keep):
        os.closerange(first, descriptor)
        first = max(first, descriptor + 1)
    os.closerange(first, 1 << 20)


def python_files() -> Iterator[Path]:
    """Yield the files that an import may read: standard library and packages, not the course.

    They are listed entry by entry, because a rule for a directory covers everything below it.
    """
    directories = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    directories |= {p for p in map(Path, sys.path) if p.name in PACKAGE_DIRECTORIES}
    directories |= {directory / "lib-dynload" for directory in set(directories)}
    for directory in {directory.resolve() for directory in directories}:
        if not directory.is_dir():
            continue
        for entry in directory.iterdir():
            if not entry.name.startswith((*_OURS, *PACKAGE_DIRECTORIES)):
                yield entry


def _allow_gpu(ruleset: landlock.Ruleset, scratch: Path | None, gpus: Collection[Path]) -> None:
    """Allow the driver's devices, the compiler's programs and headers, and a scratch directory."""
    system = map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"))
    ruleset.allow([*system, Path(sys.prefix), Path(sys.base_prefix) / "lib"], landlock.EXECUTE)
    ruleset.allow(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")), landlock.READ)
    ruleset.allow(Path("/etc").glob("ld.so.*"), landlock.READ)
    ruleset.allow([Path("/proc"), Path("/sys")], landlock.READ)
    ruleset.allow([Path(sys.base_prefix) / "include"], landlock.READ)
    devices = landlock.READ_FILE | landlock.WRITE_FILE | landlock.IOCTL_DEV
    ruleset.allow([*gpus, Path("/dev/null"), Path("/dev/shm")], devices)
    if scratch is not None:
        ruleset.allow([scratch], landlock.EVERYTHING)


def _allow_session(ruleset: landlock.Ruleset, scratch: Path | None) -> None:
    """Allow what libraries read when they are imported or first used, and a scratch directory.

    A rule for a directory covers everything below it, so directories that may contain an
    installation of the course are left out.
    """
    libraries = (Path("/usr/lib"), Path("/lib"), Path("/usr/lib64"), Path("/lib64"))
    beneath = (entry for folder in libraries if folder.is_dir() for entry in folder.iterdir())
    ruleset.allow((e for e in beneath if not e.name.startswith("python")), landlock.READ)
    ruleset.allow((Path(sys.base_prefix) / "lib").glob("*.so*"), landlock.READ)
    machine = ("/usr/share", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system/cpu")
    ruleset.allow(map(Path, (*machine, "/proc/cpuinfo", "/proc/meminfo")), landlock.READ)
    ruleset.allow([Path(os.devnull)], landlock.READ_FILE | landlock.WRITE_FILE)
    if scratch is not None:
        ruleset.allow([scratch], landlock.EVERYTHING & ~landlock.EXECUTE)


def _limit(device: Device, cpu_seconds: float, memory_bytes: int) -> None:
    """Set resource limits; they are wider for a GPU.

    A GPU's driver reserves terabytes of address space, and starts threads.
    """
    cpu = int(cpu_seconds) + 2
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: cpu,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if device == "cpu":
        limits |= {
            resource.RLIMIT_AS: address_space() + memory_bytes,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_NPROC: 0,
            resource.RLIMIT_NOFILE: 64,
        }
    elif device == "session":
        limits |= {
            resource.RLIMIT_AS: address_space() + memory_bytes,
            resource.RLIMIT_FSIZE: SESSION_FILE_BYTES,
            resource.RLIMIT_NOFILE: 128,
        }
    else:
        limits |= {
            resource.RLIMIT_FSIZE: 1 << 30,
            resource.RLIMIT_NPROC: 4096,
            resource.RLIMIT_NOFILE: 1024,
        }
        del limits[resource.RLIMIT_MEMLOCK]  # pinned memory
    for which, value in limits.items():
        _lower(which, value)


def _lower(which: int, value: int) -> None:
    _, most = resource.getrlimit(which)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (value, value))


def address_space() -> int:
    """Return how many bytes of address space this process uses now."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * mmap.PAGESIZE


def resident_bytes(pid: int) -> int:
    """Return a process's private resident memory in bytes; 0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            resident, of_files = map(int, file.read().split()[1:3])
    except OSError:
        return 0
    return (resident - of_files) * mmap.PAGESIZE


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that it has waited for.

    Infinite if the process is gone.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            ticks = sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    except OSError:
        return math.inf
    return ticks / os.sysconf("SC_CLK_TCK")


def _free_uid() -> int | None:
    """Return a user id for the jail: a private one, else the user `nobody`, else None.

    A container may refuse unmapped ids, or every change of user.
    """
    for uid in (_FIRST_PRIVATE_UID + os.getpid(), _NOBODY):
        if _may_become(uid):
            return uid
    return None


def _may_become(uid: int) -> bool:
    """Whether this process may become another user, which a fork tries."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    return status == 0


def die_with(parent: int) -> None:
    """Make the kernel kill this process when its parent ends.

    If the parent has already ended, no signal comes, so this checks for it.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def no_new_privileges() -> None:
    """Set no_new_privs, which Landlock and seccomp require.

    It applies to the calling thread and the processes that it starts.
    """
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl {option}: {os.strerror(code)}")
