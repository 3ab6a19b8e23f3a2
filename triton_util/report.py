"""The result of one submission: findings, resources, speed, and the report with all of them.

Judge, client, class service and command line share these records. They are plain frozen data, which
converts to JSON and back without loss; a field that older JSON lacks takes its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from triton_util.plain_data import plain, read
from triton_util.tables import aligned, fitted


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"


class GateStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class Side:
    """The first numbers of a result, or a picture: rows of grey levels in hexadecimal digits."""

    name: str  # "got", "expected"
    rows: tuple[tuple[str, ...], ...] = ()
    pixels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """Where output and reference differ: a small 2D map of cell states, already reduced.

    `rows` has one string per row, one character per cell: `.` correct, `x` wrong value, `o` never
    stored, `1` to `9` that many tenths wrong. `caption` describes it in words. `shape` counts rows
    and columns of elements; each cell represents `step` of them. `block` is the kernel's block, 0
    along a side that it does not cut. A vector of `elements` is wrapped like text. `sides` are the
    actual and the expected output. If nearly all is wrong they replace the map, and `rows` is
    empty.
    """

    rows: tuple[str, ...]
    caption: str
    shape: tuple[int, int] | None = None
    step: tuple[int, int] = (1, 1)
    block: tuple[int, int] | None = None
    elements: int | None = None
    sides: tuple[Side, ...] = ()


@dataclass(frozen=True)
class Table:
    """What each program of a public case did: lines of cells, some of them `wrong`."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wrong: tuple[bool, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a table whose lines are not equally long")
        if len(self.wrong) != len(self.rows):
            raise ValueError("a table that does not say of each line whether it is wrong")

    def lines(self, width: int = 0) -> list[str]:
        """The table as text, without backticks; in lines of at most `width` if that is given."""
        columns = [column.replace("`", "") for column in self.columns]
        rows = (
            fitted(columns, self.rows, self.wrong, width)
            if width
            else aligned(columns, self.rows, self.wrong)
        )
        return [line.replace("`", "") for line in (self.caption, *rows, *self.notes)]


class InJson:
    """Converts a record to JSON and back."""

    def to_json(self) -> dict[str, Any]:
        """Every field, as plain JSON."""
        return dict(plain(asdict(self)))  # type: ignore[call-overload]

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The record from its JSON form; raises ValueError if that is malformed."""
        return read(cls, data)


@dataclass(frozen=True)
class Finding(InJson):
    """A learner's mistake in a tutor's words: what, where, why and the next step."""

    gate: str
    code: str
    title: str
    message: str
    line: int | None = None
    case: str | None = None
    next_step: str = ""
    picture: Picture | None = None
    original: str = ""  # the untranslated error, if there was one
    where: str = ""  # "cell 7" in a notebook: `line` counts from the top of that cell
    table: Table | None = None
    facts: tuple[tuple[str, str], ...] = ()  # shape, grid, program, offsets: names and values

    @property
    def told(self) -> str:
        """Place, message and next step as one paragraph."""
        place = f"{self.where}, line {self.line}: " if self.where else ""
        said = self.message.rstrip()
        stop = "" if not self.next_step or said.endswith((".", "!", "?", ":", "`", "…")) else "."
        return " ".join(f"{place}{said}{stop} {self.next_step}".split())

    def to_line(self) -> dict[str, Any]:
        """The six fields that the command line promises."""
        return {
            "gate": self.gate,
            "code": self.code,
            "title": self.title,
            "message": self.told,
            "line": self.line,
            "case": self.case,
        }


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
class BytesMoved:
    """Bytes that a correct submission and the model solution move in a public case.

    They move between memory and kernels.
    """

    case: str
    own: int
    model: int


@dataclass(frozen=True)
class Speed:
    """How fast a submission was, as a share of the model solution's speed on the same GPU.

    It earns `bonus` of `max_bonus` points, which never count among the points of the parts.
    `problem` says why the judge does not believe a time: then there is no bonus.
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
    gpu_seconds: float = 0.0  # spent on measuring it and, if needed, the model solution

    @property
    def told(self) -> str:
        """One paragraph: how fast, why, and what it is worth."""
        if self.problem:
            return f"It does not count: {self.problem}."
        worth = f"{self.bonus} of {self.max_bonus} bonus points for speed."
        return f"{self.ms:.4f} ms on {self.gpu} ({self.workload}). {self.words} {worth}"


def awaits_gpu(gates: Mapping[str, str]) -> bool:
    """Whether a GPU still has to judge it: the interpreter accepts it, and no GPU has run it."""
    return gates.get("interpret") == GateStatus.PASSED and gates.get("gpu") == GateStatus.NOT_RUN


@dataclass(frozen=True)
class Report(InJson):
    """The result of one submission to one exercise."""

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
    remarks: tuple[Finding, ...] = ()  # on correct submissions; they cost nothing
    moved: BytesMoved | None = None  # None: not counted
    gpu_seconds: float = 0.0  # that the submission used a GPU, without those in its `speed`
    compiled_on_gpu: int = 0  # kernels for whose compilation the GPU waited

    def to_line(self) -> dict[str, Any]:
        """One line of `tilewise grade --json`, without what was not measured or found."""
        measured: dict[str, Any] = {} if self.speed is None else {"speed": asdict(self.speed)}
        if self.gpu_seconds:
            measured["gpu_seconds"] = self.gpu_seconds
            measured["compiled_on_gpu"] = self.compiled_on_gpu
        if self.remarks:
            measured["remarks"] = [remark.to_line() for remark in self.remarks]
        return {
            "submission": self.submission,
            "exercise": self.exercise,
            "verdict": str(self.verdict),
            "points": self.points,
            "max_points": self.max_points,
            "gates": {gate: str(status) for gate, status in self.gates.items()},
            "findings": [finding.to_line() for finding in self.findings],
            "sandbox": self.sandbox,
            "seconds": round(self.seconds, 3),
            **measured,
        }


def ungraded_finding(error: Exception) -> Finding:
    """A finding that states a fault of ours plainly; it costs the learner nothing."""
    return Finding(
        gate="judge",
        code="could-not-grade",
        title="This could not be graded",
        message=f"{str(error).rstrip('.')}.",
        next_step="This is not the submission's fault: fix the judge, then grade it again.",
    )
