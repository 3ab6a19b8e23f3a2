"""Compiles a submission's kernels before the GPU needs them, in jailed forks of a warm process.

The forks write binaries into the scratch directory, which is emptied before and after. The warm
process copies the binaries into a directory that no fork may read, under the submission's key.
Before a worker runs the same submission, it gets a copy in its scratch directory. So no worker
reads a file that another submission could have written.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path

from graders.judge.jail import jail
from graders.judge.jail.jail import Jail
from graders.judge.plan import gpu_compiling
from graders.judge.sandbox.protocol import BuildOrder
from graders.judge.sandbox.serving import watch

KEPT = 8  # submissions whose binaries are cached
MOST_BYTES, MOST_FILES = 512 << 20, 5000  # that a submission may write
NICE = 10  # compiling ahead gives way to workers that drive the GPU now
_CLAIMS = "claims"


class AheadCompilers:
    """Compiles binaries and caches those of the last submissions. Only forks read the source."""

    def __init__(self, inside: Jail, scratch: Path, kept: Path, control: socket.socket) -> None:
        """inside: the jail of the forks. kept: a new directory that no fork may read."""
        self._jail, self._scratch, self._control = inside, scratch, control
        self._kept: OrderedDict[str, Path] = OrderedDict()
        self._directory, self._made = kept, 0
        kept.mkdir(mode=0o700)

    def make(self, order: BuildOrder, request: int, clear: Callable[[], None]) -> str:
        """Compile, and cache the binaries. Return "" or why it ended early.

        The reasons are "stopped" (by the judge), "time" and "memory". `request` is a descriptor
        of the JSON that `gpu_compiling.build` takes. `clear` empties the scratch directory.
        """
        clear()
        self.hand_out(order.key)  # so that nothing is compiled twice
        claims = self._scratch / _CLAIMS
        claims.mkdir()
        claims.chmod(0o777)
        parent = os.getpid()
        pids = [self._fork(order, request, parent) for _ in range(order.processes)]
        reason = watch(pids, self._control, _limits(pids, order)).reason
        shutil.rmtree(claims, ignore_errors=True)
        self._keep(order.key)
        clear()
        return reason

    def hand_out(self, key: str) -> None:
        """Copy the binaries cached for this key into the scratch directory."""
        place = self._kept.get(key)
        if place is not None:
            self._kept.move_to_end(key)
            _copy(place, self._scratch)
            self._give(self._scratch)

    def _give(self, folder: Path) -> None:
        """Make the forks' user the owner of the files in a folder; fix modes after the umask."""
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
            if self._jail.uid is not None:
                os.chown(path, self._jail.uid, self._jail.uid)

    def _fork(self, order: BuildOrder, request: int, parent: int) -> int:
        pid = os.fork()
        if pid:
            return pid
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            asked = os.pread(request, os.fstat(request).st_size, 0)
            os.nice(NICE)
            self._jail.enter(order.seconds, order.memory_bytes, parent)
            gpu_compiling.build(json.loads(asked), self._scratch / _CLAIMS)
        finally:  # on an error, the fork must not continue as the warm process
            os._exit(0)

    def _keep(self, key: str) -> None:
        if key not in self._kept:
            self._made += 1
            self._kept[key] = self._directory / str(self._made)
        self._kept.move_to_end(key)
        _copy(self._scratch, self._kept[key])
        while len(self._kept) > KEPT:
            _, oldest = self._kept.popitem(last=False)
            shutil.rmtree(oldest, ignore_errors=True)


def _limits(pids: list[int], order: BuildOrder) -> Callable[[], str]:
    """Return what says which limit the forks exceed, for `watch`."""
    deadline = time.monotonic() + order.seconds

    def over() -> str:
        if time.monotonic() > deadline:
            return "time"
        too_large = any(jail.resident_bytes(pid) > order.memory_bytes for pid in pids)
        return "memory" if too_large else ""

    return over


def _copy(source: Path, target: Path) -> None:
    """Copy the regular files of a directory and its subdirectories, up to a total size.

    Links and pipes, which a submission's code may have made, are left out.
    """
    left, files = MOST_BYTES, MOST_FILES
    for path in _plain_files(source):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                continue
            data = file.read(left + 1)
        left, files = left - len(data), files - 1
        if left < 0 or files < 0:
            return
        place.write_bytes(data)


def _plain_files(source: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(source):  # does not follow links to directories
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path
