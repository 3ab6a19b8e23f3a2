"""`PreforkPool` forks a process before each request comes, so no request waits for a fork."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from collections.abc import Callable, Sequence

MESSAGE_BYTES = 1 << 16  # the largest message on such a socket
DESCRIPTORS = 3
MOST_FORKS = 5  # that may end before they get a request
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

# A fork's work on its request: gets the message, its descriptors, the warm process's id.
Work = Callable[[bytes, list[int], int], None]


class PreforkPool:
    """Gives each request to a fork that was made before the request came.

    A fork inherits no data of an earlier request. It runs `work` once and ends. While it waits,
    it runs `rehearse`, which gets the channel on which the request will come. `control` is the
    warm process's own connection to the judge, which a fork closes.
    """

    def __init__(
        self,
        work: Work,
        control: socket.socket,
        rehearse: Callable[[socket.socket], None] = lambda _channel: None,
    ) -> None:
        self._work = work
        self._control = control
        self._rehearse = rehearse
        self._ready: tuple[int, socket.socket] | None = None

    def prepare(self, without: Sequence[int] = ()) -> None:
        """Make the next fork if there is none; the fork closes the descriptors `without`."""
        if self._ready is None:
            self._ready = self._fork(without)

    def hand_over(self, message: bytes, descriptors: Sequence[int]) -> int:
        """Send the request to the waiting fork; return the fork's process id."""
        for _ in range(MOST_FORKS):
            self.prepare()
            assert self._ready is not None
            pid, requests = self._ready
            self._ready = None
            with requests:
                try:
                    socket.send_fds(requests, [message], list(descriptors))
                    return pid
                except ConnectionError:  # it was killed while it waited
                    os.waitpid(pid, 0)
        raise OSError("no fork lives long enough to be given its work")

    def _fork(self, without: Sequence[int]) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        pid = os.fork()
        if pid:
            theirs.close()
            return pid, ours
        try:
            ours.close()
            self._control.close()
            for descriptor in without:
                os.close(descriptor)
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            self._rehearse(theirs)
            with theirs:
                message, descriptors, *_ = socket.recv_fds(theirs, MESSAGE_BYTES, DESCRIPTORS)
            if message and os.getppid() == parent:
                self._work(message, descriptors, parent)
        finally:  # on an error, the fork must not continue as the warm process
            os._exit(1)
