"""What Triton says of a value that stands where another kind is needed, and what a tutor says.

The texts are Triton's own, with the line that its compiler shows.
"""

from __future__ import annotations

import pytest

from triton_util.interpreter.messages.translation import translate
from triton_util.interpreter.messages.values import BY_LINE, VALUES

# The learner's line, the error, the kind, words of what is said.
SHOWN = (
    (
        "pid = tl.program_id",
        "TypeError(\"cannot convert <function program_id at 0x7f> of type <class 'function'>\")",
        "brackets-of-a-call",
        "Write tl.program_id(0)",
    ),
    (
        "offsets = start + tl.arange",
        "'function' object has no attribute 'dtype'",
        "brackets-of-a-call",
        "tl.arange stands here without its round brackets",
    ),
    (
        "mask = offsets < n_elements()",
        "TypeError(\"unhashable type: 'tensor'\")",
        "number-called",
        "Leave out the brackets behind it: n_elements.",
    ),
    (
        "offsets = int(offsets)",
        "TypeError(\"int() argument must be a string or a real number, not 'tensor'\")",
        "python-conversion",
        "Python's int()",
    ),
    (
        "y = tl.max(x, 0.0)",
        "create_reduce(): incompatible function arguments.",
        "axis-no-number",
        "here it is 0.0",
    ),
    (
        "y = tl.sum(x, axis=along)",
        "'<=' not supported between instances of 'int' and 'str'",
        "axis-no-number",
        "here it is something else",
    ),
    (
        "tl.store(output_ptr + offsets, x_ptr, mask=mask)",
        "cannot cast pointer<fp32>[constexpr[1024]] to <['1024'], fp32>",
        "pointer-stored",
        "Load first",
    ),
    (
        "offsets = start + list(range(16))",
        "'list' object has no attribute 'dtype'",
        "list-for-a-block",
        "tl.arange(0, BLOCK_SIZE)",
    ),
    (
        "x = tl.load(x_ptr + offsets, mask=mask, other=0)",
        "cannot cast int32[constexpr[64]] to <['64'], fp8e4nv>",
        "whole-number-for-fp8",
        "other=0.0 in place of other=0",
    ),
    (
        "grey = tl.dot([0.3, 0.6], [red, green])",
        "'tuple' object has no attribute 'shape'",
        "list-for-arguments",
        "tl.dot gets several values in brackets",
    ),
    (
        "grey = tl.dot([0.3, 0.6], [red, green])",
        "ValueError(\"'dtype' is not in list\")",
        "list-for-arguments",
        "tl.dot gets several values in brackets",
    ),
    (
        "grey = tl.sum(axis, (red, green))",
        "'list' object has no attribute 'shape'",
        "list-for-arguments",
        "0.5 * a + 0.5 * b",
    ),
    (
        "x = tl.zeros((n_elements.shape, 2), tl.float32)",
        "'tuple' object has no attribute 'shape'",
        "shape-for-a-number",
        "x.numel() is the number of elements",
    ),
    (
        "kernel[grid](x, x.stride)",
        "argument stride holds a builtin_function_or_method, which is no constant",
        "method-handed-over",
        "The launch passes a function for stride",
    ),
    (
        "first = n_elements[0]",
        "TypeError(\"'int' object is not subscriptable\")",
        "entry-of-a-number",
        "a single int",
    ),
    (
        "grey = 0.3 * red_ptrs",
        "invalid operands of type pointer<fp32> and triton.language.float32",
        "pointer-not-loaded",
        "Load first",
    ),
    (
        "red = tl.load(red_ptrs / 2)",
        "invalid operands of type pointer<fp32> and triton.language.float32",
        "float-offset",
        "use // for whole numbers",
    ),
    (
        "mask = offsets < x_ptr.shape[0]",
        "list index out of range",
        "shape-of-a-pointer",
        "x_ptr is a pointer",
    ),
    (
        "offsets = tl.arange(0, BLOCK_SIZE / 2)",
        "arange's arguments must be of type tl.constexpr",
        "range-of-a-float",
        "BLOCK_SIZE / 2 is one",
    ),
    (
        "offsets = tl.arange(pid * 16, pid * 16 + 16)",
        "arange's arguments must be of type tl.constexpr",
        "range-of-a-program",
        "Count from 0",
    ),
    (
        "x = tl.load(x + offsets)",
        "NameError('x is not defined')",
        "used-before-set",
        "it gets one only in this line or below",
    ),
    ("y = abs(x)", "NameError('abs is not defined')", "python-function", "Write tl.abs(x)."),
    (
        "y = sigmoid(x)",
        "NameError('sigmoid is not defined')",
        "undefined-name",
        "write tl.sigmoid.",
    ),
    (
        "x = x_ptr[rows, cols]",
        "unsupported tensor index: (tensor, tensor)",
        "pointer-indexed",
        "A pointer cannot be indexed",
    ),
)


@pytest.mark.parametrize(("line", "error", "kind", "words"), SHOWN)
def test_the_mistake_is_named(line: str, error: str, kind: str, words: str) -> None:
    excerpt = f"at 3:4:\ndef kernel(x_ptr, n_elements):\n    pid = tl.program_id(0)\n    {line}\n"
    found = translate(f"{excerpt}    ^\n{error}")
    assert found is not None
    assert found.kind == kind
    assert words in f"{found.message} {found.advice}"
    assert "{" not in found.message + found.advice
    assert found.source == line


def test_every_row_is_shown() -> None:
    assert {row[0] for row in VALUES} | {*BY_LINE} <= {kind for _, _, kind, _ in SHOWN}
