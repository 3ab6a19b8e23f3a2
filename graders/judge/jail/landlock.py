"""Landlock: the kernel denies a process all paths that are not in a ruleset.

This needs three system calls, made through ctypes. The kernel's documentation describes them in
userspace-api/landlock.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
_ABI_1 = (1 << 13) - 1
REFER = 1 << 13  # ABI 2
TRUNCATE = 1 << 14  # ABI 3
IOCTL_DEV = 1 << 15  # ABI 5
READ = READ_FILE | READ_DIR
EVERYTHING = _ABI_1 | REFER | TRUNCATE | IOCTL_DEV
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

_NET_ALL = 0b11  # bind and connect TCP, ABI 4
SCOPES_SIGNALS = 6  # the ABI since which signals can be confined, Linux 6.12
_SCOPE_ALL = 0b11  # abstract unix sockets and signals

_libc = ctypes.CDLL(None, use_errno=True)


class _RulesetAttr(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """Return the running kernel's Landlock ABI version; 0 if there is no Landlock."""
    version = _libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    return max(0, int(version))


class Ruleset:
    """A set of rules that denies everything that Landlock can deny, except what `allow` names.

    `restrict` enforces it, which cannot be undone.
    """

    def __init__(self) -> None:
        """Create the ruleset; OSError if the kernel has no Landlock."""
        version = abi()
        if version == 0:
            raise OSError("this kernel has no Landlock")
        self._handled = _handled(version)
        attr = _RulesetAttr(
            self._handled,
            _NET_ALL if version >= 4 else 0,
            _SCOPE_ALL if version >= SCOPES_SIGNALS else 0,
        )
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        self.fd = _checked(
            _libc.syscall(_CREATE, ctypes.byref(attr), ctypes.c_size_t(size), ctypes.c_uint32(0))
        )

    def allow(self, paths: Iterable[Path], rights: int) -> None:
        """Allow `rights` below each of the paths; missing paths are skipped."""
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                kept = rights & self._handled
                if not path.is_dir():
                    kept &= _FILE_RIGHTS
                rule = _PathBeneathAttr(kept, fd)
                _checked(
                    _libc.syscall(
                        _ADD_RULE,
                        ctypes.c_int(self.fd),
                        ctypes.c_int(_RULE_PATH_BENEATH),
                        ctypes.byref(rule),
                        ctypes.c_uint32(0),
                    )
                )
            finally:
                os.close(fd)

    def restrict(self) -> None:
        """Restrict the calling thread and its descendants. Needs no_new_privs. Closes the fd."""
        _checked(_libc.syscall(_RESTRICT, ctypes.c_int(self.fd), ctypes.c_uint32(0)))
        os.close(self.fd)


def _handled(version: int) -> int:
    handled = _ABI_1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= since:
            handled |= right
    return handled


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return int(result)
