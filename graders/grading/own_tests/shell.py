"""IPython in a jailed process: it executes one cell after the other and sends their outputs.

This code runs in the same interpreter as the submission. So what it sends is trusted no more
than the output of a notebook's kernel: `session` reads it with limits.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import getpass
import io
import json
import os
import signal
import sys
from collections.abc import Callable
from tokenize import TokenError
from typing import Any

from IPython.core.display_trap import DisplayTrap
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.events import EventManager, available_events
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets import Type
from traitlets.config import Config

# Limits for one cell; output above them is dropped.
STREAM_CHARACTERS = 100_000
DATA_CHARACTERS = 4_000_000
OUTPUTS = 200
_NO_PROGRAMS = "No shell command is run while a notebook is graded."


class Sink:
    """Sends the outputs of one cell as lines of JSON, within limits."""

    def __init__(self, channel: int) -> None:
        self._channel = channel
        self.begin(kept=False)

    def begin(self, kept: bool) -> None:
        """Start a new cell. Its outputs are sent only if it is `kept`."""
        self._left = STREAM_CHARACTERS if kept else 0
        self._data_left = DATA_CHARACTERS
        self._outputs = 0 if kept else OUTPUTS
        self._text: tuple[str, list[str]] | None = None
        self.failed = False

    def write(self, name: str, text: str) -> None:
        """Buffer a stream's text; later text of the same stream is sent together with it."""
        text = text[: self._left]
        self._left -= len(text)
        if self._text is not None and self._text[0] != name:
            self.flush()
        if text:
            self._text = self._text or (name, [])
            self._text[1].append(text)

    def flush(self) -> None:
        held, self._text = self._text, None
        if held is not None:
            self._send({"output_type": "stream", "name": held[0], "text": "".join(held[1])})

    def data(self, kind: str, shown: Any) -> None:
        """Send a display or a result: its text and its picture, within the limits."""
        kept = {}
        for mime, value in _texts(shown).items():
            value = value[:STREAM_CHARACTERS] if mime == "text/plain" else value
            if len(value) <= self._data_left:
                kept[mime] = value
                self._data_left -= len(value)
        self.output({"output_type": kind, "data": kept})

    def output(self, output: dict[str, Any]) -> None:
        self.flush()
        self.failed |= output["output_type"] == "error"
        self._send(output)

    def _send(self, output: dict[str, Any]) -> None:
        """Send an output. Errors and a last line's value decide the points: always sent."""
        self._outputs += 1
        deciding = output["output_type"] in ("error", "execute_result")
        if self._outputs <= OUTPUTS or deciding:
            self.tell({"output": output})

    def tell(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(self._channel, data) :]


class _Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the cells."""

    encoding = "utf-8"

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink, self.name = sink, name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._sink.write(self.name, text)
        return len(text)


class _Publisher(DisplayPublisher):  # type: ignore[misc]
    """Sends the arguments of `display`."""

    def publish(self, data: Any, metadata: Any = None, **_: Any) -> None:
        self.shell.sink.data("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        pass


class _Hook(DisplayHook):  # type: ignore[misc]
    """Sends the value of a cell's last line."""

    def quiet(self) -> bool:
        try:
            return bool(self.semicolon_at_end_of_expression(self.shell.present))
        except (TokenError, SyntaxError):  # a magic is not Python
            return False

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.sink.data("execute_result", format_dict)


def _texts(data: Any) -> dict[str, str]:
    """Return only the text and the picture of an output."""
    found = {kind: data.get(kind) for kind in ("text/plain", "image/png")}
    if isinstance(found["image/png"], bytes):
        found["image/png"] = base64.b64encode(found["image/png"]).decode()
    return {kind: value for kind, value in found.items() if isinstance(value, str)}


class Shell(InteractiveShell):  # type: ignore[misc]
    """IPython without a terminal, a history file and external programs."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    sink: Sink
    present = ""  # the text of the cell that is being executed
    failed_line: int | None = None
    displayhook: Any
    ast_transformers: Any
    input_transformers_post: Any

    def begin(self, channel: int) -> None:
        """Connect to the process that sends the cells."""
        self.sink = Sink(channel)
        builtins.input = getpass.getpass = _no_input
        self._streams = _Stream(self.sink, "stdout"), _Stream(self.sink, "stderr")
        sys.stdout, sys.stderr = self._streams
        self._builtins = dict(vars(builtins))
        self._hook: Any = self.displayhook

    def execute(self, text: str, is_test: bool, kept: bool) -> None:
        """Execute one cell. For a test, reset IPython's hooks, and keep it out of the history."""
        self.sink.begin(kept)
        self.present, self.failed_line = text, None
        if is_test:
            self._restore()
        result = self.run_cell(text, store_history=not is_test)
        error = result.error_before_exec or result.error_in_exec
        if error is not None and not self.sink.failed:  # a magic's error is only printed
            self._showtraceback(type(error), error, [])
        self.sink.flush()

    def _restore(self) -> None:
        vars(builtins).update(self._builtins)
        sys.stdout, sys.stderr = self._streams
        self.ast_transformers = []
        self.input_transformers_post = []
        self.input_transformer_manager = TransformerManager()
        self.events = EventManager(self, available_events)
        self.displayhook = self._hook
        self.display_trap = DisplayTrap(hook=self._hook)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        trace = getattr(evalue, "__traceback__", None)  # its first frame is IPython's own
        if trace is not None and trace.tb_next is not None:
            self.failed_line = trace.tb_next.tb_lineno
        lines = self.InteractiveTB.stb2text(stb).split("\n") if stb else []
        said = {"ename": etype.__name__, "evalue": str(evalue), "traceback": lines}
        self.sink.output({"output_type": "error", **said})

    def system(self, cmd: str) -> None:
        print(_NO_PROGRAMS)
        self.user_ns["_exit_code"] = 1

    system_piped = system_raw = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        print(_NO_PROGRAMS)
        return SList([]) if split else ""

    def ask_exit(self) -> None:
        """Ignore `exit`, because the later cells are graded, too."""

    def enable_gui(self, gui: Any = None) -> None:
        pass


def _no_input(*_: Any, **__: Any) -> str:
    raise StdinNotImplementedError("nobody is there to answer while a notebook is graded")


def make(folder: str) -> Shell:
    """Make the shell before the fork that will use it; `folder` gets IPython's profile."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.cache_size = 1000
    config.InteractiveShell.colors = "nocolor"
    shell: Shell = Shell.instance(config=config, ipython_dir=folder)
    return shell


def serve(channel: int, shell: Shell) -> None:
    """Execute the cells that come over the channel, one per line, until it is closed.

    An interrupt affects only the cell that is being executed.
    """
    shell.begin(channel)
    ask: Callable[[], bytes] = os.fdopen(channel, "rb", closefd=False).readline
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while line := ask():
        request = json.loads(line)
        with contextlib.suppress(KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.default_int_handler)
            shell.execute(request["text"], request["is_test"], request["kept"])
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        shell.sink.tell({"done": request["number"], "line": shell.failed_line})
