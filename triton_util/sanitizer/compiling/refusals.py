"""The compiler's refusal of a kernel as a finding: the line of the program, and what to do."""

from __future__ import annotations

import re
from typing import Any

from triton.compiler.errors import CompilationError

from triton_util.explain.launches import def_line
from triton_util.hardware import ARCHITECTURES
from triton_util.interpreter.messages.translation import translate
from triton_util.sanitizer.compiling.rebuilding import Kernels

CODE = "does-not-compile"
# What these errors mean for a kernel that runs as Python, and what to do.
_WORDS = (
    (
        r"'int' object has no attribute",
        "The compiler makes a plain Python number of an integer argument that is 1, and of a "
        "tl.constexpr; a plain number has no methods.",
        "Write tl.cast(number, tl.int64), or annotate the parameter: step: tl.int64.",
    ),
    (
        r"'tuple' object has no attribute '?(append|extend|insert|pop|remove)",
        "A list in a kernel cannot change: the compiler makes a tuple of it.",
        "Write a tuple with all its elements, add up in one variable, or store each part.",
    ),
)


def described(error: BaseException, kernels: Kernels) -> dict[str, Any]:
    """The answer for a kernel that does not compile."""
    place, words = _innermost(error, kernels)
    entry = kernels.description["functions"][kernels.description["kernel"]]
    if place is None:
        if not isinstance(error, (CompilationError, RuntimeError, ValueError, TypeError)):
            return {"ours": f"{type(error).__name__}: {error}"[:2000]}
        place = {"filename": entry["file"], "line": entry["line"], "source": ""}
    source = "".join(function["source"] for function in kernels.description["functions"])
    known = translate(error, source)
    message = known.message if known else words
    advice = known.advice if known else ""
    for pattern, *own in _WORDS:
        if re.search(pattern, words):
            message, advice = own
    target = kernels.description["target"]
    return {
        "refused": {
            "code": CODE,
            "message": f"This does not compile for sm_{target}: {message}",
            "kernel": entry["name"],
            "argument": "",
            "cause": advice,
            **place,
        }
    }


def too_much_shared(shared: int, target: int, kernels: Kernels) -> dict[str, Any] | None:
    """The answer for a kernel that compiles but needs too much shared memory to start."""
    known = ARCHITECTURES.get(target)
    if known is None or shared <= known.shared_per_program:
        return None
    entry = kernels.description["functions"][kernels.description["kernel"]]
    kernel = kernels.function(kernels.description["kernel"])
    return {
        "resources": True,
        "refused": {
            "code": CODE,
            "message": (
                f"A program needs {shared:,} bytes of shared memory; sm_{target} has "
                f"{known.shared_per_program:,}. A GPU refuses the launch."
            ),
            "kernel": entry["name"],
            "filename": entry["file"],
            "line": def_line(kernel),
            "source": "",
            "argument": "",
            "cause": "Use smaller blocks, or a smaller num_stages.",
        },
    }


def _innermost(error: BaseException, kernels: Kernels) -> tuple[dict[str, Any] | None, str]:
    """The place and the words of the deepest error that points into the program's own text."""
    own = {kernel.src: number for number, kernel in kernels.made.items()}
    place, words = None, str(error)
    step: BaseException | None = error
    while step is not None:
        if isinstance(step, CompilationError):
            number = own.get(step.src or "")
            if number is not None:
                place = _place(step, kernels, number)
            if step.error_message:
                words = step.error_message
        elif place is not None:
            words = str(step)
        step = step.__cause__
    return place, words.strip()[:600]


def _place(error: CompilationError, kernels: Kernels, number: int) -> dict[str, Any]:
    entry = kernels.description["functions"][number]
    line = def_line(kernels.made[number]) + getattr(error.node, "lineno", 1) - 1
    rows = entry["source"].split("\n")
    at = line - entry["line"]
    source = rows[at].strip() if 0 <= at < len(rows) else ""
    return {"filename": entry["file"], "line": line, "source": source}
