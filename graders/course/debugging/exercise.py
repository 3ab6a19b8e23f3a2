"""What counts as solved in the lesson on debugging: a copy without its three bugs."""

from __future__ import annotations

import torch

from graders.course.common import elementwise, placement, remarks, rounding, shared
from graders.course.common.expected import computes
from graders.judge.cases.builders import ANY_DTYPE, VECTOR_SIZES, cases, one
from graders.judge.records import Choice, Exercise, Misconception, Question

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
        "There are three bugs, one behind the other: the offsets have to depend on the program, "
        "the programs have to be one *block* apart, and the last block needs a mask.",
        "`offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`, `mask = offsets < n_elements`, "
        "and the mask in both `tl.load` and `tl.store`.",
    ),
    challenge=(
        "Multiply `pid` by `n_elements` in place of `BLOCK_SIZE` and check again: where does "
        "program 1 go?"
    ),
    misconceptions=(
        shared.last_element_missed(),
        rounding.lossy_copy(),
        Misconception(
            code="value-added",
            title="The copy changes every value",
            message=(
                "Each element of the output differs from its original by the same step, as when "
                "a trial value from debugging was left in the store."
            ),
            next_step="Store the loaded block itself.",
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

EXERCISES = (COPY,)

QUIZ = (
    Question(
        "When does TRITON_INTERPRET=1 take effect?",
        (
            Choice(
                "As soon as the variable is set, also in a running notebook.",
                "A kernel is interpreted or not from the moment when `@triton.jit` meets it. Those "
                "that were defined before still ask for a GPU.",
            ),
            Choice(
                "When it is set before triton is imported.",
                "Yes: then all of Triton knows. In a notebook: restart the kernel, set it in the "
                "first cell, import then.",
                right=True,
            ),
            Choice(
                "When the kernel is launched with CPU tensors.",
                "Without the interpreter CPU tensors are refused: it never switches by itself.",
            ),
        ),
    ),
    Question(
        "A kernel computes `offsets = pid * n_elements + tl.arange(0, BLOCK_SIZE)` with a correct "
        "mask. What does a vector of several blocks look like afterwards?",
        (
            Choice(
                "Only the first block was copied.",
                "Yes. Program 0 is right by luck (0 times anything is 0); all the others start "
                "behind the end, where the mask silences them.",
                right=True,
            ),
            Choice(
                "The blocks arrive in the wrong order.",
                "No program reaches a second block: they are n_elements apart, not BLOCK_SIZE.",
            ),
            Choice(
                "The kernel crashes.",
                "It would without the mask. With it, the bug is silent, which is worse.",
            ),
        ),
    ),
    Question(
        "`assert x.is_contiguous` stands in a launcher. What does it check?",
        (
            Choice(
                "That x is contiguous.",
                "The parentheses are missing: this is the method itself, not its answer.",
            ),
            Choice(
                "Nothing: a method is always true.",
                "Yes. Write `assert x.is_contiguous()`. A check that cannot fail is no check.",
                right=True,
            ),
        ),
    ),
    Question(
        "What does agreement with a golden reference such as `torch.add` prove?",
        (
            Choice(
                "That the kernel is right.",
                "It is right for these inputs. A missing mask shows for ragged sizes only, a "
                "stride mistake for views only.",
            ),
            Choice(
                "That it is right for the inputs tried; so choose them where bugs live.",
                "Yes: ragged sizes, one element, none, views, negative numbers, every dtype.",
                right=True,
            ),
            Choice(
                "Nothing, because torch uses the same GPU.",
                "It is an independent program for the same task, and that is worth a lot.",
            ),
        ),
    ),
)
