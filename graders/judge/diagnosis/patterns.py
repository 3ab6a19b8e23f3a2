"""Wrong results whose shape shows their cause, whatever the exercise is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from graders.judge.diagnosis import shapes, unwritten_regions
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.ranking import Tier
from graders.judge.records import Evidence


@dataclass(frozen=True)
class Pattern:
    """A wrong result with a shape that shows its cause. `shows(evidence, wrong)` decides.

    tier: how much it explains. places: it is about where programs are placed.
    """

    code: str
    text: FindingText
    shows: Callable[[Evidence, torch.Tensor], bool]
    tier: Tier = Tier.CAUSE
    places: bool = False


PATTERNS = (
    Pattern(
        "nothing-written",
        FindingText(
            "No kernel got the tensor that is returned",
            "The launcher returns memory as torch.empty left it: no kernel was launched for this "
            "input, or the kernel stored into another tensor.",
            "Pass the tensor that you return to the launch, and launch for every size.",
        ),
        shapes.not_written,
    ),
    Pattern(
        "store-silenced",
        FindingText(
            "Every lane of the store was masked off",
            "The kernel has a tl.store, but its mask is false for every lane that points into the "
            "output, so nothing was stored. `offsets >= n_elements` is such a mask.",
            "Use `mask = offsets < n_elements`. If the mask is correct already, check which "
            "number arrives in it, and that the offsets of program 0 start at 0.",
        ),
        unwritten_regions.silenced,
    ),
    Pattern(
        "nothing-stored",
        FindingText(
            "No program stored anything",
            "The output is exactly as it was allocated: no program reaches a tl.store, or the "
            "kernel is not launched, or it stores to another tensor than the one that you return.",
            "End the kernel with tl.store(output_ptr + offsets, value, mask=mask). Launch it, and "
            "return the tensor that it gets as output_ptr.",
        ),
        unwritten_regions.nothing_stored,
        tier=Tier.SHAPE,  # in a small case a loop may have no step
    ),
    Pattern(
        "lanes-meet",
        FindingText(
            "Some elements are stored several times, and others never",
            "Several lanes store to the same element, so other elements are never stored. The "
            "offsets of the store advance wrongly: from program to program, from one loop step to "
            "the next, or from row to row.",
            "Write down the first offset of the store in programs 0 and 1, and in two steps of "
            "the loop. How far should it advance?",
        ),
        unwritten_regions.lanes_meet,
        places=True,
    ),
    Pattern(
        "programs-idle",
        FindingText(
            "Some programs store nothing, and some elements are never stored",
            "Some programs store nothing, and other elements are never stored, although the grid "
            "is large enough. The tiles are distributed wrongly: by a wrong divisor, with "
            "exchanged axes, or with the wrong block size.",
            "For tiles in rows, use `pid // tiles_across` and `pid % tiles_across`. Write down "
            "the tile of each program for 2 by 3 tiles.",
        ),
        unwritten_regions.work_outside,
        places=True,
    ),
    Pattern(
        "first-row-only",
        FindingText(
            "Only the first row was written",
            "Every program works on row 0, or there is only one program.",
            "Let each program find its own row: row = tl.program_id(0).",
        ),
        unwritten_regions.first_row_only,
    ),
    Pattern(
        "first-block-only",
        FindingText(
            "Only the beginning of the output was written",
            "Only the first elements were stored: all programs work on the same block, or the "
            "grid has too few programs.",
            "Check that offsets start at program_id * BLOCK_SIZE and that the grid rounds up "
            "(triton.cdiv).",
        ),
        unwritten_regions.prefix_only,
    ),
    Pattern(
        "last-block-only",
        FindingText(
            "Only the end of the output was written",
            "The last elements were stored, the ones before them were not.",
            "Look at how a program finds its first element.",
        ),
        unwritten_regions.suffix_only,
    ),
    Pattern(
        "never-stored",
        FindingText(
            "Some elements were never written",
            "They still hold whatever was in memory before.",
            "Follow one missing element: which program should store it, and is the mask true "
            "there?",
        ),
        unwritten_regions.never_stored,
        tier=Tier.SHAPE,
    ),
    Pattern(
        "special-values",
        FindingText(
            "Only special values are wrong",
            "Every ordinary number is correct. The wrong ones are NaN, the infinities, negative "
            "zero, or numbers too small to be normal floats.",
            "Infinity times 0 and infinity minus infinity are NaN: select with tl.where instead "
            "of multiplying by a condition. A copy must not compute at all: `x + 0` loses the "
            "sign of -0.0.",
        ),
        shapes.only_specials,
    ),
    Pattern(
        "all-zeros",
        FindingText(
            "The result is zero everywhere",
            "The values were stored, but they are all zero. Usual causes: a loop that never runs, "
            "an accumulator that is never updated, or loads whose mask is always false, so that "
            "they return `other`.",
            "Print the stored value with print_if, and then the values that it is computed from: "
            "which is the first to be zero?",
        ),
        shapes.all_zeros,
    ),
    Pattern(
        "offsets-stored",
        FindingText(
            "The offsets were stored, not the values",
            "The output is 0, 1, 2, 3 and so on: each element holds its own index.",
            "Pass the block of values to tl.store; the offsets belong to its pointers.",
        ),
        shapes.offsets_stored,
    ),
    Pattern(
        "input-returned",
        FindingText(
            "The result is one of the inputs, unchanged",
            "The kernel copies an input instead of computing with it.",
            "Look at the value that tl.store receives.",
        ),
        shapes.input_returned,
    ),
    Pattern(
        "transposed-result",
        FindingText(
            "Rows and columns are exchanged",
            "The values are correct, but in the order of the transposed matrix.",
            "Check which index goes with which stride in the store.",
        ),
        shapes.transposed,
    ),
    Pattern(
        "shifted-by-one",
        FindingText(
            "Everything is one element off",
            "The output equals the correct result, moved by one place.",
            "Look at where the offsets start.",
        ),
        shapes.shifted,
    ),
    Pattern(
        "constant-factor",
        FindingText(
            "Every result is too large or too small by the same factor",
            "Each element divided by the correct one gives the same number: a factor is missing, "
            "applied twice, or not the contract's.",
            "Divide the first wrong element by the expected one. Which number in the kernel is "
            "that: a count, a size, a scale, 2?",
        ),
        shapes.constant_factor,
    ),
    Pattern(
        "constant-offset",
        FindingText(
            "Every result is off by the same amount",
            "The difference to the correct result is the same everywhere: the kernel adds, or "
            "leaves out, something that does not depend on the element.",
            "Subtract the expected element from the first wrong one. Where does that number come "
            "from?",
        ),
        shapes.constant_offset,
    ),
    Pattern(
        "signs-differ",
        FindingText(
            "Only the signs are wrong",
            "Without their signs the results are correct: look for an absolute value, a "
            "subtraction in the wrong order, or a missing or extra minus.",
            "Check `tl.abs`, comparisons with 0, and the order in each subtraction.",
        ),
        shapes.signs_differ,
    ),
    Pattern(
        "later-rounds-wrong",
        FindingText(
            "The first tile of each program is correct, and later ones are not",
            "Each program stores several tiles, and every wrong element is in a later one. "
            "Something is kept from the tile before: a sum, a maximum, a loaded value or a mask. "
            "Or a pointer advances by the wrong distance.",
            "Look for what is set before the loop and used in it. Set it anew for each tile, as "
            "in `acc = tl.zeros(...)`.",
        ),
        shapes.in_later_rounds,
    ),
    Pattern(
        "only-first-row-right",
        FindingText(
            "Only the first row is correct",
            "Row 0 is correct, and every other row has wrong values. So the step from one row to "
            "the next is wrong: the stride of a row, its length, or a number that grows with each "
            "row.",
            "Write down where row 1 begins, in each tensor that you load and in the output. Is "
            "the step the row's stride?",
        ),
        shapes.only_first_row_right,
        tier=Tier.SHAPE,
    ),
    Pattern(
        "first-of-tile-right",
        FindingText(
            "Only the first row, or column, of each tile is correct",
            "The correct rows, or columns, are one tile apart. So the whole tile uses a value "
            "that belongs to its first row: the offset of the load lacks the lanes, `tl.arange(0, "
            "BLOCK)`.",
            "Load a block of these values, one for each row or column of the tile, and bring it "
            "into shape with `[:, None]` or `[None, :]`.",
        ),
        shapes.first_of_each_right,
        tier=Tier.SHAPE,
    ),
    Pattern(
        "nearly-right",
        FindingText(
            "The values are nearly correct",
            "All results are within about one percent of the reference, but further off than "
            "rounding in float32 explains. A wrong digit in a constant, an approximate formula or "
            "a step in half precision causes that.",
            "Compare each constant with the contract, and convert to float32 right after the load.",
        ),
        shapes.nearly_right,
        tier=Tier.VALUES,
    ),
    Pattern(
        "right-values-elsewhere",
        FindingText(
            "The correct values are at the wrong places",
            "Every correct value is in the output, as often as it should be, but not where it "
            "belongs: tiles, rows or the elements of a block are exchanged.",
            "Follow the first wrong element: where is it loaded from, and where is it stored? "
            "(A reshape keeps the order in memory; it does not turn a tile.)",
        ),
        shapes.permuted,
    ),
    Pattern(
        "nan-result",
        FindingText(
            "The result holds NaN where it should not",
            "The NaN comes from a masked-off lane, from memory that was never written, or from "
            "arithmetic such as inf - inf or 0 * inf.",
            "Check the `other` of each masked load, and the memory that you start from.",
        ),
        shapes.nan_result,
        tier=Tier.VALUES,
    ),
)
