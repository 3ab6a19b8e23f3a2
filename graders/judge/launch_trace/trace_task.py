"""The forked child in which a submission's Python runs: it has no values of any tensor.

The module is loaded and the launcher is called once for each case, on tensors that know only their
layout. The child returns the launch plan in JSON, one line for each case as soon as it is done. So
the judge knows what a launcher did even if it never finishes.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch

from graders.judge.launch_trace.launches import Launches
from graders.judge.launch_trace.names import SeenKernels
from graders.judge.launch_trace.operations import Operations
from graders.judge.launch_trace.recording import NeedsValue, Recorder
from graders.judge.launch_trace.surroundings import A100, pretend_gpu, pretend_none, without_dynamo
from graders.judge.launch_trace.tensors import Pretend, ValuelessTensor, Watch
from graders.judge.plan.code import Code
from graders.judge.plan.steps import CasePlan, Raised, to_json
from graders.judge.sandbox.serving import Nowhere
from triton_util.explain.launches import load_module

MOST_TEXT = 2_000
# No kernel runs here, so a launcher that takes longer is in an endless loop. The limit is CPU time,
# because machines have other work, too.
CALLING_SECONDS = 10.0


class Capture:
    """Records one submission."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.request = request
        self.filename: str = request["filename"]
        self.recorder = Recorder(self.filename)
        codes = map(Code.from_json, request["codes"])
        self.kernels = SeenKernels(self.recorder, {(c.line, c.name): c.names for c in codes})
        self._sent = 0, 0  # kernels and observations
        # Made before anything watches torch: watching costs a call of Python for each operation.
        self._arguments = [[_argument(one) for one in case] for case in request["cases"]]
        gpu = request.get("gpu") or A100
        Launches(self.recorder, self.kernels, gpu.get("warps")).install()
        self._on_gpu = gpu["name"] != ""
        if self._on_gpu:
            pretend_gpu(request.get("gpu"))
        else:
            pretend_none()
        without_dynamo()
        torch.compile = self._compile
        # Registering an operator imports torch's compiler, which takes 10 s; a call runs the same.
        torch.library.triton_op = torch.library.custom_op = _operator
        torch.library.wrap_triton = lambda kernel: kernel

    def run(self, send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Load the module, call the launcher for every case, and return what is new at the end."""
        with contextlib.ExitStack() as modes:
            modes.enter_context(Watch(self.recorder, Operations(self.recorder)))
            modes.enter_context(Pretend(self.recorder, self._on_gpu))
            launcher, module = self._load()
            send({"module": to_json(module), **self._news()})
            if launcher is not None:
                for number, arguments in enumerate(self._arguments):
                    case = self._case(launcher, number, arguments)
                    send({"case": to_json(case), **self._news()})
                    if case.raised is not None and case.raised.kind == "TimeoutError":
                        break
        return self._news()

    def _news(self) -> dict[str, Any]:
        """Kernels and observations since the last call."""
        kernels, told = self.kernels.found[self._sent[0] :], list(self.recorder.told.values())
        fresh = told[self._sent[1] :]
        self._sent = len(self.kernels.found), len(told)
        return {"kernels": to_json(tuple(kernels)), "told": to_json(tuple(fresh))}

    def _load(self) -> tuple[Any, CasePlan]:
        try:
            module = load_module(self.request["source"], self.filename)
            launcher = getattr(module, self.request["launcher"])
        except BaseException as error:
            return None, CasePlan(raised=self._raised(error, "module"))
        return launcher, CasePlan(tuple(self.recorder.steps))

    def _case(self, launcher: Any, number: int, arguments: list[Any]) -> CasePlan:
        self.recorder.begin(number)
        args = [
            ValuelessTensor(arg, self.recorder) if isinstance(arg, torch.Tensor) else arg
            for arg in arguments
        ]
        inputs = tuple(
            self.recorder.storage_of(arg.meta) if isinstance(arg, ValuelessTensor) else None
            for arg in args
        )
        try:
            out = launcher(*args)
            result = self.kernels.value(out)
        except BaseException as error:
            raised = self._raised(error, "launcher")
            return CasePlan(tuple(self.recorder.steps), None, inputs, raised)
        return CasePlan(tuple(self.recorder.steps), result, inputs)

    def _raised(self, error: BaseException, where: str) -> Raised:
        line = self._line(error)
        kind = type(error).__name__
        if isinstance(error, NeedsValue):
            where = "value"
        elif isinstance(error, Exception) and self._in_triton(error):
            where = "triton"
        root = error
        while root.__cause__ is not None and not str(root):
            root = root.__cause__
        return Raised(
            kind=kind[:200] if kind.isidentifier() else "Exception",
            text=str(root)[:MOST_TEXT],
            line=line,
            where=where,
        )

    def _line(self, error: BaseException) -> int | None:
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            return error.lineno
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self.filename]
        return lines[-1] if lines else None

    def _in_triton(self, error: BaseException) -> bool:
        frames = traceback.extract_tb(error.__traceback__)
        return bool(frames) and "/triton/" in frames[-1].filename.replace("\\", "/")

    def _compile(self, *args: Any, **named: Any) -> Any:
        self.recorder.tell("torch-computes", "compile")
        return args[0] if args else (lambda function: function)


class _Operator:
    """A registered operator on one device: the function itself. Its registrations are ignored."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.register_fake = self.register_kernel = self.register_vmap = self._taken
        self.register_autograd = self._taken

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._function(*args, **named)

    def _taken(self, *given: Any, **_options: Any) -> Any:
        """Return the given function, or a decorator that returns its function."""
        return given[0] if given and callable(given[0]) else (lambda function: function)


def _operator(name: str, function: Any = None, /, **_options: Any) -> Any:
    """Replaces `torch.library.triton_op` and `custom_op`, as functions and as decorators."""
    if function is None:
        return lambda decorated: _operator(name, decorated)
    made = _Operator(function)
    space, _, own = name.partition("::")
    setattr(getattr(torch.ops, space), own, made)
    return made


def _argument(layout: Mapping[str, Any]) -> Any:
    """A scalar, or a tensor of the meta device with this layout."""
    if "value" in layout:
        return layout["value"]
    dtype = getattr(torch, layout["dtype"])
    base = torch.empty(layout["length"], dtype=dtype, device="meta")
    return base.as_strided(layout["shape"], layout["strides"], layout["offset"])


def before_jail() -> None:
    """Start the launcher's time limit; inside the jail that is not possible."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, CALLING_SECONDS, 1.0)


_state = {"calling": False}


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    if _state["calling"]:
        raise TimeoutError("the launcher does not come to an end")


def run(request: Mapping[str, Any], write: Callable[[bytes], None]) -> bytes:
    """The last line of the answer; `write` gets the lines before it."""
    sys.stdout = sys.stderr = Nowhere()
    _state["calling"] = True

    def send(line: dict[str, Any]) -> None:
        write(json.dumps(line).encode() + b"\n")

    return json.dumps({"end": Capture(request).run(send)}).encode()
