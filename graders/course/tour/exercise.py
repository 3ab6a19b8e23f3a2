"""The exercise of the tour, which shows a check that fails and one that passes; its questions.

The lesson contains its solution, so learners do not write it, and no gradebook counts it.
"""

from __future__ import annotations

from graders.course.common import elementwise, shared
from graders.judge.cases.builders import cases, one
from graders.judge.records import Exercise

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
