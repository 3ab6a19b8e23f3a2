"""How many bits of information Python passes to the kernels in one call.

A launcher may compute numbers and pass them on: sizes, strides, block sizes, a scale. With enough
numbers it can pass the result itself: the mask of a dropout or the order of tiles follows from
scalars and shapes, and Python can compute those. It does not matter where such numbers are, in an
argument, a constant around the kernel, a table, fills, grids or many launches. So the judge counts
all of them in one way: how many bits would it take to describe the call to a reader who has the
case and the source of the submission?
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graders.judge.cases import tensors
from graders.judge.launch_trace.data_flow import launched_kernels
from graders.judge.launch_trace.findings import capture_finding
from graders.judge.plan.memory import making
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    Fill,
    Kernel,
    Launch,
    LaunchPlan,
    Step,
    Tune,
    all_steps,
    launches_of,
)
from graders.judge.records import Plain, TensorSpec
from triton_util.report import Finding

# The 466 correct kernels in tests and solutions need less than half of these limits.
FOR_A_CALL = 1024
FOR_A_NUMBER = 64  # for each size, stride and scalar of the case
FOR_A_MATRIX = 32  # in a stack of matrices: a table may say where each of them begins
FOR_A_TRIAL, MOST_TRIALS = 24, 64  # of an autotuner
MOST_LAUNCHES = 16  # above: the finding names a loop over pieces; otherwise a table

_TAG = 2  # bits that say which kind of number follows
_LENGTH = 6  # bits that say how long an integer is
_FLOAT = 64
_STEP = 4  # bits that say which kind of step follows
_THING = 6  # bits for a kernel, a dtype or a function of the library
_NUMBER = re.compile(r"\b\d[\w.]*(?:(?<=[eE])[+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?")
_THINGS = frozenset({"library", "kernel", "dtype", "unknown", "module"})


def allowed_bits(args: Sequence[Plain], steps: Sequence[Step]) -> int:
    """The most bits that a call may pass on, for a case with these arguments."""
    numbers = matrices = 0
    for arg in args:
        shape = arg.shape if isinstance(arg, TensorSpec) else ()
        numbers += 2 * len(shape) or 1
        matrices += math.prod(shape[:-2]) if len(shape) > 2 else 0
    trials = sum(len(step.trials) for step in all_steps(steps) if isinstance(step, Tune))
    allowed = FOR_A_CALL + FOR_A_NUMBER * numbers + FOR_A_MATRIX * matrices
    return allowed + FOR_A_TRIAL * min(trials, MOST_TRIALS)


def of_numbers(
    plan: LaunchPlan, case: CasePlan, args: Sequence[Plain], literal: frozenset[float]
) -> Iterator[Finding]:
    """The finding if a call passes on more bits than it may.

    `args`: those of the case's record; `literal`: the numbers in the source.
    """
    steps = [*making(plan, case), *case.steps]
    allowed = allowed_bits(args, steps)
    kernels = [plan.kernels[number] for number in sorted(launched_kernels(plan, [case]))]
    if bits_handed_over(args, literal, kernels, steps, allowed) <= allowed:
        return
    line = next((launch.line for launch in launches_of(case.steps)), None)
    fills = sum(isinstance(step, Fill) for step in all_steps(steps))
    if max(fills, sum(1 for _ in launches_of(case.steps))) > MOST_LAUNCHES:
        yield capture_finding("python-walks", "", line)
    else:
        yield capture_finding("python-computes", "many numbers", line)


def bits_handed_over(
    args: Sequence[Plain],
    literal: frozenset[float],
    kernels: Iterable[Kernel],
    steps: Sequence[Step],
    most: int,
) -> int:
    """The bits that a call with these arguments passes to its kernels, counted to about `most`.

    `literal`: the numbers in the source; `kernels`: those that the call launches; `steps`: the
    steps of the call, after the steps that made memory which it takes over from the module or from
    an earlier call.
    """
    counter = _Counter(literal.union(_numbers_of(args)), most)
    for kernel in kernels:
        given = [[{"dtype": p.annotation}, p.default, p.has_default] for p in kernel.parameters]
        counter.step("kernel", [*kernel.names.values(), given])
    counter.steps(steps)
    return counter.bits


def literals(source: str) -> frozenset[float]:
    """The numbers in a source text. They cannot depend on the case."""
    return frozenset(_literals(source))


def _literals(source: str) -> Iterator[float]:
    for match in _NUMBER.finditer(source):
        text = match[0].replace("_", "")
        for read in (_integer, float):
            try:
                yield read(text)
                break
            except ValueError:
                continue


def _integer(text: str) -> int:
    return int(text, 0)


def _numbers_of(args: Sequence[Plain]) -> Iterator[float]:
    """Yield the numbers that a launcher can read from the arguments of a case."""
    for arg in args:
        if isinstance(arg, TensorSpec):
            strides, offset, _ = tensors.layout(arg)
            yield from (*arg.shape, *strides, offset, math.prod(arg.shape))
        elif isinstance(arg, int | float):
            yield arg


class _Counter:
    """Counts the bits that it takes to describe steps, one after another.

    A number that was written before, or that the reader has anyway, costs only its index in the
    list of such numbers. A step costs only what changes since the last step of its kind.
    """

    def __init__(self, known: Iterable[float], most: int) -> None:
        self.bits, self.most = 0, most
        self._known = set(known)
        self._storages: set[int] = set()
        self._kernels: set[int] = set()
        self._launched = -1
        self._last: dict[Any, dict[Any, Any]] = {}
        self._change: dict[Any, dict[Any, Any]] = {}  # from the last step but one to the last

    def steps(self, steps: Sequence[Step]) -> None:
        """Count steps; for a tuner everything that it tries."""
        for step in steps:
            if isinstance(step, Launch):
                named = [({"library": name}, value) for name, value in step.named.items()]
                given = [step.grid, *step.positional, *named]
                self.step((step.kernel, len(given)), given)
                self.bits += self._choice(step.kernel)
            elif isinstance(step, Fill):
                self.step("fill", [step.target.to_json(), step.value])
            elif isinstance(step, Copy):
                self.step("copy", [step.target.to_json(), step.source.to_json()])
            elif isinstance(step, Constant):
                self.step(step.storage, list(step.values))
            elif isinstance(step, Allocate):
                self.step("allocate", [step.count])
            elif isinstance(step, Tune):
                for trial in step.trials:
                    self.steps([*trial.before, *trial.launch, *trial.after, *trial.chosen])
                self.steps(step.finish)

    def step(self, kind: Any, value: Any) -> None:
        """Count one step with the arguments `value`, unless there are too many bits already."""
        if self.bits > self.most:
            return
        now: dict[tuple[Any, ...], Any] = {}
        _leaves(value, (), now, self.most)
        last, change = self._last.get(kind, {}), self._change.get(kind, {})
        self.bits += _STEP
        new = {path: leaf for path, leaf in now.items() if not _same(last.get(path, _NONE), leaf)}
        if new and not all(_advances(last, change, path, leaf) for path, leaf in now.items()):
            place = len(now).bit_length() if last else 0
            self.bits += sum(place + self._leaf(path, leaf) for path, leaf in new.items())
        self._last[kind] = now
        if new:
            self._change[kind] = {path: _difference(last, path, leaf) for path, leaf in now.items()}

    def _choice(self, kernel: int) -> int:
        """The bits that say which kernel is launched, 0 if it is the same as before."""
        self._kernels.add(kernel)
        same, self._launched = kernel == self._launched, kernel
        return 0 if same else len(self._kernels).bit_length()

    def _leaf(self, path: tuple[Any, ...], leaf: Any) -> int:
        if path[-1] == "storage":
            self._storages.add(leaf)
            return len(self._storages).bit_length()
        if path[-1] in _THINGS:
            return _THING
        if leaf is None or isinstance(leaf, bool):
            return 1
        if isinstance(leaf, str):
            return _LENGTH + 8 * len(leaf)
        if leaf in self._known:
            return _TAG + len(self._known).bit_length()
        self._known.add(leaf)
        if isinstance(leaf, float):
            return _TAG + _FLOAT
        power = leaf > 0 and leaf & (leaf - 1) == 0
        return _TAG + _LENGTH + (0 if power else 1 + leaf.bit_length())


_NONE = object()  # differs from every leaf


def _leaves(
    value: Any, path: tuple[Any, ...], found: dict[tuple[Any, ...], Any], most: int
) -> None:
    """Put the numbers, texts and things in a value into `found`, each by its place.

    It stops after `most` of them: they are too many already.
    """
    if isinstance(value, list | tuple):
        for place, item in enumerate(value):
            if len(found) > most:
                return
            _leaves(item, (*path, place), found, most)
        return
    if not isinstance(value, dict):
        found[path] = value
        return
    ((kind, inner),) = value.items()
    if kind == "tensor":
        storage, dtype, *layout = inner
        found[(*path, "storage")] = storage
        found[(*path, "dtype")] = dtype
        _leaves(layout, path, found, most)
    elif kind in _THINGS:
        found[(*path, kind)] = str(inner)
    else:
        _leaves(list(inner.values()) if kind == "numbers" else inner, path, found, most)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _difference(last: Mapping[Any, Any], path: Any, leaf: Any) -> Any:
    before = last.get(path)
    return leaf - before if type(leaf) is int and type(before) is int else None


def _advances(last: Mapping[Any, Any], change: Mapping[Any, Any], path: Any, leaf: Any) -> bool:
    """Whether a number changes by as much as in the previous step, as in a loop of launches."""
    if change.get(path) is not None:
        return bool(_difference(last, path, leaf) == change[path])
    return path in change and _same(last.get(path, _NONE), leaf)
