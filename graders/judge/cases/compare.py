"""Compare an output with the reference: a tolerance derived from the number format.

The default bounds follow the standard model of rounding (Higham, *Accuracy and Stability
of Numerical Algorithms*, ch. 2–4): a stored value is off by at most half an ulp of its
dtype, a sum of terms t_i in fp32 by a small multiple of 2**-24 · Σ|t_i|.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from graders.judge.records import Exercise, ReturnedTensor, Tolerance

# rel: a little over one ulp of the stored dtype, room for exp and division on a GPU; acc: fp32
# accumulation in any order; TF32 and fp16 accumulation exceed it by far.
DEFAULTS = {
    torch.float64: Tolerance(rel=1e-12, acc=1e-13),
    torch.float32: Tolerance(rel=4e-6, acc=4e-6, abs=1e-37),
    torch.float16: Tolerance(rel=2.0**-10, acc=4e-6, abs=2.0**-24),
    torch.bfloat16: Tolerance(rel=2.0**-7, acc=4e-6, abs=1e-37),
}
FEW = 509  # elements; not a power of two, so that the step is seldom a multiple of a row
INTEGER_VIEW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Expectation:
    """The required result of a case: `values` in float64 or exact integers, `slack` per element.

    If a launcher returns several tensors, this is number `result`; `names` has all names.
    """

    values: torch.Tensor
    slack: torch.Tensor | None  # None: compare exactly
    dtype: torch.dtype
    exact: bool
    any_integer: bool
    nan_may_be: tuple[float, ...]
    result: int = 0
    names: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def name(self) -> str:
        """The name of this result among several; "" for an only one."""
        return self.names[self.result] if self.names else ""


def expect(exercise: Exercise, args: tuple[Any, ...]) -> tuple[Expectation, ...]:
    """Run the reference, and compute how far a correct result may differ from it.

    Returns one expectation for each tensor that the launcher returns.
    """
    wide = args if exercise.exact else widened(args)
    found = exercise.reference(*wide)
    if not exercise.results:
        return (_expectation(exercise, args, wide, found, returned_tensor(exercise)),)
    names = tuple(result.name for result in exercise.results)
    return tuple(
        replace(
            _expectation(exercise, args, wide, values, result),
            result=number,
            names=names,
        )
        for number, (values, result) in enumerate(zip(found, exercise.results, strict=True))
    )


def returned_tensor(exercise: Exercise, number: int = 0) -> ReturnedTensor:
    """The exercise's record of the result `number`."""
    if exercise.results:
        return exercise.results[number]
    return ReturnedTensor(
        name="",
        dtype=exercise.dtype,
        magnitude=exercise.magnitude,
        tolerance=exercise.tolerance,
        exact=exercise.exact,
    )


def _expectation(
    exercise: Exercise,
    args: tuple[Any, ...],
    wide: tuple[Any, ...],
    values: torch.Tensor,
    result: ReturnedTensor,
) -> Expectation:
    dtype = result.dtype or result_dtype(args)
    slack = None
    if not result.exact and (dtype.is_floating_point or dtype in result.tolerance):
        values = values.double()
        terms = result.magnitude(*wide) if result.magnitude else values.abs()
        bound = result.tolerance.get(dtype) or DEFAULTS[dtype]
        slack = bound.rel * values.abs() + bound.acc * terms + bound.abs
        slack = slack.nan_to_num(nan=0.0, posinf=0.0)
    return Expectation(
        values,
        slack,
        dtype,
        result.exact,
        exercise.any_integer_dtype,
        exercise.nan_may_be,
    )


def result_dtype(args: tuple[Any, ...]) -> torch.dtype:
    """The course's rule: a result has the dtype of the first tensor (int64 without one)."""
    return next((a.dtype for a in args if isinstance(a, torch.Tensor)), torch.int64)


def widened(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with every floating tensor in float64."""
    return tuple(
        a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args
    )


def wrong_elements(actual: torch.Tensor, expectation: Expectation) -> torch.Tensor:
    """Bool tensor of the result's shape: True where `actual` is not acceptable."""
    if expectation.exact:
        return _bits(actual) != _bits(expectation.values.to(expectation.dtype))
    if expectation.slack is None:
        return actual.to(torch.int64) != expectation.values.to(torch.int64)
    return ~close(
        actual, expectation.values, expectation.slack, expectation.dtype, expectation.nan_may_be
    )


def close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    slack: torch.Tensor,
    dtype: torch.dtype,
    nan_may_be: tuple[float, ...] = (),
) -> torch.Tensor:
    """Elementwise: within the slack, or equal to the reference after rounding to `dtype`."""
    got, want = actual.double(), expected.double()
    good = (got - want).abs() <= slack
    if dtype.is_floating_point:
        good |= got == want.to(dtype).double()  # infinities, and overflow of the dtype
    good |= got.isnan() & want.isnan()
    for value in nan_may_be:
        good |= want.isnan() & (got == value)
    return good


def sparse(tensor: torch.Tensor) -> int:
    """The step between the sampled elements of a large result; 1 for a small one."""
    return max(1, tensor.numel() // FEW)


def every(tensor: torch.Tensor, step: int) -> torch.Tensor:
    """Every step-th element, flattened; the tensor itself if step is 1."""
    return tensor if step == 1 else tensor.flatten()[::step]


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(INTEGER_VIEW[tensor.element_size()])
