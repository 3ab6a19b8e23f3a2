"""A product with a matrix of 4-bit numbers, as mistakes would compute it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import torch

from graders.course.common.detectors import has_holes
from graders.course.common.strays import left
from graders.course.low_precision.reference import (
    LOWEST_FIRST,
    PER_WORD,
    dequantized,
    quantized_matmul,
    spread,
    unpacked,
)
from graders.judge.records import Evidence

# Orders in which the three binary digits of a place have changed places, or are turned over:
# highest first, even then odd, two halves in turns, neighbours exchanged, and so on.
OTHER_ORDERS = tuple(
    order
    for weights in permutations((1, 2, 4))
    for turned in range(PER_WORD)
    if (
        order := tuple(
            turned ^ sum(weight for bit, weight in enumerate(weights) if place >> bit & 1)
            for place in range(PER_WORD)
        )
    )
    != LOWEST_FIRST
)

WIDEST_TILE = 256  # columns


def operands(
    a: torch.Tensor, packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The two factors."""
    return a.double(), dequantized(packed_b, scales, zeros)


def _with_numbers(q: torch.Tensor, *args: torch.Tensor) -> torch.Tensor:
    """The product, had b held these numbers q."""
    a, _, scales, zeros = args
    return a @ ((q - spread(zeros, len(q))) * spread(scales, len(q)))


def other_order(*args: torch.Tensor) -> list[torch.Tensor]:
    """The nibbles of a word are dealt out in another order."""
    return [_with_numbers(unpacked(args[1], order), *args) for order in OTHER_ORDERS]


