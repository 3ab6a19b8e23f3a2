"""The model solution beside a correct submission: its kernels, and what differs, in sentences.

Nothing here affects a verdict. A sentence states only what both syntax trees and launch plans show.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

from graders.judge.gates.protocol import Context
from graders.judge.launch_trace.data_flow import launched_kernels
from graders.judge.pipeline import Judge
from graders.judge.plan.steps import CasePlan, Kernel, Launch, Tune
from graders.judge.records import Exercise
from graders.judge.submission.loading import Submission, from_text
from triton_util.model_solutions import model_solutions

MOST_LINES = 3
MOST_NAMES = 3  # of operations in one sentence
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
# They say little about a method, or have a sentence of their own.
_PLAIN = frozenset({"load", "store", "program_id", "arange", "cdiv", "to", "range"})
SAME = "Your code has as many launches, programs, loops, loads, stores and masks as the model."


@dataclass(frozen=True)
class Compared:
    """What is compared. The text of all kernels that are launched, and the launches of one case.

    `programs` is None and `constants` empty if a tuner chooses them; `configs` is then how many it
    has, else 1. `dtypes` is None if a dtype has a name of its own: the text does not show casts.
    """

    launches: int
    programs: int | None
    configs: int
    constants: Mapping[str, int]
    loops: int
    loads: int
    stores: int
    masked: int
    operations: frozenset[str]
    dtypes: frozenset[str] | None


def beside(judge: Judge, submission: Submission, exercise: Exercise) -> dict[str, Any] | None:
    """The model's source and what differs; None if an instructor has removed the model solutions.

    The submission must have passed.
    """
    source = model_solutions().get(exercise.name)
    if source is None:
        return None
    told = {"source": kernels_of(source), "differs": []}
    if exercise.function is None:
        told["differs"] = list(differences(judge, submission, exercise, source))
    return told


def kernels_of(source: str) -> str:
    """The functions of a model solution that a learner writes, without the stub's plan."""
    lines = source.split("\n")
    parts = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        body = _without_plan(lines[first - 1 : _end(lines, node.end_lineno or node.lineno)])
        if body:
            parts.append("\n".join(body))
    return "\n\n\n".join(parts)


def _end(lines: list[str], last: int) -> int:
    """The number of the last line of a function: its END is a comment, so no part of the tree."""
    following = lines[last] if last < len(lines) else ""
    return last + 1 if following.strip() == END else last


def _without_plan(lines: list[str]) -> list[str]:
    """The lines of a function without marks and the comments before BEGIN; [] if it has none."""
    kept: list[str] = []
    seen = False
    for line in lines:
        if line.strip() == BEGIN:
            seen = True
            while kept and kept[-1].lstrip().startswith("#"):
                kept.pop()
        elif line.strip() != END:
            kept.append(line)
    return kept if seen else []


def differences(
    judge: Judge, submission: Submission, exercise: Exercise, source: str
) -> tuple[str, ...]:
    """At most three sentences on what differs; the most telling come first."""
    own = Context(submission, exercise, judge.runtime)
    model = Context(from_text(source, exercise, "<model>"), exercise, judge.runtime)
    for item in sorted(judge.runtime.cases(exercise), key=lambda item: -item.size):
        pair = own.captured.case(item.number), model.captured.case(item.number)
        if pair[0] is not None and pair[1] is not None:
            case = item.case.name
            ours, theirs = compared(own, pair[0]), compared(model, pair[1])
            found = tuple(islice(_told(ours, theirs, case), MOST_LINES))
            return found or ((SAME,) if ours == theirs else ())
    return ()


def compared(context: Context, case: CasePlan) -> Compared:
    """What the plan of a submission shows, in a public case and in its kernels."""
    plan = context.captured.plan
    public = plan.cases[: len(context.exercise.cases)]
    kernels = [plan.kernels[number] for number in sorted(launched_kernels(plan, public))]
    calls = [found for kernel in kernels for found in _calls(kernel)]
    counts = Counter(name for name, _ in calls)
    parts = [part for kernel in kernels for part in _parts(kernel)]
    steps = [step for step in case.steps if isinstance(step, Launch | Tune)]
    untuned = [step for step in steps if isinstance(step, Launch)]
    sizes = [_programs(step) for step in untuned]
    return Compared(
        launches=len(steps),
        programs=sum(sizes) if len(untuned) == len(steps) and all(sizes) else None,
        configs=max((step.configs for step in steps if isinstance(step, Tune)), default=1),
        constants=_constants(plan.kernels, untuned) if len(steps) == 1 else {},
        loops=sum(isinstance(part, ast.For | ast.While) for part in parts),
        loads=counts["load"],
        stores=counts["store"],
        masked=sum(name == "load" and _has_mask(call) for name, call in calls),
        operations=frozenset(counts) - _PLAIN,
        dtypes=_dtypes(kernels, parts),
    )


def _parts(kernel: Kernel) -> Iterator[ast.AST]:
    return iter(()) if kernel.code is None else ast.walk(kernel.code.known_tree)


def _calls(kernel: Kernel) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of functions of modules and of methods of blocks, with Triton's names."""
    for part in _parts(kernel):
        if not isinstance(part, ast.Call):
            continue
        if isinstance(part.func, ast.Attribute):
            yield part.func.attr, part
        elif isinstance(part.func, ast.Name):
            value = kernel.names.get(part.func.id)
            if isinstance(value, Mapping) and "library" in value:
                yield value["library"][1], part


