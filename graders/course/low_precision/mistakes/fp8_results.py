"""A product of fp8 numbers with a scale for each row and column, as mistakes would compute it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from graders.course.common.detectors import OUT_OF_BOUNDS, READS_OUTSIDE, has_fault, has_holes
from graders.course.common.expected import each, read_as
from graders.course.low_precision.reference import fp8_matmul, fp8_matmul_magnitude
from graders.course.matmul.mistakes.product import (
    left_oblong_factor,
    with_factor_transposed,
    with_rows_of_k,
)
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence

LARGEST = float(torch.finfo(torch.float8_e4m3fn).max)
LARGEST_HALF = float(torch.finfo(torch.float16).max)
ROUNDED_TO = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16)

FEWEST_TELLING = 8  # elements in which rounding early shows at all
MOST_AGREE = 0.8  # the share of them that a product summed in another order may leave

Args = torch.Tensor


def scaled(product: Args, a: Args, b: Args, scale_a: Args, scale_b: Args) -> torch.Tensor:
    """The output that is made from a product."""
    return product * scale_a.double()[:, None] * scale_b.double()[None, :]


def operands(a: Args, b: Args, scale_a: Args, scale_b: Args) -> tuple[torch.Tensor, torch.Tensor]:
    """The two factors."""
    return a.double(), b.double()


def left_out(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """No scale is applied, or only one of the two."""
    product = a @ b
    return [product, product * scale_a[:, None], product * scale_b[None, :]]


ONE_OF_THEM: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda scales: scales[0],
    lambda scales: scales[-1],
    lambda scales: scales.amax(),
    lambda scales: scales.mean(),
)


def one_for_all(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """All rows, or columns, have the scale of one of them: the first, the last, the largest."""
    if not a.shape[0] or not b.shape[1]:
        return []
    product = a @ b
    found = []
    for take in ONE_OF_THEM:
        one_a, one_b = take(scale_a).expand_as(scale_a), take(scale_b).expand_as(scale_b)
        pairs = ((one_a, scale_b), (scale_a, one_b), (one_a, one_b))
        found += [product * left[:, None] * right[None, :] for left, right in pairs]
    return found


def one_for_tile(block: int, a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """All rows of a tile have one scale, or all columns, or both.

    It is the scale of the tile's first row, or the one whose index is the number of the tile.
    """
    product = a @ b
    found = []
    for step in (block, 1):
        few_a, few_b = (
            scale[(torch.arange(len(scale)) // block * step).clamp(max=max(0, len(scale) - 1))]
            for scale in (scale_a, scale_b)
        )
        pairs = ((few_a, scale_b), (scale_a, few_b), (few_a, few_b))
        found += [scaled(product, a, b, *pair) for pair in pairs]
    return found if block > 1 else []


def of_first_tile(block: int, a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """Every tile of rows, or columns, has the scales of the first one."""
    product = a @ b
    lanes_a, lanes_b = (torch.arange(len(scale)) % block for scale in (scale_a, scale_b))
    found = []
    if 1 < block < len(scale_a):
        found.append(scaled(product, a, b, scale_a[lanes_a], scale_b))
    if 1 < block < len(scale_b):
        found.append(scaled(product, a, b, scale_a, scale_b[lanes_b]))
    if len(found) == 2:
        found.append(scaled(product, a, b, scale_a[lanes_a], scale_b[lanes_b]))
    return found


def exchanged(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The scales of the rows are applied to columns, those of the columns to rows, or both.

    Beyond the last scale there is 0, as a load with a mask brings it, or 1.
    """
    if not len(scale_a) or not len(scale_b):
        return []
    product, left, right = a @ b, scale_a[:, None], scale_b[None, :]
    found = []
    for beyond in (0.0, 1.0):
        across = _of(scale_a, len(scale_b), beyond)[None, :]
        down = _of(scale_b, len(scale_a), beyond)[:, None]
        factors = (down * across, left * across, down * right, left * down, across * right)
        found += [product * factor for factor in factors]
    return found


