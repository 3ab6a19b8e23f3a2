"""Seccomp filters: limit a jailed process's system calls; compiled once, applied per fork.

libseccomp (through pyseccomp) compiles the filter; the child only passes it to the kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import tempfile
from collections.abc import Iterable
from typing import Any

# What numpy, torch and the interpreter need to compute in one thread on existing memory.
_COMPUTE = (
    "read readv pread64 write writev pwrite64 close fstat newfstatat stat lstat statx lseek",
    "dup mmap munmap mremap mprotect madvise brk mincore membarrier",
    "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack",
    "futex set_robust_list rseq restart_syscall sched_yield sched_getaffinity getcpu",
    "getpid gettid getppid getuid geteuid getgid getegid",
    "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage",
    "exit exit_group getrandom sysinfo uname arch_prctl getcwd access faccessat faccessat2",
    "readlink readlinkat getdents64",
)
_OPEN = "openat open"
# The allowed commands of fcntl; the others lock, lease or watch files, or cause signals:
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS
_FCNTL = (0, 1, 2, 3, 1030, 1033, 1034)
_F_SETFL = 4
# Ways to make the kernel signal any process of the same user when a file changes:
# F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY; FIOASYNC, FIOSETOWN, SIOCSPGRP
_SIGNALLING_FCNTL = (8, 10, 15, 1024, 1026)
_SIGNALLING_IOCTL = (0x5452, 0x8901, 0x8902)
_O_ASYNC = 0x2000
_WORD = 0xFFFF_FFFF  # the kernel uses the lower half of a command

# What a notebook's cells also need: files and folders (Landlock limits them to one directory), an
# event loop, timers, and sockets to itself.
_SESSION = (
    "mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat",
    "ftruncate fallocate fsync fdatasync flock umask chdir fchdir statfs fstatfs fadvise64",
    "copy_file_range sendfile msync pipe pipe2 dup2 dup3 poll ppoll select pselect6 eventfd2",
    "epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 alarm setitimer getitimer",
    "recvfrom shutdown getsockopt setsockopt getsockname getpgrp getpgid getsid getgroups",
    "getresuid getresgid set_tid_address",
)
# Landlock does not cover these. An error would break harmless programs, so they do nothing.
_WITHOUT_EFFECT = "chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat"
_CLONE_THREAD = 0x10000
_FIONBIO = 0x5421  # makes a socket of the event loop non-blocking

# A GPU driver needs threads, ioctl and devices, and Triton a compiler: only these are denied.
_NEVER_ON_GPU = (
    "socketpair connect accept accept4 sendto recvfrom sendmsg recvmsg",
    "ptrace process_vm_readv process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal",
    "kill tkill rt_sigqueueinfo rt_tgsigqueueinfo setsid setpgid",
    "mount umount2 move_mount open_tree fsopen fsmount pivot_root chroot unshare setns",
    "bpf perf_event_open userfaultfd keyctl add_key request_key io_uring_setup io_uring_enter",
    "init_module finit_module delete_module kexec_load reboot swapon swapoff acct quotactl",
    "shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semctl mq_open",
    "sched_setaffinity sched_setscheduler setpriority ioprio_set personality",
    "name_to_handle_at open_by_handle_at settimeofday clock_settime adjtimex",
    "sethostname setdomainname",
)

_SET_MODE_FILTER, _ALL_THREADS = ctypes.c_uint(1), ctypes.c_uint(1)
_INSTRUCTION_BYTES = 8
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class Filter:
    """A compiled filter, ready to be applied to the calling process and its descendants."""

    def __init__(self, program: bytes) -> None:
        self.length = len(program) // _INSTRUCTION_BYTES
        self._buffer = ctypes.create_string_buffer(program, len(program))
        self._program = _Program(self.length, ctypes.addressof(self._buffer))
        self._number = ctypes.c_long(number("seccomp"))

    def apply(self) -> None:
        """Apply it to all threads. Needs no_new_privs. Raises OSError if the kernel refuses."""
        program = ctypes.byref(self._program)
        if _libc.syscall(self._number, _SET_MODE_FILTER, _ALL_THREADS, program):
            code = ctypes.get_errno()
            raise OSError(code, f"seccomp: {os.strerror(code)}")


def computing(may_open: bool) -> Filter:
    """Return a filter for arithmetic only: no new process or thread, no socket, no signals.

    `may_open`: leave opening files to Landlock; otherwise this filter forbids it.
    Raises ImportError or OSError if libseccomp is missing.
    """
    import pyseccomp  # here, because the import fails if libseccomp is missing

    rules = _arithmetic(pyseccomp, (*_COMPUTE, _OPEN if may_open else ""))
    _add(rules, pyseccomp.ERRNO(errno.ENOTTY), "ioctl")
    return Filter(_export(rules))


def _arithmetic(pyseccomp: Any, allowed: Iterable[str]) -> Any:
    """Return rules that allow these calls and the process's own limits; others are errors."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    for name in " ".join(allowed).split():
        _add(rules, pyseccomp.ALLOW, name)
    for command in _FCNTL:
        _add(rules, pyseccomp.ALLOW, "fcntl", _command(command))
    not_async = pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _O_ASYNC, 0)
    _add(rules, pyseccomp.ALLOW, "fcntl", _command(_F_SETFL), not_async)
    # A filter cannot see clone3's flags. Without clone3, glibc falls back to clone.
    _add(rules, pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    own_limits = (pyseccomp.Arg(0, pyseccomp.EQ, 0), pyseccomp.Arg(2, pyseccomp.EQ, 0))
    _add(rules, pyseccomp.ALLOW, "prlimit64", *own_limits)
    return rules


def session() -> Filter:
    """Return a filter for a notebook's cells: threads and files, but no processes or network.

    Landlock limits the files: without it, `probe` reports them as open.
    """
    import pyseccomp

    rules = _arithmetic(pyseccomp, (*_COMPUTE, _OPEN, *_SESSION))
    _add(rules, pyseccomp.ALLOW, "ioctl", pyseccomp.Arg(1, pyseccomp.EQ, _FIONBIO))
    _add(rules, pyseccomp.ERRNO(errno.ENOTTY), "ioctl", pyseccomp.Arg(1, pyseccomp.NE, _FIONBIO))
    for name in _WITHOUT_EFFECT.split():
        _add(rules, pyseccomp.ERRNO(0), name)
    thread = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD)
    _add(rules, pyseccomp.ALLOW, "clone", thread)
    local = pyseccomp.Arg(0, pyseccomp.EQ, socket.AF_UNIX)
    _add(rules, pyseccomp.ALLOW, "socketpair", local)
    _add(rules, pyseccomp.ALLOW, "sendto", pyseccomp.Arg(4, pyseccomp.EQ, 0))  # to its own pair
    return Filter(_export(rules))


