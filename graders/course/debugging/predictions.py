"""Predictions of the lesson on debugging."""

from __future__ import annotations

from graders.judge.predictions import Prediction

PREDICTIONS = {
    "programs_chosen": Prediction(
        6, "programs", "Three ids on axis 0 (1, 2, 3), and two on axis 1 (0 and 2)."
    ),
    "first_offset_of_program_1": Prediction(
        2,
        "",
        "Programs are one block apart: program 1 starts where the block of program 0 ends.",
        quantity=False,
    ),
    "sixth_element": Prediction(
        600,
        "",
        "The third program copies two elements. The second one is past the end of both vectors.",
        quantity=False,
    ),
    "bugs_found": Prediction(
        0,
        "bugs",
        "With a single block `pid` is always 0, and a full block needs no mask.",
        quantity=False,
    ),
}