def nibbles_apart(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
    """The eight numbers of a word do not stay neighbours within a block of k.

    First come the lowest nibbles of all words, then the second ones, and so on; or first all even
    nibbles, then all odd ones. Words beyond the end are 0, as a load with `other=0` gives them.
    """
    packed = args[1]
    words = block // PER_WORD
    if words < 2 or packed.shape[0] < 2:
        return []
    missing = -packed.shape[0] % words
    q = unpacked(torch.nn.functional.pad(packed, (0, 0, 0, missing)))
    found = []
    for together in (PER_WORD, 4, 2):
        apart = q.reshape(-1, block // together, together, q.shape[1]).transpose(1, 2)
        found.append(_with_numbers(apart.reshape(q.shape)[: PER_WORD * len(packed)], *args))
    return found


def divided(*args: torch.Tensor) -> list[torch.Tensor]:
    """The nibbles are cut out by division and remainder, which round towards 0 in Triton.

    Or they are shifted down, and cut out by the remainder.
    """
    words = args[1].to(torch.int64).repeat_interleave(PER_WORD, dim=0)
    powers = 16 ** (torch.arange(len(words)) % PER_WORD)[:, None]
    quotients = torch.div(words, powers, rounding_mode="trunc")
    shifted = torch.div(words, powers, rounding_mode="floor")
    return [_with_numbers(torch.fmod(numbers, 16), *args) for numbers in (quotients, shifted)]


def groups_overlap(*args: torch.Tensor) -> torch.Tensor | None:
    """A group is taken as a block of a power of two, whose end lies in the next group."""
    a, packed, scales, zeros = args
    q, groups = unpacked(packed), len(scales)
    size = len(q) // max(1, groups)
    block = 1 << max(0, size - 1).bit_length()
    if groups < 2 or block == size:
        return None
    result = torch.zeros(a.shape[0], q.shape[1], dtype=torch.float64)
    for group in range(groups):
        rows = slice(group * size, group * size + block)
        numbers = (q[rows].double() - zeros[group].double()) * scales[group].double()
        result += a[:, rows].double() @ numbers
    return result


def sign_extended(*args: torch.Tensor) -> torch.Tensor:
    """Nibbles of 8 and more are read as negative numbers."""
    q = unpacked(args[1])
    return _with_numbers(torch.where(q >= 8, q - 16, q), *args)


def shifted_wrongly(*args: torch.Tensor) -> list[torch.Tensor]:
    """Nibbles are shifted out of their word by a wrong amount, or not masked.

    The shift is 0, or it is not multiplied by 4, or it grows beyond the length of the word; or
    the bits above the nibble are kept, or those of the sign above the highest one.
    """
    packed = args[1].to(torch.int64)
    place = torch.arange(PER_WORD)[:, None]
    k = torch.arange(PER_WORD * packed.shape[0])[:, None]
    nibbles = (packed[:, None, :] >> 4 * place) & 0xF
    top = place == PER_WORD - 1
    forms = (
        (packed[:, None, :] >> 0 * place) & 0xF,
        (packed[:, None, :] >> place) & 0xF,
        packed[:, None, :] >> 4 * place,
        torch.where(top, packed[:, None, :] >> 4 * place, nibbles),
        ((packed & 0xFFFFFFFF)[:, None, :]) >> 4 * place,
        (packed.repeat_interleave(PER_WORD, dim=0) >> (4 * k).clamp(max=32)) & 0xF,
    )
    shape = (PER_WORD * packed.shape[0], packed.shape[1])
    return [_with_numbers(form.reshape(shape), *args) for form in forms]


def overflows_uncut(evidence: Evidence) -> bool:
    """Tell whether the output is not finite just where numbers that are not cut off overflow."""
    actual = evidence.actual
    if actual is None or evidence.faults or has_holes(evidence):
        return False
    a, packed, scales, zeros = evidence.args
    place = 4 * torch.arange(PER_WORD)[:, None]
    found = []
    for words in (packed.to(torch.int64), packed.to(torch.int64) & 0xFFFFFFFF):
        q = (words[:, None, :] >> place).reshape(PER_WORD * packed.shape[0], packed.shape[1])
        b = (q - spread(zeros, len(q))) * spread(scales, len(q))
        found.append(~(a.double() @ b.to(a.dtype).double()).isfinite())
    return any(bool(lost.any()) and torch.equal(lost, ~actual.isfinite()) for lost in found)


def words_repeated(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
    """Each step loads the words of the first block again, with scales that go on."""
    a, packed, *_ = args
    k = PER_WORD * len(packed)
    if not PER_WORD <= block < k:
        return []
    lane = torch.arange(k) % block
    q = unpacked(packed)[lane]
    return [_with_numbers(q, *args), _with_numbers(q, a[:, lane], *args[1:])]


def along_n(*args: torch.Tensor) -> list[torch.Tensor]:
    """Eight neighbours along n share a word; or the nibble is chosen by the column."""
    packed = args[1]
    rows, n = packed.shape
    column = torch.arange(n)
    words = packed.to(torch.int64).repeat_interleave(PER_WORD, dim=0)
    found = [_with_numbers((words >> 4 * (column % PER_WORD)) & 0xF, *args)]
    if n % PER_WORD == 0:
        dense = packed.reshape(PER_WORD * rows, n // PER_WORD).to(torch.int64)
        q = (dense.repeat_interleave(PER_WORD, dim=1) >> 4 * (column % PER_WORD)) & 0xF
        found.append(_with_numbers(q, *args))
    return found


def groups_beyond(evidence: Evidence) -> bool:
    """Tell whether scales or zero points were read whole rows beyond the last group.

    A mask that is missing along n leads at most one block behind the last row.
    """
    _, _, scales, zeros = evidence.args
    if not (scales.is_contiguous() and zeros.is_contiguous()):
        return False
    return any(seen.highest >= seen.end + WIDEST_TILE for seen in left(evidence, scales))


def _with_groups(scale: torch.Tensor, zero: torch.Tensor, *args: torch.Tensor) -> torch.Tensor:
    """The product, had each number of b this scale and this zero point."""
    return args[0] @ ((unpacked(args[1]) - zero) * scale)


def _with_rows(rows: torch.Tensor, *args: torch.Tensor) -> Iterator[torch.Tensor]:
    """The products, were the scales, the zero points or both those of these groups."""
    scales, zeros = args[2].double(), args[3].double()
    right = spread(scales, len(rows)), spread(zeros, len(rows))
    wrong = scales[rows], zeros[rows]
    for scale, zero in (wrong, (wrong[0], right[1]), (right[0], wrong[1])):
        yield _with_groups(scale, zero, *args)


def scales_pile_up(*args: torch.Tensor) -> torch.Tensor | None:
    """The whole sum so far is multiplied by each group's scale, and not that group's part."""
    a, packed, scales, zeros = args
    groups = len(scales)
    if groups < 2:
        return None
    q = unpacked(packed) - spread(zeros, PER_WORD * len(packed))
    parts = zip(a.double().chunk(groups, dim=1), q.chunk(groups, dim=0), scales, strict=True)
    total = torch.zeros((len(a), packed.shape[1]), dtype=torch.float64)
    for columns, rows, scale in parts:
        total = (total + columns @ rows) * scale.double()
    return total


def zero_after_scale(*args: torch.Tensor) -> torch.Tensor:
    """b = q * scale - zero."""
    a, packed, scales, zeros = args
    q = unpacked(packed)
    return a @ (q * spread(scales, len(q)) - spread(zeros, len(q)))


def zero_left_out(*args: torch.Tensor) -> list[torch.Tensor]:
    """b = q * scale; or all zero points are 8, the middle of 0…15."""
    scale = spread(args[2], PER_WORD * len(args[1]))
    return [_with_groups(scale, torch.full_like(scale, middle), *args) for middle in (0, 8, 7)]


def zero_off_by_one(*args: torch.Tensor) -> list[torch.Tensor]:
    """One is added to the zero points, or subtracted from them."""
    k = PER_WORD * len(args[1])
    scale, zero = spread(args[2], k), spread(args[3], k)
    return [_with_groups(scale, zero + more, *args) for more in (1, -1)]


def through_half(*args: torch.Tensor) -> list[torch.Tensor]:
    """Numbers in bfloat16 become float16 on their way: a, b or the scales."""
    a, packed, scales, zeros = args
    if a.dtype != torch.bfloat16:
        return []
    wide = a.double()
    b = dequantized(packed, scales, zeros)
    forms = (
        (a.half().double(), b),
        (wide, b.half().double()),
        (a.half().double(), b.half().double()),
        (wide, dequantized(packed, scales.half(), zeros)),
    )
    return [left @ right for left, right in forms]


def zero_turned(*args: torch.Tensor) -> list[torch.Tensor]:
    """b = (q + zero) * scale, or (zero - q) * scale."""
    k = PER_WORD * len(args[1])
    scale, zero = spread(args[2], k), spread(args[3], k)
    return [_with_groups(scale, -zero, *args), _with_groups(-scale, zero, *args)]


def difference_wraps(*args: torch.Tensor) -> torch.Tensor:
    """q - zero is computed in eight bits without a sign: below 0 it starts again from 255."""
    _, packed, scales, zeros = args
    q = unpacked(packed)
    wrapped = (q - spread(zeros, len(q))) % 256
    return args[0] @ (wrapped * spread(scales, len(q)))


def scale_left_out(*args: torch.Tensor) -> list[torch.Tensor]:
    """b = q - zero; or the difference is divided by the scale."""
    k = PER_WORD * len(args[1])
    scale, zero = spread(args[2], k), spread(args[3], k)
    return [_with_groups(factor, zero, *args) for factor in (torch.ones_like(scale), 1 / scale)]


def one_group(*args: torch.Tensor) -> list[torch.Tensor]:
    """The scales (or zero points) of the first or of the last group count for all of k.

    Where words are counted in place of numbers, eight groups have those of the first one.
    """
    groups, k = len(args[2]), PER_WORD * len(args[1])
    if groups < 2:
        return []
    found: list[torch.Tensor] = []
    for group in (0, groups - 1):
        found += _with_rows(torch.full((k,), group), *args)
    in_words = torch.arange(k) // PER_WORD // (k // groups)
    return [*found, *_with_rows(in_words, *args)]


def group_of_block(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
    """A block of k has the scales (or zero points) of the group in which it starts."""
    groups, k = len(args[2]), PER_WORD * len(args[1])
    if groups < 2 or block < 2:
        return []
    size = k // groups
    row = torch.arange(k)
    return list(_with_rows(row // block * block // size, *args))


def other_groups(*args: torch.Tensor) -> list[torch.Tensor]:
    """Neighbours along k go to different groups; or the groups run backwards."""
    groups, k = len(args[2]), PER_WORD * len(args[1])
    if groups < 2:
        return []
    row = torch.arange(k)
    size = k // groups
    return [*_with_rows(row % groups, *args), *_with_rows((row // size).flip(0), *args)]


def group_per_block(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
    """Each block of k has the next row of scales, whatever the size of a group."""
    groups, k = len(args[2]), PER_WORD * len(args[1])
    rows = torch.arange(k) // block
    if groups < 2 or int(rows.max()) >= groups:
        return []
    return list(_with_rows(rows, *args))


def first_columns(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
    """Every tile of columns has the scales (or zero points) of the first one."""
    a, packed, scales, zeros = args
    n = packed.shape[1]
    if not 1 < block < n:
        return []
    lane = torch.arange(n) % block
    forms = ((scales[:, lane], zeros[:, lane]), (scales[:, lane], zeros), (scales, zeros[:, lane]))
    return [quantized_matmul(a, packed, *form) for form in forms]


def transposed_groups(*args: torch.Tensor) -> list[torch.Tensor]:
    """Scales and zero points are read as if they were (n, k / g)."""
    a, packed, scales, zeros = args
    groups, n = scales.shape
    if groups < 2 or n < 2:
        return []
    read = [tensor.reshape(n, groups).t() for tensor in (scales, zeros)]
    forms = (read, (read[0], zeros), (scales, read[1]))
    return [quantized_matmul(a, packed, *form) for form in forms]