def exchanged_in_tile(
    block: int, a: Args, b: Args, scale_a: Args, scale_b: Args
) -> list[torch.Tensor]:
    """In a square tile the scales of the rows are broadcast along its columns, or vice versa.

    So an element is multiplied by the scale of another row (or column) of its tile.
    """
    if block < 2 or max(len(scale_a), len(scale_b)) <= block:
        return []  # one tile: as without one
    rows, columns = torch.arange(len(scale_a))[:, None], torch.arange(len(scale_b))[None, :]
    of_row = _of(scale_a, len(scale_a) + block, 0.0)[rows // block * block + columns % block]
    of_column = _of(scale_b, len(scale_b) + block, 0.0)[columns // block * block + rows % block]
    product, left, right = a @ b, scale_a[:, None], scale_b[None, :]
    factors = (of_row * of_column, left * of_row, of_row * right, left * of_column)
    return [product * factor for factor in (*factors, of_column * right)]


def left_other_scales(evidence: Evidence) -> bool:
    """Tell whether the kernel read beyond a vector of scales, if the two differ in length.

    It may have looked for the scale of a row among those of the columns.
    """
    _, _, scale_a, scale_b = evidence.args
    return _left_a_vector(evidence) and len(scale_a) != len(scale_b)


def left_factor(evidence: Evidence) -> bool:
    """Tell whether the kernel left a or b, where they are not both square."""
    return left_oblong_factor(evidence) and not _left_a_vector(evidence)


def _left_a_vector(evidence: Evidence) -> bool:
    return any(
        fault.code in READS_OUTSIDE and fault.outside is not None and len(fault.outside.shape) == 1
        for fault in evidence.faults
    )


def _of(scale: torch.Tensor, length: int, beyond: float) -> torch.Tensor:
    """So many scales; `beyond` stands behind the last one."""
    missing = max(0, length - len(scale))
    return torch.nn.functional.pad(scale, (0, missing), value=beyond)[:length]


def along_k(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The scales are applied along k, to the columns of a or the rows of b."""
    k = a.shape[1]
    if not len(scale_a) or not len(scale_b) or not k:
        return []
    found = []
    for beyond in (0.0, 1.0):
        of_a, of_b = _of(scale_a, k, beyond), _of(scale_b, k, beyond)
        found += [
            ((a * of_a) @ b) * scale_b,
            (a @ (b * of_b[:, None])) * scale_a[:, None],
            (a * of_a * of_b) @ b,
            (a * of_b) @ b * scale_a[:, None],
            (a @ (b * of_a[:, None])) * scale_b,
        ]
    return found


def divided(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The product is divided by the scales, or by one of them."""
    over_a, over_b = 1 / scale_a, 1 / scale_b
    pairs = ((over_a, over_b), (over_a, scale_b), (scale_a, over_b))
    return [scaled(a @ b, a, b, *pair) for pair in pairs]


def times_largest(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """A scale is taken for the largest number of its row: divided by 448, or multiplied with it."""
    right = scaled(a @ b, a, b, scale_a, scale_b)
    return [right * LARGEST**power for power in (-2, -1, 1, 2)]


def other_power(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """A scale is applied twice, or its root."""
    found = []
    for power in (2.0, 0.5):
        of_a, of_b = scale_a.abs() ** power, scale_b.abs() ** power
        pairs = ((of_a, of_b), (of_a, scale_b), (scale_a, of_b))
        found += [scaled(a @ b, a, b, *pair) for pair in pairs]
    return found


def added(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The scales are added: to each other, or to the product."""
    product, left, right = a @ b, scale_a[:, None], scale_b[None, :]
    return [
        product * (left + right),
        product + left + right,
        product * left + right,
        product * right + left,
        product + left * right,
        product * torch.maximum(left, right),
    ]


def in_each_step(block: int, a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """What has been summed so far is scaled again in every step of the loop."""
    k = a.shape[1]
    if k <= block or k > 64 * block:
        return []
    ones_a, ones_b = torch.ones_like(scale_a), torch.ones_like(scale_b)
    inside = ((scale_a, scale_b), (scale_a, ones_b), (ones_a, scale_b))
    outside = ((ones_a, ones_b), (ones_a, scale_b), (scale_a, ones_b))
    found = []
    for (in_a, in_b), (out_a, out_b) in zip(inside, outside, strict=True):
        total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
        for start in range(0, k, block):
            total = total + a[:, start : start + block] @ b[start : start + block]
            total = scaled(total, a, b, in_a, in_b)
        found.append(scaled(total, a, b, out_a, out_b))
    return found


def tiles_rounded(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """Factors are scaled before the product, and rounded to a narrow format again.

    The scales may have been rounded before that, too.
    """
    found = []
    for dtype in ROUNDED_TO:
        few_a, few_b = rounded(scale_a, dtype), rounded(scale_b, dtype)
        for of_a, of_b in ((scale_a, scale_b), (few_a, few_b)):
            left = rounded(a * of_a[:, None], dtype)
            right = rounded(b * of_b[None, :], dtype)
            found += [left @ right, (left @ b) * scale_b, (a @ right) * scale_a[:, None]]
    return found


def tiles_were_rounded(evidence: Evidence) -> bool:
    """Tell whether the output is that of tiles that were rounded again, bit for bit."""
    return bits_of_one(evidence, tiles_rounded(*widened(evidence.args)))


def bits_of_one(evidence: Evidence, results: list[torch.Tensor]) -> bool:
    """Whether the output equals one of these wrong results, bit by bit.

    Only elements count in which the wrong result differs from the right one. A few of them may
    differ, because a sum over k in another order may end in another last bit.
    """
    actual = evidence.actual
    if actual is None or actual.dtype != torch.bfloat16 or has_holes(evidence):
        return False
    late = evidence.expected.to(actual.dtype)
    for wrong in results:
        early = wrong.to(actual.dtype)
        telling = (early != late) & ~early.isnan()
        if int(telling.sum()) < FEWEST_TELLING:
            continue
        if float((actual == early)[telling].double().mean()) > MOST_AGREE:
            return True
    return False


def rounded(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The nearest numbers of a format; of fp8 none is beyond the largest, as a GPU converts."""
    if dtype.itemsize == 1:
        largest = torch.finfo(dtype).max
        values = values.clamp(-largest, largest)
    return values.float().to(dtype).double()


def scales_rounded(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The scales are rounded to fewer bits, or to whole numbers."""
    found = []
    for dtype in ROUNDED_TO:
        left, right = rounded(scale_a, dtype), rounded(scale_b, dtype)
        found += [
            scaled(a @ b, a, b, *p) for p in ((left, right), (left, scale_b), (scale_a, right))
        ]
    whole_a, whole_b = scale_a.trunc(), scale_b.trunc()
    pairs = ((whole_a, whole_b), (whole_a, scale_b), (scale_a, whole_b))
    return found + [scaled(a @ b, a, b, *pair) for pair in pairs]


def result_rounded(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The finished result, or the sum before its scales, is rounded to few bits on the way."""
    found = []
    for dtype in ROUNDED_TO[:3]:
        found.append(rounded(fp8_matmul(a, b, scale_a, scale_b), dtype))
        found.append(scaled(rounded(a @ b, dtype), a, b, scale_a, scale_b))
    return found


def sum_rounded(block: int, a: Args, b: Args, scale_a: Args, scale_b: Args) -> torch.Tensor | None:
    """The sum is rounded to e4m3 after each step of the loop."""
    k = a.shape[1]
    if k <= block or k > 64 * block:
        return None
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
    for start in range(0, k, block):
        part = a[:, start : start + block] @ b[start : start + block]
        total = rounded(total + part, torch.float8_e4m3fn)
    return scaled(total, a, b, scale_a, scale_b)


def overflows_in_half(evidence: Evidence) -> bool:
    """Tell whether the output is infinite, or NaN, just where a sum may leave half precision."""
    actual = evidence.actual
    if actual is None or has_holes(evidence) or has_fault(evidence, OUT_OF_BOUNDS):
        return False
    if has_fault(evidence, frozenset({"masked-lanes-used", "uninitialised-read"})):
        return False
    a, b, *_ = widened(evidence.args)
    lost = ~actual.isfinite()
    if not lost.any() or bool((lost & (a.abs() @ b.abs() <= LARGEST_HALF)).any()):
        return False
    kept = ~lost
    if not kept.any():
        return True
    room = 2.0**-5 * fp8_matmul_magnitude(*widened(evidence.args))
    off = (actual.double() - evidence.expected.double()).abs()
    if bool((off <= room)[kept].all()):
        return True
    return bool(close(actual[kept], evidence.expected[kept]).all())


def bits_misread(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The eight bits of a number are read in another format, or as an integer."""
    found = []
    for dtype in (torch.float8_e5m2, torch.int8, torch.uint8):
        left, right = a.view(dtype).double(), b.view(dtype).double()
        forms = ((left, right), (left, b.double()), (a.double(), right))
        found += [scaled(x @ y, a, b, scale_a, scale_b) for x, y in forms]
    return found


def decoded_wrongly(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The bits of e4m3 are taken apart by hand, with another bias or without subnormal numbers."""
    found = []
    for decode in (*OTHER_BIASES, _flushed):
        left, right = decode(a), decode(b)
        found += [left @ right, left @ b.double(), a.double() @ right]
    for lowest in (2.0**-6, 2.0**-7):
        product = _filled(a, lowest) @ _filled(b, lowest)
        lanes = {-a.shape[1] % block for block in (1, 16, 32, 64, 128)}
        found += [product + count * lowest**2 for count in lanes]  # masked lanes hold zeros
    return [scaled(product, a, b, scale_a, scale_b) for product in found]


OTHER_BIASES: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda x: x.double() / 2,  # a bias of 8
    lambda x: x.double() * 2,  # of 6
    lambda x: x.double() / 256,  # of 15, as e5m2 has it
)


def _flushed(x: torch.Tensor) -> torch.Tensor:
    """Numbers whose exponent bits are all 0 count as zero."""
    return torch.where(x.view(torch.uint8) & 0x78 == 0, 0.0, x.double())


def _filled(x: torch.Tensor, lowest: float) -> torch.Tensor:
    """Numbers whose exponent bits are all 0, zero among them, get a leading 1 as all others do.

    lowest: the power of two that their exponent then means.
    """
    bits = x.view(torch.uint8).int()
    sign = torch.where(bits >= 0x80, -1.0, 1.0).double()
    return torch.where(bits & 0x78 == 0, sign * (1.0 + (bits & 7) / 8) * lowest, x.double())


def factor_transposed(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The two strides of a factor are exchanged; or b is read as if it lay in memory as (n, k)."""
    k, n = b.shape
    products = with_factor_transposed(a, b)
    products += [a.double() @ turned.double() for turned in each([read_as(b, (k, n), (1, k))])]
    return [scaled(product, a, b, scale_a, scale_b) for product in products]


def rows_as_long_as_k(a: Args, b: Args, scale_a: Args, scale_b: Args) -> list[torch.Tensor]:
    """The rows of b are taken to be k elements apart."""
    return [scaled(product, a, b, scale_a, scale_b) for product in with_rows_of_k(a, b)]


def swapped(a: Args, b: Args, scale_a: Args, scale_b: Args) -> torch.Tensor | None:
    """The product is b @ a."""
    if a.shape != b.shape or a.shape != a.t().shape:
        return None
    return scaled(b @ a, a, b, scale_a, scale_b)
