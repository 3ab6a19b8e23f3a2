"""The hook that nbgrader calls before it grades a submission."""

from __future__ import annotations

from typing import Any

from graders.grading import judging
from graders.judge.records import GraderError


def need_gpu(**_of_whom: Any) -> None:
    """End nbgrader's command if TILEWISE_MODE asks for a GPU that is missing.

    It exits because nbgrader continues after any other exception of a hook, and would then
    overwrite existing grades with open ones.
    """
    try:
        judging.need_gpu()
    except GraderError as error:
        raise SystemExit(f"NOTHING WAS GRADED: {error} (TILEWISE_MODE)") from error
