"""The task of the forked child that calls a plain function of a submission, once per case.

The child contains plain values and stand-ins. The object behind a stand-in is in the judge: each
use of it sends a line to the judge and gets a line back. So the function cannot find the correct
answer in this process. Its result goes to the judge, which compares it.
"""

from __future__ import annotations

import json
import numbers
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from graders.judge.sandbox.serving import Nowhere
from triton_util.explain.launches import load_module

# CPU seconds, by a clock that ticks once a second. A function that uses stand-ins has three times
# as long: each use is a line to the judge and back, which is slow on a busy machine.
SECONDS_WITHOUT_USE = 10
CALLING_SECONDS = 30  # for all cases together
MOST_TEXT = 2_000
MOST_NUMBERS = 4096  # of a list
MOST_RESULTS = 8  # of a tuple: longer ones are wrong anyway


@dataclass
class Clock:
    """Counts CPU seconds, in total and since the function last used a stand-in."""

    calling: bool = False
    seconds: int = 0
    used_at: int = 0

    def tick(self, _signal: int, _frame: FrameType | None) -> None:
        """Raise TimeoutError in a function that does not end."""
        self.seconds += 1
        silent = self.seconds - self.used_at >= SECONDS_WITHOUT_USE
        if self.calling and (silent or self.seconds >= CALLING_SECONDS):
            raise TimeoutError("the function does not come to an end")


_clock = Clock()


class Channel:
    """Lines to the judge, and its answers."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._rest = b""

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a line that needs no answer."""
        self._write(json.dumps(message).encode() + b"\n")

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a line, and return the judge's answer."""
        self.say(message)
        while b"\n" not in self._rest:
            data = os.read(1, 1 << 16)
            if not data:
                os._exit(1)  # the judge has ended
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


class StandIn:
    """Represents an object that is in the judge."""

    def __init__(self, far: int) -> None:
        self._far = far


class StandIns:
    """Makes a function's arguments from the judge's descriptions."""

    def __init__(self, kinds: Mapping[str, Mapping[str, list[str]]], channel: Channel) -> None:
        self._channel = channel
        self._classes = {kind: self._class(kind, names) for kind, names in kinds.items()}

    def value(self, described: Mapping[str, Any]) -> Any:
        """Return the described value, or a stand-in."""
        if "tuple" in described:
            return tuple(map(self.value, described["tuple"]))
        if "dtype" in described:
            return getattr(torch, described["dtype"])
        if "far" not in described:
            return described["value"]
        if described["kind"] == "function":
            return self._function(described["far"], described["name"])
        return self._classes[described["kind"]](described["far"])

    def _class(self, kind: str, names: Mapping[str, list[str]]) -> type[StandIn]:
        methods = {name: self._method(name) for name in names["methods"]}
        read = {name: property(self._method(name)) for name in names["properties"]}
        return type(kind, (StandIn,), {**methods, **read})

    def _method(self, name: str) -> Callable[..., Any]:
        def method(own: StandIn, *args: Any) -> Any:
            return self._use(own._far, name, args)

        method.__name__ = name
        return method

    def _function(self, far: int, name: str) -> Callable[..., Any]:
        def function(*args: Any) -> Any:
            return self._use(far, "", args)

        function.__name__ = function.__qualname__ = name
        return function

    def _use(self, far: int, name: str, args: tuple[Any, ...]) -> Any:
        given = [_sent(arg) for arg in args]
        _clock.used_at = _clock.seconds
        answer = self._channel.ask({"use": far, "name": name, "args": given})
        if "fails" in answer:
            raise RuntimeError(answer["fails"])
        return self.value(answer["gives"])


def _sent(value: Any) -> dict[str, Any]:
    if isinstance(value, StandIn):
        return {"far": value._far}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, list | tuple) and len(value) <= MOST_NUMBERS:
        return {"numbers": [_number_of(item) for item in value]}
    raise TypeError(f"{type(value).__name__}: not something that can be handed over here")


def _number_of(value: Any) -> float:
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"{type(value).__name__}: not a number")


def described(value: Any) -> dict[str, Any]:
    """Describe what a function returned: a number, a tuple of numbers, or anything else."""
    if isinstance(value, tuple):
        return {"tuple": [_number(item) for item in value[:MOST_RESULTS]], "length": len(value)}
    return _number(value)


def _number(value: Any) -> dict[str, Any]:
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            return {"number": float(value)}
        except OverflowError:
            return {"number": float("inf")}
    return {"kind": type(value).__name__[:100]}


def before_jail() -> None:
    """Start the function's time limit, which is not possible in the jail."""
    signal.signal(signal.SIGPROF, _clock.tick)
    signal.setitimer(signal.ITIMER_PROF, 1.0, 1.0)


def run(request: Mapping[str, Any], write: Callable[[bytes], None]) -> bytes:
    """Write a line for each case as soon as it is known; return the last line of the answer."""
    sys.stdout = sys.stderr = Nowhere()
    _clock.calling = True
    channel = Channel(write)
    stand_ins = StandIns(request["kinds"], channel)
    filename = request["filename"]
    try:
        module = load_module(request["source"], filename)
        function = getattr(module, request["function"])
    except BaseException as error:
        channel.say({"unloaded": _raised(error, filename)})
        return b'{"end": true}'
    for case in request["cases"]:
        try:
            told = {"returned": described(function(*map(stand_ins.value, case)))}
        except BaseException as error:
            told = {"raised": _raised(error, filename)}
        channel.say(told)
        if "raised" in told and told["raised"]["kind"] == "TimeoutError":
            break
    return b'{"end": true}'


def _raised(error: BaseException, filename: str) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == filename]
    kind = type(error).__name__
    return {
        "kind": kind[:100] if kind.isidentifier() else "Exception",
        "text": str(error)[:MOST_TEXT],
        "line": lines[-1] if lines else None,
    }
