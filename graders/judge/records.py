"""The records of an exercise as frozen data: cases, misconceptions, evidence, hints, quiz."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import torch

from graders.judge import bounds
from graders.judge.compiling.compiled import CompilerRequirement
from graders.judge.plan.requirements import Requirement

# copies by torch; operations that only move values; numbers that Python may have computed
Forbidden = Literal["copies", "moves"]

Fill = Literal[
    "normal",  # signed, N(0, 1) · scale + shift; full range for integers, coin flips for bool
    "ramp",  # 0, 1, 2, …: every element differs (modulo the range of the dtype); integers: + shift
    "rounded",  # integers: N(0, 1) · scale, rounded, + shift, within the range of the dtype
    "specials",  # normal, with NaN, infinities, both zeros and a subnormal sprinkled in
    "neg_inf",  # normal, with -inf sprinkled in, but never in a whole last-dimension row
    "neg_inf_head",  # normal, but the first two thirds of each last-dimension row are -inf
    "neg_inf_tail",  # normal, but the last two thirds of each last-dimension row are -inf
    "rising",  # normal, and each row rises by 400 · scale from its first to its last element
    "falling",
    "rising_rows",  # the same from row to row
    "falling_rows",
    "cancelling",  # large values whose sums nearly cancel: shows lossy accumulation
    "rectified",  # normal, with 0 for every negative value: the output of a ReLU
    "zeros",
]
View = Literal[
    "contiguous",
    "offset",  # starts inside a longer storage
    "transposed",  # last two dimensions swapped in memory
    "interleaved",  # the two dimensions before the last swapped in memory: heads side by side
    "rotated",  # the first dimension innermost in memory: a picture with its channels last
    "rotated_sliced",  # the same, the left half of wider rows
    "sliced",  # the left half of wider rows: row stride is twice the width
    "padded",  # all but the last element of wider rows: row stride is the width and 1
    "stepped_rows",  # every third row
    "stepped_columns",  # every second element of each row
    "expanded_rows",  # one row, repeated by stride 0
    "expanded_columns",  # one column, repeated by stride 0
    "first_column",  # the same, of wider rows: the row stride is the width
    "overlapping",  # sliding windows: rows share memory
    "far",  # element offsets beyond 2**31, in a sparse storage
    "far_columns",  # the same for a transposed view: its columns are far apart
]


@dataclass(frozen=True)
class TensorSpec:
    """A description of a tensor argument; the judge draws the numbers from a secret.

    `shape` is in elements; `view` is the memory layout. Elements of the storage that are not in the
    view are poison (NaN, or the extreme integer), so that a read of them shows. `values`, row after
    row, replace the numbers of `fill`. `garbage` lists runs of elements, counted row after row,
    that are poison too: the contract does not define them, such as those after a list's length.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    fill: Fill = "normal"
    view: View = "contiguous"
    scale: float = 1.0
    shift: float = 0.0
    values: tuple[float, ...] = ()
    garbage: bounds.Runs = ()


Arg = TensorSpec | int | float | bool
Plain = Arg | str | torch.dtype | tuple[int, ...]  # what a plain function may be given


@dataclass(frozen=True)
class Case:
    """One named input. Each name has its own numbers. `part` says which points it decides."""

    name: str
    args: tuple[Plain, ...]
    part: str = "core"
    why: str = ""  # what a failure here usually means; shown to the learner
    engine_orders: bool = False  # also run it in reversed and shuffled program order


@dataclass(frozen=True)
class Tolerance:
    """|actual - expected| ≤ rel·|expected| + acc·magnitude + abs, per output dtype.

    `magnitude` is the sum of the absolute values of the terms that are added up. It comes from the
    exercise (`Exercise.magnitude`), or is |expected| if the exercise has none.
    """

    rel: float
    acc: float
    abs: float = 0.0


@dataclass(frozen=True)
class Outside:
    """Lanes that left a tensor, as offsets in its elements; `end` is just past its last one."""

    shape: bounds.Sizes
    end: bounds.Whole
    lanes: bounds.Whole
    active: bounds.Whole
    first: bounds.Offset
    lowest: bounds.Offset
    highest: bounds.Offset


@dataclass(frozen=True)
class Fault:
    """What the engine saw in the worker. It can explain a failure, and never grants a pass."""

    code: bounds.Code  # out-of-bounds-load, gap-read, write-race, kernel-error, …
    message: bounds.Message = ""
    line: bounds.Line = None
    source: bounds.Name = ""
    argument: bounds.NameOrNone = None
    operation: bounds.NameOrNone = None
    cause: bounds.Message = ""  # the usual cause; for a kernel-error: what to do
    program: Annotated[bounds.Sizes | None, bounds.or_else(None)] = None
    outside: Annotated[Outside | None, bounds.or_else(None)] = None


