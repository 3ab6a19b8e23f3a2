"""The exercise of the tour, which shows a check that fails and one that passes; its questions.

The lesson holds its solution: nobody writes it, and it counts in no gradebook.
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
        "A hint says a little more each time. This first one is a nudge: how many programs does "
        "a vector of 1,500 elements need, if each does 1,024?",
        "The second is an idea: a grid has to be rounded up, so that the last, shorter block has "
        "a program, too.",
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
        "Which variable makes Triton kernels run in the interpreter on the CPU, and when must it "
        "be set?",
        (
            Choice(
                "DEBUG_TRITON=1, at any time.",
                "Triton does not know that variable; setting it changes nothing.",
            ),
            Choice(
                "TRITON_INTERPRET=1, before triton is imported.",
                "Yes. The set-up cell of each lesson does it where there is no GPU.",
                right=True,
            ),
            Choice(
                "TRITON_INTERPRET=1, any time before the kernel is launched.",
                "Too late: `@triton.jit` decides when it meets the function. A kernel that was "
                "defined before asks for a GPU.",
            ),
        ),
    ),
    Question(
        "In the interpreter one kernel takes 3 seconds and another 1 second. What does that say "
        "about a GPU?",
        (
            Choice(
                "The second one is three times as fast there.",
                "The interpreter's time is the time of Python and numpy. A GPU spends its time "
                "on quite other things.",
            ),
            Choice(
                "Nothing. Count the bytes and the operations instead.",
                "Yes. These are the same on every machine, and they predict a GPU's time well.",
                right=True,
            ),
            Choice(
                "The first one is limited by memory.",
                "Whether a kernel waits for memory shows in its bytes and operations, not in the "
                "interpreter's time.",
            ),
        ),
    ),
    Question(
        "A check passes. What do you know?",
        (
            Choice(
                "That the kernel is right for every input.",
                "No finite number of inputs proves that. But the cases are chosen where mistakes "
                "live.",
            ),
            Choice(
                "That it agreed with a trusted reference on many chosen inputs, touched no memory "
                "outside its arguments, and compiles for GPUs.",
                "Yes. A strong sign, and the same judge as in a class.",
                right=True,
            ),
            Choice(
                "That it is as fast as it can be.",
                "Speed is looked at only where there is a GPU; elsewhere the gate says that it "
                "was not run.",
            ),
        ),
    ),
)
