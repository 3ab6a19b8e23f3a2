"""Two kernels have one digest exactly if they differ in names, comments and layout alone."""

from __future__ import annotations

import pytest

from graders.judge.submission.shapes import shapes

KERNEL = """
@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(y_ptr + offsets, x + max(1, 2), mask=mask)
"""
RENAMED = '''
# by me
@jit
def k(inp, out, size,
      B: language.constexpr):
    """Adds."""
    o = language.program_id(0) * B + language.arange(0, B)  # offsets
    keep = (o < size)
    "and now the load"
    v = language.load(
        inp + o, mask=keep, other=0.0)
    language.store(out + o, v + max(1, 2), mask=keep)
'''


def digest(text: str) -> str:
    (found,) = shapes(text)
    return found.digest


def test_names_comments_docstrings_and_layout_count_for_nothing() -> None:
    assert digest(KERNEL) == digest(RENAMED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("other=0.0", "other=1.0"),
        ("other=0.0", ""),
        ("offsets < n", "offsets <= n"),
        ("max(1", "min(1"),
        ("tl.load(x_ptr", "tl.load(y_ptr"),
        ("program_id(0)", "program_id(1)"),
        ("tl.store(", "tl.atomic_add("),
        ("mask=mask, other", "cache=mask, other"),
    ],
)
def test_what_a_kernel_does_counts(old: str, new: str) -> None:
    assert old in KERNEL
    assert digest(KERNEL) != digest(KERNEL.replace(old, new, 1))


def test_a_builtin_that_is_bound_is_a_name_like_others() -> None:
    assert digest(KERNEL.replace("mask", "keep").replace("keep=", "mask=")) == digest(KERNEL)
    assert digest(KERNEL.replace("offsets", "range")) == digest(KERNEL)


def test_a_shape_knows_its_place_and_its_text() -> None:
    (found,) = shapes(KERNEL)
    assert (found.name, found.line, found.last_line) == ("add_kernel", 3, 7)
    assert found.text.startswith("def add_kernel(")
    assert found.text.endswith("mask=mask)")


def test_only_kernels_and_all_of_them() -> None:
    tuned = KERNEL.replace("@triton.jit", "@triton.autotune(configs=[], key=[])\n@triton.jit()")
    text = f"{KERNEL}\n{tuned}\ndef add(x):\n    return x\n"
    first, second = shapes(text)
    assert first.digest == second.digest
    assert shapes("def broken(:") == []
