"""Causes that the text of a kernel shows, and the failing cases that look like their effect."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.judge.diagnosis.by_text import LOOP_OUTSIDE, NO_LOOP, endless, suspects
from graders.judge.diagnosis.explain import explain, finding
from graders.judge.diagnosis.failures import Failure, Seen
from graders.judge.diagnosis.generic import OUTCOMES
from graders.judge.records import Fault
from tests.support.failing_cases import ADD, fail, poisoned, stored

KERNEL = """
import triton
@triton.jit
def kernel(x_ptr, n_rows, n_cols, BLOCK):
    mask = {mask}
    x_ptr = {pointer}
def launcher(x):
    return {size}
"""
RIGHT = {"mask": "(rows < n_rows) & (cols < n_cols)", "pointer": "x_ptr + 1", "size": "x.stride(0)"}
OUTSIDE = Fault("out-of-bounds-load", "8 of 16 lanes are outside.", line=4)
SYMPTOM = fail(None, faults=(OUTSIDE,), status="raised")
VALUES = fail(lambda x, y: x * y)


def told(text: str, failure: Failure = SYMPTOM) -> list[str]:
    return [found.code for found in suspects([failure], text) if found.matches]


def codes(failure: Failure = SYMPTOM, **parts: str) -> list[str]:
    return told(KERNEL.format(**{**RIGHT, **parts}), failure)


def test_a_sound_text_changes_nothing() -> None:
    assert codes() == []
    assert codes(mask="(x & 1) == 0") == []
    assert codes(mask="x < (n & 7)") == []


def test_brackets_that_are_missing_around_a_comparison() -> None:
    for mask in (
        "rows < n_rows & cols < n_cols",
        "(rows < n_rows) & cols < n_cols",
        "rows[:, None] < n_rows & (cols < n_cols)",
        "rows[:, None] < n_rows & inside[None, :]",
    ):
        assert codes(mask=mask) == ["brackets-missing"], mask


def test_the_cause_keeps_what_was_seen_and_names_its_own_line() -> None:
    text = KERNEL.format(**{**RIGHT, "mask": "rows < n_rows & cols < n_cols"})
    (cause,) = explain(ADD, Seen([SYMPTOM], source=text))
    found = finding("interpret", ADD, cause)
    assert found.code == "brackets-missing"
    assert found.message.endswith("8 of 16 lanes are outside.")
    assert found.line == 5


def test_pointers_of_one_dtype_sizes_and_bytes() -> None:
    assert codes(pointer="x_ptr.to(tl.pointer_type(tl.float32))") == ["pointer-cast"]
    assert codes(mask="offsets < 4096") == ["size-written-out"]
    assert codes(size="x.stride(0) * x.element_size()") == ["counted-in-bytes"]
    assert codes(size="16384 // (x.shape[1] * x.element_size())") == []
    assert codes(size="x.stride(0) * x.element_size() % 16 == 0") == []


def test_what_is_certain_is_not_replaced() -> None:
    error = Fault("kernel-error", "The grid is no tuple.")
    stopped = replace(fail(None, faults=(error,), status="raised"), error=error)
    assert codes(stopped, mask="rows < n_rows & cols < n_cols") == []
    assert codes(VALUES, mask="offsets < 4096") == []
    never = stored((40,), slice(0, 32))
    assert codes(fail(poisoned(never), (40,), never), mask="offsets < 4096") == ["size-written-out"]


def test_the_text_explains_only_results_that_look_like_its_effect() -> None:
    text = "@triton.jit\ndef kernel(x):\n    y = tl.sum(x * (cols == target))\n"
    assert told(text, VALUES) == []
    assert told(text, fail(lambda x, y: torch.sqrt(x + y))) == ["chosen-by-product"]


def test_of_a_kernel_without_a_loop_no_endless_loop_is_said() -> None:
    assert endless(KERNEL.format(**RIGHT)) == (NO_LOOP, None)
    looping = KERNEL.format(**RIGHT).replace("    mask", "    for i in range(9): pass\n    mask")
    assert endless(looping) == (OUTCOMES["timeout"], 5)


def test_an_endless_loop_of_the_launcher_is_not_said_of_the_kernel() -> None:
    text = KERNEL.format(**RIGHT).replace("    return", "    while True:\n        pass\n    return")
    assert endless(text) == (LOOP_OUTSIDE, 8)
    late = replace(fail(None, status="timeout"))
    (cause,) = explain(ADD, Seen([late], source=text))
    assert finding("interpret", ADD, cause).line == 8


LOOPING = """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    {before}
    {loop}:
        pass
