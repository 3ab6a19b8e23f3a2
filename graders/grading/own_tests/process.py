"""The role of the warm process whose forks execute notebooks: one jailed fork per submission.

It contains no secrets: it imports no exercise, hidden case or solution, and a fork gets a test's
text just before it executes it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import stat
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graders.grading.own_tests import shell
from graders.judge.jail.jail import Jail
from graders.judge.jail.probe import probe
from graders.judge.sandbox.serving import Role, watch

_OF_LESSONS = ("client.setup", "interpreter", "figures", "explore", "tracing")


def prepare(config: Mapping[str, Any], control: socket.socket) -> _Session:
    """Import what the notebook mentions, and return the role."""
    _import(config["preload"])
    role = _Session(config, control)
    sys.path.remove(config["root"])
    return role


def _import(names: Iterable[str]) -> None:
    """Import the libraries that the notebook mentions, once for all forks.

    If one is missing, the cell that imports it fails.
    """
    for name in names:
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            if name == "torch":  # a fork after a parallel region would hang
                module.set_num_threads(1)
    if "triton_util" in names:
        for part in _OF_LESSONS:
            with contextlib.suppress(ImportError):
                importlib.import_module(f"triton_util.{part}")


class _Session(Role):
    def __init__(self, config: Mapping[str, Any], control: socket.socket) -> None:
        self._scratch = Path(config["scratch"])
        root = Path(config["root"])
        without = set(config["without"])
        if os.getuid() == 0 and not _everybody_may_read(
            (root / "triton_util", self._scratch.parent, *_python())
        ):
            without.add("user")  # another user could not import; Landlock protects the rest
        self._jail = Jail("session", [root / "triton_util"], self._scratch, without)
        self._shell = shell.make(config["profile"])
        probed = probe(self._jail, Path(config["secret"]))
        told = {"tier": probed.tier, "layers": probed.layers, "open_to": probed.open_to}
        super().__init__(control, told)

    def answer(self, message: bytes, descriptors: list[int]) -> Mapping[str, Any]:
        """Also send a handle of the fork, which the command interrupts and ends."""
        self._give_scratch()
        pid = self.forks.hand_over(message, descriptors)
        handle = os.pidfd_open(pid)
        try:
            socket.send_fds(self.control, [json.dumps(pid).encode()], [handle])
        finally:
            os.close(handle)
        return asdict(watch([pid], self.control, over=lambda: ""))

    def _give_scratch(self) -> None:
        """Make the fork's user the owner of the files."""
        if self._jail.uid is None:
            return
        for folder, _, names in os.walk(self._scratch):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, self._jail.uid, self._jail.uid, follow_symlinks=False)

    def work(self, message: bytes, descriptors: list[int], parent: int) -> None:
        """Execute one notebook."""
        limits = json.loads(message)
        os.dup2(1, 2)  # both are /dev/null
        os.chdir(self._scratch)
        sys.path.insert(0, "")  # as in a notebook: modules beside it can be imported
        self._jail.settle(limits["cpu_seconds"], limits["memory_bytes"], parent, descriptors)
        self._jail.seal()
        shell.serve(descriptors[0], self._shell)
        os._exit(0)


def _python() -> list[Path]:
    found = [Path(sysconfig.get_path("stdlib")), *map(Path, sys.path)]
    return [path.resolve() for path in found if path.is_dir()]


def _everybody_may_read(folders: Iterable[Path]) -> bool:
    """Whether a user without rights can read the folders."""
    needed = stat.S_IROTH | stat.S_IXOTH
    return all(
        folder.stat().st_mode & needed == needed
        and all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
        for folder in folders
    )
