# ruff: noqa: PT018
"""Beginners' mistakes in the interpreter: each is named, with the learner's line."""

import inspect

import pytest
import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.mistakes import MISTAKES
from triton_util.interpreter import EngineOptions, KernelFault, interpret
from triton_util.interpreter.messages.table import ROWS
from triton_util.interpreter.messages.translation import translate


@pytest.mark.parametrize("schedule", ["grid", "serial"])
@pytest.mark.parametrize("name", [name for name, row in MISTAKES.items() if row[3]])
def test_the_mistake_is_named_with_its_line(name, schedule):
    kernel, constants, grid, kind, _ = MISTAKES[name]
    with interpret(EngineOptions(schedule=schedule)), pytest.raises(KernelFault) as caught:
        kernel[grid](torch.ones(64), 16, **constants)
    fault = caught.value.fault
    assert (fault.code, fault.kind) == ("kernel-error", kind)
    assert fault.message and fault.cause and fault.original
    assert "{" not in fault.message + fault.cause
    assert "Error" in fault.original
    lines, start = inspect.getsourcelines(kernel.fn)
    if kind not in ("constexpr-missing", "unknown-argument", "grid"):
        assert fault.filename == kernel.fn.__code__.co_filename
        assert start <= fault.line < start + len(lines)
        assert fault.source == lines[fault.line - start].strip()
    else:
        assert fault.source == "kernel[grid](torch.ones(64), 16, **constants)"


def test_at_least_25_kinds_of_messages_are_known():
    assert len({row[0] for row in ROWS}) >= 40
    assert len({row[3] for row in MISTAKES.values() if row[3]}) >= 25


def test_unknown_errors_keep_their_words():
    assert translate("something else entirely") is None
    assert translate(RuntimeError("something else entirely")) is None


@triton.jit
def surprising_kernel(x_ptr, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), {}["key"])


def test_an_error_without_a_row_is_reported_as_it_is():
    with interpret(), pytest.raises(KernelFault) as caught:
        surprising_kernel[(1,)](torch.ones(64), B=16)
    assert caught.value.fault.kind == "other"
    assert "KeyError: 'key'" in caught.value.fault.message
    assert caught.value.fault.source.startswith("tl.store")


def test_grid_functions_see_the_arguments():
    seen = {}

    def grid(meta):
        seen.update(meta)
        return (1,)

    with interpret(), pytest.raises(KernelFault):
        surprising_kernel[grid](torch.ones(64), B=16)
    assert seen["B"] == 16 and isinstance(seen["x_ptr"], torch.Tensor)
