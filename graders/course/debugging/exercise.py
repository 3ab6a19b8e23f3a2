"""What counts as solved in the lesson on debugging: a copy without bugs, and a test of copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from graders.course.common import elementwise, placement, remarks, rounding, shared
from graders.course.common.expected import computes
from graders.course.debugging.mistakes import OF_A_TEST
from graders.judge.cases.builders import ANY_DTYPE, VECTOR_SIZES, cases, one
from graders.judge.records import Case, Exercise, Misconception, PlainFunction
from triton_util.mutants import CORRECT, NO_BUG, PUBLIC, KernelUnderTest

COPY = Exercise(
    name="copy",
    lesson="debugging",
    title="Copy a vector",
    parameters=("x",),
    reference=lambda x: x,
    exact=True,
    cases=(
        *cases(one, "n", [1000, 5000], why="One block or several, the last one not full."),
        *cases(one, "n", [4096], why="Full blocks."),
        *cases(one, "n", [100_003], why="Many blocks, whatever their size."),
        *cases(one, "n", [700], engine_orders=True),
        *cases(one, "n", VECTOR_SIZES, part="edges", why="None, few, or near a power of two."),
        *cases(one, "n", [900], part="types", dtypes=ANY_DTYPE, why="A copy keeps every bit."),
        # As long as one above: a buffer that is kept from call to call shows.
        *cases(one, "n", [1000], part="types", fills=["specials"], why="NaN and infinities."),
        *cases(one, "n", [0, 1], part="types", dtypes=[torch.int64, torch.bool]),
    ),
    large=cases(one, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
    hints=(
        "Print the program id and the offsets of the first programs for a vector of 10 elements "
        "in blocks of 4. Which elements does each program touch? Which of them should it?",
        "Avoid the three bugs: the offsets depend on `pid`, the programs are one *block* apart, "
        "and the last block needs a mask.",
        "`pid = tl.program_id(axis=0)`, `offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`, "
        "`mask = offsets < n_elements`. Then `x = tl.load(x_ptr + offsets, mask=mask)` and "
        "`tl.store(output_ptr + offsets, x, mask=mask)`.",
    ),
    challenge=(
        "Multiply `pid` by `n_elements` instead of `BLOCK_SIZE` and check again: where does "
        "program 1 go?"
    ),
    misconceptions=(
        shared.last_element_missed(),
        rounding.lossy_copy(),
        Misconception(
            code="value-added",
            title="The copy changes every value",
            message=(
                "Each element of the output is the original plus 1, perhaps from a trial while "
                "debugging."
            ),
            next_step="Store the loaded block unchanged.",
            expected_wrong=computes(lambda x: None if x.dtype == torch.bool else x + 1),
        ),
        elementwise.load_ignores_pid(lambda x: x),
        placement.starts_before_tensor(),
        placement.address_stretched(),
        shared.missing_mask("a vector"),
        placement.mask_too_narrow(),
        *placement.misplaced_programs(),
        shared.programs_race("The offsets of the store are not those of the program's own block."),
        shared.grid_too_small(),
    ),
    parts={"core": 4, "edges": 3, "types": 3},
    forbids=frozenset({"copies"}),
    remarks=remarks.WASTE,
)


def kernel(fault: str, block: int, part: str = "core") -> Case:
    """The case of one kernel under test."""
    why = f"A kernel with {fault}." if fault == NO_BUG else f"The planted bug: {fault}."
    return Case(f"{fault}, blocks of {block}", (fault, block), part, why)


def under_test(_seed: int, fault: str, block: int) -> tuple[Any, ...]:
    """What `find_bug` is given."""
    return (KernelUnderTest(fault, block).run,)


def has_bug(run: Callable[..., Any]) -> int:
    """The correct answer of `find_bug`."""
    tested: KernelUnderTest = run.__self__  # type: ignore[attr-defined]
    return int(tested.fault != NO_BUG)


PARTS = {
    "offsets without the pid": "core",
    "programs n apart": "core",
    "each block reversed": "values",
    "sign lost": "values",
    "fraction lost": "values",
}

FIND_BUG = Exercise(
    name="find_bug",
    lesson="debugging",
    title="A test that finds planted bugs",
    parameters=("run",),
    reference=has_bug,
    cases=(
        *(kernel(fault, block) for fault, block in CORRECT),
        *(kernel(fault, block, PARTS.get(fault, "lengths")) for fault, block in PUBLIC),
    ),
    hints=(
        "A bug shows only if an input touches it. Which lengths and which values does the table "
        "of the lesson name? Compare each number of the copy with the number that you gave.",
        "Try the lengths 0, 1, and each power of two up to 128 with its two neighbours. Use "
        "numbers that are all different, with fractions and both signs, and other numbers for "
        "each length. A last input has NaN "
        "and both infinities. NaN is not equal to itself: let NaN for NaN count as equal.",
        "`for n in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, "
        "129, 1000):` and in it `numbers = [(-1) ** i * (i + n + 0.25) for i in range(n)]`. Return "
        "1 if `list(run(numbers)) != numbers`. Then "
        '`special = [float("nan"), float("inf"), float("-inf")]` and `result = run(special)`: '
        "return 1 unless `result[0] != result[0]` and `list(result[1:]) == special[1:]`. At the "
        "end return 0.",
    ),
    misconceptions=OF_A_TEST,
    parts={"core": 4, "lengths": 3, "values": 3},
    function=PlainFunction(
        returns=("1 for a bug, else 0",),
        rel=0.0,
        arguments=under_test,
        remote={KernelUnderTest: ("run",)},
    ),
    challenge="Make all your numbers equal: which kernels pass your test now?",
)

EXERCISES = (COPY, FIND_BUG)
