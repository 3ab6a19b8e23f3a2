"""Which sizes fail: an unexplained mistake may begin with the second block, or the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from graders.judge.diagnosis.generic import FindingText

FEWEST = 3  # cases on either side: fewer agree by chance
FEWEST_WHOLE = 2  # cases of whole blocks, which are rare
MOST_ODD = 1 / 2  # a share of the failing cases: so many may be correct by chance, as zeros are
SMALLEST_BLOCK = 8
USUAL_BLOCKS = tuple(2**power for power in range(4, 12))

Block = str | int  # the name of a constant of the kernel, or a size


@dataclass(frozen=True)
class SeenCase:
    """A case that ran: its arguments, the constants of its launches, and whether it failed.

    given: the arguments of the last launch, by the kernel's parameters.
    """

    args: tuple[Any, ...]
    constants: Mapping[str, int]
    failed: bool
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Rule:
    """A property of the sizes that fail: `holds(size, block)`."""

    code: str
    holds: Callable[[int, int], bool]
    fewest_right: int
    title: str
    where: str
    cause: str
    next_step: str


RULES = (
    _Rule(
        "second-block-wrong",
        lambda size, block: size > block,
        FEWEST,
        "Inputs of one block are correct, larger inputs are not",
        "is larger than {block}",
        "So the step from one block to the next is wrong: an accumulator or a carry, the "
        "rescaling of a sum when the running maximum grows, or the distance that a pointer "
        "advances.",
        "Take an input of two blocks, and compute the second one by hand: what must it know of "
        "the first? Print with print_if what it does know.",
    ),
    _Rule(
        "part-of-block-wrong",
        lambda size, block: size % block != 0,
        FEWEST_WHOLE,
        "Only a partial block is wrong",
        "is not a multiple of {block}",
        "So lanes past the end affect the result: they hold a value that is not neutral (after `x "
        "- mean`, a lane loaded as 0 holds -mean), or a division counts them.",
        "Follow a lane past the end from its load to the result. Its `other` must be neutral, and "
        "what you sum or count must be masked again.",
    ),
)


def failing_sizes(
    cases: Sequence[SeenCase], parameters: Sequence[str]
) -> tuple[str, FindingText] | None:
    """The size that separates failing from passing cases, as code and text; or None.

    Sizes are compared with the constants of the kernel first, then with usual blocks.
    """
    for own in (True, False):
        for rule in RULES:
            for place in _places(cases):
                for block in _constants(cases) if own else USUAL_BLOCKS:
                    sides = _sides(cases, rule, place, block)
                    if sides is not None:
                        return rule.code, _text(rule, place, parameters, block, sides)
    return None


def _places(cases: Sequence[SeenCase]) -> Iterator[tuple[int, int | None]]:
    """Yield argument and axis of each size, the last axis first; the axis of a number is None."""
    for number, arg in enumerate(cases[0].args if cases else ()):
        if isinstance(arg, torch.Tensor):
            yield from ((number, axis) for axis in reversed(range(arg.dim())))
        elif type(arg) is int:
            yield number, None


def _size(case: SeenCase, place: tuple[int, int | None]) -> int | None:
    number, axis = place
    arg = case.args[number]
    if axis is None:
        return arg if type(arg) is int else None
    return int(arg.shape[axis]) if isinstance(arg, torch.Tensor) and axis < arg.dim() else None


def _constants(cases: Sequence[SeenCase]) -> tuple[str, ...]:
    """The names of the kernel's constants; each case has its own values for them."""
    return tuple(dict.fromkeys(name for case in cases for name in case.constants))


def _sides(
    cases: Sequence[SeenCase], rule: _Rule, place: tuple[int, int | None], block: Block
) -> tuple[int, int, set[int]] | None:
    """The numbers of failing and passing cases, and the blocks; None if the rule is wrong."""
    failing = right = odd = 0
    blocks: set[int] = set()
    for case in cases:
        size, own = _size(case, place), _value(case, block)
        if not size or own is None or own < SMALLEST_BLOCK:
            continue
        blocks.add(own)
        said = rule.holds(size, own)
        if case.failed and not said:
            return None
        failing += case.failed
        right += not case.failed and not said
        odd += not case.failed and said
    enough = failing >= FEWEST and right >= rule.fewest_right
    return (failing, right, blocks) if enough and odd <= MOST_ODD * failing else None


def _value(case: SeenCase, block: Block) -> int | None:
    return case.constants.get(block) if isinstance(block, str) else block


def _text(
    rule: _Rule,
    place: tuple[int, int | None],
    parameters: Sequence[str],
    block: Block,
    sides: tuple[int, int, set[int]],
) -> FindingText:
    number, axis = place
    size = f"`{parameters[number]}`" if axis is None else f"`{parameters[number]}.shape[{axis}]`"
    failing, right, blocks = sides
    value = f" ({min(blocks)})" if len(blocks) == 1 else ""
    where = rule.where.format(block=f"`{block}`{value}" if isinstance(block, str) else block)
    seen = (
        f"It is wrong only where {size} {where}: all {failing} failing cases are like that, and "
        f"the {right} other cases are correct."
    )
    return FindingText(rule.title, f"{seen} {rule.cause}", rule.next_step)
