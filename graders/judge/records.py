"""The words of the judge: exercise, case, misconception, finding, report.

Everything here is plain frozen data. An exercise record says what counts as solved;
a `Report` says how one submission fared; no behaviour lives here but small derivations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

import torch

# "copies": torch moves or converts data; "constants": numbers that Python may have worked out
Forbidden = Literal["copies", "constants"]
GATES = ("read", "compile", "interpret", "traffic", "gpu")

Fill = Literal[
    "normal",  # signed, N(0, 1) · scale + shift; full range for integers, coin flips for bool
    "ramp",  # 0, 1, 2, …: every element differs (modulo the range of the dtype)
    "specials",  # normal, with NaN, infinities, both zeros and a subnormal sprinkled in
    "neg_inf",  # normal, with -inf sprinkled in, never a whole last-dimension row of it
    "neg_inf_head",  # normal, but the first two thirds of each last-dimension row are -inf
    "cancelling",  # large values whose sums nearly cancel: shows lossy accumulation
    "zeros",
]
View = Literal[
    "contiguous",
    "offset",  # starts inside a longer storage
    "transposed",  # last two dimensions swapped in memory
    "interleaved",  # the two dimensions before the last swapped in memory: heads side by side
    "sliced",  # the left half of wider rows: row stride is twice the width
    "stepped_rows",  # every third row
    "stepped_columns",  # every second element of each row
    "expanded_rows",  # one row, repeated by stride 0
    "expanded_columns",  # one column, repeated by stride 0
    "overlapping",  # sliding windows: rows share memory
    "far",  # element offsets beyond 2**31, in a sparse storage
]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor argument described, not stored: the judge builds it from a seed.

    `shape` in elements; `view` says how it lies in memory; elements of the storage that are
    not in the view are poison (NaN, or the extreme integer), so that reading them shows.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    fill: Fill = "normal"
    view: View = "contiguous"
    scale: float = 1.0
    shift: float = 0.0


Arg = TensorSpec | int | float | bool


@dataclass(frozen=True)
class Case:
    """One named input. `part` decides which share of the points it belongs to."""

    name: str
    args: tuple[Arg, ...]
    part: str = "core"
    why: str = ""  # what a failure here usually means; shown to the learner
    seed: int = 0
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
class Fault:
    """What the engine saw in the worker: enough to explain a failure, never to grant a pass."""

    code: str  # out-of-bounds-load, gap-read, write-race, kernel-error, …
    message: str
    line: int | None = None
    source: str = ""
    argument: str | None = None
    operation: str | None = None
    cause: str = ""  # the usual cause; of a kernel-error: what to do


@dataclass(frozen=True)
class LaunchFacts:
    """One kernel launch as the worker recorded it (grid as launched, meta-parameters by name).

    `configs` is how many configurations its tuner knows, 1 without a tuner; `tf32` whether a
    tl.dot rounded float32 to TF32.
    """

    kernel: str
    grid: tuple[int, ...]
    meta: Mapping[str, Any]
    configs: int = 1
    tf32: bool = False


@dataclass(frozen=True)
class Evidence:
    """All that is known of one failing case, for `Misconception.footprint`.

    `actual` and `never_stored` have the shape of `expected`; both are None when the launcher
    did not return a tensor of the right shape and dtype.
    """

    args: tuple[Any, ...]
    expected: torch.Tensor
    actual: torch.Tensor | None
    never_stored: torch.Tensor | None
    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()


@dataclass(frozen=True)
class Misconception:
    """A named mistake, recognised by what it computes or by the trace that it leaves.

    Any one of the three tells it: `imitate(*args)` returns what the mistake *would compute*
    (None where it would compute the right thing; NaN where it would leave memory untouched), or
    a list of such results where the mistake has several forms;
    `faults` are engine codes, optionally `code:argument`; `footprint` looks at the evidence.
    """

    code: str
    title: str
    message: str  # what happened and why, in a tutor's words
    next_step: str
    imitate: Callable[..., torch.Tensor | list[torch.Tensor] | None] | None = None
    faults: frozenset[str] = frozenset()
    footprint: Callable[[Evidence], bool] | None = None
    everywhere: bool = False  # shows in most failing cases of a dtype, or in none: rounding


@dataclass(frozen=True)
class Remark:
    """What a right submission leaves out of the purpose of its exercise. It costs no points.

    `applies(launches, traffic)` looks at the run in which the traffic was counted: traffic has
    the worker's figures by argument name, see `sandbox.job_report`.
    """

    code: str
    title: str
    message: str
    next_step: str
    applies: Callable[[Sequence[LaunchFacts], Mapping[str, Mapping[str, Any]]], bool]


@dataclass(frozen=True)
class Exercise:
    """What counts as solved. `reference(*args)` takes the floating arguments in float64."""

    name: str  # the launcher's name
    lesson: str  # the slug of its lesson
    title: str
    parameters: tuple[str, ...]
    reference: Callable[..., torch.Tensor]
    cases: tuple[Case, ...]
    hints: tuple[str, str, str]
    misconceptions: tuple[Misconception, ...]
    parts: Mapping[str, int]  # points by part; a part counts when all its cases pass
    magnitude: Callable[..., torch.Tensor] | None = None
    tolerance: Mapping[torch.dtype, Tolerance] = field(default_factory=dict)  # overrides
    exact: bool = False  # bit for bit: copies
    any_integer_dtype: bool = False  # the result may have any integer dtype
    dense: bool = False  # the result must be contiguous
    nan_may_be: tuple[float, ...] = ()  # values accepted where the reference is NaN
    forbids: frozenset[Forbidden] = frozenset()  # what in a launcher would do the kernel's job
    large: tuple[Case, ...] = ()  # for a GPU only: more than the interpreter does quickly
    traffic_factor: float | None = None  # bytes moved, at most this factor of the solution's
    remarks: tuple[Remark, ...] = ()

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


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"


class GateStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class Picture:
    """Where output and reference differ: a small 2D map of cell states, already reduced.

    `rows` holds one string per row, one character per cell:
    `.` right, `x` wrong value, `o` never stored. `caption` describes it in words.
    """

    rows: tuple[str, ...]
    caption: str


@dataclass(frozen=True)
class Finding:
    """A learner's mistake in a tutor's words: what, where, why and the next step."""

    gate: str
    code: str
    title: str
    message: str
    line: int | None = None
    case: str | None = None
    next_step: str = ""
    picture: Picture | None = None
    original: str = ""  # the untranslated error, where there was one
    where: str = ""  # "cell 7" in a notebook: `line` counts from the top of that cell

    def to_json(self) -> dict[str, Any]:
        """The six fields of the command line's contract; the next step ends the message."""
        place = f"{self.where}, line {self.line}: " if self.where else ""
        said = self.message.rstrip()
        stop = "" if not self.next_step or said.endswith((".", "!", "?", ":", "`", "…")) else "."
        message = " ".join(f"{place}{said}{stop} {self.next_step}".split())
        return {
            "gate": self.gate,
            "code": self.code,
            "title": self.title,
            "message": message,
            "line": self.line,
            "case": self.case,
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Finding:
        """The finding in a line of JSON; `where` is there in marks."""
        where = line.get("where", "")
        place = f"{where}, line {line['line']}: " if where else ""
        fields = {name: line[name] for name in ("gate", "code", "title", "line", "case")}
        return cls(**fields, message=line["message"].removeprefix(place), where=where)


@dataclass(frozen=True)
class KernelResources:
    """What the compiler made of one kernel for one target (sm number)."""

    kernel: str
    target: int
    registers: int
    shared_bytes: int
    spill_bytes: int
    load_bits: int = 0  # the widest load by one thread; 0: unknown, or none


@dataclass(frozen=True)
class Speed:
    """How fast a submission was, as a share of the model solution's speed on the same GPU.

    `bonus` of `max_bonus` points; both stand beside the points of the parts, never in them.
    `problem` says why a time is not believed: then there is no bonus.
    """

    workload: str
    gpu: str
    ms: float
    model_ms: float
    fraction: float
    bonus: int
    max_bonus: int
    words: str  # in a tutor's words
    problem: str = ""

    @property
    def told(self) -> str:
        """One paragraph: how fast, why, and what it is worth."""
        if self.problem:
            return f"It does not count: {self.problem}."
        worth = f"{self.bonus} of {self.max_bonus} bonus points for speed."
        return f"{self.ms:.4f} ms on {self.gpu} ({self.workload}). {self.words} {worth}"


def awaits_gpu(gates: Mapping[str, str]) -> bool:
    """Whether a GPU has still to judge it: right in the interpreter, and run nowhere else."""
    return gates.get("interpret") == GateStatus.PASSED and gates.get("gpu") == GateStatus.NOT_RUN


@dataclass(frozen=True)
class Report:
    """How one submission fared at one exercise."""

    submission: str
    exercise: str
    verdict: Verdict
    points: float | None  # None: ungraded
    max_points: int
    gates: Mapping[str, GateStatus]
    findings: tuple[Finding, ...]
    sandbox: str
    seconds: float
    cases_passed: int = 0
    cases_total: int = 0
    resources: tuple[KernelResources, ...] = ()
    public_points: float | None = None  # what the public cases alone are worth
    speed: Speed | None = None  # None: not measured
    remarks: tuple[Finding, ...] = ()  # on what is right; they cost nothing

    def to_json(self) -> dict[str, Any]:
        """One line of `tilewise grade --json`; `speed` and `remarks` where there are any."""
        measured: dict[str, Any] = {} if self.speed is None else {"speed": asdict(self.speed)}
        if self.remarks:
            measured["remarks"] = [remark.to_json() for remark in self.remarks]
        return {
            "submission": self.submission,
            "exercise": self.exercise,
            "verdict": str(self.verdict),
            "points": self.points,
            "max_points": self.max_points,
            "gates": {gate: str(self.gates[gate]) for gate in GATES},
            "findings": [finding.to_json() for finding in self.findings],
            "sandbox": self.sandbox,
            "seconds": round(self.seconds, 3),
            **measured,
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Report:
        """The report in a line of JSON, as far as a line holds it."""
        return cls(
            submission=line["submission"],
            exercise=line["exercise"],
            verdict=Verdict(line["verdict"]),
            points=line["points"],
            max_points=line["max_points"],
            gates={gate: GateStatus(line["gates"][gate]) for gate in GATES},
            findings=tuple(Finding.from_json(finding) for finding in line["findings"]),
            sandbox=line["sandbox"],
            seconds=line["seconds"],
            speed=Speed(**line["speed"]) if "speed" in line else None,
            remarks=tuple(Finding.from_json(remark) for remark in line.get("remarks", ())),
        )


class GraderError(Exception):
    """A fault of ours or of the environment: the submission stays ungraded, never zero."""