"""


def test_a_loop_that_leaves_out_the_block_that_is_not_full() -> None:
    def shown(loop: str, before: str = "pass") -> list[str]:
        return told(LOOPING.format(loop=loop, before=before), VALUES)

    for loop in ("for i in range(n // BLOCK)", "for i in tl.range(0, n // BLOCK)"):
        assert shown(loop) == ["loop-rounds-down"], loop
    assert shown("for i in range(full)", "full = n // BLOCK") == ["loop-rounds-down"]
    assert shown("while i + BLOCK <= n", "i = 0") == ["loop-rounds-down"]
    rounded_up = "for i in range((n + BLOCK - 1) // BLOCK)"
    for loop in (
        rounded_up,
        "for i in range(tl.cdiv(n, BLOCK))",
        "for i in range(0, n, BLOCK)",
        "while i < n",
    ):
        assert shown(loop) == [], loop
    for rest in ("rest = n % BLOCK", "tail = n // BLOCK * BLOCK"):  # what is left is looked after
        assert shown("for i in range(n // BLOCK)", rest) == [], rest


def test_the_largest_of_a_block_where_each_element_was_meant() -> None:
    def shown(value: str) -> list[str]:
        return told(f"@triton.jit\ndef kernel(x):\n    y = {value}\n", VALUES)

    assert shown("tl.max(x, 0)") == ["block-reduced"]
    for value in ("tl.maximum(x, 0)", "tl.max(x, 1)", "tl.exp(x - tl.max(x, 0))"):
        assert shown(value) == [], value


TURNED = """
import triton
@triton.jit
def kernel(x_ptr, y_ptr, n, m):
    mask = (rows < n) & (cols < m)
    tile = tl.load(x_ptr + places, mask=mask)
    turned = {turn}
    tl.store(y_ptr + others, turned, mask={mask})
"""


def test_a_block_that_is_turned_without_its_mask() -> None:
    def shown(turn: str, mask: str) -> list[str]:
        return told(TURNED.format(turn=turn, mask=mask))

    for turn in ("tl.trans(tile)", "tile.T", "tl.trans(tile * 2.0)", "tl.permute(tile, (1, 0))"):
        assert shown(turn, "mask") == ["mask-not-turned"], turn
    assert shown("tl.trans(tile)", "tl.trans(mask)") == []
    assert shown("tile", "mask") == []


WALKS = """
import triton
@triton.jit
def kernel(x_ptr, y_ptr, n):
    row = x_ptr + places
    x_ptrs, y_ptrs = row, y_ptr + places
    for start in range(0, n, 64):
        total += tl.load(x_ptrs){second}
        x_ptrs += 64
    {between}
    for start in range(0, n, 64):
        tl.store(y_ptrs, tl.load(x_ptrs) - total)
        x_ptrs += 64
        y_ptrs += 64
"""


def test_pointers_that_a_second_walk_finds_at_the_end_of_the_row() -> None:
    def shown(between: str) -> list[str]:
        return told(WALKS.format(between=between, second=""))

    assert shown("mean = total / n") == ["pointers-not-put-back"]
    for put_back in ("x_ptrs = row", "x_ptrs -= n", "x_ptrs, y_ptrs = row, y_ptr"):
        assert shown(put_back) == [], put_back


def test_pointers_that_stay_where_others_move_on() -> None:
    def shown(second: str, between: str = "x_ptrs = row") -> list[str]:
        return told(WALKS.format(between=between, second=second), VALUES)

    assert shown(" * tl.load(row)") == ["pointers-left-behind"]
    assert shown(" * tl.load(y_ptr + start)") == []
    assert shown(" * tl.load(y_ptr)") == []  # one number for all