def _has_mask(load: ast.Call) -> bool:
    named = {word.arg: word.value for word in load.keywords}
    mask = named.get("mask", load.args[1] if len(load.args) > 1 else None)
    return mask is not None and not (isinstance(mask, ast.Constant) and mask.value is None)


def _dtypes(kernels: list[Kernel], parts: list[ast.AST]) -> frozenset[str] | None:
    values = [value for kernel in kernels for value in kernel.names.values()]
    if any(isinstance(value, Mapping) and "dtype" in value for value in values):
        return None
    names = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return frozenset(names & {"float32", "int64"})


def _programs(launch: Launch) -> int:
    """How many programs a launch has; 0 if that is unknown."""
    sizes = launch.grid if isinstance(launch.grid, tuple | list) else [launch.grid]
    return prod(sizes) if all(isinstance(size, int) for size in sizes) else 0


def _constants(kernels: tuple[Kernel, ...], launches: list[Launch]) -> dict[str, int]:
    """The whole numbers that a single launch gives to its kernel's constants, by name."""
    if len(launches) != 1:
        return {}
    launch = launches[0]
    parameters = kernels[launch.kernel].parameters
    given = dict(zip((item.name for item in parameters), launch.positional, strict=False))
    given |= launch.named
    constants = {item.name for item in parameters if item.annotation == "constexpr"}
    return {
        name: value
        for name, value in given.items()
        if name in constants and isinstance(value, int) and not isinstance(value, bool)
    }


# ---------------------------------------------------------------- sentences


def _told(own: Compared, model: Compared, case: str) -> Iterator[str]:
    if own.launches != model.launches:
        ours, theirs = _count(own.launches, "kernel"), _count(model.launches, "kernel")
        yield f"In the case `{case}` your code launches {ours}, and the model {theirs}."
    yield from _told_operations(own.operations, model.operations)
    yield from _told_counts(own, model)
    yield from _told_programs(own, model, case)
    if own.configs != model.configs:
        ours = _count(own.configs, "configuration")
        yield f"Your code gives Triton {ours} to choose from, and the model {model.configs}."
    yield from _told_dtypes(own.dtypes, model.dtypes)


def _told_operations(own: frozenset[str], model: frozenset[str]) -> Iterator[str]:
    ours, theirs = _names(own - model), _names(model - own)
    if theirs and ours:
        yield f"The model uses {theirs}, and you do not; you use {ours}, and the model does not."
    elif theirs:
        yield f"The model uses {theirs}, and you do not."
    elif ours:
        yield f"You use {ours}, and the model does not."


def _names(names: frozenset[str]) -> str:
    """`a`, `b` and `c`; a longer list ends in words that say so."""
    listed = [f"`{name}`" for name in sorted(names)]
    if len(listed) > MOST_NAMES:
        listed = [*listed[: MOST_NAMES - 1], f"{len(listed) - MOST_NAMES + 1} others"]
    *head, last = listed or [""]
    return f"{', '.join(head)} and {last}" if head else last


def _told_counts(own: Compared, model: Compared) -> Iterator[str]:
    if own.loops != model.loops:
        ours = _count(own.loops, "loop")
        yield f"Your kernel code has {ours}, and the model's has {model.loops or 'none'}."
    if own.loads != model.loads:
        ours = _count(own.loads, "load")
        yield f"Your kernel code has {ours}, and the model's has {model.loads}."
    elif own.masked != model.masked:
        ours, theirs = f"{own.masked} of your {own.loads}", f"{model.masked} of {model.loads}"
        yield f"You give a mask to {ours} loads, and the model to {theirs}."
    if own.stores != model.stores:
        ours = _count(own.stores, "store")
        yield f"Your kernel code has {ours}, and the model's has {model.stores}."


def _told_programs(own: Compared, model: Compared, case: str) -> Iterator[str]:
    shared = own.constants.keys() & model.constants.keys()
    differ = sorted(name for name in shared if own.constants[name] != model.constants[name])
    ours, theirs = (_with(item.constants, differ) for item in (own, model))
    if own.programs is not None and model.programs is not None and own.programs != model.programs:
        yield (
            f"In the case `{case}` you launch {_count(own.programs, 'program')}{ours}, "
            f"and the model {model.programs:,}{theirs}."
        )
    elif differ:
        yield f"In the case `{case}` you launch{ours}, and the model{theirs}."


def _with(constants: Mapping[str, int], names: list[str]) -> str:
    told = " and ".join(f"`{name}={constants[name]}`" for name in names)
    return f" with {told}" if told else ""


def _told_dtypes(own: frozenset[str] | None, model: frozenset[str] | None) -> Iterator[str]:
    reasons = {
        "int64": "an offset in 64 bits is also correct above 2³¹ elements",
        "float32": "sums and products of 16-bit numbers are then rounded less often",
    }
    for dtype, reason in reasons.items():
        if own is None or model is None or (dtype in own) == (dtype in model):
            continue
        if dtype in model:
            yield f"The model names `tl.{dtype}`, and you do not: {reason}."
        else:
            yield f"You name `tl.{dtype}`, and the model does not."


def _count(number: int, noun: str) -> str:
    if not number:
        return f"no {noun}"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
