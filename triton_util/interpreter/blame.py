"""Whose mistake is an exception: the kernel's, or ours?

A kernel runs as Python inside the engine, so its errors and ours come the same way.  What tells
them apart is where the error arose.  The engine's own `raise` statements speak about the kernel;
anything else that breaks inside the engine (an operation that the builder lacks, a call that a new
version of triton makes differently, a bug) says nothing about the kernel and must cost nobody a
point.  Needs no triton, so that a process that compiles can ask as well.
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
# What `tl` asks of the compiler's code generator, which no interpreter has.
_GENERATOR_CALLS = ("call_JitFunction", "call_Function")
# A method of ours that is called in another way than we know: the message begins with its name.
_OUR_CALL = re.compile(r"(GridBuilder|InterpreterBuilder|Block|Pointer|Batch(Reduce|Scan))\b")
_LIBRARIES = ("/site-packages/", "/dist-packages/", f"{Path(dis.__file__).parent.as_posix()}/")

F = TypeVar("F", bound=Callable[..., Any])
_for_kernels: set[CodeType] = set()


def acts_for_the_kernel(function: F) -> F:
    """Mark a function of ours in which the kernel's own Python is carried out.

    `range(...)`, `min(...)` or the call of a helper: what fails there, the kernel has asked for.
    """
    _register(function.__code__)
    return function


def _register(code: CodeType) -> None:
    _for_kernels.add(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _register(constant)


def is_our_fault(error: BaseException, known: bool) -> bool:
    """True if the error says nothing about the kernel that it came from.

    known: whether the table of messages has a row for it; triton's interpreter raises for the
    kernel's mistakes in the same way as for what it lacks, and only the table tells these apart.
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
    """Decide by the innermost frame that is no library's below the engine or the kernel."""
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
    """True for a `raise` statement; an `assert` of ours is a doubt about ourselves."""
    raising = dis.opname[code.co_code[at]] in ("RAISE_VARARGS", "RERAISE")
    return raising and not isinstance(error, AssertionError)


def _lacks_an_operation(error: BaseException) -> bool:
    """`tl` asked a builder, or the absent code generator, for what it does not have or take."""
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
