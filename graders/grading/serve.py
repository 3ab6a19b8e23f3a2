"""The judge as a process for the grade cells of a notebook that plain nbgrader executes.

One JSON request per line in, `{"exercise": …, "code": [cell, …]}`; one answer per line out,
`{"marks": {…}}` or `{"error": "…"}`. The answers go to a descriptor of their own: what
libraries print can never be taken for one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from graders.grading.judging import mark_code, mode
from graders.grading.marks import Marker, official_marker


def answer(line: str, marker: Marker) -> str:
    """The answer to one request, as a line of JSON."""
    try:
        request = json.loads(line)
        marks = mark_code(request["code"], request["exercise"], marker)
    except Exception as error:  # ours: the cell says that this is no zero
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
    return json.dumps({"marks": marks.to_json()})


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer until the requests end."""
    with official_marker(mode()) as marker:
        for line in requests:
            answers.write(answer(line, marker) + "\n")
            answers.flush()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
