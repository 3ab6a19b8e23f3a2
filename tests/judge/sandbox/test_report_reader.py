"""What a worker reports is text from a stranger: bounded, validated, and never a verdict."""

from __future__ import annotations

import dataclasses
import json
import os
import unicodedata

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graders.judge.sandbox import job_report, protocol, report_reader
from graders.judge.sandbox.batch import Batch, Job
from graders.judge.sandbox.protocol import CLAIMABLE, DONE, HEADER_BYTES, Header
from graders.judge.sandbox.report_reader import WorkerReport, parse
from tests.support import plans

FAULT = {"code": "gap-read", "message": "reads a gap", "line": 7, "argument": "x_ptr"}


def report(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_a_proper_report_is_read() -> None:
    found = parse(
        report(
            faults=[FAULT],
            launches=[{"kernel": "k", "grid": [4, 1, 1], "meta": {"BLOCK_SIZE": 64}}],
            traffic={"launches": 1, "x_ptr": {"bytes": 4096}},
            error={"code": "exception", "message": "ValueError: no", "line": 3},
            returned="it returned None",
        )
    )
    assert (found.faults[0].code, found.faults[0].line) == ("gap-read", 7)
    assert found.faults[0].argument == "x_ptr"
    assert found.launches[0].grid == (4, 1, 1)
    assert found.launches[0].meta == {"BLOCK_SIZE": 64}
    assert found.traffic == {"launches": 1, "x_ptr": {"bytes": 4096}}
    assert found.error is not None
    assert found.returned == "it returned None"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0" * 100,
        b"nonsense",
        b"[1, 2]",
        b"null",
        b'{"faults": ',
        b"[" * 50_000,
        b'{"a":' * 20_000,
        b"\xff\xfe\xfa",
        b'{"line": ' + b"9" * 10_000 + b"}",
        b'{"faults": 3, "launches": {"a": 1}, "traffic": [], "error": "x"}',
        b'{"faults": [1, null, {}, {"code": 3}, {"code": "NOT A CODE"}, {"code": "__class__"}]}',
    ],
    ids=range(12),
)
def test_nonsense_is_dropped(raw: bytes) -> None:
    assert parse(raw) == WorkerReport()


def test_a_pass_cannot_be_claimed() -> None:
    assert not {"verdict", "passed", "points"} & {f.name for f in dataclasses.fields(WorkerReport)}
    assert parse(report(verdict="passed", points=10, status="returned")) == WorkerReport()


def test_lengths_and_numbers_are_bounded() -> None:
    found = parse(
        report(
            faults=[{"code": "gap-read", "message": "m" * 10_000, "line": 10**12}] * 1_000,
            launches=[{"kernel": "k" * 1_000, "grid": [1] * 100, "meta": {}}] * 1_000,
        )
    )
    assert len(found.faults) == len(found.launches) == report_reader.MAX_ITEMS
    assert len(found.faults[0].message) == report_reader.MAX_MESSAGE
    assert found.faults[0].line is None
    assert len(found.launches[0].kernel) == report_reader.MAX_NAME
    assert len(found.launches[0].grid) == 3


@pytest.mark.parametrize("line", [0, -1, True, 1.5, "3", None, [3]])
def test_a_line_is_a_positive_integer(line: object) -> None:
    assert parse(report(faults=[{"code": "gap-read", "line": line}])).faults[0].line is None


def test_control_characters_are_removed() -> None:
    told = "red \x1b[31m, bell \a, right-to-left \u202e, null \0, half \ud800, kept é 中\n\t"
    assert (
        report_reader.text(told, 1_000)
        == "red [31m, bell , right-to-left , null , half , kept é 中\n\t"
    )


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
@example(b"{}")
def test_any_bytes_are_survived(raw: bytes) -> None:
    assert isinstance(parse(raw), WorkerReport)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("faults", "launches", "traffic", "error", "returned"),
            _JSON
            | st.fixed_dictionaries({"code": st.just("gap-read") | _JSON, "message": _JSON})
            | st.lists(st.fixed_dictionaries({"kernel": _JSON, "grid": _JSON, "meta": _JSON})),
        ),
    )
)
def test_any_json_gives_a_report_of_the_right_types(fields: dict[str, object]) -> None:
    found = parse(report(**fields))
    for fault in (*found.faults, *filter(None, [found.error])):
        assert isinstance(fault.message, str)
        assert fault.line is None or fault.line > 0
    for launch in found.launches:
        assert all(type(size) is int for size in launch.grid)
        assert isinstance(launch.kernel, str)
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in found.returned)


def job() -> Job:
    return plans.job([], plans.new(2), torch.ones(3), seconds=1.0)


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=HEADER_BYTES, max_size=HEADER_BYTES))
def test_any_header_gives_a_result_of_the_judges_shape(raw: bytes) -> None:
    batch = Batch([job()], 1.0)
    try:
        os.pwrite(batch.memory, raw, batch.plan.jobs[0].header)
        result = batch.result(0)
    finally:
        batch.close()
    assert result.output is None or (result.output.shape, result.output.dtype) == (
        (2,),
        torch.float32,
    )
    assert 0.0 <= result.seconds <= 1.0


def test_truth_values_are_made_true_or_false() -> None:
    batch = Batch([dataclasses.replace(job(), out_dtype=torch.bool)], 1.0)
    try:
        placed = batch.plan.jobs[0]
        header = Header(state=DONE, status=CLAIMABLE.index("returned"), stored=1)
        os.pwrite(batch.memory, header.pack(), placed.header)
        os.pwrite(batch.memory, b"\x02\x00", placed.out.start)
        os.pwrite(batch.memory, b"\xff\x00", placed.stored.start)
        result = batch.result(0)
    finally:
        batch.close()
    assert result.output is not None
    assert result.never_stored is not None
    assert result.output.view(torch.uint8).tolist() == [1, 0]
    assert result.never_stored.view(torch.uint8).tolist() == [1, 0]


def test_the_shared_memory_cannot_be_resized() -> None:
    batch = Batch([job()], 1.0)
    try:
        for size in (0, batch.plan.total * 2):
            with pytest.raises(PermissionError):
                os.ftruncate(batch.memory, size)
    finally:
        batch.close()


def test_a_report_that_is_too_long_loses_the_least_important_first() -> None:
    long = {"faults": ["f" * 50_000], "launches": ["l" * 50_000], "error": FAULT}
    raw = job_report.encode(dict(long), protocol.REPORT_BYTES - 1)
    assert json.loads(raw) == {"faults": ["f" * 50_000], "error": FAULT}
    assert job_report.encode({"error": "e" * 100_000}, 1_000) == b"{}"
