"""What an exercise is made of: cases, misconceptions, evidence, hints, quiz.

Plain frozen data. The result of a submission is a `graders.judge.report.Report`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from graders.judge.compiling.compiled import CompilerRequirement
from graders.judge.plan.requirements import Requirement

# copies by torch; those that convert nothing; numbers that Python may have worked out
Forbidden = Literal["copies", "moves"]

Fill = Literal[
    "normal",  # signed, N(0, 1) · scale + shift; full range for integers, coin flips for bool
    "ramp",  # 0, 1, 2, …: every element differs (modulo the range of the dtype); integers: + shift
    "rounded",  # of integers: N(0, 1) · scale, rounded, + shift, within the range of the dtype
    "specials",  # normal, with NaN, infinities, both zeros and a subnormal sprinkled in
    "neg_inf",  # normal, with -inf sprinkled in, never a whole last-dimension row of it
    "neg_inf_head",  # normal, but the first two thirds of each last-dimension row are -inf
    "cancelling",  # large values whose sums nearly cancel: shows lossy accumulation
    "rectified",  # normal, and 0 where that is negative: what a ReLU returns
    "zeros",
]
View = Literal[
    "contiguous",
    "offset",  # starts inside a longer storage
    "transposed",  # last two dimensions swapped in memory
    "interleaved",  # the two dimensions before the last swapped in memory: heads side by side
    "sliced",  # the left half of wider rows: row stride is twice the width
    "padded",  # all but the last element of wider rows: row stride is the width and 1
    "stepped_rows",  # every third row
    "stepped_columns",  # every second element of each row
    "expanded_rows",  # one row, repeated by stride 0
    "expanded_columns",  # one column, repeated by stride 0
    "overlapping",  # sliding windows: rows share memory
    "far",  # element offsets beyond 2**31, in a sparse storage
    "far_columns",  # the same of a transposed view: its columns lie far apart
]


Runs = tuple[tuple[int, int], ...]  # first and last of neighbouring elements


@dataclass(frozen=True)
class TensorSpec:
    """A tensor argument described, not stored: the judge draws its numbers from a secret.

    `shape` in elements; `view` says how it lies in memory; elements of the storage that are
    not in the view are poison (NaN, or the extreme integer), so that reading them shows.
    `values`, row after row, stand in place of what `fill` makes. `garbage` has the first and the
    last of runs of elements, counted row after row, that are poison, too: what a contract says
    nobody may rely on, as what lies behind the length of a list.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    fill: Fill = "normal"
    view: View = "contiguous"
    scale: float = 1.0
    shift: float = 0.0
    values: tuple[float, ...] = ()
    garbage: Runs = ()


Arg = TensorSpec | int | float | bool
Plain = Arg | str | torch.dtype | tuple[int, ...]  # what a plain function may be given


@dataclass(frozen=True)
class Case:
    """One named input; other names have other numbers. `part` says whose points it belongs to."""

    name: str
    args: tuple[Plain, ...]
    part: str = "core"
    why: str = ""  # what a failure here usually means; shown to the learner
    engine_orders: bool = False  # also run it in reversed and shuffled program order


@dataclass(frozen=True)
class Tolerance:
    """|actual - expected| ≤ rel·|expected| + acc·magnitude + abs, per output dtype.

    `magnitude` is the sum of the absolute values of the terms that were added up; it comes
    from the exercise (`Exercise.magnitude`) and is |expected| where there is none.
    """

    rel: float
    acc: float
    abs: float = 0.0


@dataclass(frozen=True)
class Outside:
    """Lanes that left a tensor, by offsets in elements of it; `end` is behind its last one."""

    shape: tuple[int, ...]
    end: int
    lanes: int
    active: int
    first: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class Fault:
    """What the engine saw in the worker: enough to explain a failure, never to grant a pass."""

    code: str  # out-of-bounds-load, gap-read, write-race, kernel-error, …
    message: str
    line: int | None = None
    source: str = ""
    argument: str | None = None
    operation: str | None = None
    cause: str = ""  # the usual cause; of a kernel-error: what to do
    program: tuple[int, ...] | None = None
    outside: Outside | None = None