def driving_gpu() -> Filter:
    """Return a filter for a GPU driver and a compiler: no network, no other process's memory."""
    import pyseccomp

    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in " ".join(_NEVER_ON_GPU).split():
        _add(rules, pyseccomp.ERRNO(errno.EPERM), name)
    for command in _SIGNALLING_FCNTL:
        _add(rules, pyseccomp.ERRNO(errno.EPERM), "fcntl", _command(command))
    is_async = pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _O_ASYNC, _O_ASYNC)
    _add(rules, pyseccomp.ERRNO(errno.EPERM), "fcntl", _command(_F_SETFL), is_async)
    for command in _SIGNALLING_IOCTL:
        _add(rules, pyseccomp.ERRNO(errno.EPERM), "ioctl", _command(command))
    # CUDA does not start unless it may listen on a local socket; connecting to it is denied.
    not_local = pyseccomp.Arg(0, pyseccomp.NE, socket.AF_UNIX)
    _add(rules, pyseccomp.ERRNO(errno.EPERM), "socket", not_local)
    return Filter(_export(rules))


def _command(number: int) -> Any:
    """Return the condition that the second argument, the command of fcntl or ioctl, is `number`."""
    import pyseccomp

    return pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _WORD, number)


def _add(rules: Any, action: Any, name: str, *conditions: Any) -> None:
    """Add a rule; skip a call that this architecture does not have."""
    try:
        rules.add_rule(action, name, *conditions)
    except (ValueError, OSError, RuntimeError):
        if _known(name):
            raise


def _known(name: str) -> bool:
    try:
        return number(name) >= 0
    except (ValueError, OSError, RuntimeError):
        return False


def number(name: str) -> int:
    """Return the number of a system call on this architecture."""
    import pyseccomp

    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))


def _export(rules: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
