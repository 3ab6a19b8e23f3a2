"""The launch plan: what a launcher asks a GPU to do, as plain data.

A launcher runs in a process without values (`launch_trace.trace_task`), which records what it does:
memory that it allocates, fills and copies, and kernels that it launches, each with its grid, its
constants and its arguments. A process that has the values runs the plan without any Python of the
submission.

Values of arguments are JSON: numbers, texts, truth values and null stand for themselves, all else
is an object with one key that names its kind:

    {"tensor": [storage, dtype, shape, strides, offset]}   a view into a storage, in elements
    {"constexpr": value}      {"tuple": [value, …]}         {"dtype": "fp16"}
    {"fields": [[name, …], [value, …]]}   a named tuple
    {"kernel": number}        a kernel of the plan, passed as a constant
    {"library": [module, name]}   a function of the Triton language or of the course's helpers
    {"module": name}          such a module itself
    {"numbers": {name: number}}   a module of which only these numbers are used, as `math.pi`
    {"descriptor": [tensor, shape, strides, block_shape, padding]}
    {"unknown": type}         nothing that a kernel can be given
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from graders.judge.plan.code import Code

Value = Any  # one of the JSON forms above


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A view into a storage; shape, strides and offset in elements."""

    storage: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def to_json(self) -> Value:
        """The form of the view in a plan."""
        shape, strides = list(self.shape), list(self.strides)
        return {"tensor": [self.storage, self.dtype, shape, strides, self.offset]}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: `annotation` is "constexpr", a type's name or ""."""

    name: str
    annotation: str = ""
    default: Value = None
    has_default: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel of the submission: where its definition begins, and the values of its names.

    `line` is the first line of the definition, decorators included. `specialize_not` are the
    parameters on which Triton must not specialise, `align_not` those whose alignment it must
    ignore. `constant`: a function of constants, which runs while a kernel is compiled. The judge
    adds `code`; a plan as it is recorded has none.
    """

    line: int
    name: str
    names: Mapping[str, Value]
    parameters: tuple[Parameter, ...]
    specialize_not: tuple[str, ...] = ()
    align_not: tuple[str, ...] = ()
    noinline: bool = False
    constant: bool = False
    code: Code | None = None


@dataclass(frozen=True, slots=True)
class Allocate:
    """New memory of `count` elements, uninitialised."""

    storage: int
    dtype: str
    count: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """Every element of a view is set to one number."""

    target: TensorRef
    value: float


@dataclass(frozen=True, slots=True)
class Copy:
    """One view is copied into another of the same shape, converted to its dtype."""

    target: TensorRef
    source: TensorRef
    line: int | None = None


MOST_NUMBERS = 64  # of a tensor that the launcher makes of its own numbers
MOST_INDICES = 4096  # the same, of whole numbers: for example a table of offsets


def most_numbers(dtype: str) -> int:
    """How many numbers a `Constant` of this dtype may have."""
    return MOST_INDICES if dtype.startswith(("int", "uint")) else MOST_NUMBERS


@dataclass(frozen=True, slots=True)
class Constant:
    """Numbers that the launcher computed from other numbers alone, as a new tensor."""

    storage: int
    dtype: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch: arguments as the launcher gave them, with options such as num_warps.

    `allocator`: Triton was given an allocator before, for kernels that make descriptors.
    """

    kernel: int
    grid: Value
    positional: tuple[Value, ...]
    named: Mapping[str, Value]
    line: int | None = None
    allocator: bool = False


@dataclass(frozen=True)
class Trial:
    """One configuration of an autotuner: what its hooks do, and the launch itself.

    `chosen` replaces them when this is the configuration in use.
    """

    config: Mapping[str, Value]
    before: tuple[Step, ...]
    launch: tuple[Step, ...]
    after: tuple[Step, ...]
    chosen: tuple[Step, ...]


@dataclass(frozen=True)
class Tune:
    """A launch through an autotuner.

    The choice is cached by `key`; `known`: this key was tuned before, so that only `chosen` runs.
    `configs` is how many configurations the tuner knows, before any pruning. `arguments` are the
    tensors that the tuner sees, by name. `finish` is done after tuning and before the chosen
    launch. `prunes` is the name of a function of the submission that rules configurations out by
    figures that it computes itself, or "" if there is none.
    """

    tuner: int
    key: str
    configs: int
    known: bool
    kernel: str
    arguments: Mapping[str, Value]
    trials: tuple[Trial, ...]
    finish: tuple[Step, ...] = ()
    line: int | None = None
    prunes: str = ""


Step = Allocate | Fill | Copy | Constant | Launch | Tune


