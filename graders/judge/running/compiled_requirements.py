"""Check what a contract requires of compiled kernels, in the PTX of each launch that counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from graders.judge.compiling.compiled import BrokenPromise, CompiledLaunch, CompilerRequirement
from graders.judge.compiling.gate import (
    LoweredKernel,
    asked,
    assembly_of,
    claimed,
    is_empty,
    items_of,
)
from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import FILENAME
from graders.judge.plan.specialising import specialising
from graders.judge.plan.steps import (
    CasePlan,
    Kernel,
    Launch,
    Step,
    TensorRef,
    Tune,
    kernels_to_json,
    launches_of,
    tensors_in,
)
from graders.judge.records import Case, Exercise
from graders.judge.running.jobs import PlannedJobs
from triton_util.explain.assembler import AssemblerError
from triton_util.explain.loads import Load, loads_of, threads_of
from triton_util.report import Finding

LAUNCHES_LIMIT = 200  # sent to the compiler; launches that specialise alike are compiled once
COMPILED_LIMIT = 48  # what an honest child sends: EVERY_LIMIT specialisations, two targets
NUMBERS_LIMIT = 10_000  # launches that a child may list


@dataclass(frozen=True)
class Alternatives:
    """What one step of a launcher runs: a launch, or one of several that a tuner chooses among."""

    case: Case
    plan: CasePlan
    launches: tuple[Launch, ...]


@dataclass(frozen=True)
class Made:
    """The launches that are compiled, and those for which there was no time.

    The key of a launch is the number of its choice and its place in it; in `compiled` its target
    follows.
    """

    compiled: dict[tuple[int, int, int], LoweredKernel]
    left: frozenset[tuple[int, int]]


def broken_in_ptx(planned: PlannedJobs, exercise: Exercise, worker: CompileWorker) -> list[Finding]:
    """The finding for the first promise about compiled kernels that is broken.

    A load of unknown memory does not break a promise. If no compiled launch breaks one, but there
    was no time to compile them all, the finding says so.
    """
    if not exercise.compiler_requirements:
        return []
    choices = list(_choices(planned, exercise))
    made = _compiled(planned, choices, worker)
    known = _known(planned, choices, made, worker)
    unknown: list[Finding] = []
    for promise in exercise.compiler_requirements:
        for case, alternatives, whole in known:
            if not promise.where(*case.args):
                continue
            found = [promise.broken(launch) for launch in alternatives]
            if not all(found):
                continue
            if not whole:
                unknown = unknown or [_not_known(promise, case)]
            elif found and found[0] is not None:
                return [_finding(promise, case, alternatives[0], found[0])]
    return unknown


def _not_known(promise: CompilerRequirement, case: Case) -> Finding:
    told = (
        f"The result is right. {promise.message} The launcher launches so many different kernels "
        "that the judge had no time to compile each of them. That is worth half of the points."
    )
    return Finding(
        "traffic",
        "too-many-kernels",
        "The judge could not look at every compiled kernel",
        " ".join(told.split()),
        case=case.name,
        next_step="Launch fewer kernels with different constants and options.",
    )


def _finding(
    promise: CompilerRequirement, case: Case, launch: CompiledLaunch, broken: BrokenPromise
) -> Finding:
    place = f"In `{launch.kernel.name}`, compiled for sm_{launch.target}:"
    told = f"The result is correct. {promise.message} {place} {broken.said}"
    message = f"{' '.join(told.split())} That is worth half of the points."
    line = broken.line or launch.kernel.line
    return Finding(
        "traffic", promise.code, promise.title, message, line, case.name, promise.next_step
    )


# ---------------------------------------------------------------- which launches


def _choices(planned: PlannedJobs, exercise: Exercise) -> Iterator[Alternatives]:
    """Yield the launches of the public cases to which some promise applies."""
    for case, plan in zip(exercise.cases, planned.plan.cases, strict=False):
        if any(promise.where(*case.args) for promise in exercise.compiler_requirements):
            for step in plan.steps:
                launches = tuple(one for one in _alternatives(step) if not is_empty(one.grid))
                if launches:
                    yield Alternatives(case, plan, launches)


def _alternatives(step: Step) -> Iterator[Launch]:
    if isinstance(step, Launch):
        yield step
    elif isinstance(step, Tune):
        for trial in step.trials:
            yield from launches_of(trial.launch or trial.chosen)


# ---------------------------------------------------------------- what the compiler makes of them


def _compiled(planned: PlannedJobs, choices: Sequence[Alternatives], worker: CompileWorker) -> Made:
    """Compile the launches to PTX. The first of each choice comes before the second of any."""
    places = sorted(
        (
            (number, place)
            for number, one in enumerate(choices)
            for place in range(len(one.launches))
        ),
        key=lambda found: found[::-1],
    )
    raws = [
        {
            **specialising(choices[number].launches[place]),
            "tuned": len(choices[number].launches) > 1,
            "line": choices[number].launches[place].line,
        }
        for number, place in places[:LAUNCHES_LIMIT]
    ]
    request = {
        "task": "compile",
        "every": True,
        "source": planned.source,
        "filename": FILENAME,
        "kernels": kernels_to_json(planned.plan.kernels),
        "launches": raws,
    }
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    known = worker.remembered(key)
    if isinstance(known, Made):
        return known
    report = asked(request, worker).report
    found = {}
    for item in items_of(report or {}, "compiled", COMPILED_LIMIT):
        compiled = claimed(item)
        if compiled is not None:
            for at in _places_in(item.get("of"), places):
                found[*at, compiled.target] = compiled
    left = places if report is None else [*_places_in(report.get("left"), places)]
    made = Made(found, frozenset((*left, *places[LAUNCHES_LIMIT:])))
    worker.remember(key, made)
    return made


def _places_in(numbers: object, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The launches that a child lists by their numbers."""
    for number in numbers[:NUMBERS_LIMIT] if isinstance(numbers, list) else ():
        if type(number) is int and 0 <= number < len(places):
            yield places[number]


