"""The misconceptions about GB/s and TFLOP/s, the special ones first."""

from __future__ import annotations

from math import floor, prod

import torch

from graders.course.benchmarking.reference import (
    PER_ELEMENT,
    TENSORS,
    Figures,
    least_elements,
    least_operations,
    throughput,
)
from graders.course.common.expected import computes
from graders.judge.records import Misconception

Shape = tuple[int, ...]
Wrong = tuple[float | None, float | None]  # None: that figure is right


def _of_elements(elements: float, dtype: torch.dtype, ms: float) -> Wrong:
    return elements * dtype.itemsize / ms * 1e-6, None


def _of_operations(operations: float, ms: float) -> Wrong:
    return None, operations / ms * 1e-9


def sides(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong] | None:
    """Sizes are added, or the first one is taken, where the number of elements is meant."""
    if kind == "matmul":
        m, k, n = shape
        counts = [m + k + n, 3 * m, 3 * n, 2 * (m + k + n)]
    elif len(shape) > 1:
        counts = [TENSORS[kind] * count for count in (shape[0], shape[-1], sum(shape))]
    else:
        return None
    return [_of_elements(count, dtype, ms) for count in counts]


def one_pass(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """Only what is read is counted, or only what is written."""
    if kind == "matmul":
        m, k, n = shape
        counts = [m * k + k * n, m * n]
    else:
        affine = 2 * shape[-1] if kind == "layernorm" else 0
        counts = [(TENSORS[kind] - 1) * prod(shape) + affine, prod(shape)]
    return [_of_elements(count, dtype, ms) for count in counts]


def one_input(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong | None:
    """vector_add has the traffic of a copy."""
    return _of_elements(2 * prod(shape), dtype, ms) if kind == "vector_add" else None


def nothing_for_empty_sum(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong | None:
    """A product without a k is taken to move nothing."""
    return (0.0, None) if kind == "matmul" and shape[1] == 0 else None


def each_walk(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong] | None:
    """Every walk of the kernel through its row is counted."""
    if kind not in ("softmax", "layernorm"):
        return None
    extra = 2 * shape[-1] if kind == "layernorm" else 0
    return [_of_elements(walks * prod(shape) + extra, dtype, ms) for walks in (3, 4, 5, 6)]


def affine_forgotten(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong] | None:
    """Weight, bias or both are left out, or are as long as a column."""
    if kind != "layernorm":
        return None
    extras = (0, shape[-1], 2 * prod(shape[:-1]), 2 * prod(shape))
    return [_of_elements(2 * prod(shape) + extra, dtype, ms) for extra in extras]


def four_bytes(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """Every number takes four bytes, or two; or those of weight and bias do."""
    elements = least_elements(kind, shape)
    moved = [elements * size for size in (4, 2)]
    if kind == "layernorm":
        affine = 2 * shape[-1]
        moved += [(elements - affine) * dtype.itemsize + affine * size for size in (4, 2)]
    return [(count / ms * 1e-6, None) for count in moved]


def bits(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong:
    """A number of 32 bits counts 32."""
    return throughput(kind, shape, dtype, ms)[0] * 8, None


def no_bytes(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong:
    """Numbers are counted, and not their bytes."""
    return least_elements(kind, shape) / ms * 1e-6, None


def milliseconds(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """The time is divided by as if it were in seconds; in both figures or in one."""
    gigabytes, teraflop = throughput(kind, shape, dtype, ms)
    both = (gigabytes * 1e-3, teraflop * 1e-3)
    return [both, (both[0], None), (None, both[1])]


def binary(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """Powers of 1,024 in the place of those of 1,000."""
    gigabytes, teraflop = throughput(kind, shape, dtype, ms)
    smaller = gigabytes * 1e9 / 2**30
    return [(smaller, None), (smaller, teraflop * 1e12 / 2**40), (None, teraflop * 1e12 / 2**40)]


def multiplications(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong | None:
    """Of a product the additions are forgotten."""
    return _of_operations(prod(shape), ms) if kind == "matmul" else None


def giga_for_tera(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> Wrong:
    """GFLOP/s, which are a thousand times as many."""
    return _of_operations(1000 * least_operations(kind, shape), ms)


def per_element(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong] | None:
    """One operation an element whatever the kind, none, or those of another kind."""
    if kind == "matmul":
        return None
    others = {0, 1, 2, *PER_ELEMENT.values()} - {PER_ELEMENT[kind]}
    return [_of_operations(other * prod(shape), ms) for other in sorted(others)]


def whole_numbers(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """`//` or `int` cut off what is behind the point, at one place or another."""
    gigabytes, teraflop = throughput(kind, shape, dtype, ms)
    seconds = ms * 1e-3
    moved = least_elements(kind, shape) * dtype.itemsize
    operations = least_operations(kind, shape)
    early = moved // 10**9 / seconds, operations // 10**12 / seconds
    both: list[Figures] = [(floor(gigabytes), floor(teraflop)), (round(gigabytes), round(teraflop))]
    both.append(early)
    return [*both, *((first, None) for first, _ in both), *((None, second) for _, second in both)]


def multiplied(kind: str, shape: Shape, dtype: torch.dtype, ms: float) -> list[Wrong]:
    """Multiplied by the time."""
    gigabytes, teraflop = throughput(kind, shape, dtype, ms)
    return [(gigabytes * ms**2 * by, teraflop * ms**2 * by) for by in (1e-6, 1e-3, 1.0)]


MISTAKES = (
    Misconception(
        code="sides-for-elements",
        title="Sides are counted in place of elements",
        message=(
            "A matrix of n rows and n columns has n² numbers. Here sizes are added, or one "
            "size is used alone: `12 * n` bytes in place of `12 * n**2`."
        ),
        next_step="Multiply the sizes: `torch.Size(shape).numel()`, or `math.prod(shape)`.",
        expected_wrong=computes(sides),
    ),
    Misconception(
        code="weight-and-bias-forgotten",
        title="The weight and the bias of layernorm are counted wrongly",
        message=(
            "layernorm also reads a weight and a bias, each with one number for every "
            "*column*, once. With few rows this is a large part."
        ),
        next_step="Add `2 * shape[-1]` numbers if kind is layernorm.",
        expected_wrong=computes(affine_forgotten),
    ),
    Misconception(
        code="second-input-forgotten",
        title="vector_add reads two inputs",
        message=(
            "A vector addition reads two inputs and writes one output: three tensors. Here "
            "only two are counted."
        ),
        next_step="Count three times the elements for vector_add, two times for the others.",
        expected_wrong=computes(one_input),
    ),
    Misconception(
        code="empty-sum-not-stored",
        title="An empty sum is stored, too",
        message=(
            "With k = 0 both factors are empty, but the result still has m · n zeros, which "
            "must be written."
        ),
        next_step=(
            "Count `m * k + k * n + m * n` elements for k = 0 as well, without a special case."
        ),
        expected_wrong=computes(nothing_for_empty_sum),
    ),
    Misconception(
        code="one-way-counted",
        title="Only reading or only writing is counted",
        message=("Only the reads or only the writes are counted. A copy of 1 GB moves 2 GB."),
        next_step="Count each input once and each output once, and add the two.",
        expected_wrong=computes(one_pass),
    ),
    Misconception(
        code="walks-counted",
        title="Each pass over a row is counted",
        message=(
            "A kernel may pass over a row of softmax or layernorm more than once. The least "
            "work is to read each input once and write each output once."
        ),
        next_step=(
            "Count two times the elements for softmax and layernorm, however many passes the "
            "kernel makes."
        ),
        expected_wrong=computes(each_walk),
    ),
    Misconception(
        code="additions-forgotten",
        title="A product multiplies and adds",
        message=(
            "m · k · n multiplications are counted. Each product is also added to a sum, "
            "which is a second operation."
        ),
        next_step="Count `2 * m * k * n` operations for matmul.",
        expected_wrong=computes(multiplications),
    ),
    Misconception(
        code="operations-of-another-kind",
        title="The operations for each element are not those of this kind",
        message=("The number of operations per element is not that of this kind."),
        next_step=(
            "Use 1 operation per element for vector_add, 5 for softmax, 8 for layernorm, 0 "
            "for copy and transpose."
        ),
        expected_wrong=computes(per_element),
    ),
    Misconception(
        code="bits-for-bytes",
        title="Bits are counted, not bytes",
        message=(
            "The GB/s are eight times too large, because bits are counted: "
            "`torch.finfo(dtype).bits` is a number of bits."
        ),
        next_step="Use `dtype.itemsize`, the number of bytes.",
        expected_wrong=computes(bits),
    ),
    Misconception(
        code="dtype-ignored",
        title="The size of a number does not follow its dtype",
        message=(
            "Every number is counted with the same size. A float16 or bfloat16 has 2 bytes, a "
            "float32 has 4, a float64 has 8, an int8 has 1."
        ),
        next_step="Multiply the count by `dtype.itemsize`.",
        expected_wrong=computes(four_bytes),
    ),
    Misconception(
        code="numbers-for-bytes",
        title="Numbers are counted, not bytes",
        message="The function counts numbers. A gigabyte is 10⁹ *bytes*.",
        next_step="Multiply the count by `dtype.itemsize`.",
        expected_wrong=computes(no_bytes),
    ),
    Misconception(
        code="milliseconds-for-seconds",
        title="Milliseconds are taken for seconds",
        message=(
            "The work is divided by milliseconds, but GB/s and TFLOP/s are per *second*. So "
            "both figures are a thousand times too small."
        ),
        next_step="Compute `seconds = milliseconds * 1e-3`, and divide by that in both figures.",
        expected_wrong=computes(milliseconds),
    ),
    Misconception(
        code="binary-units",
        title="GiB are not GB",
        message=(
            "The work is divided by powers of 1,024. Speeds use decimal units: a gigabyte is "
            "10⁹ bytes and a TFLOP 10¹² operations."
        ),
        next_step="Divide by `1e9` and by `1e12`.",
        expected_wrong=computes(binary),
    ),
    Misconception(
        code="giga-for-tera",
        title="GFLOP/s are returned, TFLOP/s are asked for",
        message="The second figure is a thousand times too large: it is divided by 10⁹.",
        next_step="A TFLOP is 10¹² operations: use `operations / seconds * 1e-12`.",
        expected_wrong=computes(giga_for_tera),
    ),
    Misconception(
        code="cut-to-whole-numbers",
        title="The decimals are lost",
        message=("`//`, `int()` and `round()` give whole numbers, so 0.4 TFLOP/s become 0."),
        next_step="Divide with `/`, and do not round.",
        expected_wrong=computes(whole_numbers),
    ),
    Misconception(
        code="multiplied-by-time",
        title="The work is multiplied by the time",
        message="The work is multiplied by the time, so a slower kernel gets a higher speed.",
        next_step="Divide by the seconds.",
        expected_wrong=computes(multiplied),
    ),
)
