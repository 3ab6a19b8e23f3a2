"""What a contract says of the compiled kernels: their PTX is read, for every launch that counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from graders.judge.capture.gate import FILENAME
from graders.judge.compiling.compiled import BrokenPromise, CompiledLaunch, CompilerPromise
from graders.judge.compiling.gate import (
    LoweredKernel,
    asked,
    assembly_of,
    claimed,
    is_empty,
    items_of,
    specialising,
)
from graders.judge.compiling.process import CompileWorker
from graders.judge.plan.steps import (
    CasePlan,
    Kernel,
    Launch,
    Step,
    TensorRef,
    Tune,
    kernel_to_json,
    launches_of,
    tensors_in,
)
from graders.judge.records import Case, Exercise
from graders.judge.report import Finding
from graders.judge.running.jobs import PlannedJobs
from triton_util.explain.assembler import AssemblerError
from triton_util.explain.loads import Load, loads_of, threads_of

LAUNCHES_LIMIT = 200  # that are asked for; those that specialise alike are compiled once
COMPILED_LIMIT = 48  # what an honest child sends: EVERY_LIMIT specialisations, two targets
NUMBERS_LIMIT = 10_000  # launches that a child may count up


@dataclass(frozen=True)
class Alternatives:
    """What one step of a launcher runs: a launch, or one of several that a tuner chooses among."""

    case: Case
    plan: CasePlan
    launches: tuple[Launch, ...]


Made = dict[tuple[int, int], LoweredKernel]  # by the number of a launch, and target


def broken_in_ptx(planned: PlannedJobs, exercise: Exercise, worker: CompileWorker) -> list[Finding]:
    """The finding for the first promise about compiled kernels that is broken.

    Where something is not known no promise is broken: a kernel that was not compiled, a load of
    which nobody knows what it reads.
    """
    if not exercise.compiler_promises:
        return []
    choices = list(_choices(planned, exercise))
    made = _compiled(planned, choices, worker)
    known = _known(planned, choices, made, worker)
    for promise in exercise.compiler_promises:
        for case, alternatives in known:
            if not promise.where(*case.args):
                continue
            found = [promise.broken(launch) for launch in alternatives]
            if found and all(found) and found[0] is not None:
                return [_finding(promise, case, alternatives[0], found[0])]
    return []


def _finding(
    promise: CompilerPromise, case: Case, launch: CompiledLaunch, broken: BrokenPromise
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
    """What is launched in the public cases of which some promise speaks."""
    for case, plan in zip(exercise.cases, planned.plan.cases, strict=False):
        if any(promise.where(*case.args) for promise in exercise.compiler_promises):
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
    """The launches as PTX, by their number in the order of the choices."""
    raws = [
        {**specialising(launch, len(choice.launches) > 1), "line": launch.line}
        for choice in choices
        for launch in choice.launches
    ][:LAUNCHES_LIMIT]
    request = {
        "task": "compile",
        "every": True,
        "source": planned.source,
        "filename": FILENAME,
        "kernels": [kernel_to_json(kernel) for kernel in planned.plan.kernels],
        "launches": raws,
    }
    key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    known = worker.remembered(key)
    if isinstance(known, dict):
        return known
    answer = asked(request, worker)
    made: Made = {}
    for item in items_of(answer.report or {}, "compiled", COMPILED_LIMIT):
        compiled, numbers = claimed(item), item.get("of")
        if compiled is None or not isinstance(numbers, list):
            continue
        for number in numbers[:NUMBERS_LIMIT]:
            if type(number) is int:
                made[number, compiled.target] = compiled
    worker.remember(key, made)
    return made


def _known(
    planned: PlannedJobs, choices: Sequence[Alternatives], made: Made, worker: CompileWorker
) -> list[tuple[Case, list[CompiledLaunch]]]:
    """For each choice and target what it chooses among, where all of that is known."""
    found = []
    number = 0
    targets = sorted({target for _, target in made})
    for choice in choices:
        numbers = range(number, number + len(choice.launches))
        number = numbers.stop
        for target in targets:
            whole = [item for n in numbers if (item := made.get((n, target))) is not None]
            if len(whole) == len(numbers):
                pairs = zip(choice.launches, whole, strict=True)
                alternatives = [_read(planned, choice, *pair, worker) for pair in pairs]
                found.append((choice.case, alternatives))
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
        elif (place := places[load.source]) is not None:  # else memory of the launcher's own
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
        return 0  # the gate *compile* tells it
    return made.spill_store_bytes + made.spill_load_bytes


def _places(plan: CasePlan, kernel: Kernel, launch: Launch) -> list[int | None]:
    """For each pointer that a kernel is given, in order, which argument of the launcher it is.

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
