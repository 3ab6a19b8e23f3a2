"""What failing cases have in common and passing ones have not: a size, or a stride.

A factor is true or false of each case. It explains the failing cases if it is true of all of them,
and false of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch

from graders.judge.diagnosis.failures import Failure, SeenCase
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.ranking import Hypothesis, Sign, Tier

FEWEST = 3  # cases on either side: fewer agree by chance
SMALLEST_BLOCK = 8
LANES = "masked-lanes-used"  # such a case has a cause of its own, whatever its strides are
USUAL_BLOCKS = tuple(2**power for power in range(4, 12))

Axis = tuple[int, int | None]
"""The number of an argument, and one of its axes; None for an argument that is a number."""


@dataclass(frozen=True)
class Rule:
    """What it means that a factor separates failing from passing cases.

    fewest_right: cases of which the factor is false. most_odd: cases that are correct although it
    is true of them, as a share of the failing ones; zeros may be correct by chance.
    """

    code: str
    title: str
    message: str
    next_step: str
    sign: Sign
    tier: Tier
    fewest_right: int = FEWEST
    most_odd: float = 0.0


@dataclass(frozen=True)
class Factor:
    """Of which cases it is true, by their names, and the words of its rule."""

    rule: Rule
    holds: Mapping[str, bool]
    words: Mapping[str, str]


SECOND_BLOCK = Rule(
    "second-block-wrong",
    "Inputs of one block are correct, larger inputs are not",
    "It is wrong only where {size} is larger than {block}: all {failing} failing cases are like "
    "that, and the {right} other cases are correct. So the step from one block to the next is "
    "wrong: an accumulator or a carry, the rescaling of a sum when the running maximum grows, or "
    "the distance that a pointer advances.",
    "Take an input of two blocks, and compute the second one by hand: what must it know of the "
    "first? Print with print_if what it does know.",
    Sign.SYMPTOM,
    Tier.SIZES,
    most_odd=1 / 2,
)
PART_OF_BLOCK = Rule(
    "part-of-block-wrong",
    "Only a partial block is wrong",
    "It is wrong only where {size} is not a multiple of {block}: all {failing} failing cases are "
    "like that, and the {right} other cases are correct. So lanes past the end affect the result: "
    "they hold a value that is not neutral (after `x - mean`, a lane loaded as 0 holds -mean), or "
    "a division counts them.",
    "Follow a lane past the end from its load to the result. Its `other` must be neutral, and "
    "what you sum or count must be masked again.",
    Sign.SYMPTOM,
    Tier.SIZES,
    fewest_right=2,
    most_odd=1 / 2,
)
STRIDE_OF_ANOTHER = Rule(
    "stride-of-another",
    "One tensor is read with the stride of another",
    "No parameter of the kernel gets `{due}`. In every case {names} `{wrong}`, and only the cases "
    "in which these two strides differ are wrong. So the kernel reads one tensor with the stride "
    "of another.",
    "Pass `{due}` to the kernel, and use it for `{tensor}` alone.",
    Sign.TEXT,
    Tier.CAUSE,
)
RULES = (SECOND_BLOCK, PART_OF_BLOCK, STRIDE_OF_ANOTHER)
SIZES: Mapping[Rule, Callable[[int, int], bool]] = {
    SECOND_BLOCK: lambda size, block: size > block,
    PART_OF_BLOCK: lambda size, block: size % block != 0,
}


def separating(
    cases: Sequence[SeenCase], parameters: Sequence[str], failures: Sequence[Failure]
) -> list[Hypothesis]:
    """The first stride and the first size that separate the cases.

    A size explains all failures, a stride those without masked-off lanes in their results.
    """
    every = frozenset(range(len(failures)))
    lanes = {n for n, f in enumerate(failures) if any(s.code == LANES for s in f.evidence.faults)}
    failed = {case.case.name for case in cases if case.failed}
    distinct = list({case.case.name: case for case in cases}.values())
    found = []
    explained = ((_strides, every - lanes), (_sizes, every))
    for factors, failing in explained if failed else ():
        for factor in factors(distinct, parameters):
            text = _separates(factor, failed)
            if text is not None:
                found.append(_hypothesis(factor.rule, text, failing))
                break
    return found


def _hypothesis(rule: Rule, text: FindingText, failing: frozenset[int]) -> Hypothesis:
    sign, tier = rule.sign, rule.tier
    return Hypothesis(rule.code, text, failing, sign, tier, symptom=True)


def _separates(factor: Factor, failed: set[str]) -> FindingText | None:
    """The text of a factor that separates failed cases from the others; None if it does not."""
    rule, holds = factor.rule, factor.holds
    failing = [holds[name] for name in holds if name in failed]
    passing = [said for name, said in holds.items() if name not in failed]
    right, odd = passing.count(False), passing.count(True)
    enough = len(failing) >= FEWEST and right >= rule.fewest_right
    if not enough or not all(failing) or odd > rule.most_odd * len(failing):
        return None
    words = {"failing": str(len(failing)), "right": str(right), **factor.words}
    return FindingText(rule.title, rule.message.format(**words), rule.next_step.format(**words))


def _axes(cases: Sequence[SeenCase]) -> list[Axis]:
    """Arguments and their axes, the last axis first."""
    return [
        (number, axis)
        for number, arg in enumerate(cases[0].args)
        for axis in (reversed(range(arg.dim())) if isinstance(arg, torch.Tensor) else (None,))
    ]


def _sizes(cases: Sequence[SeenCase], parameters: Sequence[str]) -> Iterator[Factor]:
    """Yield sizes compared with the constants of the kernel first, then with usual blocks."""
    constants = {case.case.name: _constants(case) for case in cases}
    own = list(dict.fromkeys(name for known in constants.values() for name in known))
    usual = {str(block): block for block in USUAL_BLOCKS}
    choices = [(name, constants) for name in own]
    choices += [(name, dict.fromkeys(constants, usual)) for name in usual]
    for rule, axis, (block, values) in product(SIZES, _axes(cases), choices):
        pairs = {c.case.name: (_size(c, axis), values[c.case.name].get(block, 0)) for c in cases}
        known = {name: (n, b) for name, (n, b) in pairs.items() if n and b >= SMALLEST_BLOCK}
        blocks = {b for _, b in known.values()}
        value = f" ({min(blocks)})" if len(blocks) == 1 else ""
        yield Factor(
            rule,
            {name: SIZES[rule](*pair) for name, pair in known.items()},
            {
                "size": f"`{_named('shape', axis, parameters)}`",
                "block": block if block in usual else f"`{block}`{value}",
            },
        )


def _size(case: SeenCase, axis: Axis) -> int:
    arg, place = case.args[axis[0]], axis[1]
    if isinstance(arg, torch.Tensor) and place is not None and place < arg.dim():
        return int(arg.shape[place])
    return arg if type(arg) is int else 0


def _constants(case: SeenCase) -> dict[str, int]:
    """The whole numbers among the constants of all launches; the last launch's count."""
    named = (pair for launch in case.launches for pair in launch.meta.items())
    return {name: value for name, value in named if type(value) is int}


