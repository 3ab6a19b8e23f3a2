"""The exercise of the tour, which shows a check that fails and one that passes; its questions.

The lesson contains its solution, so learners do not write it, and no gradebook counts it.
"""

from __future__ import annotations

from graders.course.common import elementwise, shared
from graders.judge.cases.builders import cases, one
from graders.judge.records import Choice, Exercise, Question

DOUBLE = Exercise(
    name="double",
    lesson="tour",
    title="Double a vector",
    parameters=("x",),
    reference=lambda x: 2 * x,
    cases=(
        *cases(one, "n", [1000, 4096, 5000], why="One block or several."),
        *cases(one, "n", [700], engine_orders=True),
        *cases(one, "n", [0, 1, 31, 1023, 1025], part="edges", why="None, one, and odd lengths."),
    ),
    large=cases(one, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
    hints=(
        "Each hint says a little more. The first is a nudge: how many programs does a vector of "
        "1,500 elements need, if each program covers 1,024?",
        "The second gives the idea: round the grid up, so that a program also covers the last, "
        "shorter block.",
        "The third is nearly the line: `grid = (triton.cdiv(n_elements, 1024),)`",
    ),
    challenge="Launch one program fewer and check again: which elements does no program store?",
    misconceptions=(
        shared.last_element_missed(),
        elementwise.load_ignores_pid(lambda x: 2 * x),
        shared.missing_mask("a vector"),
        shared.offset_ignores_pid(),
        shared.grid_too_small(),
    ),
    parts={"core": 6, "edges": 4},
)

EXERCISES = (DOUBLE,)

QUIZ = (
    Question(
        "Which setting makes Triton kernels run in the interpreter on the CPU?",
        (
            Choice(
                "`DEBUG_TRITON=1`, at any time",
                "Triton does not know that variable; setting it changes nothing.",
            ),
            Choice(
                "`TRITON_INTERPRET=1`, before Triton is imported",
                "Yes. The set-up cell of each lesson sets it if there is no GPU.",
                right=True,
            ),
            Choice(
                "`TRITON_INTERPRET=1`, any time before the kernel is launched",
                "That is too late: `@triton.jit` decides when it meets the function. A kernel that "
                "was defined before still needs a GPU.",
            ),
            Choice(
                "Launching the kernel with tensors that are on the CPU",
                "A compiled kernel refuses CPU tensors. Triton never switches to the interpreter "
                "by itself.",
            ),
        ),
    ),
    Question(
        "In the interpreter one kernel takes 3 seconds and another 1 second. What does that say "
        "about a GPU?",
        (
            Choice(
                "The second kernel is three times as fast there.",
                "The interpreter spends its time in Python and numpy. A GPU spends its time "
                "on memory and arithmetic.",
            ),
            Choice(
                "Nothing: count bytes and operations instead.",
                "Yes. These are the same on every machine, and they predict a GPU's time well.",
                right=True,
            ),
            Choice(
                "The first kernel is limited by memory.",
                "Bytes and operations show whether a kernel waits for memory. The "
                "interpreter's time does not.",
            ),
            Choice(
                "The order is the same on a GPU, but the factor differs.",
                "Not even the order carries over. The slower one here may have more, smaller "
                "programs, which a GPU runs at the same time.",
            ),
        ),
    ),
    Question(
        "A launcher has the line `double_kernel[(n_elements // 1024,)](x, output, n_elements, "
        "BLOCK_SIZE=1024)`. How many programs does it start for 2,047 elements, and is the result "
        "correct?",
        (
            Choice(
                "1 program: the last 1,023 elements are never written.",
                "Yes. `2047 // 1024` rounds down to 1. `triton.cdiv(2047, 1024)` is 2.",
                right=True,
            ),
            Choice(
                "2 programs: all elements are written, because the mask covers the rest.",
                "`//` rounds down, so the second program does not exist. A mask only switches "
                "lanes off; it never adds any.",
            ),
            Choice(
                "1 program: the elements are written, because one program loops over all blocks.",
                "A program runs its code once. This kernel has no loop.",
            ),
            Choice(
                "2,047 programs: one for each element.",
                "A program works on a whole block of 1,024 elements.",
            ),
        ),
    ),
    Question(
        "A check passes. What do you know?",
        (
            Choice(
                "The kernel is correct for every input.",
                "No finite number of inputs proves that. The judge chooses inputs where bugs are "
                "likely.",
            ),
            Choice(
                "It agreed with a reference on many inputs and stayed inside its tensors.",
                "Yes. It also compiles for GPUs. This is strong evidence, and a class uses the "
                "same judge.",
                right=True,
            ),
            Choice(
                "It is as fast as a kernel for this task can be on your machine.",
                "The judge measures speed only if there is a GPU. Otherwise that gate says that it "
                "did not run.",
            ),
            Choice(
                "It gives the same bits as PyTorch, because the judge compares exactly.",
                "The judge allows for rounding, unless the contract asks for exact equality.",
            ),
        ),
    ),
)