@dataclass(frozen=True)
class Aim:
    """Where the stores of a launch to the result pointed, ignoring masks.

    `lanes` of one program in one store; `reached` elements of the result. `passed` lanes have a
    mask that lets them through, and `storing` programs have such lanes (None: not counted).
    `firsts`: where program (0, 0, 0) starts, and its neighbours along the axes of the grid.
    """

    elements: bounds.Whole
    lanes: bounds.Whole
    reached: bounds.WholeOrNone
    passed: bounds.WholeOrNone
    storing: Annotated[bounds.Programs | None, bounds.or_else(None)]
    firsts: bounds.FirstsOrNone


@dataclass(frozen=True)
class ProgramRow:
    """One program of a launch, by its launch number: the offsets of its lanes, in their order. Its
    mask lets `on` lanes (`prefix`: the first ones) through to the elements `touched`.
    """

    number: bounds.Whole
    lanes: bounds.Whole
    on: bounds.Whole
    prefix: bounds.Flag
    offsets: bounds.Runs
    touched: bounds.Runs


@dataclass(frozen=True)
class AccessMap:
    """What the programs of a launch point at in one tensor, in elements of it.

    `once`: each program makes one access, of a block of the shape `block`. Lane 0 of a program
    points at `firsts[0]`, plus one of the other `firsts` per step along an axis of the grid;
    `steps` are the distances from lane to lane. Several programs touch the elements in `twice`.
    """

    operation: Literal["load", "store"]
    argument: bounds.Name
    shape: bounds.Sizes
    dense: bounds.Flag
    grid: Annotated[bounds.Sizes, bounds.fits(lambda grid: len(grid) == 3 and min(grid) > 0)]
    block: bounds.Sizes
    once: bounds.Flag
    firsts: Annotated[tuple[bounds.Number, ...] | None, bounds.FOUR, bounds.or_else(None)]
    steps: bounds.Steps
    twice: bounds.Runs
    rows: Annotated[tuple[ProgramRow, ...], bounds.of_length(1, bounds.MAX_ITEMS)]


@dataclass(frozen=True)
class LaunchFacts:
    """One kernel launch as the worker recorded it (grid as launched, meta-parameters by name).

    `given` are the arguments of the last launch by parameter, in their order: numbers as numbers,
    other values in words. `aim` is known for the last launch if elements were never stored or bytes
    are counted. `pointed` and `loads` are known if they were asked for (`Job.programs`): stores to
    the result, or the access at which the launch was stopped, and the loads from each other
    argument. `configs` is how many configurations its tuner knows, 1 without a tuner.
    """

    kernel: bounds.Name = ""
    grid: Annotated[tuple[bounds.Programs, ...], bounds.of_length(0, 3)] = ()
    meta: bounds.Scalars = field(default_factory=dict)
    configs: Annotated[int, bounds.within(1, 100_000), bounds.or_else(1)] = 1
    tf32: bounds.Flag = False  # a tl.dot rounded float32 to TF32
    aim: Annotated[Aim | None, bounds.or_else(None)] = None
    pointed: Annotated[AccessMap | None, bounds.AGREEING, bounds.or_else(None)] = None
    loads: Annotated[tuple[Annotated[AccessMap, bounds.AGREEING], ...], bounds.each] = ()
    given: bounds.Scalars = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """All that is known about one failing case, for `Misconception.detector`.

    `actual` and `never_stored` have the shape of `expected`, or are None if the launcher returned
    no tensor of the correct shape and dtype. Of several tensors, this is number `result`. `again`,
    if it was asked for, is true for elements that a program stored in a later round of a loop.
    """

    args: tuple[Any, ...]
    expected: torch.Tensor
    actual: torch.Tensor | None
    never_stored: torch.Tensor | None
    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    result: int = 0
    again: torch.Tensor | None = None


@dataclass(frozen=True)
class ExpectedWrong:
    """The wrong result that a mistake computes; an output equal to it identifies the mistake.

    `function(*args)` takes the launcher's arguments, floating tensors in float64, or with their
    memory layout if `in_memory`. It returns the wrong result, or a list if the mistake has several
    forms, or None (or an empty list) if the mistake would not show. NaN in a result matches any
    value: memory that is left untouched. For a launcher that returns several tensors it may return
    a tuple with a wrong result for each (None where that tensor would be correct).

    If the result depends on a block size, `function(block, *args)` is called for each of `blocks`.
    `where_finite` compares only where the output is not NaN. `unless` names faults of the engine
    that explain the same output better; or "one-program", if it shows with several programs only.
    """

    function: Callable[..., Any]
    blocks: tuple[int, ...] = ()
    in_memory: bool = False
    where_finite: bool = False
    unless: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Misconception:
    """A named mistake, recognised by what it computes or by what the engine saw.

    Any one of these three identifies it: the output equals one of `expected_wrong`; the engine saw
    one of `faults` (a code, or `code:argument`); `detector` finds its marks in the evidence.
    """

    code: str
    title: str
    message: str  # what happened and why, in a tutor's words
    next_step: str
    expected_wrong: tuple[ExpectedWrong, ...] = ()
    faults: frozenset[str] = frozenset()
    detector: Callable[[Evidence], bool] | None = None
    places: bool = False  # about which elements are touched: of several such one is the cause
    rules_out: frozenset[str] = frozenset()  # codes that are not the cause if this one shows
    everywhere: bool = False  # shows in most failing cases of a dtype, or in none: rounding
    in_all_gaps: bool = False  # shows in every case in which programs left elements out, or in none
    result: int | None = None  # of several results, the one that shows it; None: any of them


