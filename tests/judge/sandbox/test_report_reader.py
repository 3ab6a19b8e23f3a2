"""What a worker reports is text from a stranger: bounded, validated, and never a verdict."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import unicodedata

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graders.judge import bounds
from graders.judge.records import AccessMap, Outside, ProgramRow
from graders.judge.sandbox import job_report, protocol
from graders.judge.sandbox.batch import Batch, Job
from graders.judge.sandbox.protocol import CLAIMABLE, DONE, HEADER_BYTES, Header
from graders.judge.sandbox.report_reader import FIGURES, ORDER_FIGURES, WorkerReport, parse
from tests.support import plans

OUTSIDE = Outside((4, 8), end=60, lanes=3, active=16, first=-2, lowest=-2, highest=61)
FAULT = {
    "code": "gap-read",
    "message": "reads a gap",
    "line": 7,
    "argument": "x_ptr",
    "program": [3, 0, 0],
    "outside": {**dataclasses.asdict(OUTSIDE), "shape": [4, 8]},
}


def report(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_a_proper_report_is_read() -> None:
    found = parse(
        report(
            faults=[FAULT],
            launches=[{"kernel": "k", "grid": [4, 1, 1], "meta": {"BLOCK_SIZE": 64}}],
            traffic={"x_ptr": {"loaded": 4096, "distinct_loaded": 1024}},
            error={"code": "exception", "message": "ValueError: no", "line": 3},
            returned="it returned None",
        )
    )
    assert (found.faults[0].code, found.faults[0].line) == ("gap-read", 7)
    assert found.faults[0].outside == OUTSIDE
    assert found.faults[0].program == (3, 0, 0)
    assert found.faults[0].argument == "x_ptr"
    assert found.launches[0].grid == (4, 1, 1)
    assert found.launches[0].meta == {"BLOCK_SIZE": 64}
    assert found.traffic is not None
    assert found.traffic["x_ptr"]["distinct_loaded"] == 1024
    assert found.traffic["x_ptr"]["stored"] == 0
    assert found.error is not None
    assert found.returned == "it returned None"


@pytest.mark.parametrize("change", [{"lanes": -1}, {"end": "60"}, {"shape": 4}, {"first": None}])
def test_a_fault_without_all_of_its_numbers_has_none(change: dict[str, object]) -> None:
    outside = {**dataclasses.asdict(OUTSIDE), "shape": [4, 8], **change}
    (fault,) = parse(report(faults=[{**FAULT, "outside": outside, "program": "all"}])).faults
    assert (fault.outside, fault.program) == (None, None)
    assert fault.code == "gap-read"


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


@pytest.mark.parametrize("sides", [[1, -2], [True], [1.0], "12", {"1": 2}, [[1]], None])
def test_sides_are_whole_numbers(sides: object) -> None:
    assert parse(report(sides=[4, 5])).sides == {4, 5}
    assert parse(report(sides=sides)).sides == frozenset()


def test_lengths_and_numbers_are_bounded() -> None:
    found = parse(
        report(
            faults=[{"code": "gap-read", "message": "m" * 10_000, "line": 10**12}] * 1_000,
            launches=[{"kernel": "k" * 1_000, "grid": [1] * 3, "meta": {}}] * 1_000,
        )
    )
    assert len(found.faults) == len(found.launches) == bounds.MAX_ITEMS
    assert len(found.faults[0].message) == bounds.MAX_MESSAGE
    assert found.faults[0].line is None
    assert len(found.launches[0].kernel) == bounds.MAX_NAME


@pytest.mark.parametrize("line", [0, -1, True, 1.5, "3", None, [3]])
def test_a_line_is_a_positive_integer(line: object) -> None:
    assert parse(report(faults=[{"code": "gap-read", "line": line}])).faults[0].line is None


NUMBERS = (
    st.integers()
    | st.floats()
    | st.booleans()
    | st.text(max_size=4)
    | st.none()
    | st.sampled_from(
        [float("inf"), float("-inf"), float("nan"), -1, 2**31, 2**60 + 1, 10**400, []]
    )
)


def is_figure(value: object, most: int) -> bool:
    """A whole number in range, and not True."""
    return type(value) is int and 0 <= value <= most


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*FIGURES, *ORDER_FIGURES, "other"]), NUMBERS))
@example({"loaded": float("nan")})
@example({"blocks": 3})
@example({"loaded": True})
def test_traffic_is_figures_or_nothing(figures: dict[str, object]) -> None:
    traffic = parse(report(traffic={"x_ptr": figures})).traffic
    ordered = any(name in figures for name in ORDER_FIGURES)
    wanted = {**dict.fromkeys(FIGURES, 0), **(dict.fromkeys(ORDER_FIGURES) if ordered else {})}
    wanted |= {name: value for name, value in figures.items() if name in wanted}
    if all(is_figure(value, 2**60) for value in wanted.values()):
        assert traffic == {"x_ptr": wanted}
    else:
        assert traffic is None


@settings(max_examples=200, deadline=None)
@given(st.lists(NUMBERS, max_size=5), NUMBERS, NUMBERS)
def test_the_figures_of_a_launch_are_in_range(
    grid: list[object], configs: object, number: object
) -> None:
    raw = {"kernel": "k", "grid": grid, "configs": configs, "meta": {"number": number}}
    launches = parse(report(launches=[raw])).launches
    if len(grid) > 3 or not all(is_figure(size, 2**31 - 1) for size in grid):
        assert launches == ()
        return
    (launch,) = launches
    assert list(launch.grid) == grid
    assert launch.configs == (configs if is_figure(configs, 100_000) and configs else 1)
    kept = launch.meta.get("number")
    assert not isinstance(kept, float) or math.isfinite(kept)
    assert not isinstance(kept, int) or abs(kept) <= 2**64


POINTED: dict[str, object] = {
    "operation": "store",
    "argument": "out_ptr",
    "shape": [10],
    "dense": True,
    "grid": [3, 1, 1],
    "block": [4],
    "once": True,
    "firsts": [0, 4, 0, 0],
    "steps": [1],
    "twice": [[0, 3]],
    "rows": [
        {
            "number": 0,
            "lanes": 4,
            "on": 2,
            "prefix": True,
            "offsets": [[-4, -1]],
            "touched": [[-4, -3]],
        }
    ],
}
ROW: dict[str, object] = POINTED["rows"][0]  # type: ignore[index]


def pointed(**changes: object) -> AccessMap | None:
    """What is read of the above with changes, beside one launch."""
    raw = report(
        launches=[{"kernel": "k", "grid": [3], "meta": {}}], pointed={**POINTED, **changes}
    )
    return parse(raw).launches[-1].pointed


def test_what_programs_point_at_is_read() -> None:
    found = pointed()
    assert found is not None
    assert (found.shape, found.firsts, found.twice) == ((10,), (0, 4, 0, 0), ((0, 3),))
    assert found.rows == (ProgramRow(0, 4, 2, True, ((-4, -1),), ((-4, -3),)),)


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": "atomic"},
        {"operation": None},
        {"shape": [1.0]},
        {"shape": [-1]},
        {"shape": [True]},
        {"shape": [1] * 9},
        {"shape": "10"},
        {"grid": [3, 1]},
        {"grid": [0, 1, 1]},
        {"block": [2**61]},
        {"steps": []},
        {"steps": [float("nan")]},
        {"twice": [[3, 0]]},
        {"twice": [[0]]},
        {"twice": [[0, 1]] * 17},
        {"rows": []},
        {"rows": [7]},
        {"rows": [{**ROW, "on": 5}]},
        {"rows": [{**ROW, "on": -1}]},
        {"rows": [{**ROW, "number": "0"}]},
        {"rows": [{**ROW, "offsets": [[0, 2**61]]}]},
        {"rows": [{**ROW, "touched": None}]},
    ],
    ids=str,
)
def test_pointers_that_are_not_as_agreed_are_dropped(changes: dict[str, object]) -> None:
    assert pointed(**changes) is None


def test_a_line_of_programs_that_is_none_leaves_the_rest() -> None:
    found = pointed(firsts=[0, 4], argument="a\x1b[2J\u202e", dense=1, once="yes")
    assert found is not None
    assert (found.firsts, found.argument, found.dense, found.once) == (None, "a[2J", False, False)


def test_control_characters_are_removed() -> None:
    told = "red \x1b[31m, bell \a, right-to-left \u202e, null \0, half \ud800, kept é 中\n\t"
    assert (
        bounds.text(told, 1_000) == "red [31m, bell , right-to-left , null , half , kept é 中\n\t"
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
            ("faults", "launches", "traffic", "error", "returned", "pointed"),
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
        assert launch.pointed is None or launch.pointed.rows
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in found.returned)


def job() -> Job:
    return plans.job([], plans.new(2), torch.ones(3), seconds=1.0)


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=HEADER_BYTES, max_size=HEADER_BYTES))
def test_any_header_gives_a_result_of_the_judges_shape(raw: bytes) -> None:
    batch = Batch([job()], 1.0)
    try:
        os.pwrite(batch.memory, raw, batch.plan.jobs[0].header)
        result = batch.outcome(0)
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
        result = batch.outcome(0)
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
