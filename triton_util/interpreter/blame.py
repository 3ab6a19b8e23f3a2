"""Decides whether an exception is the kernel's mistake or ours.

A kernel runs as Python inside the engine, so its errors and ours arrive in the same way.  The place
where the error arose distinguishes them.  The engine's own `raise` statements are about the kernel.
Anything else that breaks inside the engine (an operation that the builder lacks, a call that a new
version of triton makes differently, a bug) says nothing about the kernel and must not cost a
learner any points.  Needs no triton, so that a process that compiles can use it too.
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from triton_util.interpreter.faults import NotInterpreted

ENGINE = Path(__file__).resolve().parent.as_posix() + "/"
TRITONS_INTERPRETER = "/triton/runtime/interpreter.py"
TRITONS_LANGUAGE = "/triton/language/"
_INTERPRETERS = ("triton_util.interpreter", "triton.runtime.interpreter")
# Calls of `tl` to the compiler's code generator, which no interpreter has.
_GENERATOR_CALLS = ("call_JitFunction", "call_Function")
# A method of ours was called with unexpected arguments: the message begins with its name.
_OUR_CALL = re.compile(r"(GridBuilder|InterpreterBuilder|Block|Pointer|Batch(Reduce|Scan))\b")
_LIBRARIES = ("/site-packages/", "/dist-packages/", f"{Path(dis.__file__).parent.as_posix()}/")

F = TypeVar("F", bound=Callable[..., Any])
_for_kernels: set[CodeType] = set()


def acts_for_the_kernel(function: F) -> F:
    """Mark a function of ours that executes the kernel's own Python.

    Examples are `range(...)`, `min(...)` or the call of a helper: their errors are the kernel's.
    """
    _register(function.__code__)
    return function


def _register(code: CodeType) -> None:
    _for_kernels.add(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _register(constant)


def is_our_fault(error: BaseException, known: bool) -> bool:
    """Whether the error says nothing about the kernel that it came from.

    known: whether the table of messages has a row for it. Triton's interpreter raises the same
    errors for the kernel's mistakes as for what it lacks; only the table distinguishes them.
    """
    chain = _root_first(error)
    if any(isinstance(step, NotInterpreted) for step in chain):
        return True
    for step in chain:
        if isinstance(step, (MemoryError, RecursionError)):
            return False
        if step.__traceback__ is not None:
            return _arose_with_us(step, known)
    return False


def _root_first(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and len(chain) < 16:
        chain.append(step)
        step = step.__cause__
    return chain[::-1]


def _arose_with_us(error: BaseException, known: bool) -> bool:
    """Decide by the innermost frame, ignoring library frames below the engine or the kernel."""
    for frame, at in _innermost_first(error.__traceback__):
        code = frame.f_code
        name = code.co_filename.replace("\\", "/")
        if code in _for_kernels:
            return False
        if name.startswith(ENGINE):
            return not _raised_on_purpose(error, code, at)
        if name.endswith(TRITONS_INTERPRETER):
            on_purpose = _raised_on_purpose(error, code, at) or isinstance(error, AssertionError)
            return isinstance(error, NotImplementedError) or not (known and on_purpose)
        if TRITONS_LANGUAGE in name:
            return _lacks_an_operation(error)
        if not any(part in name for part in _LIBRARIES):
            return False
    return False


def _innermost_first(step: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    frames = []
    while step is not None:
        frames.append((step.tb_frame, step.tb_lasti))
        step = step.tb_next
    return reversed(frames)


def _raised_on_purpose(error: BaseException, code: CodeType, at: int) -> bool:
    """Whether a `raise` statement raised it; a failed `assert` of ours is our own fault."""
    raising = dis.opname[code.co_code[at]] in ("RAISE_VARARGS", "RERAISE")
    return raising and not isinstance(error, AssertionError)


def _lacks_an_operation(error: BaseException) -> bool:
    """Whether `tl` used an operation or argument that the builder or code generator lacks."""
    if isinstance(error, TypeError):
        return bool(_OUR_CALL.match(str(error)))
    if not isinstance(error, AttributeError):
        return False
    if error.obj is None:
        return error.name in _GENERATOR_CALLS
    return type(error.obj).__module__.startswith(_INTERPRETERS)


def describe(error: BaseException) -> str:
    """One sentence for the report of a fault of ours."""
    chain = _root_first(error)
    for step in chain:
        if isinstance(step, NotInterpreted):
            return f"{step}."
    said = f"{type(chain[0]).__name__}: {chain[0]}".rstrip(": ")
    version = getattr(sys.modules.get("triton"), "__version__", "")
    with_triton = f" with triton {version}" if version else ""
    return (
        f"The interpreter{with_triton} cannot run this kernel and stopped with {said}. "
        "That says nothing about the kernel: a GPU may compute it."
    )
