"""A report goes to JSON and back whole; the command line's line is a view of it."""

from __future__ import annotations

import json
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from graders.judge.pipeline import GATE_NAMES
from triton_util.report import (
    Finding,
    GateStatus,
    KernelResources,
    Picture,
    Report,
    Speed,
    Verdict,
)

WORDS = st.text(max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 10**6)
PICTURES = st.builds(
    Picture, st.lists(st.text(".xo ", max_size=8), max_size=4).map(tuple), caption=WORDS
)
FINDINGS = st.builds(
    Finding,
    *[WORDS] * 4,
    line=st.none() | COUNTS,
    case=st.none() | WORDS,
    next_step=WORDS,
    picture=st.none() | PICTURES,
    original=WORDS,
    where=WORDS,
)
RESOURCES = st.builds(KernelResources, WORDS, *[COUNTS] * 5)
SPEEDS = st.builds(Speed, WORDS, WORDS, NUMBERS, NUMBERS, NUMBERS, COUNTS, COUNTS, WORDS, WORDS)
REPORTS = st.builds(
    Report,
    submission=WORDS,
    exercise=WORDS,
    verdict=st.sampled_from(Verdict),
    points=st.none() | NUMBERS,
    max_points=COUNTS,
    gates=st.fixed_dictionaries({gate: st.sampled_from(GateStatus) for gate in GATE_NAMES}),
    findings=st.lists(FINDINGS, max_size=3).map(tuple),
    sandbox=WORDS,
    seconds=NUMBERS,
    cases_passed=COUNTS,
    cases_total=COUNTS,
    resources=st.lists(RESOURCES, max_size=2).map(tuple),
    public_points=st.none() | NUMBERS,
    speed=st.none() | SPEEDS,
    remarks=st.lists(FINDINGS, max_size=2).map(tuple),
)
LINE = ["submission", "exercise", "verdict", "points", "max_points", "gates", "findings"]
LINE += ["sandbox", "seconds"]


@given(REPORTS)
def test_a_report_goes_to_json_and_back_whole(report: Report) -> None:
    sent = json.loads(json.dumps(report.to_json()))
    assert sent == report.to_json()
    assert Report.from_json(sent) == report


@given(FINDINGS)
def test_a_finding_goes_to_json_and_back_whole(finding: Finding) -> None:
    assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding


def test_every_field_is_in_the_json() -> None:
    report = Report("x.py", "softmax", Verdict.PASSED, 1, 1, {}, (), "A", 0.5)
    assert set(report.to_json()) == {field.name for field in fields(Report)}


@given(REPORTS)
def test_the_line_of_the_command_keeps_its_contract(report: Report) -> None:
    line = report.to_line()
    extra = ["speed"] * (report.speed is not None) + ["remarks"] * bool(report.remarks)
    assert list(line) == LINE + extra
    assert json.loads(json.dumps(line)) == line
    for told in line["findings"]:
        assert list(told) == ["gate", "code", "title", "message", "line", "case"]


def test_the_message_of_a_line_says_place_and_next_step() -> None:
    finding = Finding("read", "c", "t", "It fails", line=3, next_step="Mend it.", where="cell 7")
    assert finding.to_line()["message"] == "cell 7, line 3: It fails. Mend it."


def test_an_older_report_takes_the_defaults_of_what_it_lacks() -> None:
    report = Report("x.py", "softmax", Verdict.FAILED, 0, 10, {}, (), "A", 0.5, cases_total=3)
    old = {name: report.to_json()[name] for name in LINE}
    assert Report.from_json(old).cases_total == 0
