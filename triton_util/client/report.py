"""The judge's report as the client reads it: plain data, validated on arrival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["passed", "failed", "unjudged", "outdated", "untouched"]
GATE_NAMES = ("read", "compile", "interpret", "traffic", "gpu")
OF_FUNCTIONS = ("read", "call")  # the gates of an exercise that asks for plain Python


@dataclass(frozen=True)
class Side:
    """The first numbers of a result, or a picture as rows of grey levels in hexadecimal."""

    name: str
    rows: tuple[tuple[str, ...], ...] = ()
    pixels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A map of cells: `.` right, `x` wrong value, `o` never stored, `1` to `9` tenths wrong.

    `shape` is the number of rows and columns of elements; each cell shows `step` of them. `block`
    is the kernel's block size, 0 along a side that it does not split. A vector of `elements` is
    wrapped like text. `sides` are the actual and the expected result.
    """

    rows: tuple[str, ...]
    caption: str
    shape: tuple[int, int] | None = None
    step: tuple[int, int] = (1, 1)
    block: tuple[int, int] | None = None
    elements: int | None = None
    sides: tuple[Side, ...] = ()


@dataclass(frozen=True)
class Quoted:
    """A line of the learner's code, by its number in its cell; `meant` marks the line at fault."""

    number: int
    text: str
    meant: bool = False


@dataclass(frozen=True)
class Table:
    """What each program did: rows of cells, and for each row whether it is wrong."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wrong: tuple[bool, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """One mistake in a tutor's words. `where` and `code_line` are the learner's own lines.

    `quoted` is the line with its neighbours, `cell` the fingerprint of the cell they are from.
    """

    gate: str
    code: str
    title: str
    message: str
    next_step: str = ""
    where: str = ""
    code_line: str = ""
    case: str = ""
    picture: Picture | None = None
    original: str = ""
    line: int | None = None  # in the text that was sent
    table: Table | None = None
    facts: tuple[tuple[str, str], ...] = ()
    quoted: tuple[Quoted, ...] = ()
    cell: str = ""


# Codes of findings of `check` itself: its argument is not an exercise, or has no code yet.
NO_EXERCISE = frozenset({"unknown-exercise", "kernel-given", "no-function"})
NO_CODE = frozenset({"not-defined"})


@dataclass(frozen=True)
class BytesMoved:
    """The bytes that a kernel moves in a case, and those that the model solution moves in it."""

    case: str
    own: int
    model: int


@dataclass(frozen=True)
class Resources:
    """The resources of one kernel on a GPU with compute capability `target` (80 means 8.0)."""

    kernel: str
    target: int
    registers: int
    shared_bytes: int
    spill_bytes: int


@dataclass(frozen=True)
class Report:
    """The result of one check.

    `state` is unjudged when the judge failed, not the learner; outdated when Python holds other
    code than the notebook shows; untouched when the stub is unchanged. `judged` names the cells
    whose text was judged.
    """

    exercise: str
    state: State
    gates: Mapping[str, str]
    findings: tuple[Finding, ...]
    cases_passed: int = 0
    cases_total: int = 0
    points: float | None = None
    max_points: int = 0
    sandbox: str = ""
    seconds: float = 0.0
    resources: tuple[Resources, ...] = ()
    remarks: tuple[Finding, ...] = ()  # on correct code
    judged: str = ""
    moved: BytesMoved | None = None
    source: str = ""  # the text that was judged
    cells: tuple[str, ...] = ()  # the fingerprints of the cells that were judged

    @property
    def counts(self) -> bool:
        """Whether code that the learner wrote was judged."""
        return self.state in ("passed", "failed") and not self._codes & (NO_EXERCISE | NO_CODE)

    @property
    def names_exercise(self) -> bool:
        """Whether the argument of the check was the name of an exercise."""
        return not self._codes & NO_EXERCISE

    @property
    def _codes(self) -> frozenset[str]:
        return frozenset(finding.code for finding in self.findings)


class MalformedReport(Exception):  # noqa: N818 - names what was received
    """The judge's answer lacks something that every report has."""


