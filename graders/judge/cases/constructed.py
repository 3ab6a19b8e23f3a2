"""Construct cases from the contract of an exercise and from the constants of a submission.

Hand-written cases do not combine two conditions that their author kept apart. And they do not know
where a submission changes its way: at its block sizes, its number of programs, and the thresholds
in its launcher. So sizes are chosen next to those, and combined with every layout, dtype and class
of values that the contract allows.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from math import gcd, prod

import torch

from graders.judge.cases.contract import EQUAL, Contract, Row
from graders.judge.cases.covering import covering
from graders.judge.plan.steps import CasePlan, LaunchPlan, launches_of
from graders.judge.records import Case, Exercise, TensorSpec

COUNT = 48  # rows of the covering array
FURTHER, AIMED = 20, 14  # cases for decisions of which one side was seen; rows that aim at them
MOST_CONSTANTS = 6  # of a submission
MOST_LEVELS = 40  # sizes of an axis
BASIC = (1, 7, 20, 24, 18)  # multiples of 1, 4, 8 and 2, and of no more
LONG = 1999  # many blocks, or a long sum, if the other axes are short
ALIGNED = 16  # Triton specialises on arguments that are multiples of it
SMALLEST, LARGEST = 2, 2**17  # constants that may be sizes
MULTIPROCESSORS = 132  # of the GPU that launchers see: a usual cap on the number of programs
LONGEST = 2**18 + 2**10  # elements of a case in which an axis passes caps on the number of programs
BEYOND = 2**21  # the same, if programs are seen to take several rounds
LONGEST_OF_SEVERAL = 33_000  # the size of an axis if there are others: a row fits one block
SHORT = 7  # the longest that the other axes of a long one are, if all are too long
FEW = 3  # the other axes of such a case: with 1, programs would look alike
SUMMED = 2**16  # equal numbers whose sum shows: in bfloat16 it stops growing at 256 of them
PAST_GRID = 70_001  # of an axis: more programs than a GPU starts along axes 1 and 2 of a grid


@dataclass(frozen=True)
class Constants:
    """The numbers of a submission at which its behaviour may change.

    `sizes`: constants of its kernels and of its text, those that matter most first. `programs`: how
    many programs it launches for inputs of different sizes.
    """

    sizes: tuple[int, ...]
    programs: tuple[int, ...]


def constants_of(
    plan: LaunchPlan,
    cases: Sequence[Case],
    literals: Iterable[float],
    most: int | None = MOST_CONSTANTS,
) -> Constants:
    """The constants of a submission, at most `most`, or all.

    `cases` are those of the plan, `literals` are in its text.
    """
    written = {int(number) for number in literals if number == int(number)}
    given: Counter[int] = Counter()
    grids: dict[int, set[int]] = {}
    for planned, case in zip(plan.cases, cases, strict=False):
        given.update(set(_whole_constants(plan, planned)))
        for launch in launches_of(planned.steps):
            if isinstance(launch.grid, list) and all(type(size) is int for size in launch.grid):
                grids.setdefault(prod(launch.grid), set()).add(_elements(case))
    likely = [size for size, _ in given.most_common()]
    sizes = [size for size in likely if size in written] + sorted(written, reverse=True) + likely
    fixed = [count for count, of in grids.items() if count > 1 and len(of) > 1]
    return Constants(
        tuple(dict.fromkeys(s for s in sizes if SMALLEST <= s <= LARGEST))[:most],
        tuple(sorted(fixed, reverse=True)[:2]),
    )


def _whole_constants(plan: LaunchPlan, case: CasePlan) -> Iterator[int]:
    for launch in launches_of(case.steps):
        parameters = plan.kernels[launch.kernel].parameters
        by_place = zip((p.name for p in parameters), launch.positional, strict=False)
        given = {**dict(by_place), **launch.named}
        for parameter in parameters:
            value = given.get(parameter.name, parameter.default)
            if parameter.annotation == "constexpr" and type(value) is int:
                yield value


def _elements(case: Case) -> int:
    return sum(prod(arg.shape) for arg in case.args if isinstance(arg, TensorSpec))


def constructed(
    exercise: Exercise, contract: Contract, constants: Constants, secret: int | None = None
) -> tuple[Case, ...]:
    """The cases for a submission with these constants.

    Equal constants give equal cases. With a `secret` they are other cases of the same kinds.
    """
    text = repr((exercise.name, constants, secret))
    rows = _array(contract, constants, text, COUNT)
    for row in _beyond(contract, constants):
        rows += [row, *_laid_out(contract, row, text)]
    rows += [*_counted(contract, constants), *_summed(contract)]
    return tuple(_case(exercise, contract, row) for row in rows)


def further(
    exercise: Exercise, contract: Contract, constants: Constants, near: Sequence[int]
) -> tuple[Case, ...]:
    """A few more cases, for decisions of which all others showed one side only.

    `constants` are all of the submission, and `near` those in the lines of the decisions.
    """
    sizes = (size + more for of in (near, constants.sizes) for more in (1, 0, -1) for size in of)
    aimed = islice(chain(_longest(contract), _sized(contract, sizes)), AIMED)
    named = {contract.name(row): row for row in aimed}
    first = Constants(tuple(dict.fromkeys([*near, *constants.sizes]))[:MOST_CONSTANTS], ())
    drawn = _array(contract, first, repr((exercise.name, first, "further")), FURTHER)
    named |= {contract.name(row): row for row in drawn}
    return tuple(_case(exercise, contract, row) for row in islice(named.values(), FURTHER))


def _longest(contract: Contract) -> Iterator[Row]:
    """Yield rows with each axis as long as a case may be, and one with all axes as short."""
    longest = _longest_size(contract, LONGEST)
    sizes = [2**power + 1 for power in range(longest.bit_length(), -1, -1)]
    for others, name in product((FEW, 1), _free(contract)):
        rows = (_one_long(contract, name, size, others) for size in sizes if size <= longest)
        yield from islice(_affordable(contract, rows, LONGEST), 1)
    yield from filter(None, (_one_long(contract, name, 1) for name in _free(contract)[:1]))


def _sized(contract: Contract, sizes: Iterable[int]) -> Iterator[Row]:
    """Yield rows in which one axis, or the product of all, has about one of these sizes."""
    free = _free(contract)
    longest = _longest_size(contract, BEYOND)
    for size in (size for size in sizes if 0 < size <= longest):
        side = round(size ** (1 / max(1, len(free)))) + 1
        rows = [_one_long(contract, name, size, FEW) for name in free]
        rows += [_one_long(contract, name, side, side) for name in free[: len(free) > 1]]
        yield from _affordable(contract, rows, BEYOND)


def _free(contract: Contract) -> list[str]:
    """The axes whose sizes the contract does not list."""
    return [name for name, axis in contract.axes.items() if not axis.sizes]


def _array(contract: Contract, constants: Constants, text: str, count: int) -> list[Row]:
    """At most `count` rows of a covering array; equal texts draw equal rows."""
    levels = {name: _levels(of.sizes, constants.sizes) for name, of in contract.sized.items()}
    sizes = {
        name: tuple(size for size in found if contract.sized[name].allows(size))
        for name, found in levels.items()
    }
    free = _free(contract)
    drawn = [*free, *contract.counts]
    past = {name: _largest(contract, name, constants) for name in drawn}
    for name in drawn:  # as many sizes past all constants as others: they are drawn as often
        long = [size for size in sizes[name] if size > past[name]]
        sizes[name] += tuple(long * (len(sizes[name]) // max(1, len(long)) - 1))

    def small(row: Row) -> Row | None:
        """The row, or else with only its longest axis as long; None if that is too much too."""
        longest = max(free, key=lambda name: row[name], default="")
        short = {name: row[name] % SHORT + 1 for name in free if name != longest}
        for changed in ({}, short):
            found = contract.allowed({**row, **changed})
            if found is not None and contract.size(found) <= contract.work:
                return found
        return None

    def cost(row: Row) -> float:
        return contract.size(row) / contract.work

    bounds = sorted({bound for size in constants.sizes for bound in (size, 2 * size)})

    def classes(row: Row) -> Row:
        """The row with classes for each size: which constants it exceeds, all, its alignment."""
        seen = {name: level for name, level in row.items() if name not in drawn}
        for name in drawn:
            seen[f"{name} past"] = bisect_left(bounds, row[name])
            seen[f"{name} past all"] = row[name] > past[name]
            seen[f"{name} multiple of"] = gcd(row[name], ALIGNED)
        return seen

    return covering(contract.factors(sizes), count, _seed(text), small, classes, cost)


def _largest(contract: Contract, name: str, constants: Constants) -> int:
    """The largest constant that the axis can exceed in a small case."""
    axis = contract.sized[name]
    return max((c for c in constants.sizes if c < contract.work and axis.allows(c + 1)), default=0)


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def past_grids(exercise: Exercise, contract: Contract) -> tuple[Case, ...]:
    """One case for each axis, longer than a grid may be along axes 1 and 2.

    They are for the launch plan only: a launch that no GPU accepts shows without being run.
    """
    rows = (_one_long(contract, name, PAST_GRID) for name in contract.axes)
    return tuple(_case(exercise, contract, row) for row in rows if row is not None)


def _levels(only: tuple[int, ...], constants: Sequence[int]) -> tuple[int, ...]:
    """The sizes of an axis: next to each constant, several times it, and some of each alignment."""
    if only:
        return only
    kinds = ((1, 1), (1, ALIGNED), (2, 1), (1, -1), (1, 0), (1, 8), (3, 0))
    near = (times * constant + more for times, more in kinds for constant in constants)
    return tuple(dict.fromkeys([*BASIC, LONG, *(size for size in near if size > 0)]))[:MOST_LEVELS]


def _beyond(contract: Contract, constants: Constants) -> list[Row]:
    """Rows in which one axis is longer than all programs reach in one round.

    A grid may be fixed, or capped by a number that no written case reaches.
    """
    blocks = (*constants.sizes, 1)
    caps = (*constants.sizes, MULTIPROCESSORS)
    found: list[Row] = []
    for counts, most in ((constants.programs, BEYOND), (caps, LONGEST)):
        longest = _longest_size(contract, most)
        products = {p * b + 1 for p in counts for b in blocks}
        sizes = sorted((size for size in products if size <= longest), reverse=True)
        for name in _free(contract):
            rows = (_one_long(contract, name, size, others=FEW) for size in sizes)
            found += islice(_affordable(contract, rows, most), 1)
    return found


def _counted(contract: Contract, constants: Constants) -> Iterator[Row]:
    """Yield rows with a count past each constant and an axis of that many blocks.

    Also yield one with each count as large as it may be, and short axes.
    """
    for (name, count), past in product(contract.counts.items(), constants.sizes):
        longest = min(contract.axes[count.of].high, LONGEST_OF_SEVERAL)
        sizes = sorted({(past + 1) * block + 1 for block in (*constants.sizes, 1)}, reverse=True)
        if count.allows(past + 1):
            rows = (_one_long(contract, count.of, n, FEW) for n in sizes if n <= longest)
            counted = (contract.allowed({**row, name: past + 1}) for row in rows if row)
            yield from islice(_affordable(contract, counted, LONGEST), 1)
    for name, count in contract.counts.items():
        small = _one_long(contract, count.of, FEW, FEW)
        yield from _affordable(
            contract, [small and contract.allowed({**small, name: count.high})], LONGEST
        )


def _summed(contract: Contract) -> Iterator[Row]:
    """Yield rows with long sums of equal numbers, which a sum in bfloat16 loses."""
    for name in contract.sums:
        row = _one_long(contract, name, SUMMED)
        if row is not None and torch.bfloat16 in contract.dtypes:
            equal = {f"{tensor}.values": EQUAL for tensor in contract.tensors()}
            yield {**row, "dtype": torch.bfloat16, **equal}


def _laid_out(contract: Contract, row: Row, text: str) -> Iterator[Row]:
    """Yield the row with other layouts, if it is not too large then."""
    draw = random.Random(_seed(text + contract.name(row)))
    views = {f"{name}.view": draw.choice(of.layouts) for name, of in contract.tensors().items()}
    found = _affordable(contract, [contract.allowed({**row, **views})], BEYOND)
    yield from (other for other in found if other != row)


def _longest_size(contract: Contract, only: int) -> int:
    """The longest that an axis may be in a case; `only`: if there are no others."""
    return LONGEST_OF_SEVERAL if len(contract.axes) > 1 else only


def _affordable(contract: Contract, rows: Iterable[Row | None], most: int) -> Iterator[Row]:
    """Yield the allowed rows that cost at most `most` elements."""
    return (row for row in rows if row is not None and _cost(contract, row) <= most)


def _cost(contract: Contract, row: Row) -> int:
    """The elements of a row's tensors, or the product of its axes if that is more."""
    tensors = (arg for arg in contract.arguments(row) if isinstance(arg, TensorSpec))
    return max(contract.size(row), sum(prod(arg.shape) for arg in tensors))