@dataclass(frozen=True)
class Aim:
    """Where the stores of a launch to the result pointed, masks aside.

    `lanes` of one program in one store; `reached` elements of the result, and lanes that masks let
    through: `passed`, and `storing` programs that have some (None: not counted);
    `firsts`: where program (0, 0, 0) starts, and its neighbours along the axes of the grid.
    """

    elements: int
    lanes: int
    reached: int | None
    passed: int | None
    storing: int | None
    firsts: tuple[int | None, ...]


@dataclass(frozen=True)
class ProgramRow:
    """One program of a launch, by its launch number: the offsets of its lanes, in their order, how
    many of them its mask lets through (`on`; `prefix`: the first ones), and which.
    """

    number: int
    lanes: int
    on: int
    prefix: bool
    offsets: Runs
    touched: Runs


@dataclass(frozen=True)
class AccessMap:
    """What the programs of a launch point at in one tensor, in elements of it.

    `once`: one access each, of blocks of the shape `block`. Lane 0 of a program points at
    `firsts[0]` and so many elements further for each step along the axes of the grid; `steps` are
    those from lane to lane. `twice` is touched by several programs.
    """

    operation: Literal["load", "store"]
    argument: str
    shape: tuple[int, ...]
    dense: bool
    grid: tuple[int, ...]
    block: tuple[int, ...]
    once: bool
    firsts: tuple[int, ...] | None
    steps: tuple[int | None, ...]
    twice: Runs
    rows: tuple[ProgramRow, ...]


