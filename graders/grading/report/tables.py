"""The class report as a table, and as JSON."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from graders.grading.class_report import ClassReport, Student
from graders.grading.ledger.accounts import Account, told
from graders.grading.plugins.export import harmless

FORMAT = 1  # of the JSON; docs/report.schema.json describes it
_HEAD = ("student", "name", "state", "score", "max_score", "points", "penalty", "open", "reason")


def write_csv(report: ClassReport, path: Path) -> None:
    """Write one row per student: score, points and findings; students without work come last."""
    exercises = [line.name for line in report.exercises]
    kinds = ("points", "findings", "speed", "bonus")
    columns = [f"{name} {what}" for name in exercises for what in kinds]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        last = ("work_of", "on_roster", "predictions", "quiz_answers")
        writer.writerow([*_HEAD, *columns, *last])
        for student in report.students:
            found = [text for name in exercises for text in _of_exercise(student, name)]
            first = _first_columns(student.account, student.reason)
            answers = student.participation
            counts = [str(answers.predictions), str(answers.quiz)]
            writer.writerow([*first, *found, *_last_columns(student.account), *counts])
        for account in report.absent:
            writer.writerow(
                [
                    *_first_columns(account, ""),
                    *[""] * len(columns),
                    *_last_columns(account),
                    "",
                    "",
                ]
            )


def _first_columns(account: Account, reason: str) -> list[str]:
    points = (account.reached, account.penalty) if account.handed_in else (None, None)
    return [
        *map(harmless, (account.student, account.name, str(account.state))),
        *map(told, (account.score, account.max_score, *points)),
        " ".join(mark.cell for mark in account.open) if account.handed_in else "",
        harmless(_reason(account, reason)),
    ]


def _reason(account: Account, reason: str) -> str:
    waits = reason or (account.waits_for if account.handed_in else "")
    return " ".join(filter(None, (waits, account.remark)))


def _last_columns(account: Account) -> list[str]:
    return [harmless(account.work), "yes" if account.on_roster else "no"]


def _of_exercise(student: Student, exercise: str) -> list[str]:
    found = student.reports.get(exercise)
    codes = " ".join(f["code"] for f in found["findings"]) if found else ""
    return [told(student.points(exercise)), codes, *_speed_columns(found)]


def _speed_columns(report: Mapping[str, Any] | None) -> list[str]:
    """Return speed relative to the model solution, and bonus; empty if not measured."""
    speed = report.get("speed") if report else None
    if not speed:
        return ["", ""]
    return ["" if speed["problem"] else f"{speed['fraction']:g}", f"{speed['bonus']:g}"]


def as_json(report: ClassReport) -> dict[str, Any]:
    """Return everything on the page, as docs/report.schema.json describes it."""
    return {
        "format": FORMAT,
        "assignment": report.assignment,
        "students": [
            *(_student(student) for student in report.students),
            *(_account(account) for account in report.absent),
        ],
        "exercises": [
            {**asdict(line), "failed_gates": dict(line.failed_gates), "note": line.note}
            for line in report.exercises
        ],
        "questions": [
            {
                "cell": question.cell,
                "max_points": question.max_points,
                "graded": len(question.points),
                "open": question.open,
                "median": question.median,
                "mean": question.mean,
                "bands": list(question.bands),
                "full": question.full,
                "mistakes": [asdict(mistake) for mistake in question.mistakes],
            }
            for question in report.questions
        ],
        "misconceptions": [asdict(line) for line in report.misconceptions],
        "changes": [asdict(change) for change in report.changes],
    }


def _account(account: Account) -> dict[str, Any]:
    late = account.lateness
    return {
        "student": account.student,
        "name": account.name,
        "state": str(account.state),
        "score": account.score,
        "max_score": account.max_score,
        "points": account.reached if account.handed_in else None,
        "penalty": account.penalty if account.handed_in else None,
        "due": _time(late.due),
        "handed_in": _time(late.handed_in),
        "seconds_late": late.seconds,
        "late_days": late.free_days,
        "work_of": account.work or None,
        "remark": account.remark,
        "on_roster": account.on_roster,
        "marks": [
            {
                "cell": mark.cell,
                "points": mark.points,
                "max_points": mark.max_points,
                "given": str(mark.given),
            }
            for mark in account.marks
            if account.handed_in
        ],
    }


def _student(student: Student) -> dict[str, Any]:
    findings = {
        name: [{"code": f["code"], "title": f["title"]} for f in report["findings"]]
        for name, report in student.reports.items()
    }
    more = {"reason": student.reason, "findings": findings, "tampered": list(student.tampered)}
    return {**_account(student.account), **more, "participation": asdict(student.participation)}


def _time(time: datetime | None) -> str | None:
    return f"{time.isoformat()}Z" if time is not None else None