@dataclass(frozen=True)
class Raised:
    """What a launcher raised: the type's name, its text, and the line of the submission.

    `where` is "module", "launcher", "value" or "triton".
    """

    kind: str
    text: str
    line: int | None
    where: str = "launcher"


@dataclass(frozen=True)
class CasePlan:
    """What the launcher did for one case. The first storages are the tensor arguments.

    `inputs` are the storages of the arguments, None for a scalar.
    """

    steps: tuple[Step, ...] = ()
    result: Value = None
    inputs: tuple[int | None, ...] = ()
    raised: Raised | None = None


@dataclass(frozen=True)
class Note:
    """Something that the launcher did although it must not or should not.

    `code` is a key of `launch_trace.findings.WORDS`. `what` names the operation. `case` is the
    number of the first case in which it was seen, -1 while the module was loaded.
    """

    code: str
    what: str
    line: int | None
    case: int


@dataclass(frozen=True)
class LaunchPlan:
    """The plan of a submission: its kernels, what its module did, and one plan for each case.

    Storages are numbered through the whole plan, so that memory which outlives a call is visible.
    """

    kernels: tuple[Kernel, ...] = ()
    module: CasePlan = field(default_factory=CasePlan)
    cases: tuple[CasePlan, ...] = ()
    told: tuple[Note, ...] = ()


def launches_of(steps: Sequence[Step]) -> Iterator[Launch]:
    """The launches among steps; for a tuner those of every configuration and of its hooks."""
    for step in steps:
        if isinstance(step, Launch):
            yield step
        elif isinstance(step, Tune):
            yield from launches_of(step.finish)
            for trial in step.trials:
                yield from launches_of([*trial.before, *trial.launch, *trial.after, *trial.chosen])


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps, with those inside of tuners."""
    for step in steps:
        yield step
        if isinstance(step, Tune):
            yield from all_steps(step.finish)
            for trial in step.trials:
                yield from all_steps([*trial.before, *trial.launch, *trial.after, *trial.chosen])


def tensors_in(value: Value) -> Iterator[TensorRef]:
    """The views in a value, at any depth."""
    if isinstance(value, Mapping):
        for kind, inner in value.items():
            if kind == "tensor":
                storage, dtype, shape, strides, offset = inner
                yield TensorRef(storage, dtype, tuple(shape), tuple(strides), offset)
            elif kind in ("constexpr", "tuple", "fields", "descriptor"):
                yield from tensors_in(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from tensors_in(item)


def items_of(value: Value) -> list[Value] | None:
    """The values of a tuple, named or not; None for anything else."""
    if isinstance(value, Mapping) and "tuple" in value:
        return list(value["tuple"])
    if isinstance(value, Mapping) and "fields" in value:
        return list(value["fields"][1])
    return None


def ref_of(value: Value) -> TensorRef | None:
    """The view that a value is; None for anything else."""
    if isinstance(value, Mapping) and "tensor" in value:
        return next(tensors_in(value))
    return None


# ---------------------------------------------------------------- to JSON

# Records that are written as a list: what it begins with; the fields follow in their order.
_LISTED: Mapping[type, tuple[str, ...]] = {
    Allocate: ("allocate",),
    Fill: ("fill",),
    Copy: ("copy",),
    Constant: ("constant",),
    Launch: ("launch",),
    Tune: ("tune",),
    Trial: (),
    Parameter: (),
    Note: (),
}


def to_json(value: Any) -> Any:
    """A record, or a field of one, as JSON, to send to another process."""
    if isinstance(value, TensorRef | Code):
        return value.to_json()
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if not is_dataclass(value):
        return dict(value) if isinstance(value, Mapping) else value
    written = {part.name: to_json(getattr(value, part.name)) for part in fields(value)}
    begin = _LISTED.get(type(value))
    return written if begin is None else [*begin, *written.values()]


def steps_to_text(steps: Sequence[Step]) -> str:
    """Steps as the text in which they are cached and sent: a thirtieth of the objects' memory."""
    return json.dumps(to_json(tuple(steps)))


def kernels_to_json(kernels: Sequence[Kernel]) -> list[dict[str, Any]]:
    """Kernels as JSON. Code that several of them share is only in the first of them.

    The others have that kernel's number in its place.
    """
    first: dict[int, int] = {}
    made = []
    for number, kernel in enumerate(kernels):
        known = first.setdefault(id(kernel.code), number) if kernel.code is not None else number
        if known == number:
            made.append(to_json(kernel))
        else:
            made.append({**to_json(replace(kernel, code=None)), "code": known})
    return made