@dataclass(frozen=True)
class LaunchFacts:
    """One kernel launch as the worker recorded it (grid as launched, meta-parameters by name).

    `given` are the arguments of the last launch by parameter, in their order: numbers, and in
    words what is none.
    `aim` is known of the last launch, where elements were never stored or bytes are counted, and
    `pointed` and `loads` where they were asked for (`Job.programs`): stores to the result, or the
    access at which the launch was stopped, and the loads from each other argument. `configs` is
    how many configurations its tuner knows, 1 without a tuner; `tf32` whether a tl.dot rounded
    float32 to TF32.
    """

    kernel: str
    grid: tuple[int, ...]
    meta: Mapping[str, Any]
    configs: int = 1
    tf32: bool = False
    aim: Aim | None = None
    pointed: AccessMap | None = None
    loads: tuple[AccessMap, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """All that is known of one failing case, for `Misconception.detector`.

    `actual` and `never_stored` have the shape of `expected`; both are None when the launcher
    did not return a tensor of the right shape and dtype. Of a launcher that returns several
    tensors it is the evidence of number `result`. `again`, where that was asked for, is true for
    elements that a program stored in a later round of a loop.
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
    """A wrong result that a mistake would compute; an output that equals it shows the mistake.

    `function(*args)` takes the launcher's arguments, floating tensors in float64, or as they lie
    in memory where `in_memory`. It returns the wrong result, a list of them where the mistake has
    several forms, and None (or an empty list) where it would not show. NaN in a result stands for
    any value: memory that is left untouched. Of a launcher that returns several tensors it may
    return a tuple, a wrong result for each of them (None where that one would be right).

    Where the result depends on a block size, `function(block, *args)` is asked for each of
    `blocks`. `where_finite` compares only where the output is not NaN. `unless` names faults of
    the engine that explain the same output better.
    """

    function: Callable[..., Any]
    blocks: tuple[int, ...] = ()
    in_memory: bool = False
    where_finite: bool = False
    unless: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Misconception:
    """A named mistake, recognised by what it computes or by what the engine saw.

    Any one of the three tells it: the output equals one of `expected_wrong`; the engine saw one
    of `faults` (a code, or `code:argument`); `detector` finds its marks in the evidence.
    """

    code: str
    title: str
    message: str  # what happened and why, in a tutor's words
    next_step: str
    expected_wrong: tuple[ExpectedWrong, ...] = ()
    faults: frozenset[str] = frozenset()
    detector: Callable[[Evidence], bool] | None = None
    places: bool = False  # it is about which elements are touched: of several such one is the cause
    rules_out: frozenset[str] = frozenset()  # codes that are not the cause where this one shows
    everywhere: bool = False  # shows in most failing cases of a dtype, or in none: rounding
    in_all_gaps: bool = False  # shows in each case in which programs left elements out, or in none
    result: int | None = None  # of several results, the one that shows it; None: any of them


@dataclass(frozen=True)
class Remark:
    """What a right submission leaves out. What its contract `promised` costs half of the points.

    `applies(launches, traffic)` looks at the run in which the traffic was counted: traffic has
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

    `name` stands in sentences: "the log-sum-exp". `dtype` is that of the first argument where it
    is None. `magnitude`, `tolerance` and `exact` mean what they mean in an Exercise.
    """

    name: str
    dtype: torch.dtype | None = None
    magnitude: Callable[..., torch.Tensor] | None = None
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)
    exact: bool = False


@dataclass(frozen=True)
class PlainFunction:
    """Makes an exercise one of plain Python: its function is called, and launches no kernel.

    It returns as many numbers as `returns` has names ("GB/s"), a tuple where there are several,
    each within `rel` of the reference's. `arguments(seed, *case.args)` makes what a call is given;
    without it that is what the case holds. An argument of a class in `remote`, or a method of one,
    stays in the judge with all that it knows: the function gets a stand-in that has the listed
    names, and each use of it is a message. The seed is the judge's secret: see `Runtime.calls`.
    """

    returns: tuple[str, ...]
    rel: float
    arguments: Callable[..., tuple[Any, ...]] | None = None
    remote: Mapping[type, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Exercise:
    """What counts as solved. `reference(*args)` takes the floating arguments in float64.

    A launcher that returns several tensors has `results`, and a reference that returns as many.
    Where `function` is set, nothing is launched: the reference gives a number or a tuple of them,
    and of the fields below those that speak of tensors, kernels and memory stay as they are.
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
    least_capability: int = 0  # that its kernels need of a GPU, as 89 is that of sm_89
    any_integer_dtype: bool = False  # the result may have any integer dtype
    nan_may_be: tuple[float, ...] = ()  # values accepted where the reference is NaN
    forbids: frozenset[Forbidden] = frozenset()  # what in a launcher would do the kernel's job
    large: tuple[Case, ...] = ()  # for a GPU only: more than the interpreter does quickly
    traffic_factor: float | None = None  # bytes moved, at most this factor of the solution's
    remarks: tuple[Remark, ...] = ()
    results: tuple[ReturnedTensor, ...] = ()  # empty: one tensor, of which the fields above speak
    requirements: tuple[Requirement, ...] = ()
    compiler_requirements: tuple[
        CompilerRequirement, ...
    ] = ()  # the judge reports the first broken
    challenge: str = ""  # break it like this: one sentence for somebody who has solved it
    function: PlainFunction | None = None  # None: a launcher of kernels

    @property
    def max_points(self) -> int:
        return sum(self.parts.values())


@dataclass(frozen=True)
class Workload:
    """A size at which speed is measured: what is called, and the least work that it takes.

    `operations` counts floating-point operations, on tensor cores where `tensor_cores`;
    `torch` is the strong baseline, on the arguments as they are.
    """

    name: str
    args: tuple[Arg, ...]
    operations: float
    torch: Callable[..., torch.Tensor]
    tensor_cores: bool = False


@dataclass(frozen=True)
class Hidden:
    """Cases that only the official grade runs, and speed bars.

    A bar is (fraction, points): who reaches that fraction of the model solution's speed on the
    same GPU gets the points, as a bonus.
    """

    cases: tuple[Case, ...]
    speed_bars: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class Choice:
    text: str
    answer: str  # what the course says to somebody who picks it
    right: bool = False


@dataclass(frozen=True)
class Question:
    prompt: str
    choices: tuple[Choice, ...]


class GraderError(Exception):
    """A fault of ours or of the environment: the submission stays ungraded, never zero."""
