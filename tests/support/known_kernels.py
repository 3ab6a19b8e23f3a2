"""The kernels whose verdict is known beforehand, and what the judge must say of each.

tests/test_course.py judges them; tests/support/drawn.py decides which ones in this run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from graders.authoring.kernels import correct_kernels, wrong_kernels
from graders.authoring.lesson import read_solutions, stub
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery, pipeline
from graders.judge.pipeline import GATE_NAMES, Judge
from graders.judge.running.reached import NOT_REACHED
from tests.support import drawn
from triton_util.report import GateStatus, Report, Verdict

ROOMS = Rooms(find_root(Path(__file__)))
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
# Wrong kernels with more than one finding, by exercise: all others have only the intended one.
MORE_FINDINGS = {
    "attention": {"causal_always__tf32"},
    "bias_relu": {"several_kernels"},
    "cumsum": {"no_kernel"},
    "dropout_residual": {"too_much_traffic"},
    "fair_ms": {"no_warm_up__single", "warm_cache__twice"},
    "grouped_gemm": {"torch_computes"},
    "histogram": {"compile_error__counts_of_bytes"},
    "linear_bias_relu": {"several_kernels", "several_kernels__in_place"},
    "matmul": {"factor_transposed__tf32"},
    "persistent_matmul": {"descriptor_cannot_follow"},
    "quantized_matmul": {"k_tail_dropped"},
    "scale_rows": {"lanes_not_neighbours__clamped"},
    "swizzle_ids": {"torch_computes__python_list"},
    "transpose": {"tile_half_transposed", "tile_reshaped"},
    "vector_add": {"torch_moves"},
}
# Of these, the ones whose intended finding is not the first.
LATER = {
    ("dropout_residual", "too_much_traffic"),
    ("persistent_matmul", "descriptor_cannot_follow"),
}

# These are refused, but another cause is named first: the ranker has to learn them.
OTHER_NAME = {
    ("cumsum", "bound_of_other_axis"): "grid-too-small",
    ("layernorm", "second_block_wrong"): "computes-in-half",
    ("softmax", "second_block_wrong"): "max-not-subtracted",
}


@dataclass(frozen=True)
class Told:
    """What the judge said; `said` is for people."""

    verdict: str
    points: float | None
    max_points: float
    codes: tuple[str, ...]
    remarks: tuple[str, ...]
    gates: tuple[str, ...]  # those that passed
    said: str = field(default="", compare=False)

    @classmethod
    def of(cls, report: Report) -> Self:
        said = "; ".join(f"[{f.gate}: {f.code}] {f.title}: {f.message}" for f in report.findings)
        codes = tuple(finding.code for finding in report.findings)
        # Which cases reach a part of a kernel says nothing about the kernel.
        remarks = tuple(remark.code for remark in report.remarks if remark.code != NOT_REACHED)
        passed = tuple(name for name in GATE_NAMES if report.gates.get(name) is GateStatus.PASSED)
        verdict, points, most = str(report.verdict), report.points, report.max_points
        return cls(verdict, points, most, codes, remarks, passed, said)


@dataclass(frozen=True)
class Kernel:
    """A submission whose verdict is known beforehand. `kind`: right, wrong, stub or solution."""

    exercise: str
    kind: str
    path: Path
    name: str = ""
    known: str = field(default="", compare=False, repr=False)  # the text of a right or wrong one

    @property
    def id(self) -> str:
        """The parameter of its test, in the form that tests/support/drawn.py reads."""
        lesson = discovery.exercise(self.exercise).lesson
        return f"{lesson}/{self.exercise}/{self.name or self.path.stem}"

    @property
    def code(self) -> str:
        """The misconception that a wrong kernel must be refused for."""
        return self.name.partition("__")[0].replace("_", "-")

    @property
    def needs(self) -> set[str]:
        """The gates that a correct one passes."""
        plain = discovery.exercise(self.exercise).function is not None
        return {"read", "call"} if plain else {"read", "compile", "interpret"}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a correct kernel must be remarked upon for: `style__one_remark__another.py`."""
        told = self.name.split("__")[1:] if self.kind == "right" else []
        return tuple(remark.replace("_", "-") for remark in told)

    @cached_property
    def text(self) -> str:
        if self.kind in ("right", "wrong"):
            return self.known
        solution = read_solutions(self.path)[self.exercise]
        return IMPORTS + (stub(solution) if self.kind == "stub" else solution)

    def ask(self, judge: Judge) -> Told:
        """What the judge says.

        Except in `make nightly`, a wrong kernel is compiled only if the interpreter has not refused
        it under its name.
        """
        if self.kind == "wrong" and drawn.mode() != "nightly":
            with _not_compiled():
                told = self._asked(judge)
            if told.verdict == Verdict.FAILED and not self.wanting(told):
                return told
        return self._asked(judge)

    def _asked(self, judge: Judge) -> Told:
        record = discovery.exercise(self.exercise)
        if self.kind in ("right", "wrong") and self.path.suffix == ".py":
            return Told.of(judge.judge(self.path, record))
        return Told.of(judge.judge_text(self.text, record, f"<{self.kind}>"))

    def wanting(self, told: Told) -> str:
        """What is wrong with a verdict; '' where it is as it should be."""
        if self.kind in ("right", "solution"):
            return self._wanting_if_correct(told)
        if told.verdict != Verdict.FAILED:
            return f"is {told.verdict}"
        if self.kind == "stub":
            return "" if told.points == 0 else f"has {told.points} points"
        if told.points is None or told.points >= told.max_points:
            return "is refused with all points"
        first = told.codes if (self.exercise, self.name) in LATER else told.codes[:1]
        alone = self.name not in MORE_FINDINGS.get(self.exercise, ())
        code = OTHER_NAME.get((self.exercise, self.name), self.code)
        if code not in first or (alone and len(told.codes) > 1):
            return f"refused as {list(told.codes)}"
        return ""

    def _wanting_if_correct(self, told: Told) -> str:
        if told.verdict != Verdict.PASSED or told.points != told.max_points:
            return f"is {told.verdict}"
        if missing := self.needs - set(told.gates):
            return f"did not pass {sorted(missing)}"
        as_due = told.remarks == self.remarks
        return "" if as_due else f"remarked upon: {list(told.remarks)}"


@contextmanager
def _not_compiled() -> Iterator[None]:
    """Judge without the gate *compile*, which takes a third of the time."""
    gates = pipeline.GATES
    pipeline.GATES = tuple(gate for gate in gates if gate.name != "compile")
    try:
        yield
    finally:
        pipeline.GATES = gates


def kernels(kind: str) -> list[Kernel]:
    """Those of all lessons, in the order of their names."""
    known = sorted(discovery.exercises().values(), key=lambda record: (record.lesson, record.name))
    found: list[Kernel] = []
    for record in known:
        solution = ROOMS.solutions / f"{record.lesson}.py"
        if not solution.is_file():
            continue
        if kind in ("stub", "solution"):
            found.append(Kernel(record.name, kind, solution))
            continue
        listed = correct_kernels if kind == "right" else wrong_kernels
        home = ROOMS.kernels(record.name, record.lesson)
        found += [
            Kernel(record.name, kind, of.path, of.name, of.text) for of in listed(home).values()
        ]
    return found
