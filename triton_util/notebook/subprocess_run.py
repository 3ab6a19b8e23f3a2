"""`interpreted`: a call in the checked interpreter, also on a machine with a GPU.

If kernels already run in the interpreter, the function is simply called. Otherwise Triton was
imported to compile for the GPU, so the function is sent as source, with everything it needs from
the session, to a separate process that interprets. Its output is printed here, and its result is
returned.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton_util.environment import VARIABLE, interpreting
from triton_util.notebook.session import Session, of_caller
from triton_util.notebook.source import gather, inner_function

SECONDS = 120.0
_ROOT = str(Path(__file__).resolve().parents[2])


class BesideError(Exception):
    """The function raised in the separate process; the message is the error's."""


def interpreted(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return `function(*arguments)`, computed in the checked interpreter on the CPU.

    function: a function of the session, which launches kernels of the session. Tensors must be on
    the CPU. Raises BesideError if it raised in a separate process.
    """
    if interpreting():
        return function(*arguments)
    return call_beside(function, arguments, of_caller(sys._getframe(1)))


def call_beside(
    function: Callable[..., Any], arguments: tuple[Any, ...], session: Session, through: str = ""
) -> Any:
    """The same, but always in a separate process.

    through: `module:function` to call in place of `function`, with it and the arguments.
    """
    inner = inner_function(function)
    if inner is not None and inner.__globals__ is not session.namespace:
        session = Session(inner.__globals__, session.cells)
    request = {
        "source": gather(function.__name__, function, session).text,
        "name": function.__name__,
        "arguments": tuple(map(_on_cpu, arguments)),
        "through": through,
    }
    paths = [_ROOT, os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        VARIABLE: "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    done = subprocess.run(
        (sys.executable, "-P", "-c", f"from {__name__} import _serve; _serve()"),
        input=pickle.dumps(request),
        capture_output=True,
        env=environment,
        timeout=SECONDS,
        check=False,
    )
    if not done.stdout:
        raise BesideError(done.stderr.decode(errors="replace").strip()[-2000:] or "it ended early")
    printed, state, result = pickle.loads(done.stdout)
    print(printed, end="")
    if state == "raised":
        raise BesideError(result)
    return result


def _on_cpu(value: Any) -> Any:
    return value.cpu() if hasattr(value, "cpu") else value


def _serve() -> None:
    """The separate process: one request on standard input, the answer on standard output."""
    import contextlib
    import io

    request = pickle.loads(sys.stdin.buffer.read())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            answer = ("returned", _call(request))
        except Exception as error:
            answer = ("raised", str(error) or type(error).__name__)
    sys.stdout.buffer.write(pickle.dumps((printed.getvalue(), *answer)))


def _call(request: dict[str, Any]) -> Any:
    from triton_util.interpreter import guard_launches

    guard_launches()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.py"  # because Triton reads a kernel's source from its file
        path.write_text(request["source"], encoding="utf-8")
        spec = importlib.util.spec_from_file_location("session", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, request["name"])
        if not request["through"]:
            return function(*request["arguments"])
        home, _, name = request["through"].partition(":")
        return getattr(importlib.import_module(home), name)(function, *request["arguments"])