def _one_long(contract: Contract, name: str, size: int, others: int = 1) -> Row | None:
    """A row with that size of one axis and a small one of all others; None if not allowed."""
    if not contract.axes[name].allows(size):
        return None
    small = {other: of.sizes[0] if of.sizes else others for other, of in contract.sized.items()}
    row = contract.allowed({**_plain(contract), **small, name: size})
    return row if row is not None and row[name] == size else None


def _plain(contract: Contract) -> Row:
    """The first level of each factor that is not a size."""
    levels = contract.factors(dict.fromkeys(contract.sized, (1,)))
    return {name: found[0] for name, found in levels.items()}


def _case(exercise: Exercise, contract: Contract, row: Row) -> Case:
    return Case(contract.name(row), contract.arguments(row), _part(exercise, contract, row))


def _part(exercise: Exercise, contract: Contract, row: Row) -> str:
    """The part that a row decides: the most special that the exercise has."""
    tensors = contract.tensors()
    special = []
    if any(row[f"{name}.view"] != "contiguous" for name in tensors):
        special.append("views")
    if row["dtype"] != torch.float32 or any(not row[f"{n}.values"].ordinary for n in tensors):
        special.append("types")
    special += ["edges", *list(exercise.parts)[::-1]]
    return next(part for part in special if part in exercise.parts)
