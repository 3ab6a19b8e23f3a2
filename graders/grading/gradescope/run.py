"""Judges one submission in Gradescope's container, and writes its results.json.

Formats: https://gradescope-autograders.readthedocs.io/en/latest/specs/ and
https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/

If anything could not be judged, the result has no score at all: Gradescope would count a missing
part as 0.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graders.grading.gradescope.packing import SETTINGS, AutograderSettings
from graders.grading.intake.handed_in import counting
from graders.grading.intake.unpacked import bring_up
from graders.grading.marks import UNSANDBOXED, Marker, Marks, official_marker
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError
from graders.judge.submission.refusals import SubmissionError

ROOT = Path("/autograder")
NOT_A_ZERO = (
    "This submission is not graded yet. This is not a zero: your instructor will look at it."
)
Results = dict[str, Any]


def main() -> None:
    """Write results/results.json; always exit normally, because a result says what failed."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    started = time.monotonic()
    try:
        settings = AutograderSettings.read(root / "source" / SETTINGS)
        if settings.unsandboxed:
            os.environ[UNSANDBOXED] = "1"
        with official_marker() as marker:
            found = results(root / "submission", settings, marker)
    except Exception as error:  # whatever it is, it must not become a zero
        why = one_line(str(error)) if isinstance(error, GraderError) else type(error).__name__
        found = ungraded(f"The judge itself failed: {why}")
    found["execution_time"] = round(time.monotonic() - started, 1)
    place = root / "results" / "results.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(".fresh")
    fresh.write_text(json.dumps(found, indent=1), encoding="utf-8")
    fresh.replace(place)
    print(_said(root, found))


def results(submission: Path, settings: AutograderSettings, marker: Marker) -> Results:
    """Return what results.json contains for the files in the folder `submission`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "submission"
        shutil.copytree(submission, folder, ignore=_links)
        try:
            bring_up(folder, settings.assignment)
            path = counting(folder, settings.assignment)
        except SubmissionError as error:
            return ungraded(str(error))
        marks = [marker.mark(path, name) for name in settings.exercises]
    reasons = [f"{one.exercise}: {one.reason}" for one in marks if one.reason]
    tests = [test for one in marks for test in _tests(one, settings.hidden)]
    if reasons:
        return ungraded("\n".join(reasons), tests)
    said = "Graded by hand, later: " + ", ".join(settings.by_hand) if settings.by_hand else ""
    return _shown({"output": said, "tests": tests})


def ungraded(reason: str, tests: Sequence[Mapping[str, Any]] = ()) -> Results:
    """Return a result without any score. `tests` keep their texts, which name their points."""
    unscored = [{k: v for k, v in one.items() if not k.endswith("score")} for one in tests]
    return _shown({"output": f"{NOT_A_ZERO}\n{reason}", "tests": unscored})


def _shown(found: Results) -> Results:
    return {**found, "visibility": "visible", "stdout_visibility": "hidden"}


def _tests(marks: Marks, hidden: str) -> Iterator[dict[str, Any]]:
    """Yield the public and the hidden part of an exercise."""
    parts = ("public", marks.public, "visible"), ("hidden", marks.hidden, hidden)
    for part, cell, visibility in parts:
        yield {
            "name": f"{marks.exercise}: {part} cases",
            "score": cell.points,
            "max_score": cell.max_points,
            "output": cell.text,
            "output_format": "text",
            "visibility": visibility,
        }


def _links(folder: str, names: list[str]) -> list[str]:
    """Return the links in a folder: one could lead to the hidden cases."""
    return [name for name in names if Path(folder, name).is_symlink()]


def _said(root: Path, found: Results) -> str:
    """Return a line for the instructor, who sees stdout: who handed in, and the points."""
    try:
        data = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        names = [one_line(str(user["name"])) for user in data["users"]]
    except (OSError, ValueError, LookupError, TypeError):
        names = []
    scores = [test["score"] for test in found.get("tests", ()) if "score" in test]
    points = f"{sum(scores):g} points" if scores else "no score"
    return f"{', '.join(names) or 'submission'}: {points}\n{found['output']}"


if __name__ == "__main__":
    main()
