"""Inputs reach the worker with their layout, and whatever is done to them is seen afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.judge.plan.steps import Copy, Fill, TensorRef
from graders.judge.sandbox.batch import Batch, touched
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.sandbox.protocol import PAGE, BatchPlan, Layout, Limits
from tests.support.plans import allocating, copying, job, new, ref_to

FAR = 2**31 + 7


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def run(workers: Workers, todo: Job) -> Outcome:
    (outcome,) = workers.run([todo])
    return outcome


def storage(length: int) -> torch.Tensor:
    return torch.arange(float(length))


VIEWS = {
    "contiguous": storage(24).view(4, 6),
    "offset": storage(40).as_strided((4, 6), (6, 1), 5),
    "transposed": storage(24).view(6, 4).t(),
    "stepped": storage(96).as_strided((4, 6), (24, 2), 3),
    "expanded rows": storage(6).as_strided((4, 6), (0, 1)),
    "expanded columns": storage(4).as_strided((4, 6), (1, 0)),
    "overlapping": storage(20).as_strided((4, 6), (3, 1), 2),
    "one element": storage(1).view(1, 1),
    "empty": torch.empty(0, 6),
    "empty view of something": storage(10)[3:3],
    "no dimensions": torch.tensor(7.0),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_arrives_as_it_is(workers: Workers, name: str) -> None:
    view = VIEWS[name]
    outcome = run(workers, copying(view))
    assert outcome.status == "returned", outcome
    assert outcome.output is not None
    assert torch.equal(outcome.output, view)
    assert outcome.inputs_changed == ()


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64],
    ids=str,
)
def test_a_dtype_arrives_bit_for_bit(workers: Workers, dtype: torch.dtype) -> None:
    values = torch.randint(0, 100, (50,)).to(dtype)
    outcome = run(workers, copying(values))
    assert outcome.output is not None
    assert torch.equal(outcome.output, values)


def test_two_views_of_one_storage_share_it_in_the_worker(workers: Workers) -> None:
    base, out = storage(10), new(3)
    set_first = Fill(TensorRef(0, "float32", (1,), (1,), 0), 99)
    steps = [set_first, allocating(out), Copy(out, ref_to(base[:3], storage=1))]
    outcome = run(workers, job(steps, out, base[:5], base[:3]))
    assert outcome.output is not None
    assert outcome.output.tolist() == [99.0, 1.0, 2.0]
    assert outcome.inputs_changed == (0, 1)


def test_the_whole_storage_is_there_with_its_gaps(workers: Workers) -> None:
    view, out = storage(30).as_strided((4, 4), (7, 1), 1), new(30)
    steps = [allocating(out), Copy(out, TensorRef(0, "float32", (30,), (1,), 0))]
    outcome = run(workers, job(steps, out, view))
    assert outcome.output is not None
    assert outcome.output.tolist() == storage(30).tolist()


def fill(offset: int, value: float) -> Fill:
    """One element of the first argument's storage is set."""
    return Fill(TensorRef(0, "float32", (1,), (1,), offset), value)


