# ruff: noqa: PT018
"""Beginners' mistakes in the interpreter: each is named, with the learner's line."""

import inspect

import pytest
import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.mistakes import MISTAKES
from triton_util.interpreter import EngineOptions, KernelFault, interpret
from triton_util.interpreter.messages import calls
from triton_util.interpreter.messages.table import ROWS
from triton_util.interpreter.messages.translation import translate
from triton_util.other_names import OTHER_NAMES


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


# What to write instead, where the error of Triton or Python alone leads astray.
ADVICE = {
    "counts_without_a_start": "Write tl.arange(0, BLOCK_SIZE)",
    "asks_for_no_axis": "Write tl.program_id(0)",
    "indexes_a_pointer": "tl.load(x_ptr + offsets, mask=mask)",
    "adds_a_range": "Write tl.arange(0, BLOCK_SIZE)",
    "calls_a_dtype": "pid.to(tl.int64) for a number",
    "float_range": "pass a whole number (1024, not 1024.0)",
    "chooses_by_a_block": "tl.where",
    "turns_a_row": "tl.trans",
    "misspells_a_function": "tl.arange",
}


@pytest.mark.parametrize("name", ADVICE)
def test_the_next_step_is_what_to_write(name):
    kernel, constants, grid, *_ = MISTAKES[name]
    with interpret(), pytest.raises(KernelFault) as caught:
        kernel[grid](torch.ones(64), 16, **constants)
    fault = caught.value.fault
    assert ADVICE[name] in fault.message + fault.cause
    assert "launch leaves out" not in fault.message


def test_the_names_that_a_guess_looks_at_are_those_of_the_language():
    assert [name for name in (*calls.FUNCTIONS, *calls.USAGE) if not hasattr(tl, name)] == []
    assert not set(OTHER_NAMES) & set(calls.FUNCTIONS)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("laod", "tl.load"), ("arrange", "tl.arange"), ("relu", "tl.maximum(x, 0.0)")],
)
def test_a_misspelt_function_is_guessed(wrong, meant):
    found = translate(f"AttributeError: module 'triton.language' has no attribute '{wrong}'")
    assert meant in found.advice


def test_a_misspelt_variable_is_guessed_from_the_source():
    found = translate("NameError: name 'ofsets' is not defined", "    offsets = pid * BLOCK_SIZE")
    assert "Did you mean offsets?" in found.advice
    found = translate("NameError: name 'X_ptr' is not defined", "def copy_kernel(x_ptr, n):")
    assert "Did you mean x_ptr?" in found.advice


@triton.jit
def stores_ones(x_ptr, n_elements, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n_elements)


@triton.jit
def misspells(x_ptr, n_elements, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + ofsets, 1.0, mask=offsets < n_elements)  # noqa: F821


def test_a_misspelt_variable_is_guessed_where_a_kernel_runs():
    with interpret(), pytest.raises(KernelFault) as caught:
        misspells[(1,)](torch.ones(16), 16, B=16)
    assert "Did you mean offsets?" in str(caught.value.fault.cause)


def test_a_launch_that_does_not_fit_shows_what_arrived_where():
    with interpret(), pytest.raises(KernelFault) as caught:
        stores_ones[(1,)](16, B=16)
    assert "x_ptr ← 16, B ← 16. Nothing arrives at n_elements." in caught.value.fault.message
    with interpret(), pytest.raises(KernelFault) as caught:
        stores_ones[(1,)](16, torch.ones(64), B=16)
    assert "x_ptr ← 16, n_elements ← tensor (64,)" in caught.value.fault.message


@pytest.mark.parametrize(
    ("grid", "size", "reached", "firsts"),
    [((2,), 64, 16, (0, 0, None, None)), ((1,), 8, 8, (0, None, None, None))],
)
def test_aims_do_not_know_of_masks(grid, size, reached, firsts):
    out = torch.empty(size)
    with interpret() as run:
        stores_ones[grid](out, 3, B=16)
    aim = run.aims.told(out.untyped_storage().data_ptr())
    assert (aim.elements, aim.lanes, aim.reached, aim.firsts) == (size, 16, reached, firsts)
    assert run.aims.told(0) is None


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
