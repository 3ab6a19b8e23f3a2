"""The judge's process for the grade cells of a notebook that plain nbgrader executes.

It reads one JSON request per line, `{"exercise": …, "code": [cell, …]}`, and writes one answer per
line, `{"marks": {…}}` or `{"error": "…"}`. The answers go to a separate descriptor, so that text
printed by libraries is not mistaken for one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from graders.grading.judging import mark_code, mode
from graders.grading.marks import Marker, official_marker


def answer(line: str, marker: Marker) -> str:
    """Return the answer to one request, as a line of JSON."""
    try:
        request = json.loads(line)
        marks = mark_code(request["code"], request["exercise"], marker)
    except Exception as error:  # ours: the cell says that this is not a zero
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
    return json.dumps({"marks": marks.to_json()})


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end."""
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