CHANGES = {
    "an element": (fill(9, -1),),
    "a sign of zero": (fill(1, -0.0),),
    "an element and back": (fill(9, -1), fill(9, 9)),
    "a gap between rows": (fill(6, -1),),
    "before the view": (fill(0, -1),),
    "behind the view": (fill(29, -1),),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_an_input_is_seen(workers: Workers, name: str) -> None:
    view = storage(30).as_strided((4, 4), (7, 1), 1)
    view[0, 0] = 0.0
    outcome = run(workers, copying(view, *CHANGES[name]))
    assert outcome.status == "returned", outcome.error
    assert outcome.inputs_changed == (() if "back" in name else (0,))


@pytest.mark.parametrize(
    "behind",
    [
        TensorRef(0, "float32", (1,), (1,), 100),
        TensorRef(0, "float32", (101,), (1,), 0),
        TensorRef(0, "float32", (2,), (1 << 40,), 0),
        TensorRef(0, "float64", (51,), (1,), 0),
        TensorRef(7, "float32", (1,), (1,), 0),
        TensorRef(0, "no_dtype", (1,), (1,), 0),
    ],
    ids=["behind", "longer", "far", "wider", "no storage", "no dtype"],
)
def test_a_plan_reaches_no_memory_beside_its_storages(workers: Workers, behind: TensorRef) -> None:
    outcome = run(workers, copying(torch.ones(100), Fill(behind, 1.0)))
    assert outcome.status == "raised", outcome
    assert outcome.inputs_changed == ()


def far_view() -> torch.Tensor:
    """Three rows whose last starts beyond 2**31 elements, in a storage of 8.6 GB of nothing."""
    view = torch.empty(FAR + 100).as_strided((3, 50), (FAR // 2, 1), 20)
    view.copy_(storage(150).view(3, 50))
    return view


def test_offsets_beyond_31_bits_cost_only_what_is_touched(workers: Workers) -> None:
    view = far_view()
    ranges = touched([view])
    assert len(ranges) == 3
    assert sum(last - first for first, last in ranges) == view.numel() * 4
    outcome = run(workers, copying(view))
    assert outcome.output is not None
    assert torch.equal(outcome.output, view)
    assert outcome.inputs_changed == ()


@pytest.mark.parametrize("offset", [20 + FAR // 2 * 2 + 49, 2**30 + 12345], ids=["view", "gap"])
def test_a_change_in_a_far_storage_is_seen(workers: Workers, offset: int) -> None:
    assert run(workers, copying(far_view(), fill(offset, -1))).inputs_changed == (0,)


def test_reading_a_gap_of_a_far_storage_is_no_change(workers: Workers) -> None:
    out, gap = new(1), TensorRef(0, "float32", (1,), (1,), 2**30)
    outcome = run(workers, job([allocating(out), Copy(out, gap)], out, far_view()))
    assert outcome.status == "returned"
    assert outcome.inputs_changed == ()


def test_filling_a_far_storage_is_too_much_memory(workers: Workers) -> None:
    everything = Fill(TensorRef(0, "float32", (2**31,), (1,), 0), 1.0)
    outcome = run(workers, copying(far_view(), everything, memory_bytes=128 << 20))
    assert outcome.status == "out-of-memory"


def test_the_judges_inputs_are_not_the_workers(workers: Workers) -> None:
    values = torch.ones(8)
    run(workers, copying(values, Fill(ref_to(values), 0.0)))
    assert values.tolist() == [1.0] * 8


@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(0, 5), max_size=4),
    strides=st.lists(st.sampled_from((0, 1, 2, 7, 5000, 3_000_000)), min_size=4, max_size=4),
    offset=st.integers(0, 9),
)
def test_touched_covers_every_element(shape: list[int], strides: list[int], offset: int) -> None:
    base = torch.empty(80_000_000, dtype=torch.uint8)
    view = base.as_strided(shape, strides[: len(shape)], offset)
    ranges = touched([view])
    assert all(a < b for a, b in ranges)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ranges))
    positions = torch.full(shape, offset)
    for axis, stride in enumerate(strides[: len(shape)]):
        sizes = [1] * len(shape)
        sizes[axis] = shape[axis]
        positions = positions + (torch.arange(shape[axis]) * stride).view(sizes)
    for position in positions.flatten().tolist():
        assert any(first <= position < last for first, last in ranges)


def test_regions_never_meet() -> None:
    layout = Layout(jobs=3)
    regions = [layout.region(length) for length in (0, 1, 63, 64, 4095, 4096, 4097, 100_000)]
    places = [layout.header(2) + 64, layout.report(0)]
    assert places[0] <= layout.report(0)
    assert layout.report(2) < regions[0].begin
    for region, length in zip(regions, (0, 1, 63, 64, 4095, 4096, 4097, 100_000), strict=True):
        assert region.begin <= region.start
        assert region.start % 64 == 0
        assert region.start + length <= region.end
        assert region.end - (region.start + length) < 64
        assert region.end % PAGE == 0
    for one, other in itertools.pairwise(regions):
        assert one.end + PAGE <= other.begin
    assert regions[-1].end + PAGE <= layout.total


def test_a_plan_survives_the_journey() -> None:
    out = new(2, 3, dtype=torch.bfloat16)
    todo = job([allocating(out)], out, VIEWS["stepped"], 3, float("inf"))
    batch = Batch([todo, todo], 5.0)
    try:
        assert BatchPlan.from_json(batch.plan.to_json()) == batch.plan
        limits = batch.plan.limits
        assert Limits.from_json(limits.to_json()) == limits
        assert [limit.header for limit in limits.jobs] == [plan.header for plan in batch.plan.jobs]
    finally:
        batch.close()


def test_steps_that_jobs_share_are_sent_once() -> None:
    out = new(4)
    shared = job([allocating(out), *[Fill(out, float(value)) for value in range(3_000)]], out)
    shared = replace(shared, work=replace(shared.work, earlier=shared.work.steps))
    sizes = []
    for count in (1, 30):
        batch = Batch([shared] * count, 5.0)
        sizes.append(len(batch.plan.to_json()))
        batch.close()
    assert len(shared.work.steps) > 100_000
    assert sizes[1] < 1.5 * sizes[0]