def _known(
    planned: PlannedJobs, choices: Sequence[Alternatives], made: Made, worker: CompileWorker
) -> list[tuple[Case, list[CompiledLaunch], bool]]:
    """For each choice and target, its alternatives, and whether all of them are known.

    Launches that do not compile are left out.
    """
    found = []
    targets = sorted({target for _, _, target in made.compiled}) or [0]
    for number, choice in enumerate(choices):
        whole = not any((number, place) in made.left for place in range(len(choice.launches)))
        for target in targets:
            alternatives = [
                _read(planned, choice, launch, item, worker)
                for place, launch in enumerate(choice.launches)
                if (item := made.compiled.get((number, place, target))) is not None
            ]
            if alternatives or not whole:
                found.append((choice.case, alternatives, whole))
    return found


def _read(
    planned: PlannedJobs,
    choice: Alternatives,
    launch: Launch,
    item: LoweredKernel,
    worker: CompileWorker,
) -> CompiledLaunch:
    """The facts about one launch, which is compiled to `item`."""
    kernel = planned.plan.kernels[launch.kernel]
    places = _places(choice.plan, kernel, launch)
    placed: list[tuple[int, Load]] = []
    unplaced: list[Load] = []
    for load in _loads(item.ptx):
        if load.source is None or load.source >= len(places):
            unplaced.append(load)
        elif (place := places[load.source]) is not None:  # otherwise memory of the launcher's own
            placed.append((place, load))
    return CompiledLaunch(
        args=choice.case.args,
        kernel=kernel,
        launch=launch,
        target=item.target,
        threads=threads_of(item.ptx),
        loads=tuple(placed),
        unplaced=tuple(unplaced),
        assembled=partial(_spills, item, worker),
    )


@lru_cache(maxsize=64)
def _loads(ptx: str) -> tuple[Load, ...]:
    return loads_of(ptx, FILENAME)


def _spills(item: LoweredKernel, worker: CompileWorker) -> int:
    try:
        made = assembly_of(item, worker)
    except AssemblerError:
        return 0  # the gate *compile* reports it
    return made.spill_store_bytes + made.spill_load_bytes


def _places(plan: CasePlan, kernel: Kernel, launch: Launch) -> list[int | None]:
    """For each pointer that a kernel gets, in order, which argument of the launcher it is.

    None for memory of the launcher's own.
    """
    places: dict[int, int] = {}
    for place, storage in enumerate(plan.inputs):
        if storage is not None:
            places.setdefault(storage, place)
    return [places.get(ref.storage) for ref in _tensors(kernel, launch)]


def _tensors(kernel: Kernel, launch: Launch) -> Iterator[TensorRef]:
    for number, parameter in enumerate(kernel.parameters):
        if parameter.annotation == "constexpr":
            continue
        if number < len(launch.positional):
            value = launch.positional[number]
        else:
            value = launch.named.get(parameter.name, parameter.default)
        yield from tensors_in(value)
