"""The judge as a process: one JSON request per line in, one JSON answer per line out.

`triton_util` talks to it over a pipe and imports none of it, so the trust boundary is a process
boundary. Requests: `check` (exercise, source, name), `passed` (what to show of a correct kernel:
exercise, source), `speed` (as `check`, and folder, seconds, compiled), `hints` (exercise), `quiz`
(lesson), `exercises`, `warm` (start every process now), `prediction` (name), `model_answer`
(case_study). An answer is `{"ok": true, …}` or `{"ok": false, "error": …}`. Lines of the form
`{"progress": [cases done, cases]}` may precede it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from graders.judge import discovery, model_beside, passed_card, predictions
from graders.judge.pipeline import Judge
from graders.judge.records import GraderError
from graders.judge.speed import limits
from graders.judge.submission.given_cells import fingerprints
from graders.judge.submission.loading import SubmissionError, from_text
from triton_util.report import Verdict

Answer = dict[str, Any]
TELL_SECONDS = 0.25  # between two progress lines of a check


class Server:
    """Answers requests with one warm judge."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._passed_texts: set[str] = set()  # of exercise and source: may see the model solution
        self.operations: dict[str, Callable[[Answer], Answer]] = {
            "check": self._check,
            "passed": self._passed,
            "speed": self._speed,
            "hints": self._hints,
            "quiz": self._quiz,
            "exercises": self._exercises,
            "warm": self._warm,
            "prediction": self._prediction,
            "model_answer": self._model_answer,
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
        report = self.judge.judge_text(request["source"], exercise, name)
        if report.verdict is Verdict.PASSED:
            self._passed_texts.add(_text_key(request))
        return {"report": report.to_json()}

    def _passed(self, request: Answer) -> Answer:
        """What to show of a correct kernel, next to its verdict.

        The model solution is shown only for a text that passed a check of this judge.
        """
        exercise = discovery.exercise(request["exercise"])
        submission = from_text(request["source"], exercise, "<notebook>")
        passed = _text_key(request) in self._passed_texts
        return {
            "access": passed_card.access(self.judge, submission, exercise),
            "registers": passed_card.registers(exercise),
            "model": model_beside.beside(self.judge, submission, exercise) if passed else None,
        }

    def _speed(self, request: Answer) -> Answer:
        """How fast a submission is: times on a GPU, or what is known without one.

        Empty for an exercise without a workload; `plain` if it has none because it is plain Python.
        """
        exercise = discovery.exercise(request["exercise"])
        work = discovery.workload(exercise.name)
        if work is None:
            return {"plain": True} if exercise.function is not None else {}
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

    def _prediction(self, request: Answer) -> Answer:
        return asdict(predictions.prediction(request["name"]))

    def _model_answer(self, request: Answer) -> Answer:
        return {"text": predictions.model_answer(request["case_study"])}

    def _exercises(self, request: Answer) -> Answer:
        listed = [
            {
                "name": exercise.name,
                "lesson": exercise.lesson,
                "number": discovery.numbers().get(exercise.lesson, ""),
                "title": exercise.title,
                "points": exercise.max_points,
                "challenge": exercise.challenge,
            }
            for exercise in discovery.exercises().values()
        ]
        lessons = {slug: len(discovery.quiz(slug)) for slug in discovery.lessons()}
        given = {lesson: sorted(found) for lesson, found in fingerprints().items()}
        return {
            "exercises": listed,
            "quizzes": {slug: count for slug, count in lessons.items() if count},
            "given": given,
            "lessons": dict(discovery.numbers()),
        }


def _text_key(request: Answer) -> str:
    """Identifies the exercise and the source text of a request."""
    text = json.dumps([request["exercise"], request["source"]])
    return hashlib.sha256(text.encode()).hexdigest()


def _refusal(error: str) -> Answer:
    return {"ok": False, "error": error}


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end."""

    def say(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    with Judge() as judge:
        server = Server(judge)
        for line in requests:
            try:
                request = json.loads(line)
            except json.JSONDecodeError as error:
                answer = _refusal(f"the request is not JSON: {error}")
            else:
                with _telling(judge, say):
                    answer = server.answer(request)
            say(answer)


@contextmanager
def _telling(judge: Judge, say: Callable[[Answer], None]) -> Iterator[None]:
    """While the context is open, report how many cases are done whenever that number grows."""
    over = threading.Event()

    def watch() -> None:
        told = judge.progress()  # the cases of the previous request
        while not over.wait(TELL_SECONDS):
            now = judge.progress()
            if now != told and now[1]:
                say({"progress": list(now)})
                told = now

    thread = threading.Thread(target=watch, name="tells-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main() -> None:
    """Reserve the real standard output for answers; everything else printed goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
