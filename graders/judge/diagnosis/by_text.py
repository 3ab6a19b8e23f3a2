"""Replace a symptom by the cause that the text shows, and report each mistake once.

The text alone never refuses a submission. It explains cases that have failed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from graders.judge.diagnosis.ast_patterns import loops_of
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.source_hints import SUSPECTS, Suspect
from graders.judge.report import Finding

NEVER_REPLACED = frozenset({"kernel-error", "raised", "wrong-return", "inputs-changed", "exited"})
NO_LOOP = FindingText(
    "The kernel does not finish in time",
    "The kernel has no loop, so there are very many programs. Each program has a cost of its own, "
    "and one that works on a few elements does hardly anything else.",
    "Let each program work on a block of 1024 elements or so, and launch as many programs as there "
    "are blocks.",
)
LOOP_OUTSIDE = FindingText(
    "The launcher does not finish in time",
    "The kernel has no loop, but there is a `while` outside of it. The judge stopped the "
    "submission at the time limit.",
    "Does the condition of this `while` ever become false? A launch needs no loop: the grid sets "
    "the number of programs.",
)


def deduplicate(findings: Sequence[Finding], source: str) -> list[Finding]:
    """Drop repeated findings, and replace a symptom by its cause if the text shows the cause.

    The compiler repeats an error for each dtype, and the interpreter stops there too, so only the
    compiler's first finding is kept.
    """
    refused = [found for found in findings if found.code == "compile-error"]
    kept = [f for f in findings if not refused or f.code not in ("compile-error", "kernel-error")]
    kept = refused[:1] + kept
    ran = [found for found in kept if found.gate == "interpret"]
    if not ran:
        return kept
    cause = _cause(ran[0], source)
    return kept if cause is None else [f for f in kept if f.gate != "interpret"] + [cause]


def _cause(symptom: Finding, source: str) -> Finding | None:
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    kernels = [function for function in functions if _is_kernel(function)]
    for suspect in SUSPECTS:
        known = suspect.explains
        if symptom.code in NEVER_REPLACED or (known is not None and symptom.code not in known):
            continue
        for function in functions if suspect.in_launcher else kernels:
            for node in suspect.find(function):
                return _told(suspect, symptom, getattr(node, "lineno", None))
    return _endless(symptom, functions, kernels) if symptom.code == "timeout" else None


def _endless(
    symptom: Finding, functions: Sequence[ast.FunctionDef], kernels: Sequence[ast.FunctionDef]
) -> Finding | None:
    """The finding with the loop of an endless program, or a statement that it has no loop."""
    loops = [loop for kernel in kernels for loop in loops_of(kernel)]
    if loops or not kernels:
        return replace(symptom, line=symptom.line or loops[0].lineno) if len(loops) == 1 else None
    outside = [loop for function in functions for loop in loops_of(function)]
    endless = next((loop for loop in outside if isinstance(loop, ast.While)), None)
    text = NO_LOOP if endless is None else LOOP_OUTSIDE
    return replace(
        symptom,
        title=text.title,
        message=f"{text.message}\n\n{_seen(symptom)}",
        next_step=text.next_step,
        line=symptom.line if endless is None else endless.lineno,
    )


def _told(suspect: Suspect, symptom: Finding, line: int | None) -> Finding:
    text = suspect.text
    return replace(
        symptom,
        code=suspect.code,
        title=text.title,
        message=f"{text.message}\n\n{_seen(symptom)}",
        next_step=text.next_step,
        line=line,
    )


def _seen(symptom: Finding) -> str:
    """The part of a finding that describes the case in which it was seen."""
    return symptom.message.rpartition("\n\n")[2]


def _is_kernel(node: ast.FunctionDef) -> bool:
    marks = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(mark).split(".")[-1] == "jit" for mark in marks)
