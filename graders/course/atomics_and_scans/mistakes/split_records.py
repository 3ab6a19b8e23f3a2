"""The misconceptions about a product whose sum over k is split, the special ones first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from graders.course.atomics_and_scans.mistakes.wrong_parts import (
    averaged,
    blocks_lost,
    finish,
    from_own_start,
    in_steps_of_one_block,
    left_from_before,
    operands,
    overlapping,
    remainder_lost,
    some_parts,
    whole_in_each_part,
)
from graders.course.atomics_and_scans.reference import split_product, split_product_magnitude
from graders.course.common.detectors import RACES, Detector
from graders.course.common.expected import computes, computes_with_block
from graders.course.common.rounding import accumulates_in_half
from graders.course.matmul.mistakes.bounds import reads_behind
from graders.course.matmul.mistakes.product import product_mistakes
from graders.judge.plan.requirements import Plans, Requirement
from graders.judge.plan.steps import CasePlan, Tune, launches_of
from graders.judge.records import Case, Evidence, Misconception, TensorSpec

LONG_K = 512  # has several blocks, whatever their usual size
BLOCKS_OF_K = (1, 16, 32, 64, 128, 256)


def _only_when_split(detector: Detector | None) -> Detector:
    """Hold where the detector holds and there are several parts to add."""
    assert detector is not None

    def holds(evidence: Evidence) -> bool:
        return evidence.args[2] > 1 and detector(evidence)

    return holds


SPECIAL = (
    Misconception(
        code="sums-not-zeroed",
        title="The sums do not start from 0",
        message=(
            "The kernel adds to memory from `torch.empty`, or a second kernel reads "
            "scratch memory that no program stored. That memory may be 0 by chance, and "
            "then the result is correct by chance."
        ),
        next_step=(
            "Use `torch.zeros((m, n), dtype=torch.float32, device=a.device)` for "
            "atomics. With scratch memory every part must store its whole tile, even if "
            "it adds nothing."
        ),
        faults=frozenset({"uninitialised-read"}),
        detector=left_from_before,
    ),
    Misconception(
        code="update-not-atomic",
        title="A program reads what another one may still be writing",
        message=(
            "Programs of one launch have no order. Between the load and the store of a "
            "sum, another program can load the same sum, and then one part is lost."
        ),
        next_step=(
            "Replace load, add and store by `tl.atomic_add(sums_ptrs, accumulator, "
            "mask=...)`. Or store each part in its own place, and add the parts in a "
            "second kernel."
        ),
        faults=frozenset({"read-write-race"}),
    ),
    Misconception(
        code="part-stored",
        title="One part of the sum is stored as the whole sum",
        message=(
            "Several programs share the sum over k, and each *stores* its part in the same "
            "place. Only the part of the last program remains, and the order is open."
        ),
        next_step=(
            "Add with `tl.atomic_add` to float32 zeros. Or store each part in its own "
            "place, and add the parts in a second kernel."
        ),
        faults=RACES - {"read-write-race"},
    ),
    Misconception(
        code="part-masked-from-start",
        title="The mask of k ignores where the part begins",
        message=(
            "With one part the result is correct. With several parts, lanes read past the "
            "end of k: the mask compares offsets with K that do not contain the start of "
            "the part."
        ),
        next_step=(
            "Compute `offs_k = start + tl.arange(0, BLOCK_K)` once, where `start` "
            "contains the start of the part. Use it for the loads and for the comparison "
            "with K."
        ),
        detector=_only_when_split(reads_behind),
    ),
    Misconception(
        code="whole-k-in-each-part",
        title="Each part sums over all of k",
        message="The result is `splits` times too large: every program loops over all of k.",
        next_step="Let part number `part` take the blocks `part`, `part + splits`, and so on.",
        expected_wrong=computes(whole_in_each_part),
    ),
    Misconception(
        code="remainder-lost",
        title="The remainder of k is in no part",
        message=(
            "The division of k (or of its blocks) by `splits` rounds down. All parts are "
            "equally long, and the remainder is in no sum."
        ),
        next_step=(
            "Round up and let the last part be shorter. Or distribute the blocks one by "
            "one: `range(part * BLOCK_K, K, splits * BLOCK_K)`."
        ),
        expected_wrong=computes(remainder_lost)
        + computes_with_block(blocks_lost, blocks=BLOCKS_OF_K),
    ),
    Misconception(
        code="parts-missing",
        title="Not all parts are in the sum",
        message=(
            "Only some parts of k are in the result. The grid's axis for `splits` is "
            "missing or too short, or the second kernel adds too few parts."
        ),
        next_step="`splits` programs for each tile: `grid = (tiles_m, tiles_n, splits)`.",
        detector=some_parts,
    ),
    Misconception(
        code="parts-overlap",
        title="Some of k is in several parts",
        message=(
            "A part begins in the correct place, but ends after the start of the next "
            "part, so some products are added twice. Its last block, or its loop, goes on "
            "too far."
        ),
        next_step=(
            "Mask with the end of the *part*: `offs_k < tl.minimum(K, (part + 1) * "
            "length)`. Or make the length of a part a multiple of BLOCK_K."
        ),
        expected_wrong=computes_with_block(
            overlapping, from_own_start, in_steps_of_one_block, blocks=BLOCKS_OF_K
        ),
    ),
    Misconception(
        code="parts-averaged",
        title="The sum is divided by the number of parts",
        message="The parts add up to the result. Nothing has to be divided.",
        next_step="Leave the division by `splits` out.",
        expected_wrong=computes(averaged),
    ),
)


IN_HALF = Misconception(
    code="parts-in-half",
    everywhere=True,
    title="The parts are added in half precision",
    message=(
        "The errors grow with the number of parts: each part, or the sum after each "
        "addition, is rounded to the 11 bits of float16 (8 of bfloat16)."
    ),
    next_step=(
        "Add the parts in float32, `torch.zeros((m, n), dtype=torch.float32, "
        "device=a.device)`, and convert the finished sum once."
    ),
    detector=_only_when_split(accumulates_in_half(split_product_magnitude).detector),
)

_OF_PRODUCTS = product_mistakes(
    reference=split_product,
    magnitude=split_product_magnitude,
    operands=operands,
    finish=finish,
    special=(*SPECIAL, IN_HALF),
)
# A tile has several programs here, so that more programs than tiles mean nothing.
MISTAKES = tuple(mistake for mistake in _OF_PRODUCTS if mistake.code != "grid-too-large")


def splits_used(cases: Sequence[Case]) -> Requirement:
    """Return the promise that more parts have more programs; `cases` are the public ones.

    Seen where two of them with a long k differ in nothing but the number of parts: a short k may
    have a single block.
    """
    known = [(case.args[:2], _parts_of(case)) for case in cases]

    def broken(plans: Plans) -> str | None:
        planned = plans.a100
        alone = {
            factors: _launched(plan)
            for (factors, splits), plan in zip(known, planned, strict=True)
            if splits == 1
        }
        for (factors, splits), plan in zip(known, planned, strict=True):
            programs = _launched(plan)
            if splits > 1 and programs and programs == alone.get(factors):
                return f"With splits={splits} there are {programs} programs, as many as with 1."
        return None

    return Requirement(
        code="splits-ignored",
        title="The sum over k is not shared",
        message=(
            "But `splits` programs should share the sum over k for each tile, and the "
            "number of programs does not grow with `splits`. For a small result with a "
            "long k that leaves most of a GPU idle."
        ),
        next_step="Give the grid an axis of length `splits`, and each program its part of k.",
        broken=broken,
    )


def _parts_of(case: Case) -> int:
    """How many parts a long k is cut into; 0 for a short one."""
    a, _, splits = case.args
    if isinstance(a, TensorSpec) and isinstance(splits, int) and a.shape[1] >= LONG_K:
        return splits
    return 0


def _launched(plan: CasePlan) -> int:
    """How many programs a case launches in all; 0 where a tuner chooses, or nobody knows."""
    if any(isinstance(step, Tune) for step in plan.steps):
        return 0
    return sum(_programs(launch.grid) for launch in launches_of(plan.steps))


def _programs(grid: object) -> int:
    sizes = grid if isinstance(grid, Sequence) and not isinstance(grid, str) else (grid,)
    return math.prod(size for size in sizes if isinstance(size, int))
