"""Wrong results whose shape tells their cause, whatever the exercise is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from graders.judge.diagnosis import shapes, unwritten_regions
from graders.judge.diagnosis.generic import FindingText
from graders.judge.records import Evidence


@dataclass(frozen=True)
class Pattern:
    """A wrong result with a shape that tells its cause. `shows(evidence, wrong)` decides.

    about_places: it speaks of where programs are placed. says_little: what has a name stands before
    it. unexplained: it says how the result looks, and nothing of what the kernel does.
    """

    code: str
    text: FindingText
    shows: Callable[[Evidence, torch.Tensor], bool]
    about_places: bool = False
    says_little: bool = False
    unexplained: bool = False


PATTERNS = (
    Pattern(
        "nothing-written",
        FindingText(
            "No kernel got the tensor that is returned",
            "The launcher returns memory as torch.empty left it: for this input no kernel was "
            "launched, or the one that ran stored into another tensor, whose contents are lost.",
            "Hand the tensor that you return to the launch, and launch for every size.",
        ),
        shapes.not_written,
    ),
    Pattern(
        "store-silenced",
        FindingText(
            "Every lane of the store was switched off",
            "The kernel has a tl.store, but no program stored anything: the mask is false for "
            "every lane that points into the output. `offsets > n_elements` and "
            "`offsets >= n_elements` are such masks: no element has an offset like that.",
            "The mask must be true for the offsets inside the output: "
            "`mask = offsets < n_elements`. Write down offsets and mask of program 0, which starts "
            "at element 0. Is the mask right already? Then see which number arrives in it, and "
            "whether the offsets start at 0.",
        ),
        unwritten_regions.silenced,
    ),
    Pattern(
        "nothing-stored",
        FindingText(
            "No program stored anything",
            "The output is exactly as it was allocated: the kernel has no tl.store that a program "
            "comes to, or it is not launched, or it stores to another tensor than the one that is "
            "returned.",
            "End the kernel with tl.store(output_ptr + offsets, value, mask=mask). Launch it, and "
            "return the tensor that it gets as output_ptr.",
        ),
        unwritten_regions.nothing_stored,
    ),
    Pattern(
        "lanes-meet",
        FindingText(
            "Some elements are stored several times, and others never",
            "The masks let lanes enough through to store every element of the output. But several "
            "of them store to the same element, so that others are never stored. So the offsets of "
            "the store do not move on as they should: from program to program, from round to round "
            "of a loop (each round stores the same block again), or from row to row of a tile.",
            "Write down the first offset of the store in programs 0 and 1, in the first round and "
            "the second, and in the first row of a tile and the second. How far should it move on, "
            "and how far does it?",
        ),
        unwritten_regions.lanes_meet,
        about_places=True,
    ),
    Pattern(
        "programs-idle",
        FindingText(
            "Programs store nothing, and elements are left that nobody stored",
            "The grid has programs enough, but some of them store nothing: all of their lanes lie "
            "outside, or are switched off by the mask. Elsewhere elements are left over. So the "
            "programs are dealt out wrongly: the number of a program is taken apart by the wrong "
            "number of tiles, two axes are exchanged, or a start is multiplied by the wrong block.",
            "For tiles in rows, `pid // tiles_across` is the row and `pid % tiles_across` the "
            "column, both with the tiles of one *row*. Write down the tile of each program for a "
            "matrix of 2 by 3 tiles.",
        ),
        unwritten_regions.work_outside,
        about_places=True,
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
            "The first elements are there and the rest was never stored: the programs all work "
            "on the same block, or the grid has too few programs.",
            "Check that offsets start at program_id * BLOCK_SIZE and that the grid rounds up "
            "(triton.cdiv).",
        ),
        unwritten_regions.prefix_only,
    ),
    Pattern(
        "last-block-only",
        FindingText(
            "Only the end of the output was written",
            "The last elements are there and the ones before them were never stored.",
            "Look at how a program finds its first element.",
        ),
        unwritten_regions.suffix_only,
    ),
    Pattern(
        "never-stored",
        FindingText(
            "Some elements were never written",
            "They still hold whatever was in memory before.",
            "Follow one missing element: which program should store it, and does its mask let it?",
        ),
        unwritten_regions.never_stored,
        says_little=True,
    ),
    Pattern(
        "special-values",
        FindingText(
            "Only special values are wrong",
            "Every ordinary number is right. What is not: NaN, the infinities, the negative zero, "
            "or numbers too small to be normal floats.",
            "Infinity times 0 and infinity minus infinity are NaN: choose with tl.where, do not "
            "multiply by a condition. (In a copy there is no arithmetic at all: `x + 0` and a "
            "comparison with 0 lose the sign of -0.0.)",
        ),
        shapes.only_specials,
    ),
    Pattern(
        "all-zeros",
        FindingText(
            "The result is zero everywhere",
            "The values were stored, but they are all zero. Usual causes: a loop that never runs, "
            "an accumulator to which nothing is added, or loads whose mask lets nothing through, "
            "so that `other` is all there is.",
            "With print_if, print what is stored, and then what it is made of: which is the first "
            "to be zero?",
        ),
        shapes.all_zeros,
    ),
    Pattern(
        "offsets-stored",
        FindingText(
            "The offsets were stored, not the values",
            "The output is 0, 1, 2, 3 and so on: the numbers of its own elements.",
            "Hand the block of values to tl.store; the offsets belong into its pointers.",
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
            "The values are right but stand where the transposed matrix would have them.",
            "Check which index goes with which stride in the store.",
        ),
        shapes.transposed,
    ),
    Pattern(
        "shifted-by-one",
        FindingText(
            "Everything is one element off",
            "The output equals the right answer, moved by one place.",
            "Look at where the offsets start.",
        ),
        shapes.shifted,
    ),
    Pattern(
        "constant-factor",
        FindingText(
            "Every result is too large or too small by the same factor",
            "Divided by the right result, each element gives one and the same number: a factor is "
            "missing, there twice, or another one than the contract's.",
            "Divide the first wrong element by the expected one. Which number of the kernel is "
            "that: a count, a size, a scale, 2?",
        ),
        shapes.constant_factor,
    ),
    Pattern(
        "constant-offset",
        FindingText(
            "Every result is off by the same amount",
            "The difference to the right result is one and the same number everywhere: something "
            "is added, or left out, that does not depend on the element.",
            "Subtract the expected element from the first wrong one. Where does that number come "
            "from?",
        ),
        shapes.constant_offset,
    ),
    Pattern(
        "signs-differ",
        FindingText(
            "Only the signs are wrong",
            "Without their signs the results are right: an absolute value, a difference the "
            "wrong way round, or a minus that is missing or too many.",
            "Look for `tl.abs`, for a comparison with 0, and for the order in each subtraction.",
        ),
        shapes.signs_differ,
    ),
    Pattern(
        "later-rounds-wrong",
        FindingText(
            "What a program does first is right, what it does later is not",
            "Programs of this kernel work in rounds: they store one tile, and then further ones. "
            "What each of them stored first is right; every wrong element was stored in a later "
            "round. So something that should be new in each round is kept from the one before: a "
            "sum, a maximum or a carry that is not reset, or a value (a bias, a random number, a "
            "mask) that is loaded or computed once, before the loop. Or a pointer moves on by the "
            "wrong distance.",
            "Look for what is set before the loop and used in it. What belongs to one tile is set "
            "anew in each round, as in `acc = tl.zeros(...)`, and so are its offsets and its mask.",
        ),
        shapes.in_later_rounds,
    ),
    Pattern(
        "only-first-row-right",
        FindingText(
            "The first row is right, and no other one is",
            "Row 0 needs no step to get to it. Every other row has wrong values: so the way from "
            "one row to the next is wrong, in what is loaded, stored or counted. It is the stride "
            "of a row, its length, or a number that grows by as much for each row.",
            "Write down where row 1 begins: in each tensor that is loaded, in the output, and in "
            "whatever numbers the elements. Is it the row's own length, or that of a block?",
        ),
        shapes.only_first_row_right,
        says_little=True,
    ),
    Pattern(
        "first-of-tile-right",
        FindingText(
            "Of each tile the first row, or column, is right, and no other one is",
            "The lines that are right lie as far apart as a tile is high, or wide. So a value that "
            "belongs to a line is the same for the whole tile: it was loaded for its first line, "
            "or its offset lacks the lanes, `tl.arange(0, BLOCK)`.",
            "Each line of a tile needs its own value: load a block of them, with the offsets of "
            "all lines, and bring it into shape with `[:, None]` or `[None, :]`.",
        ),
        shapes.first_of_each_right,
        says_little=True,
    ),
    Pattern(
        "nearly-right",
        FindingText(
            "The values are nearly right, and not quite",
            "All results lie within a percent or so of the reference, and yet further from it "
            "than rounding in float32 explains. A constant with a wrong digit, an approximate "
            "formula or a step in half precision does that.",
            "Compare each constant with the contract, and convert to float32 right after the load.",
        ),
        shapes.nearly_right,
        unexplained=True,
    ),
    Pattern(
        "right-values-elsewhere",
        FindingText(
            "The right values stand at the wrong places",
            "Every value of the right result is there, as often as it should be, but not where "
            "it belongs: tiles, rows or the elements of a block have changed places.",
            "Follow the first wrong element: where is it loaded from, and where is it stored? "
            "(A reshape keeps the order in memory; it does not turn a tile.)",
        ),
        shapes.permuted,
    ),
    Pattern(
        "nan-result",
        FindingText(
            "The result holds NaN where it should not",
            "A NaN came in through a lane that was masked off, through memory that nobody wrote, "
            "or through arithmetic such as inf - inf or 0 * inf.",
            "Check the `other` of each masked load and the memory that you start from.",
        ),
        shapes.nan_result,
        unexplained=True,
    ),
)
