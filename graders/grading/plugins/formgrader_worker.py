"""The process in which formgrader grades and writes feedback: a request per line.

Two lines answer each: an empty one when it has been read, and the result.

It keeps its judge warm from one submission to the next, and ends when the server does. The
answers go to a descriptor of their own: what libraries print can never be taken for one.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import graders.quick_jsonschema  # noqa: F401 - before nbgrader imports it
from graders.grading import gradebooks
from graders.grading.course_config import load_config


def answer(
    work: str, course: str, database: str, assignment: str, student: str | None
) -> dict[str, Any]:
    """nbgrader's own `autograde` or `generate_feedback`, as its API answers.

    Without a student the work is for everybody.
    """
    from nbgrader.apps.api import NbGraderAPI

    try:
        api = NbGraderAPI(config=load_config(Path(course), database))
        with gradebooks.shared():
            done: dict[str, Any] = getattr(api, work)(assignment, student)
    except SystemExit as error:  # a hook's word that nothing can be graded here
        return {"success": False, "error": str(error), "log": ""}
    except Exception:
        return {"success": False, "error": traceback.format_exc(), "log": ""}
    return done


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write("\n")
        answers.flush()
        answers.write(json.dumps(answer(**json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
