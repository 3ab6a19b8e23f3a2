"""The task of the compile gate's forked child: lowers the launches of a plan to PTX.

No Python of the submission runs here: kernels are made from their text (`plan.kernels`), and
exactly the specialisations that the plan launches are compiled. Each goes through Triton's front
end; a limited number is lowered to PTX. It runs in a jail. The judge does not trust its output:
it validates it, and runs ptxas itself.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError
from triton.runtime.jit import JITFunction, create_function_from_signature

from graders.judge.compiling.visits import Visits
from graders.judge.plan.gpu_compiling import Pointer
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.reader import kernels_from_json
from graders.judge.plan.specialising import meaning
from graders.judge.plan.steps import Kernel
from triton_util.explain.launches import MODULE, TARGETS, def_line
from triton_util.explain.launches import SeenLaunch as Launch
from triton_util.explain.lowering import front_end, to_ptx
from triton_util.interpreter.messages.mapping import astray
from triton_util.interpreter.messages.translation import translate

FRONT_END_LIMIT = 64  # distinct specialisations that the front end checks
KERNEL_LIMIT = 4  # kernels of one submission that are lowered to PTX
EVERY_LIMIT = 24  # specialisations that are lowered if all are requested
EVERY_SECONDS = 15.0  # of CPU time, after which no further one is begun
VISITS = Visits()
VISITS.install()


def before_jail() -> None:
    """Do nothing: the limits of the jail are enough."""


def run(request: Mapping[str, Any], write: Callable[[bytes], None]) -> bytes:
    """Return the report about one plan, as a line of JSON; `tell` sends other lines before it.

    The request's `part` "check" runs only the front end; the part "lower" only lowers, as if the
    front end had passed everything.
    """
    report: dict[str, Any] = {"launches": 0, "errors": [], "compiled": []}
    plan = kernels_from_json(request["kernels"])
    kernels = Kernels(request["source"], request["filename"], plan)
    kernels.arms = VISITS.arms
    _module.__file__ = request["filename"]
    _wanted[:] = request.get("targets", TARGETS)
    if request.get("every"):
        lower_every(kernels, plan, request["launches"], report)
        return json.dumps(report).encode()
    launches: dict[str, Launch] = {}
    meanings: dict[int, str] = {}
    for raw in request["launches"]:
        launch = _specialised(kernels, raw)
        if launch is not None:
            alike = meaning(raw, plan)
            key = f"{alike} {launch.specialization!r}"
            launches.setdefault(key, launch).count += raw["count"]
            meanings[id(launches[key])] = alike
    report["launches"] = len(launches)
    found = [(launch, meanings[id(launch)]) for launch in launches.values()]
    part = request.get("part")
    most = len(found) if request.get("all") else FRONT_END_LIMIT
    checked = part != "lower"
    sound = check_front_end(found, request["filename"], report["errors"], most, checked)
    if part != "check" and not report["errors"]:
        lower(sound, request["filename"], report)
    return json.dumps(report).encode()


_wanted: list[int] = list(TARGETS)  # compile for these
_module = types.ModuleType(MODULE)  # contains this submission's kernels by name


def _specialised(kernels: Kernels, raw: Mapping[str, Any]) -> Launch | None:
    """Return a launch as Triton would specialise it; None if its arguments do not fit the kernel.

    In that case the interpreter reports it, with the case.
    """
    kernel = kernels.get(raw["kernel"])
    setattr(_module, f"kernel_{raw['kernel']}", kernel)
    positional = [kernels.value(value, Pointer) for value in raw["positional"]]
    named = {name: kernels.value(value, Pointer) for name, value in raw["named"].items()}
    backend = make_backend(GPUTarget("cuda", TARGETS[0], 32))
    binder = create_function_from_signature(kernel.signature, kernel.params, backend)
    try:
        bound, specialization, _ = binder(*positional, **named)
    except Exception:
        return None
    return Launch(kernel, specialization, bound, named, raw["tuned"], raw["line"], count=0)


def check_front_end(
    launches: Sequence[tuple[Launch, str]],
    filename: str,
    errors: list[dict[str, Any]],
    most: int,
    checked: bool = True,
) -> list[Launch]:
    """Run the front end on each launch; return those that passed, or all if not `checked`.

    Of launches with the same meaning (the second item), only one is checked. Every kernel is
    checked once before any is checked twice, so that the limit leaves out no kernel. Frequent
    launches come first.
    """
    sound: dict[str, list[Launch]] = {}
    ordered = sorted(launches, key=lambda item: -item[0].count)
    first = {id(launch.kernel): id(launch) for launch, _ in reversed(ordered)}
    ordered.sort(key=lambda item: first[id(item[0].kernel)] != id(item[0]))
    for launch, meant in ordered:
        if meant in sound:
            sound[meant].append(launch)
            continue
        if len(sound) >= most:
            break
        arch = _wanted[-1] if launch.options.get("num_ctas", 1) > 1 else _wanted[0]
        try:
            if checked:
                VISITS.begin(partial(tell, launch, arch, meant))
                tell(launch, arch)
                front_end(launch, arch)
                tell(launch, arch, meant)
        except Exception as error:
            errors.append(describe_error(error, filename, launch))
            if len(errors) >= 3:
                break
        else:
            sound[meant] = [launch]
    return [launch for alike in sound.values() for launch in alike]


def tell(launch: Launch, arch: int, meant: str = "") -> None:
    """Send what is compiled next: without a report, it shows where compiling stopped.

    meant: the meaning of the launch; with it, the arms visited by the front end so far are sent.
    """
    at: dict[str, Any] = {"at": f"{launch.described} for sm_{arch}"[:200], "line": launch.def_line}
    if meant:
        at |= {"meaning": meant, "arms": sorted(VISITS.arms)}
    os.write(1, json.dumps(at).encode() + b"\n")


def lower(launches: Sequence[Launch], filename: str, report: dict[str, Any]) -> None:
    """Lower the representative specialisations of each kernel for each target.

    The narrowest is lowered only for the newest target: lowering takes most of the judge's time,
    and what an older target lacks shows in the front end or with the widest. For an autotuner,
    each target needs one configuration that fits.
    """
    seen: set[str] = set()
    for launch in representatives(launches):
        again = launch.name in seen and not launch.tuned
        targets = _targets(launch)[-1:] if again else _targets(launch)
        seen.add(launch.name)
        for arch in targets:
            tell(launch, arch)
            try:
                made = _lowered(launch, arch)
            except Exception as error:
                report["errors"].append(describe_error(error, filename, launch))
                return
            report["compiled"].append(made)


def lower_every(
    kernels: Kernels,
    plan: Sequence[Kernel],
    raws: Sequence[Mapping[str, Any]],
    report: dict[str, Any],
) -> None:
    """Lower each launch, equal specialisations once. `of` are the numbers of their launches.

    `left` are the numbers of launches for which there was no time. Launches that do not compile
    are in neither list: the gate *compile* has reported them.
    """
    numbers: dict[str, list[int]] = {}
    launches: dict[str, Launch] = {}
    for number, raw in enumerate(raws):
        launch = _specialised(kernels, raw)
        if launch is not None:
            key = f"{meaning(raw, plan)} {launch.specialization!r}"
            launches.setdefault(key, launch)
            numbers.setdefault(key, []).append(number)
    begun = time.process_time()
    for place, (key, launch) in enumerate(launches.items()):
        if place >= EVERY_LIMIT or time.process_time() > begun + EVERY_SECONDS:
            report.setdefault("left", []).extend(numbers[key])
            continue
        for arch in _targets(launch):
            tell(launch, arch)
            with contextlib.suppress(Exception):
                report["compiled"].append({**_lowered(launch, arch), "of": numbers[key]})


def _targets(launch: Launch) -> tuple[int, ...]:
    clusters = launch.options.get("num_ctas", 1) > 1
    return tuple(arch for arch in _wanted if arch >= 90 or not clusters)


def _lowered(launch: Launch, arch: int) -> dict[str, Any]:
    ptx, metadata = to_ptx(launch, arch)
    return {
        "kernel": launch.name,
        "line": launch.def_line,
        "target": arch,
        "ptx": ptx,
        "shared": int(metadata.get("shared") or 0),
        "fp_fusion": bool(metadata.get("enable_fp_fusion", True)),
        "tuned": launch.tuned,
    }


def representatives(launches: Sequence[Launch]) -> list[Launch]:
    """Return for each kernel the launches with the widest and the narrowest dtypes.

    For an autotuner: the widest with the largest blocks, and the narrowest with the smallest.
    """
    chosen: list[Launch] = []
    by_count = Counter(item.name for item in launches)
    for name, _ in by_count.most_common(KERNEL_LIMIT):
        own = [item for item in launches if item.name == name]
        size = _block_size if any(item.tuned for item in own) else _no_matter
        picks = [
            max(own, key=lambda item: (size(item), item.pointer_bits, item.aligned, item.count)),
            min(own, key=lambda item: (item.pointer_bits, size(item), -item.aligned, -item.count)),
        ]
        chosen += {id(item): item for item in picks}.values()
    return chosen


def _block_size(launch: Launch) -> int:
    return launch.block_size


def _no_matter(launch: Launch) -> int:
    return 0


# ---------------------------------------------------------------- errors


def describe_error(error: BaseException, filename: str, launch: Launch) -> dict[str, Any]:
    """Return an error as data, with the line of the submission that it is about."""
    inner, line = _innermost(error, launch)
    text = inner.error_message or str(inner) if isinstance(inner, CompilationError) else str(inner)
    if isinstance(inner, CompilationError) and inner.error_message is None:
        text = str(inner.__cause__ or inner)
    if line is None:
        line = _traceback_line(error, filename) or launch.line
    return {
        "kernel": launch.name,
        "line": line,
        "text": text[:4000],
        "whole": str(error)[:4000],
        "said": _translated(error),
        "astray": astray(launch.bound),
    }


def _innermost(error: BaseException, launch: Launch) -> tuple[BaseException, int | None]:
    """Return the deepest compilation error that points into the submission's own functions."""
    functions = _own_functions(launch)
    found, line = error, None
    step: BaseException | None = error
    while step is not None:
        if isinstance(step, CompilationError):
            own = functions.get(step.src or "")
            if own is not None:
                found, line = step, def_line(own) + getattr(step.node, "lineno", 1) - 1
            elif line is not None and step.error_message:
                found = step  # the library's message about the same line
        step = step.__cause__
    return found, line


def _own_functions(launch: Launch) -> dict[str, JITFunction[Any]]:
    """Return the kernel and all functions that it calls, by their text."""
    found: dict[str, JITFunction[Any]] = {}
    waiting: list[Any] = [launch.kernel]
    while waiting:
        value = waiting.pop()
        if isinstance(value, JITFunction) and value.src not in found:
            found[value.src] = value
            waiting += value.fn.__globals__.values()
    return found


def _traceback_line(error: BaseException, filename: str) -> int | None:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == filename]
    return lines[-1] if lines else None


def _translated(error: BaseException) -> list[str] | None:
    """Return message and advice of the interpreter's table; None if it has no row."""
    lines = linecache.getlines(str(_module.__file__))
    found = translate(error, "".join(lines))
    return [found.message, found.advice] if found else None
