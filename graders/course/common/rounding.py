"""Mistakes of precision: values that passed through a number format with fewer bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from graders.course.common.detectors import Detector, either
from graders.course.common.expected import Result
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence, Misconception


def _rounded(dtype: torch.dtype, evidence: Evidence) -> tuple[Any, ...]:
    """Return the arguments in float64, after they have been rounded to `dtype`."""
    return tuple(
        arg.to(dtype).double() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg
        for arg in evidence.args
    )


def _went_through_half(reference: Result | None = None) -> Detector:
    """The detector of values (or of inputs of `reference`) that were rounded to 16 bits."""

    def detector(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype not in (torch.float32, torch.float64):
            return False
        if any(launch.tf32 for launch in evidence.launches):
            return False  # TF32 has as many mantissa bits as float16
        if torch.equal(actual, evidence.expected.to(actual.dtype)):
            return False
        finite = actual[actual.isfinite()]
        return finite.numel() > 1 and any(
            (_is_rounded(finite, half) and _nearly(actual, evidence.expected))
            or _inputs_rounded(evidence, reference, half)
            for half in (torch.float16, torch.bfloat16)
        )

    return detector


def _inputs_rounded(evidence: Evidence, reference: Result | None, half: torch.dtype) -> bool:
    """Whether the output is the reference of inputs that were rounded to a 16-bit format."""
    found = None if reference is None else reference(*_rounded(half, evidence))
    return found is not None and looks_like(evidence, found)


def lossy_dtype(reference: Result | None = None) -> Misconception:
    """Return the misconception of values that passed through a half-precision format.

    With a reference it is also recognised if only the inputs were rounded.
    """
    return Misconception(
        code="lossy-dtype",
        everywhere=True,
        title="The values went through half precision",
        message=(
            "The tensors are float32, but the numbers look rounded to float16 or bfloat16: at "
            "most 11 of their 24 significant bits are left."
        ),
        next_step=(
            "Look for `tl.float16`, `tl.bfloat16`, `.half()`, and for the dtype of each buffer. "
            "Compute in float32, and convert once, at the store, to the dtype of the output."
        ),
        detector=_went_through_half(reference),
    )


def _is_rounded(values: torch.Tensor, half: torch.dtype) -> bool:
    """Whether all values are numbers of a 16-bit format, and not all of them zero."""
    return torch.equal(values, values.to(half).to(values.dtype)) and bool(values.any())


def _nearly(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether the output is correct except for rounding: whole numbers fit any format."""
    known = actual.isfinite() & expected.isfinite()
    got, want = actual[known].double(), expected[known].double()
    if torch.equal(got, want):
        return False
    scale = float(want.abs().max()) if want.numel() else 0.0
    return bool(((got - want).abs() <= 2.0**-5 * (want.abs() + 0.125 * scale)).all())


def lossy_copy() -> Misconception:
    """Return the misconception of a copy through a format that cannot represent all values."""
    formats = (torch.float32, torch.float16, torch.bfloat16, torch.int32)

    def detector(evidence: Evidence) -> bool:
        actual, want = evidence.actual, evidence.expected
        if actual is None or actual.dtype != want.dtype:
            return False
        on_the_way = (want.to(format_).to(want.dtype) for format_ in formats)
        return any(
            torch.equal(actual.double(), lost.double())
            and not torch.equal(lost.double(), want.double())
            for lost in on_the_way
        )

    return Misconception(
        code="lossy-dtype",
        title="The copy changes values on the way",
        message=(
            "The elements went through another format, such as float32, that cannot represent all "
            "large integers and float64 numbers. A copy must be bit for bit the same."
        ),
        next_step=(
            "Store what you loaded, without `.to(...)` or arithmetic, into an output of x.dtype."
        ),
        detector=either(detector, _went_through_half()),
    )


def accumulates_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of a sum kept in float16 or bfloat16.

    `magnitude(*args)` is the sum of the absolute values of the terms.
    """

    def detector(evidence: Evidence) -> bool:
        return _nearly_in_half(evidence, magnitude)

    return Misconception(
        code="accumulates-in-half",
        everywhere=True,
        title="The sum is kept in half precision",
        message=(
            "The output is nearly correct, and the longer the sum, the larger the error. After "
            "each step the accumulator was rounded to 11 bits (float16) or 8 bits (bfloat16), so "
            "small terms vanish."
        ),
        next_step=(
            "Accumulate in float32, `tl.zeros(..., dtype=tl.float32)`, for every input dtype, and "
            "convert once, at the store."
        ),
        detector=detector,
    )


def computes_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of arithmetic in float16 or bfloat16 before the last store.

    `magnitude(*args)` is the size of the numbers that make up each element.
    """

    def detector(evidence: Evidence) -> bool:
        return _nearly_in_half(evidence, magnitude)

    return Misconception(
        code="computes-in-half",
        everywhere=True,
        title="Part of the arithmetic ran in half precision",
        message=(
            "The output is nearly correct, but the error is larger than one rounding. An "
            "intermediate number was rounded to 16 bits: what you load has the dtype of the "
            "tensor, and so has what you compute with it."
        ),
        next_step=(
            "Convert right after the load, `tl.load(...).to(tl.float32)`, keep scratch buffers in "
            "torch.float32, and round once, at the store of the output."
        ),
        detector=detector,
    )


def _nearly_in_half(evidence: Evidence, magnitude: Callable[..., torch.Tensor]) -> bool:
    """Whether a half-precision output is off by no more than a few of its roundings."""
    actual = evidence.actual
    if actual is None or actual.dtype not in (torch.float16, torch.bfloat16):
        return False
    room = 4 * torch.finfo(actual.dtype).eps * magnitude(*widened(evidence.args))
    error = (actual.double() - evidence.expected.double()).abs()
    return bool((error <= room).all())


def _rounded_to_ten_bits(evidence: Evidence, magnitude: Callable[..., torch.Tensor]) -> bool:
    """Whether the error of a float32 output is as large as rounding its terms to 10 bits gives."""
    actual = evidence.actual
    if actual is None or actual.dtype != torch.float32:
        return False
    size = magnitude(*widened(evidence.args))
    error = (actual.double() - evidence.expected.double()).abs()
    off = error > 2.0**-18 * size  # far more than float32 rounding, in most of the elements
    alive = int((evidence.expected != 0).sum())  # after a ReLU the zeros are correct anyway
    return bool((error <= 2.0**-9 * size).all()) and int(off.sum()) * 2 > alive


def terms_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of a product whose float32 factors were converted on the way."""

    def detector(evidence: Evidence) -> bool:
        in_tf32 = any(launch.tf32 for launch in evidence.launches)
        return not in_tf32 and _rounded_to_ten_bits(evidence, magnitude)

    return replace(lossy_dtype(), detector=detector)


def tf32_product() -> Misconception:
    """Return the misconception of float32 inputs cut off to TF32 by the tensor cores."""
    return Misconception(
        code="tf32-product",
        title="The float32 inputs were cut off to TF32",
        message=(
            "The product is correct to about three decimal digits only. By default the tensor "
            "cores cut both inputs off to TF32 in `tl.dot`: 10 bits of mantissa instead of 23. "
            "The contract asks for float32 accuracy."
        ),
        next_step='Ask for full precision: `tl.dot(a, b, acc, input_precision="ieee")`.',
        faults=frozenset({"tf32-rounding"}),
    )
