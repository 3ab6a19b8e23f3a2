"""Main of the warm process whose forks execute notebooks: one jailed fork per submission.

It contains no secrets: it imports no exercise, hidden case or solution, and a fork gets a test's
text just before it executes it. `session` starts it as a script with a JSON configuration.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import stat
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MESSAGE_BYTES = 1 << 16
_OF_LESSONS = ("client.setup", "interpreter", "figures", "explore", "tracing")


def main() -> None:
    config = json.loads(sys.argv[1])
    control = socket.socket(fileno=config["socket"])
    sys.path[:] = [*sys.path, *(path for path in config["paths"] if path not in sys.path)]
    sys.path.insert(0, config["root"])
    try:
        _import(config["preload"])
        warm = _SessionForks(config, control)
    except Exception as error:  # report any error to the command in one line
        said = {"error": f"{type(error).__name__}: {error}"}
        control.send(json.dumps(said).encode()[:MESSAGE_BYTES])
        return
    sys.path.remove(config["root"])
    with contextlib.suppress(ConnectionError):
        warm.serve()
    os._exit(0)


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


class _SessionForks:
    """Serves one submission after the other, until the command closes the channel."""

    def __init__(self, config: dict[str, Any], control: socket.socket) -> None:
        from graders.grading.own_tests import shell
        from graders.judge.jail.jail import Jail
        from graders.judge.jail.probe import probe

        self._config, self._control = config, control
        self._scratch = Path(config["scratch"])
        root = Path(config["root"])
        without = set(config["without"])
        if os.getuid() == 0 and not _everybody_may_read(
            (root / "triton_util", self._scratch.parent, *_python())
        ):
            without.add("user")  # another user could not import; Landlock protects the rest
        self._jail = Jail("session", [root / "triton_util"], self._scratch, without)
        self._shell_module = shell
        self._shell = shell.make(config["profile"])
        probed = probe(self._jail, Path(config["secret"]))
        told = {"tier": probed.tier, "layers": probed.layers, "open_to": probed.open_to}
        control.send(json.dumps(told).encode())

    def serve(self) -> None:
        from graders.judge.sandbox.serving import PreforkPool

        forks = PreforkPool(self._work, self._control)
        while True:
            forks.prepare()
            message, descriptors, *_ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
            if not message:
                return
            self._give_scratch()
            pid = forks.hand_over(message, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self._watch(pid)

    def _give_scratch(self) -> None:
        """Make the fork's user the owner of the files."""
        if self._jail.uid is None:
            return
        for folder, _, names in os.walk(self._scratch):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, self._jail.uid, self._jail.uid, follow_symlinks=False)

    def _watch(self, pid: int) -> None:
        """Send a handle of the fork, and wait until it ends; it also ends with the command."""
        handle = os.pidfd_open(pid)
        try:
            socket.send_fds(self._control, [json.dumps(pid).encode()], [handle])
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.register(self._control, select.POLLIN)
            if any(descriptor != handle for descriptor, _ in poll.poll()):
                os.kill(pid, signal.SIGKILL)
        finally:
            os.close(handle)
        _, status = os.waitpid(pid, 0)
        self._control.send(json.dumps(status).encode())

    def _work(self, message: bytes, descriptors: list[int], parent: int) -> None:
        """Execute one notebook, in a fork."""
        limits = json.loads(message)
        os.dup2(1, 2)  # both are /dev/null
        os.chdir(self._scratch)
        sys.path.insert(0, "")  # as in a notebook: modules beside it can be imported
        self._jail.settle(limits["cpu_seconds"], limits["memory_bytes"], parent, descriptors)
        self._jail.seal()
        self._shell_module.serve(descriptors[0], self._shell)
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


if __name__ == "__main__":
    main()
