"""Which orders of lines are one program, and which are not."""

from __future__ import annotations

import pytest

from triton_util.puzzles.ordering import conflict, same

ADD = """\
pid = tl.program_id(0)
offsets = pid * B + tl.arange(0, B)
mask = offsets < n
x = tl.load(x_ptr + offsets, mask=mask)
y = tl.load(y_ptr + offsets, mask=mask)
tl.store(out_ptr + offsets, x + y, mask=mask)"""
LOOP = """\
acc = tl.zeros((B,), dtype=tl.float32)
ptrs = x_ptr + start
for k in range(0, n, B):
    a = tl.load(ptrs)
    acc += a
    ptrs += B
tl.store(out_ptr, acc)
tl.store(sum_ptr, tl.sum(acc))
return"""


def exchanged(text: str, first: int, second: int) -> str:
    lines = text.split("\n")
    lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "first", "second", "right"),
    [
        (ADD, 3, 4, True),  # two loads
        (ADD, 2, 3, False),  # the mask is needed
        (ADD, 4, 5, False),  # stored before it is loaded
        (ADD, 0, 1, False),
        (LOOP, 0, 1, True),
        (LOOP, 4, 5, True),  # a was loaded before either
        (LOOP, 3, 5, False),  # the pointer moves on before the load
        (LOOP, 6, 7, True),  # two tensors
        (LOOP, 7, 8, False),  # nothing passes a return
        (LOOP, 1, 2, False),  # the head of the loop
    ],
)
def test_orders(text: str, first: int, second: int, right: bool) -> None:
    other = exchanged(text, first, second)
    assert same(text, other) is right
    pair = conflict(text.split("\n"), other.split("\n"))
    if right:
        assert pair is None


def test_two_stores_to_one_tensor_keep_their_order() -> None:
    text = "tl.store(out_ptr, a)\ntl.store(out_ptr + 1, b)"
    assert not same(text, exchanged(text, 0, 1))


def test_a_launch_stays_behind_what_it_reads() -> None:
    text = "out = torch.empty_like(x)\nkernel[grid](x, out)\nreturn out"
    assert not same(text, exchanged(text, 0, 1))
    assert not same(text, exchanged(text, 1, 2))


@pytest.mark.parametrize(
    "text",
    [
        ADD.replace("x + y", "x - y"),
        ADD.replace("mask = offsets < n\n", ""),
        f"{ADD}\npass",
        LOOP,
        "for",
        "  x = 1",
    ],
)
def test_another_text_is_not_the_same(text: str) -> None:
    assert not same(ADD, text)


def test_a_line_in_another_block_is_not_the_same() -> None:
    assert not same(LOOP, LOOP.replace("    ptrs += B", "ptrs += B"))


def test_a_conflict_names_two_lines() -> None:
    lines = ADD.split("\n")
    assert conflict(lines, exchanged(ADD, 0, 1).split("\n")) == (lines[1], lines[0])
    twice = ["x = f(x)", "y = 1", "x = f(x)"]
    assert conflict(twice, twice) is None
