"""Causes that the text of a submission shows.

The text alone never refuses a submission. It explains cases that have failed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from graders.judge.diagnosis import generic
from graders.judge.diagnosis.ast_patterns import loops_of, masked_like_a_store
from graders.judge.diagnosis.failures import Failure, SeenCase
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.ranking import Hypothesis, Sign
from graders.judge.diagnosis.source_hints import SUSPECTS, Suspect
from graders.judge.records import Fault

MOSTLY = 0.8  # of the faults
LEAST_BLOCK = 8  # elements: a size that it does not divide is not a multiple of any usual block
NO_LOOP = FindingText(
    "The kernel does not finish in time",
    "The kernel has no loop. Either the grid has very many programs, each with a few elements, or "
    "the launcher computes for long before it launches the kernel.",
    "Let each program work on a block of about 1024 elements, with one program for each block. In "
    "the launcher, compute nothing but sizes and the grid.",
)
LOOP_OUTSIDE = FindingText(
    "The launcher does not finish in time",
    "The kernel has no loop, but there is a `while` outside of it. The judge stopped the "
    "submission at the time limit.",
    "Does the condition of this `while` ever become false? A launch needs no loop: the grid sets "
    "the number of programs.",
)


def suspects(
    failures: Sequence[Failure], source: str, computed: Collection[int] = ()
) -> list[Hypothesis]:
    """The causes that the text shows, each with the failing cases that look like its effect.

    It says nothing of `computed` cases, which are what a named mistake computes.
    """
    ran = [
        (number, failure)
        for number, failure in enumerate(failures)
        if number not in computed and (failure.wrong is not None or access_fault(failure))
    ]
    shown = []
    for suspect in SUSPECTS:
        line = _line(suspect, source)
        fitting = frozenset(number for number, failure in ran if suspect.fits(failure))
        if fitting and line is not None:
            cause = Hypothesis(suspect.code, suspect.text, fitting, Sign.TEXT, line=line)
            shown.append(cause)
    return shown


def _line(suspect: Suspect, source: str) -> int | None:
    """The line of the first place that shows the cause; None if there is none."""
    functions = _functions(source)
    for function in functions if suspect.in_launcher else filter(_is_kernel, functions):
        for node in suspect.find(function):
            return getattr(node, "lineno", None)
    return None


def outside(
    failures: Sequence[Failure], cases: Sequence[SeenCase], source: str
) -> list[Hypothesis]:
    """Causes of accesses outside a tensor for which no mask is missing.

    All lanes of a block are outside: with one program per block, some lanes of a block at the end
    are inside. (Programs that run together are counted together, so a few such faults may look
    like parts of a block.) Or the load has the mask of a store that is correct although no size
    fits a block.
    """
    faults = {n: f for n, failure in enumerate(failures) if (f := access_fault(failure))}
    places = [fault.outside for fault in faults.values()]
    whole = sum(bool(seen and 1 < seen.active == seen.lanes) for seen in places)
    shapes = [case.expectation.values.shape for case in cases if not case.failed]
    ragged = any(shape and all(size % LEAST_BLOCK for size in shape) for shape in shapes)
    line = next((fault.line for fault in faults.values()), None)
    shown = {
        "block-outside": bool(whole) and whole >= MOSTLY * len(places),
        "address-outside": ragged and masked_like_a_store(source, line),
    }
    numbers = frozenset(faults)
    return [
        Hypothesis(code, generic.FAULTS[code], numbers, sign=Sign.PLACES, places=True)
        for code, seen in shown.items()
        if seen
    ]


def access_fault(failure: Failure) -> Fault | None:
    """The first access outside a tensor, or in the gaps of a view."""
    faults = failure.evidence.faults
    return next((fault for fault in faults if fault.code.startswith(("out-of-", "gap-"))), None)


def endless(source: str) -> tuple[FindingText, int | None]:
    """The text about a kernel that does not finish, and the line of its only loop."""
    text, functions = generic.OUTCOMES["timeout"], _functions(source)
    kernels = [function for function in functions if _is_kernel(function)]
    loops = [loop for kernel in kernels for loop in loops_of(kernel)]
    if loops or not kernels:
        return text, loops[0].lineno if len(loops) == 1 else None
    outside = [loop for function in functions for loop in loops_of(function)]
    line = next((loop.lineno for loop in outside if isinstance(loop, ast.While)), None)
    return (NO_LOOP, None) if line is None else (LOOP_OUTSIDE, line)


def _functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def _is_kernel(node: ast.FunctionDef) -> bool:
    marks = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(mark).split(".")[-1] == "jit" for mark in marks)
