"""Causes that stand in the text of a kernel, told in the place of their symptom."""

from __future__ import annotations

from graders.judge.diagnosis.by_text import deduplicate
from graders.judge.report import Finding

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
SYMPTOM = Finding("interpret", "missing-mask", "Title", "Words.\n\nSeen with x.", 4)


def codes(symptom: Finding = SYMPTOM, **parts: str) -> list[str]:
    return [f.code for f in deduplicate([symptom], KERNEL.format(**{**RIGHT, **parts}))]


def test_a_sound_text_changes_nothing() -> None:
    assert codes() == ["missing-mask"]
    assert codes(mask="(x & 1) == 0") == ["missing-mask"]
    assert codes(mask="x < (n & 7)") == ["missing-mask"]


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
    (found,) = deduplicate([SYMPTOM], text)
    assert found.message.endswith("Seen with x.")
    assert found.line == 5


def test_pointers_of_one_dtype_sizes_and_bytes() -> None:
    assert codes(pointer="x_ptr.to(tl.pointer_type(tl.float32))") == ["pointer-cast"]
    assert codes(mask="offsets < 4096") == ["size-written-out"]
    assert codes(size="x.stride(0) * x.element_size()") == ["counted-in-bytes"]
    assert codes(size="16384 // (x.shape[1] * x.element_size())") == ["missing-mask"]
    assert codes(size="x.stride(0) * x.element_size() % 16 == 0") == ["missing-mask"]


def test_what_is_certain_is_not_replaced() -> None:
    error = Finding("interpret", "kernel-error", "Title", "Words.", 4)
    assert codes(error, mask="rows < n_rows & cols < n_cols") == ["kernel-error"]
    values = Finding("interpret", "wrong-values", "Title", "Words.")
    assert codes(values, mask="offsets < 4096") == ["wrong-values"]


def test_a_kernel_that_does_not_compile_is_refused_once() -> None:
    refused = [Finding("compile", "compile-error", "Title", str(n), 5) for n in range(2)]
    error = Finding("interpret", "kernel-error", "Title", "Words.", 6)
    assert deduplicate([*refused, error, SYMPTOM], KERNEL.format(**RIGHT)) == [refused[0], SYMPTOM]


def test_of_a_kernel_without_a_loop_no_endless_loop_is_said() -> None:
    endless = Finding("interpret", "timeout", "Title", "A loop.\n\nSeen with x.")
    (found,) = deduplicate([endless], KERNEL.format(**RIGHT))
    assert "no loop" in found.message
    looping = KERNEL.format(**RIGHT).replace("    mask", "    for i in range(9): pass\n    mask")
    (found,) = deduplicate([endless], looping)
    assert (found.message, found.line) == (endless.message, 5)


def test_an_endless_loop_of_the_launcher_is_not_said_of_the_kernel() -> None:
    endless = Finding("interpret", "timeout", "Title", "A loop.\n\nSeen with x.")
    text = KERNEL.format(**RIGHT).replace("    return", "    while True:\n        pass\n    return")
    (found,) = deduplicate([endless], text)
    assert "launcher" in found.title
    assert found.message.endswith("Seen with x.")
    assert found.line == 8


LOOPING = """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    {before}
    {loop}:
        pass
"""


def test_a_loop_that_leaves_out_the_block_that_is_not_full() -> None:
    vague = Finding("interpret", "nothing-stored", "Title", "Words.\n\nSeen with x.")

    def told(loop: str, before: str = "pass") -> list[str]:
        text = LOOPING.format(loop=loop, before=before)
        return [found.code for found in deduplicate([vague], text)]

    for loop in ("for i in range(n // BLOCK)", "for i in tl.range(0, n // BLOCK)"):
        assert told(loop) == ["loop-rounds-down"], loop
    assert told("for i in range(full)", "full = n // BLOCK") == ["loop-rounds-down"]
    assert told("while i + BLOCK <= n", "i = 0") == ["loop-rounds-down"]
    for loop in ("for i in range(tl.cdiv(n, BLOCK))", "for i in range(0, n, BLOCK)", "while i < n"):
        assert told(loop) == ["nothing-stored"], loop
    for rest in ("rest = n % BLOCK", "tail = n // BLOCK * BLOCK"):  # what is left is looked after
        assert told("for i in range(n // BLOCK)", rest) == ["nothing-stored"], rest


def test_the_largest_of_a_block_where_each_element_was_meant() -> None:
    vague = Finding("interpret", "wrong-values", "Title", "Words.\n\nSeen with x.")

    def told(value: str) -> list[str]:
        text = f"@triton.jit\ndef kernel(x):\n    y = {value}\n"
        return [found.code for found in deduplicate([vague], text)]

    assert told("tl.max(x, 0)") == ["block-reduced"]
    for value in ("tl.maximum(x, 0)", "tl.max(x, 1)", "tl.exp(x - tl.max(x, 0))"):
        assert told(value) == ["wrong-values"], value


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
    def told(turn: str, mask: str) -> list[str]:
        return [f.code for f in deduplicate([SYMPTOM], TURNED.format(turn=turn, mask=mask))]

    for turn in ("tl.trans(tile)", "tile.T", "tl.trans(tile * 2.0)", "tl.permute(tile, (1, 0))"):
        assert told(turn, "mask") == ["mask-not-turned"], turn
    assert told("tl.trans(tile)", "tl.trans(mask)") == ["missing-mask"]
    assert told("tile", "mask") == ["missing-mask"]


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
    def told(between: str) -> list[str]:
        return [f.code for f in deduplicate([SYMPTOM], WALKS.format(between=between, second=""))]

    assert told("mean = total / n") == ["pointers-not-put-back"]
    for put_back in ("x_ptrs = row", "x_ptrs -= n", "x_ptrs, y_ptrs = row, y_ptr"):
        assert told(put_back) == ["missing-mask"], put_back


def test_pointers_that_stay_where_others_move_on() -> None:
    values = Finding("interpret", "wrong-values", "Title", "Words.")

    def told(second: str, between: str = "x_ptrs = row") -> list[str]:
        text = WALKS.format(between=between, second=second)
        return [f.code for f in deduplicate([values], text)]

    assert told(" * tl.load(row)") == ["pointers-left-behind"]
    assert told(" * tl.load(y_ptr + start)") == ["wrong-values"]
    assert told(" * tl.load(y_ptr)") == ["wrong-values"]  # one number for all
