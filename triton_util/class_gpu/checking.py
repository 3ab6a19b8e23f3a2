"""`check(matmul, gpu=True)`: first on this machine, then on the class GPU, in the usual card."""

from __future__ import annotations

import dataclasses
import html
import time
from typing import Any

from triton_util.class_gpu.places import ServicePlace, place
from triton_util.class_gpu.service import Queued, Service
from triton_util.client import checking
from triton_util.client.card import frame
from triton_util.client.judge import JudgeProcess, JudgeUnavailable
from triton_util.client.report import Checked, could_not_check, read_report
from triton_util.notebook.session import Display, Session
from triton_util.notebook.source import Gathered
from triton_util.notebook.staleness import told


def check(function: Any, session: Session, judge: JudgeProcess) -> checking.CheckResult:
    """Check on this machine; code that passes, or cannot be judged here, goes to the service."""
    name = checking.name_of(function)
    display = Display()
    with checking.stoppable(name, display, judge):
        report = checking.report_on(
            function, session, judge, checking.shows_progress(name, display)
        )
        speed: dict[str, Any] | None = None
        if report.state in ("passed", "unjudged"):
            report, speed = _asked(function, name, session, judge, display)
    result = checking.conclude(report, judge, display)
    if speed is not None:
        from triton_util.class_gpu.speed_card import show  # loads torch, so import it only here

        show(speed)
    return result


def _asked(
    function: Any, name: str, session: Session, judge: JudgeProcess, display: Display
) -> tuple[Checked, dict[str, Any] | None]:
    """The service's report, or one that says why there is none; and the speed, if measured."""
    found = place()
    if found is None:
        missing = "This check did not reach a GPU."
        return could_not_check(name, missing, ServicePlace.MISSING), None
    started = time.monotonic()
    given: dict[str, Any] = {}

    def ask(source: Gathered) -> Checked:
        answer = Service(found).judge(name, source.text, lambda q: display.note(*waiting(name, q)))
        given.update(answer)
        report = checking.with_places(read_report(answer["report"]), source, session)
        waited = time.monotonic() - started
        return dataclasses.replace(report, judged=told(source, session), seconds=waited)

    report = checking.faults_told(name, lambda: ask(_source(function, name, session, judge)))
    speed = given.get("speed")
    return report, speed if isinstance(speed, dict) else None


def _source(function: Any, name: str, session: Session, judge: JudgeProcess) -> Gathered:
    """The source to send: the one that this machine's judge gets, if it answers."""
    try:
        lesson = checking.given_cells(name, judge)
    except JudgeUnavailable:
        lesson = frozenset()
    return checking.gathered(function, name, session, lesson)


def waiting(name: str, queued: Queued) -> tuple[str, str]:
    """The card while a check waits for the class GPU: its position and the expected wait."""
    verdict = f"<code>{html.escape(name)}</code> {_state(queued)} …"
    said = wait_told(queued)
    label = f"{name} on the class's GPU: {said}"
    return frame("plain", "…", verdict, said, "", label), f"{name}: {said}"


def _state(queued: Queued) -> str:
    return "runs on the class's GPU" if queued.state == "running" else "waits for the class's GPU"


def wait_told(queued: Queued) -> str:
    """Position and expected wait in words."""
    again = " Its worker ended, so it starts again: nothing is lost." if queued.retried else ""
    if not queued.workers:
        return f"No GPU is connected at the moment; the check keeps its place.{again}"
    if queued.state == "running":
        return f"It is being judged now.{again}"
    before = {0: "It is the next one", 1: "One check is before it"}.get(
        queued.position, f"{queued.position} checks are before it"
    )
    if queued.expected_seconds is None:
        return f"{before}.{again}"
    return f"{before}; about {_duration(queued.expected_seconds)}.{again}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
