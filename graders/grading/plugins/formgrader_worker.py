"""The process in which formgrader grades and writes feedback: one request per line.

It answers each with two lines: an empty one when it has read the request, then the result.

It keeps its judge warm between submissions, and ends with the server. The answers go to a
separate descriptor, so that text printed by libraries is not mistaken for one.
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
    """Run nbgrader's own `autograde` or `generate_feedback`; return its API's answer.

    Without a student it is done for all students.
    """
    from nbgrader.apps.api import NbGraderAPI

    try:
        api = NbGraderAPI(config=load_config(Path(course), database))
        with gradebooks.shared():
            done: dict[str, Any] = getattr(api, work)(assignment, student)
    except SystemExit as error:  # a hook says that nothing can be graded here
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
