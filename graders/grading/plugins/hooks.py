"""What nbgrader calls before it grades a submission."""

from __future__ import annotations

from typing import Any

from graders.grading import judging
from graders.judge.records import GraderError


def need_gpu(**_of_whom: Any) -> None:
    """End nbgrader's command where TILEWISE_MODE asks for a GPU that is not there.

    nbgrader goes on after any other exception of a hook, and would then write open grades over
    those that there are.
    """
    try:
        judging.need_gpu()
    except GraderError as error:
        raise SystemExit(f"NOTHING WAS GRADED: {error} (TILEWISE_MODE)") from error