_STATES: dict[str, State] = {"passed": "passed", "failed": "failed", "ungraded": "unjudged"}


def read_report(answer: Mapping[str, Any]) -> Report:
    """The report in a judge's answer. Raises MalformedReport for anything else."""
    try:
        return Report(
            exercise=str(answer["exercise"]),
            state=_STATES[str(answer["verdict"])],
            gates={str(name): str(status) for name, status in answer["gates"].items()},
            findings=tuple(_read_finding(item) for item in answer["findings"]),
            cases_passed=int(answer.get("cases_passed", 0)),
            cases_total=int(answer.get("cases_total", 0)),
            points=None if answer.get("points") is None else float(answer["points"]),
            max_points=int(answer.get("max_points", 0)),
            sandbox=str(answer.get("sandbox", "")),
            seconds=float(answer.get("seconds", 0.0)),
            resources=tuple(_read_resources(item) for item in answer.get("resources", ())),
            remarks=tuple(_read_finding(item) for item in answer.get("remarks", ())),
            moved=_read_moved(answer.get("moved")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedReport(f"{type(error).__name__}: {error}") from error


def _read_finding(item: Mapping[str, Any]) -> Finding:
    picture = item.get("picture")
    line = item.get("line")
    return Finding(
        gate=str(item["gate"]),
        code=str(item["code"]),
        title=str(item["title"]),
        message=str(item["message"]),
        next_step=str(item.get("next_step") or ""),
        case=str(item.get("case") or ""),
        picture=None if picture is None else _read_picture(picture),
        original=str(item.get("original") or ""),
        line=None if line is None else int(line),
        table=_read_table(item.get("table")),
        facts=tuple((str(name), str(value)) for name, value in item.get("facts", ())),
    )


def _read_picture(item: Mapping[str, Any]) -> Picture:
    def pair(name: str) -> tuple[int, int] | None:
        found = item.get(name)
        return None if found is None else (int(found[0]), int(found[1]))

    elements = item.get("elements")
    sides = tuple(
        Side(
            str(side["name"]),
            tuple(tuple(map(str, row)) for row in side["rows"]),
            tuple(map(str, side["pixels"])),
        )
        for side in item.get("sides", ())
    )
    return Picture(
        rows=tuple(map(str, item["rows"])),
        caption=str(item["caption"]),
        shape=pair("shape"),
        step=pair("step") or (1, 1),
        block=pair("block"),
        elements=None if elements is None else int(elements),
        sides=sides,
    )


def _read_table(item: Mapping[str, Any] | None) -> Table | None:
    if item is None:
        return None
    columns = tuple(map(str, item["columns"]))
    rows = tuple(tuple(map(str, row)) for row in item["rows"])
    wrong = tuple(map(bool, item["wrong"]))
    if any(len(row) != len(columns) for row in rows) or len(wrong) != len(rows):
        raise ValueError("a table whose lines are not equally long")
    return Table(str(item["caption"]), columns, rows, wrong, tuple(map(str, item["notes"])))


def _read_moved(item: Mapping[str, Any] | None) -> BytesMoved | None:
    if item is None:
        return None
    return BytesMoved(str(item["case"]), int(item["own"]), int(item["model"]))


def _read_resources(item: Mapping[str, Any]) -> Resources:
    return Resources(
        kernel=str(item["kernel"]),
        target=int(item["target"]),
        registers=int(item["registers"]),
        shared_bytes=int(item["shared_bytes"]),
        spill_bytes=int(item["spill_bytes"]),
    )


def learners_mistake(exercise: str, code: str, title: str, message: str, step: str) -> Report:
    """A report on a mistake that was found without the judge."""
    finding = Finding("read", code, title, message, step)
    return Report(exercise, "failed", {"read": "failed"}, (finding,))


def could_not_check(exercise: str, message: str, mend: str, detail: str = "") -> Report:
    """A report that says that nothing was judged, and how to fix that."""
    finding = Finding("judge", "could-not-check", "", message, mend, original=detail)
    return Report(exercise, "unjudged", {}, (finding,))
