"""Inputs reach the worker with their layout, and whatever is done to them is seen afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.judge.sandbox.batch import Batch, touched
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.sandbox.protocol import PAGE, BatchPlan, Layout

FAR = 2**31 + 7


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


def run(workers: Workers, body: str, *args: torch.Tensor | float) -> Outcome:
    """Call `solve(*args)`, which must give one float32; `a` is the first argument."""
    source = f"import torch\nONE = torch.ones(1)\ndef solve(a, *rest):\n    {body}\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", args, (1,), torch.float32)])
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
    facts = "list(a.shape), list(a.stride()), a.storage_offset(), a.untyped_storage().nbytes()"
    outcome = run(workers, f"print(({facts}, a.tolist()))", view)
    base = (list(view.shape), list(view.stride()), view.storage_offset())
    assert outcome.stdout.strip() == str((*base, view.untyped_storage().nbytes(), view.tolist()))
    assert outcome.inputs_changed == ()


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64],
    ids=str,
)
def test_a_dtype_arrives_bit_for_bit(workers: Workers, dtype: torch.dtype) -> None:
    values = torch.randint(0, 100, (50,)).to(dtype)
    source = "import torch\ndef solve(a):\n    return a.clone()\n"
    (outcome,) = workers.run([Job(source, "s.py", "solve", (values,), (50,), dtype)])
    assert outcome.output is not None
    assert torch.equal(outcome.output, values)


def test_scalars_arrive_with_their_types(workers: Workers) -> None:
    args = (torch.ones(1), 3, 2.5, True, float("inf"), -0.0, 1e-310, 2**70)
    outcome = run(workers, "print(rest)", *args)
    assert outcome.stdout.strip() == str(args[1:])


def test_two_views_of_one_storage_share_it_in_the_worker(workers: Workers) -> None:
    base = storage(10)
    outcome = run(workers, "a[0] = 99; print(rest[0].tolist())", base[:5], base[:3])
    assert outcome.stdout.strip() == "[99.0, 1.0, 2.0]"
    assert outcome.inputs_changed == (0, 1)


CHANGES = {
    "an element": "a[1, 1] = -1",
    "a sign of zero": "a[0, 0] = -0.0",
    "an element and back": "a[1, 1] = -1; a[1, 1] = 9",
    "a gap between rows": "a.as_strided((1,), (1,), 9).fill_(-1)",
    "before the view": "a.as_strided((1,), (1,), 0).fill_(-1)",
    "behind the view": "a.as_strided((1,), (1,), 29).fill_(-1)",
    "below the storage": "import ctypes; ctypes.memset(a.untyped_storage().data_ptr() - 8, 1, 8)",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_an_input_is_seen(workers: Workers, name: str) -> None:
    view = storage(30).as_strided((4, 4), (7, 1), 1)
    view[0, 0] = 0.0
    outcome = run(workers, f"{CHANGES[name]}; return ONE * 2", view, torch.ones(3))
    assert outcome.status == "returned", outcome.error
    assert outcome.inputs_changed == (() if "back" in name else (0,))


def test_writing_behind_a_storage_is_a_crash(workers: Workers) -> None:
    stray = "import ctypes; ctypes.memset(a.data_ptr() + 4 * a.numel() + 4096, 1, 1)"
    outcome = run(workers, stray, torch.ones(100))
    assert outcome.status == "crashed"
    assert outcome.signal in ("SIGSEGV", "SIGBUS")


def far_view() -> torch.Tensor:
    """Three rows whose last starts beyond 2**31 elements, in a storage of 8.6 GB of nothing."""
    view = torch.empty(FAR + 100).as_strided((3, 50), (FAR // 2, 1), 20)
    view.copy_(storage(150).view(3, 50))
    return view


def test_offsets_beyond_31_bits_cost_only_what_is_touched(workers: Workers) -> None:
    view = far_view()
    job = Job("", "", "", (view,), (1,), torch.float32)
    ranges = touched([view])
    assert len(ranges) == 3
    assert sum(last - first for first, last in ranges) == view.numel() * 4
    batch = Batch([job], 1.0)
    batch.close()
    outcome = run(workers, "print(a.stride(), a[2].tolist()); return a.sum() * ONE", view)
    assert str(view.stride()) in outcome.stdout
    assert str(view[2].tolist()) in outcome.stdout
    assert outcome.output is not None
    assert outcome.output.item() == view.sum().item()
    assert outcome.inputs_changed == ()


@pytest.mark.parametrize(
    "change",
    ["a[2, 49] = -1", "a.as_strided((1,), (1,), 2**30 + 12345).fill_(1)"],
    ids=["in the view", "in the gap"],
)
def test_a_change_in_a_far_storage_is_seen(workers: Workers, change: str) -> None:
    outcome = run(workers, f"{change}; return ONE * 2", far_view())
    assert outcome.inputs_changed == (0,)


def test_reading_a_gap_of_a_far_storage_is_no_change(workers: Workers) -> None:
    outcome = run(workers, "return ONE * a.as_strided((1,), (1,), 2**30)", far_view())
    assert outcome.status == "returned"
    assert outcome.inputs_changed == ()


def test_filling_a_far_storage_is_too_much_memory(workers: Workers) -> None:
    source = "def solve(a):\n    a.as_strided((2**31,), (1,)).fill_(1)\n"
    job = Job(source, "s.py", "solve", (far_view(),), (1,), torch.float32, memory_bytes=128 << 20)
    (outcome,) = workers.run([job])
    assert outcome.status == "out-of-memory"


def test_the_judges_inputs_are_not_the_workers(workers: Workers) -> None:
    values = torch.ones(8)
    run(workers, "a.zero_()", values)
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
    job = Job("x", "f.py", "solve", (VIEWS["stepped"], 3, float("inf")), (2, 3), torch.bfloat16)
    batch = Batch([job, job], 5.0)
    try:
        assert BatchPlan.from_json(batch.plan.to_json()) == batch.plan
    finally:
        batch.close()
