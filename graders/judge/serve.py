"""The judge as a process: one JSON request per line in, one JSON answer per line out.

`triton_util` talks to it over a pipe and imports nothing of it, so the trust boundary is
a process boundary. Requests: `check` (exercise, source, name), `speed` (the same, and folder,
seconds, compiled), `hints` (exercise), `quiz` (lesson), `exercises`, `warm` (start every process
now). An answer is
`{"ok": true, …}` or `{"ok": false, "error": …}`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import GraderError
from graders.judge.speed import limits
from graders.judge.submission.given_cells import fingerprints
from graders.judge.submission.loading import SubmissionError, from_text

Answer = dict[str, Any]


class Server:
    """Answers requests with one warm judge."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.operations: dict[str, Callable[[Answer], Answer]] = {
            "check": self._check,
            "speed": self._speed,
            "hints": self._hints,
            "quiz": self._quiz,
            "exercises": self._exercises,
            "warm": self._warm,
        }

    def answer(self, request: Answer) -> Answer:
        """The answer to one request; never raises."""
        try:
            operation = self.operations.get(str(request.get("op")))
            if operation is None:
                return _refusal(f"unknown request {request.get('op')!r}")
            return {"ok": True, **operation(request)}
        except GraderError as error:
            return _refusal(str(error))
        except SubmissionError as error:
            return _refusal(f"{error.finding.title}: {error.finding.message}")
        except KeyError as error:
            return _refusal(str(error.args[0]))
        except Exception as error:
            return _refusal(f"the judge itself failed: {type(error).__name__}: {error}")

    def _check(self, request: Answer) -> Answer:
        exercise = discovery.exercise(request["exercise"])
        name = request.get("name", "<notebook>")
        return {"report": self.judge.judge_text(request["source"], exercise, name).to_json()}

    def _speed(self, request: Answer) -> Answer:
        """Times where there is a GPU, else what is known without one; neither where it has none."""
        exercise = discovery.exercise(request["exercise"])
        work = discovery.workload(exercise.name)
        if work is None:
            return {}
        submission = from_text(request["source"], exercise, request.get("name", "<notebook>"))
        if not limits.has_gpu():
            moved = limits.describe_traffic(self.judge.moved(submission, exercise))
            return {"modelled": asdict(replace(limits.modelled(exercise, work), moved=moved))}
        found = limits.compare_speed(
            exercise,
            Path(request["folder"]),
            source=submission.source,
            name=submission.name,
            seconds=float(request["seconds"]),
            compiled_too=bool(request["compiled"]),
        )
        remarks = limits.compiler_remarks(
            submission.source, exercise.name, work, found.gpu.capability
        )
        return {"comparison": replace(found, remarks=remarks).to_json()}

    def _warm(self, _request: Answer) -> Answer:
        self.judge.warm()
        return {}

    def _hints(self, request: Answer) -> Answer:
        return {"hints": list(discovery.exercise(request["exercise"]).hints)}

    def _quiz(self, request: Answer) -> Answer:
        questions = [
            {
                "prompt": question.prompt,
                "choices": [
                    {"text": choice.text, "answer": choice.answer, "right": choice.right}
                    for choice in question.choices
                ],
            }
            for question in discovery.quiz(request["lesson"])
        ]
        return {"questions": questions}

    def _exercises(self, request: Answer) -> Answer:
        listed = [
            {
                "name": exercise.name,
                "lesson": exercise.lesson,
                "number": discovery.numbers().get(exercise.lesson, ""),
                "title": exercise.title,
                "points": exercise.max_points,
            }
            for exercise in discovery.exercises().values()
        ]
        lessons = [slug for slug in discovery.lessons() if discovery.quiz(slug)]
        given = {lesson: sorted(found) for lesson, found in fingerprints().items()}
        return {"exercises": listed, "quizzes": lessons, "given": given}


def _refusal(error: str) -> Answer:
    return {"ok": False, "error": error}


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer until the requests end."""
    with Judge() as judge:
        server = Server(judge)
        for line in requests:
            try:
                request = json.loads(line)
            except json.JSONDecodeError as error:
                answer = _refusal(f"the request is not JSON: {error}")
            else:
                answer = server.answer(request)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def main() -> None:
    """Keep the real standard output for answers: whatever else is printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
