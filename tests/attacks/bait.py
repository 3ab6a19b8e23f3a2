"""What attacks are after, put where only the jail stands in between; and who touched it."""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import signal
import socket
import sysconfig
import tempfile
import threading
from pathlib import Path

from tests.attacks.attack import Attack

ROOT = Path(__file__).resolve().parents[2]
_PLANTED = "sitecustomize_planted.pth"


class Bait:
    """A context manager: a secret file, a directory to write to, a port that answers.

    The secret also stands in this process's environment.
    """

    def __init__(self, token: str = "") -> None:
        self.token = token or "bait" + secrets.token_hex(12)
        self._connections = 0

    def __enter__(self) -> Bait:
        self.directory = Path(tempfile.mkdtemp(prefix="bait-"))
        self.directory.chmod(0o777)
        self.secret = self.directory / "secret"
        os.environ["TILEWISE_BAIT"] = self.token
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()
        self.reset()
        return self

    def __exit__(self, *_: object) -> None:
        os.environ.pop("TILEWISE_BAIT", None)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def source(self, attack: Attack, judge: int | None = None) -> str:
        """The attack's source, aimed at this bait and at the judge's process, by default this."""
        places = {
            "@SECRET@": str(self.secret),
            "@DIRECTORY@": str(self.directory),
            "@PORT@": str(self._listener.getsockname()[1]),
            "@JUDGE@": str(judge or os.getpid()),
            "@ROOT@": str(ROOT),
            "@CLONE@": "56" if platform.machine() == "x86_64" else "220",
            "@NEKOT@": self.token[::-1],
        }
        text = attack.source
        for name, value in places.items():
            text = text.replace(name, value)
        return text

    def reset(self) -> None:
        """Everything as it was."""
        for entry in self.directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        self.secret.write_text(f'"{self.token}" is the secret\n')
        self.secret.chmod(0o644)
        self._stat = self._state()
        self._connections = 0

    def evidence(self, text: str, family: int) -> set[str]:
        """Which kinds of evidence there are: in `text`, around the bait, among processes.

        `family` is the id of the warm process whose children may still be there.
        """
        return self.touched(text) | ({"process"} if survivors(family) else set())

    def touched(self, text: str) -> set[str]:
        """The same, but for processes."""
        found = set()
        if self.token in text:
            found.add("secret")
        if self._written():
            found.add("file")
        if self._connections:
            found.add("connection")
        return found

    def _written(self) -> bool:
        planted = [
            Path(sysconfig.get_path("purelib")) / _PLANTED,
            ROOT / _PLANTED,
            Path("/dev/shm/tilewise_planted"),
        ]
        others = [entry for entry in self.directory.iterdir() if entry != self.secret]
        return bool(others) or self._state() != self._stat or any(p.exists() for p in planted)

    def _state(self) -> tuple[int, int, int, int] | None:
        try:
            stat = self.secret.stat()
        except OSError:
            return None
        return stat.st_mode, stat.st_size, stat.st_mtime_ns, stat.st_uid

    def _answer(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections += 1
            connection.close()


def survivors(family: int) -> list[int]:
    """Processes that were forked from the warm process and are still there.

    They have its command line, and its environment, which names a directory of its own. One child
    of the warm process always waits for the next request; it is none of them.
    """
    command, environment = _of_process(family, "cmdline"), _of_process(family, "environ")
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    alike = [pid for pid in pids if command and _of_process(pid, "cmdline") == command]
    others = [pid for pid in alike if pid != family]
    forked = [pid for pid in others if _of_process(pid, "environ") in (environment, b"")]
    waiting = [pid for pid in forked if _parent(pid) == family][:1]
    return [pid for pid in forked if pid not in waiting]


def end(pids: list[int]) -> None:
    """Kill what an attack left, where it was let."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def _parent(pid: int) -> int:
    """0 where the process is gone."""
    status = _of_process(pid, "stat").rpartition(b")")[2].split()
    return int(status[1]) if len(status) > 1 else 0


def _of_process(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return b""
