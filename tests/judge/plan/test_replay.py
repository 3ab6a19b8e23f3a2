"""What counts as stored by a kernel: torch's own writing withdraws it, a copy carries it along."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from graders.judge.plan.steps import Copy, Fill, Kernel, Launch, Parameter, Step, TensorRef
from graders.judge.sandbox.pool import Workers
from tests.support.plans import OUT, allocating, job, new

SOURCE = """
def kernel(out_ptr, start):
    tl.store(out_ptr + start + tl.arange(0, 4), 1.0)
"""
KERNEL = Kernel(
    2,
    "kernel",
    {"tl": {"module": "triton.language"}},
    (Parameter("out_ptr"), Parameter("start")),
)
RESULT, OTHER = new(8), new(8, storage=OUT + 1)


def stored(view: TensorRef, start: int = 0) -> Launch:
    """A launch that stores four elements."""
    return Launch(0, [1], (view.to_json(), start), {}, 1)


def part(view: TensorRef, dtype: str, count: int, offset: int) -> TensorRef:
    """Some elements of a view, as numbers of another kind."""
    return TensorRef(view.storage, dtype, (count,), (1,), offset)


HALF = new(8, dtype=torch.float16)
FIRST, LAST, NONE, ALL = set(range(4)), set(range(4, 8)), set[int](), set(range(8))
CASES: dict[str, tuple[TensorRef, list[Step], set[int]]] = {
    "nothing": (RESULT, [Fill(RESULT, 1)], NONE),
    "a launch": (RESULT, [stored(RESULT)], FIRST),
    "a launch, filled over": (RESULT, [stored(RESULT), Fill(RESULT, 1)], NONE),
    "a launch, filled in part": (
        RESULT,
        [stored(RESULT), Fill(part(RESULT, "float32", 3, 2), 1)],
        {0, 1},
    ),
    "a launch, one byte filled over": (
        RESULT,
        [stored(RESULT), Fill(part(RESULT, "uint8", 1, 7), 1)],
        {0, 2, 3},
    ),
    "a launch, filled over as wider numbers": (
        RESULT,
        [stored(RESULT), Fill(part(RESULT, "int64", 1, 1), 1)],
        {0, 1},
    ),
    "filled, then a launch": (RESULT, [Fill(RESULT, 1), stored(RESULT)], FIRST),
    "stored again": (RESULT, [stored(RESULT), Fill(RESULT, 1), stored(RESULT, 4)], LAST),
    "a copy of what was stored": (RESULT, [stored(OTHER), Copy(RESULT, OTHER)], FIRST),
    "a copy of what was filled over": (
        RESULT,
        [stored(OTHER), Fill(OTHER, 1), Copy(RESULT, OTHER)],
        NONE,
    ),
    "a copy, filled over": (RESULT, [stored(OTHER), Copy(RESULT, OTHER), Fill(RESULT, 1)], NONE),
    "a copy, its source filled over": (
        RESULT,
        [stored(OTHER), Copy(RESULT, OTHER), Fill(OTHER, 1)],
        FIRST,
    ),
    "a copy of nothing over a launch": (RESULT, [stored(RESULT), Copy(RESULT, OTHER)], NONE),
    "a copy over a launch": (
        RESULT,
        [stored(RESULT, 4), stored(OTHER), Copy(RESULT, OTHER)],
        FIRST,
    ),
    "a copy and a launch": (
        RESULT,
        [stored(OTHER), Copy(RESULT, OTHER), stored(RESULT, 4)],
        ALL,
    ),
    "a converted copy": (HALF, [stored(OTHER), Copy(HALF, OTHER)], FIRST),
    "a converted copy, a byte filled over": (
        HALF,
        [stored(OTHER), Copy(HALF, OTHER), Fill(part(HALF, "uint8", 1, 1), 1)],
        {1, 2, 3},
    ),
    "bytes of a copy": (
        RESULT,
        [stored(OTHER), Copy(part(RESULT, "uint8", 4, 0), part(OTHER, "uint8", 4, 2))],
        {0},
    ),
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as running:
        yield running


@pytest.mark.parametrize("name", CASES)
def test_only_what_a_kernel_stored_last_counts(workers: Workers, name: str) -> None:
    result, steps, expected = CASES[name]
    made = [allocating(result), allocating(OTHER), Fill(OTHER, 2)]
    (outcome,) = workers.run([job([*made, *steps], result, source=SOURCE, kernels=[KERNEL])])
    assert outcome.status == "returned", outcome
    missing = outcome.never_stored
    found = set() if missing is None else {n for n in range(8) if not missing[n]}
    assert found == expected
    assert outcome.given is (name != "nothing")