@dataclass(frozen=True)
class Remark:
    """What a correct submission leaves out; it costs half the points if the contract `promised` it.

    `applies(launches, traffic)` looks at the run in which the traffic was counted: `traffic` has
    the worker's figures by argument name, see `sandbox.job_report`.
    """

    code: str
    title: str
    message: str
    next_step: str
    applies: Callable[[Sequence[LaunchFacts], Mapping[str, Mapping[str, Any]]], bool]
    promised: bool = False


@dataclass(frozen=True)
class ReturnedTensor:
    """One of the several tensors that a launcher returns.

    `name` is used in sentences: "the log-sum-exp". If `dtype` is None, it is that of the first
    argument. `magnitude`, `tolerance` and `exact` mean the same as in an Exercise.
    """

    name: str
    dtype: torch.dtype | None = None
    magnitude: Callable[..., torch.Tensor] | None = None
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)
    exact: bool = False


@dataclass(frozen=True)
class PlainFunction:
    """Marks an exercise in plain Python: its function is called, and launches no kernel.

    The function returns one number per name in `returns` ("GB/s"), as a tuple if there are several,
    each within `rel` of the reference's. `arguments(seed, *case.args)` makes the arguments of a
    call; without it they are `case.args`. An argument of a class in `remote`, or a method of one,
    stays in the judge: the function gets a stand-in with the listed names, and each use of it is a
    message. The seed is the judge's secret: see `Runtime.calls`.
    """

    returns: tuple[str, ...]
    rel: float
    arguments: Callable[..., tuple[Any, ...]] | None = None
    remote: Mapping[type, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Exercise:
    """What counts as solved. `reference(*args)` takes the floating arguments in float64.

    A launcher that returns several tensors has `results`, and its reference returns as many. If
    `function` is set, nothing is launched: the reference returns a number or a tuple of them, and
    the fields about tensors, kernels and memory keep their defaults.
    """

    name: str  # the launcher's name
    lesson: str  # the slug of its lesson
    title: str
    parameters: tuple[str, ...]
    reference: Callable[..., Any]
    cases: tuple[Case, ...]
    hints: tuple[str, str, str]
    misconceptions: tuple[Misconception, ...]
    parts: Mapping[str, int]  # points by part; a part counts when all its cases pass
    magnitude: Callable[..., torch.Tensor] | None = None
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)  # overrides
    exact: bool = False  # bit for bit: copies
    dtype: torch.dtype | None = None  # of the only result; None: that of the first argument
    least_capability: int = 0  # the compute capability that its kernels need, as 89 for sm_89
    any_integer_dtype: bool = False  # the result may have any integer dtype
    nan_may_be: tuple[float, ...] = ()  # values accepted where the reference is NaN
    forbids: frozenset[Forbidden] = frozenset()  # what in a launcher would do the kernel's job
    large: tuple[Case, ...] = ()  # for a GPU only: too large for the interpreter
    traffic_factor: float | None = None  # bytes moved, at most this factor of the solution's
    remarks: tuple[Remark, ...] = ()
    results: tuple[ReturnedTensor, ...] = ()  # empty: one tensor, which the fields above describe
    requirements: tuple[Requirement, ...] = ()
    compiler_requirements: tuple[CompilerRequirement, ...] = ()  # the first broken one counts
    challenge: str = ""  # how to break it: one sentence for learners who have solved it
    function: PlainFunction | None = None  # None: a launcher of kernels

    @property
    def max_points(self) -> int:
        return sum(self.parts.values())


@dataclass(frozen=True)
class Workload:
    """A size at which speed is measured: what is called, and the least work that it takes.

    `operations` counts floating-point operations, on tensor cores if `tensor_cores`; `torch` is the
    strong baseline, called with the arguments as they are.
    """

    name: str
    args: tuple[Arg, ...]
    operations: float
    torch: Callable[..., torch.Tensor]
    tensor_cores: bool = False


@dataclass(frozen=True)
class Hidden:
    """Cases that only the official grade runs, and speed bars.

    A bar is (fraction, points): a submission that reaches this fraction of the model solution's
    speed on the same GPU gets the points as a bonus.
    """

    cases: tuple[Case, ...]
    speed_bars: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class Choice:
    text: str
    answer: str  # what the course says to learners who pick it
    right: bool = False


@dataclass(frozen=True)
class Question:
    prompt: str
    choices: tuple[Choice, ...]


class GraderError(Exception):
    """A fault of ours or of the environment: the submission stays ungraded and never gets zero."""
