"""Which sides of a kernel's decisions the engine notes: conditions, loops, masks, grid axes."""

import ast
import inspect
import textwrap

import pytest
import torch
import triton
import triton.language as tl

from graders.judge.plan.code import placed
from graders.judge.plan.decisions import decisions, number_decisions
from triton_util.interpreter import interpret
from triton_util.interpreter.control.sources import know


@triton.jit
def masked(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 1.0, mask=at < n)


@triton.jit
def masked_in_a_branch(x, n, B: tl.constexpr):
    if tl.program_id(0) * B + B <= n:
        at = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + at, 1.0, at < n)


@triton.jit
def loops(x, n, B: tl.constexpr):
    for start in range(0, n, B):
        tl.store(x + start, 1.0)


@triton.jit
def repeats(x, n, B: tl.constexpr):
    done = 0
    while done < n:
        tl.store(x + done, 1.0)
        done += B


@triton.jit
def stops(x, n, B: tl.constexpr):
    for start in range(99):
        if start * B >= n:
            break
        tl.store(x + start, 1.0)


@triton.jit
def nested(x, n, B: tl.constexpr):
    for _ in range(3):
        for start in range(0, n, B):
            tl.store(x + start, 1.0)


@triton.jit
def constant(x, n, B: tl.constexpr):
    y = 1.0 if B > 8 else 2.0
    if n > B or n < 0:
        y = 3.0
    tl.store(x, y)


@triton.jit
def descriptor(x, n, B: tl.constexpr):
    box = tl.make_tensor_descriptor(x, shape=[n], strides=[1], block_shape=[B])
    box.store([0], box.load([0]) + 1.0)


CASES = [
    (masked, 16, 1, {"access": {0}, "axis": {0}}),
    (masked, 15, 1, {"access": {0, 1}, "axis": {0}}),
    (masked, 32, 2, {"access": {0}, "axis": {0, 1}}),
    # The masks of programs that do not take the branch do not count.
    (masked_in_a_branch, 24, 2, {"condition": {0, 1}, "access": {0}, "axis": {0, 1}}),
    (masked_in_a_branch, 32, 2, {"condition": {1}, "access": {0}, "axis": {0, 1}}),
    (loops, 0, 1, {"loop": {0}}),
    (loops, 16, 1, {"loop": {0}}),
    (loops, 17, 1, {"loop": {0, 1}}),
    (repeats, 16, 1, {"loop": {0}}),
    (repeats, 17, 1, {"loop": {0, 1}}),
    (stops, 16, 1, {"loop": {0, 1}, "condition": {0, 1}}),
    (nested, 16, 1, {"loop": {0, 1}}),
    (constant, 16, 1, {"condition": {0}}),
    (constant, 17, 1, {"condition": {1}}),
    (descriptor, 16, 1, {"access": {0}}),
    (descriptor, 9, 1, {"access": {0, 1}}),
]


@pytest.mark.parametrize(("kernel", "n", "grid", "expected"), CASES)
def test_sides(kernel, n, grid, expected):
    text = textwrap.dedent(inspect.getsource(kernel.fn))

    def numbered():
        tree = ast.parse(text)
        number_decisions(tree.body[0], placed(tree.body[0]), 0)
        return tree

    known = ast.parse(text).body[0]
    kinds = decisions(known, placed(known))
    know(kernel.fn, numbered, kernel.fn.__code__.co_firstlineno)
    x = torch.zeros(128)
    with interpret() as run:
        kernel[(grid,)](x, n, B=16)
    found = {}
    for number in run.control.sides:
        found.setdefault(kinds[number // 2], set()).add(number % 2)
    assert found == expected