def _strides(cases: Sequence[SeenCase], parameters: Sequence[str]) -> Iterator[Factor]:
    """Yield pairs of strides: of one that no parameter of the kernel gets, and one that it gets.

    Not where the failing cases are those in which one of the two is not 1: then the kernel
    assumes that it is 1.
    """
    axes = [axis for axis in _axes(cases) if axis[1] is not None]
    got = {axis: _parameters_with(cases, axis) for axis in axes}
    for due, other in permutations(axes, 2):
        strides = {c.case.name: (c.failed, _stride(c, due), _stride(c, other)) for c in cases}
        known = {name: pair for name, (_, *pair) in strides.items() if None not in pair}
        varies = len({a for _, a, _ in strides.values() if a is not None}) > 1
        if got[due] or not got[other] or due[0] == other[0] or not varies:
            continue
        if any(_says(place, strides.values()) for place in (1, 2)):
            continue
        names = " and ".join(f"`{name}`" for name in got[other])
        yield Factor(
            STRIDE_OF_ANOTHER,
            {name: name in known and known[name][0] != known[name][1] for name in strides},
            {
                "due": _named("stride", due, parameters),
                "wrong": _named("stride", other, parameters),
                "names": f"{names} {'is' if len(got[other]) == 1 else 'are'}",
                "tensor": parameters[due[0]],
            },
        )


def _says(place: int, cases: Iterable[tuple[bool, int | None, int | None]]) -> bool:
    """Whether just those cases failed in which this stride is not 1."""
    return all(case[0] == (case[place] not in (None, 1)) for case in cases)


def _stride(case: SeenCase, axis: Axis) -> int | None:
    """The stride; None if the case has no such axis, or the axis has only one element."""
    arg, place = case.args[axis[0]], axis[1]
    if not isinstance(arg, torch.Tensor) or place is None or place >= arg.dim():
        return None
    return arg.stride(place) if arg.shape[place] > 1 else None


def _parameters_with(cases: Sequence[SeenCase], axis: Axis) -> list[str]:
    """The parameters of the kernel that equal this stride in every case."""
    given = [(case.launches[-1].given, _stride(case, axis)) for case in cases if case.launches]
    known = [(values, stride) for values, stride in given if values and stride is not None]
    if len({stride for _, stride in known}) < FEWEST:
        return []
    return [name for name in known[0][0] if all(v.get(name) == stride for v, stride in known)]


def _named(what: str, axis: Axis, parameters: Sequence[str]) -> str:
    """`x.shape[1]`, `x.stride(1)`, or the name of a number."""
    name, place = parameters[axis[0]], axis[1]
    if place is None:
        return name
    return f"{name}.shape[{place}]" if what == "shape" else f"{name}.stride({place})"
