"""Find kernels that get the stride of another tensor, a mistake that equal strides hide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.sizes import FEWEST, SeenCase

CODE = "stride-of-another"
# The findings for a wrong stride, if no known mistake computes it.
SYMPTOMS = frozenset(
    {"contiguous-assumed", "column-stride-ignored", "missing-mask", "block-outside"}
    | {"address-outside"}
)
FEWEST_VALUES = 3  # of a parameter, before it counts as the stride of an axis

Axis = tuple[int, int]
"""The number of an argument, and one of its axes."""


def stride_of_another(
    cases: Sequence[SeenCase], parameters: Sequence[str]
) -> tuple[str, FindingText] | None:
    """The stride that no parameter gets and the one in its place, as code and text; or None.

    A parameter of the kernel always gets the stride of one tensor, and none gets that of another
    tensor. Exactly those cases fail in which the two strides differ.
    """
    seen = [case for case in cases if case.given]
    axes = list(_axes(seen))
    got = {axis: _parameters_with(seen, axis) for axis in axes}
    for missing in (axis for axis in axes if not got[axis]):
        for other in (axis for axis in axes if got[axis] and axis[0] != missing[0]):
            if _tells(seen, missing, other):
                return CODE, _text(parameters, missing, other, got[other])
    return None


def _axes(cases: Sequence[SeenCase]) -> Iterator[Axis]:
    for number, arg in enumerate(cases[0].args if cases else ()):
        if isinstance(arg, torch.Tensor):
            yield from ((number, axis) for axis in range(arg.dim()))


def _stride(case: SeenCase, axis: Axis) -> int | None:
    """The stride; None if the case has no such axis, or the axis has only one element."""
    tensor = case.args[axis[0]]
    if not isinstance(tensor, torch.Tensor) or axis[1] >= tensor.dim():
        return None
    return tensor.stride(axis[1]) if tensor.shape[axis[1]] > 1 else None


def _parameters_with(cases: Sequence[SeenCase], axis: Axis) -> list[str]:
    """The parameters of the kernel that equal this stride in every case."""
    known = [(case, stride) for case in cases if (stride := _stride(case, axis)) is not None]
    if len({stride for _, stride in known}) < FEWEST_VALUES:
        return []
    names = dict.fromkeys(name for case, _ in known for name in case.given)
    return [name for name in names if all(case.given.get(name) == stride for case, stride in known)]


def _tells(cases: Sequence[SeenCase], missing: Axis, other: Axis) -> bool:
    """Whether exactly those cases fail in which the strides differ, with enough of both kinds.

    False if exactly those fail in which the missing stride is not 1: the kernel assumes that it is
    1.
    """
    strides = [(case, _stride(case, missing), _stride(case, other)) for case in cases]
    known = [(case.failed, a, b) for case, a, b in strides if a is not None and b is not None]
    unknown = any(case.failed for case, a, b in strides if a is None or b is None)
    if unknown or all(failed == (a != 1) for failed, a, _ in known):
        return False
    outcomes = [(failed, a != b) for failed, a, b in known]
    failing, right = outcomes.count((True, True)), outcomes.count((False, False))
    return failing + right == len(known) and min(failing, right) >= FEWEST


def _text(
    parameters: Sequence[str], missing: Axis, other: Axis, names: Sequence[str]
) -> FindingText:
    due, wrong = (f"{parameters[number]}.stride({axis})" for number, axis in (missing, other))
    listed = " and ".join(f"`{name}`" for name in names)
    return FindingText(
        "One tensor is read with the stride of another",
        f"No parameter of the kernel gets `{due}`. In every case {listed} "
        f"{'is' if len(names) == 1 else 'are'} `{wrong}`, and only the cases in which these two "
        "strides differ are wrong. So the kernel reads one tensor with the stride of another.",
        f"Pass `{due}` to the kernel, and use it for `{parameters[missing[0]]}` alone.",
    )
