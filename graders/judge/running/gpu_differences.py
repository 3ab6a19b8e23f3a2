"""Why a GPU gives another result than the interpreter did: the known reasons, as data.

They are tried in order, and the first that matches is named. A difference without a matching reason
is explained like any other wrong result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from graders.judge.diagnosis.failures import Difference, Failure
from graders.judge.diagnosis.generic import FindingText
from graders.judge.plan.steps import Kernel

# TF32 keeps 10 bits of mantissa, so each product of two rounded operands is off by 2**-10 at most.
_TF32 = 2.0**-9
_HALF_ULPS = 16  # roundings of a 16-bit format that a short expression may add up to
_ABSURD = 77  # fits every dtype
_ROUNDING = 2.0**-9  # of the terms that are added up: far above fp32's, far below a lost update


@dataclass(frozen=True)
class RanAgain:
    """What is known about a case that failed on a GPU.

    `repeats` are results of the same case on the same GPU. `filled` is the result with undefined
    lanes filled, None if there are none. `magnitude` is the sum of the absolute values of the terms
    of each element, None if the exercise adds nothing up. `interpreted`: the interpreter found the
    case correct.
    """

    failure: Failure
    repeats: Sequence[torch.Tensor]
    filled: torch.Tensor | None
    magnitude: torch.Tensor | None
    kernels: Sequence[Kernel]
    interpreted: bool

    @property
    def error(self) -> torch.Tensor:
        """How far each element is off, in float64."""
        actual = self.failure.evidence.actual
        assert actual is not None
        return (actual.double() - self.failure.evidence.expected.double()).abs()

    @property
    def terms(self) -> torch.Tensor:
        if self.magnitude is not None:
            return self.magnitude
        return self.failure.evidence.expected.double().abs()

    @property
    def spread(self) -> torch.Tensor:
        """How much each element changes from run to run; infinite if NaN comes and goes."""
        actual = self.failure.evidence.actual
        assert actual is not None
        runs = torch.stack([actual.double(), *(result.double() for result in self.repeats)])
        spread = runs.amax(0) - runs.amin(0)
        steady = (runs == runs[0]).all(0) | runs.isnan().all(0)
        return torch.where(steady, 0.0, spread.nan_to_num(nan=torch.inf))


@dataclass(frozen=True)
class Reason:
    """Why results differ, and how that shows. `line` finds the line to blame, if there is one."""

    code: str
    text: FindingText
    shows: Callable[[RanAgain], bool]
    line: Callable[[Sequence[Kernel]], int | None] = lambda kernels: None


def name_difference(seen: RanAgain) -> Difference | None:
    """The first known reason that matches; None if none does."""
    for reason in REASONS:
        if reason.shows(seen):
            return Difference(reason.code, reason.text, reason.line(seen.kernels))
    return None


def fill_undefined_lanes(kernels: Sequence[Kernel]) -> list[Kernel] | None:
    """The kernels with an absurd `other` for each masked load without one; None if all have one.

    If the result changes with it, lanes that are masked off reach the result.
    """
    filled = [_filled(kernel) for kernel in kernels]
    return None if filled == list(kernels) else filled


def _filled(kernel: Kernel) -> Kernel:
    if kernel.code is None:
        return kernel
    tree = kernel.code.tree()
    for call in _loads_without_other(tree):
        keyword = ast.keyword("other", ast.Constant(_ABSURD))
        call.keywords.append(ast.copy_location(keyword, call))
        ast.copy_location(keyword.value, call)
    return replace(kernel, code=kernel.code.altered(tree))


def _calls(tree: ast.AST) -> list[tuple[str, ast.Call]]:
    """Calls of the Triton language in the order of their lines: ("load", …), ("sum", …)."""
    found = [
        (node.func.attr, node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "tl"
    ]
    return sorted(found, key=lambda pair: (pair[1].end_lineno, pair[1].end_col_offset))


def _loads_without_other(tree: ast.AST) -> list[ast.Call]:
    """Loads that have a mask and no `other`."""
    loads = []
    for name, call in _calls(tree):
        given = {keyword.arg for keyword in call.keywords}
        masked = "mask" in given or len(call.args) > 1
        if name == "load" and masked and "other" not in given and len(call.args) < 3:
            loads.append(call)
    return loads


def _trees(kernels: Sequence[Kernel]) -> Iterator[ast.AST]:
    return (kernel.code.known_tree for kernel in kernels if kernel.code is not None)


def _undefined_lanes(kernels: Sequence[Kernel]) -> int | None:
    calls = (call for tree in _trees(kernels) for call in _loads_without_other(tree))
    return next((call.lineno for call in calls), None)


def _has_atomics(kernels: Sequence[Kernel]) -> bool:
    calls = (name for tree in _trees(kernels) for name, _ in _calls(tree))
    return any(name.startswith("atomic") for name in calls)


def _reorders(seen: RanAgain) -> bool:
    """Whether the result changes from run to run by no more than reordering a sum can explain."""
    spread = seen.spread
    moves = bool((spread > 0).any()) and _has_atomics(seen.kernels)
    return moves and bool((spread <= _ROUNDING * seen.terms).all())


def _races(seen: RanAgain) -> bool:
    return bool((seen.spread > 0).any())


def _rounds_to_tf32(seen: RanAgain) -> bool:
    actual = seen.failure.evidence.actual
    assert actual is not None
    if seen.magnitude is None or actual.dtype != torch.float32:
        return False
    return bool((seen.error <= _TF32 * seen.magnitude).all())


def _rounds_to_half(seen: RanAgain) -> bool:
    actual = seen.failure.evidence.actual
    assert actual is not None
    if actual.dtype not in (torch.float16, torch.bfloat16):
        return False
    ulp = torch.finfo(actual.dtype).eps
    return bool((seen.error <= _HALF_ULPS * ulp * seen.terms).all())


def _uses_undefined_lanes(seen: RanAgain) -> bool:
    actual = seen.failure.evidence.actual
    assert actual is not None
    if seen.filled is None:
        return False
    same = (seen.filled == actual) | (seen.filled.isnan() & actual.isnan())
    return not bool(same.all())


REASONS = (
    Reason(
        "atomic-order",
        FindingText(
            "The sum changes from run to run",
            "Programs reach an atomic addition in any order, and each order rounds differently. "
            "The interpreter always adds in one order; on the GPU the same inputs gave several "
            "results, and some are further off than allowed.",
            "Let each program add its own part in float32 and use few atomics, or let one program "
            "own each output element.",
        ),
        _reorders,
    ),
    Reason(
        "race-on-gpu",
        FindingText(
            "The result changes from run to run on the GPU",
            "The judge ran the same inputs several times and got different results: programs that "
            "run at the same time affect each other. The interpreter runs them one after another.",
            "Look for memory that one program writes and another reads or writes. Assign each "
            "element to one program, use tl.atomic_add, or split the work into two launches.",
        ),
        _races,
    ),
    Reason(
        "tf32-on-gpu",
        FindingText(
            "The GPU computed the product in TF32",
            "The result is correct to about three digits: the tensor cores rounded the float32 "
            "inputs to TF32. `tl.dot` does so by default, and the compiler turns `tl.sum(a[:, :, "
            "None] * b[None, :, :], axis=1)` into a `tl.dot`. The interpreter computes in full "
            "float32.",
            'Write the product as `tl.dot(a, b, acc, input_precision="ieee")`, or sum over the '
            "last axis.",
        ),
        _rounds_to_tf32,
    ),
    Reason(
        "half-arithmetic-on-gpu",
        FindingText(
            "Arithmetic in 16 bits rounds differently on the GPU",
            "The result is off by a few roundings of the 16-bit format. The interpreter rounds "
            "after each operation; the GPU may fuse a product and a sum and round once. The "
            "format is too coarse to compute in.",
            "Convert right after the load, `.to(tl.float32)`, compute there, and convert back at "
            "the store.",
        ),
        _rounds_to_half,
    ),
    Reason(
        "undefined-lanes-on-gpu",
        FindingText(
            "Masked-off lanes hold something else on the GPU",
            "A `tl.load` with a mask and no `other` leaves the masked-off lanes undefined. The "
            "judge ran the kernel again with another number in them, and the result changed: so "
            "these lanes affect the result.",
            "Give the load an `other` that does not change the result: 0.0 for a sum, -inf for a "
            "maximum.",
        ),
        _uses_undefined_lanes,
        line=_undefined_lanes,
    ),
    Reason(
        "differs-on-gpu",
        FindingText(
            "Correct in the interpreter, wrong on the GPU",
            "The same inputs gave the correct result on the CPU, and the GPU always gives the "
            "same wrong one: so it is neither a race nor rounding.",
            "Compare the first wrong element with what one program computes for it. If the kernel "
            "is correct, tell your instructor: the interpreter may be wrong.",
        ),
        lambda seen: seen.interpreted,
    ),
)
