"""Hints to the compiler are believed on a GPU, so the engine asks whether they are true."""

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret


@triton.jit
def rows_kernel(x_ptr, output_ptr, n, VECTOR: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = tl.multiple_of(row * n, VECTOR)
    lanes = tl.arange(0, BLOCK)
    mask = tl.max_constancy(lanes < n, VECTOR)
    tl.store(output_ptr + start + lanes, tl.load(x_ptr + start + lanes, mask=mask), mask=mask)


@triton.jit
def tiles_kernel(x_ptr, output_ptr, m, n, ACROSS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    cols = tl.max_contiguous(tl.multiple_of(cols % n, BN), BN)
    offsets = tl.multiple_of(rows[:, None] * n + cols[None, :], [1, ACROSS])
    mask = tl.max_constancy((rows[:, None] < m) & (cols[None, :] >= 0), [1, BN])
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def copied(x, vector, schedule="grid", block=32):
    output = torch.empty_like(x)
    with interpret(EngineOptions(schedule=schedule)):
        rows_kernel[(x.shape[0],)](x, output, x.shape[1], VECTOR=vector, BLOCK=block)
    return output


@pytest.mark.parametrize("vector", [1, 2, 4])
def test_true_hints_change_nothing(vector):
    x = torch.randn(5, 20)
    assert torch.equal(copied(x, vector), x)


@pytest.mark.parametrize("schedule", ["grid", "serial"])
def test_an_untrue_multiple_is_named_with_its_program(schedule):
    with pytest.raises(KernelFault) as caught:
        copied(torch.randn(5, 21), 4, schedule, block=16)
    fault = caught.value.fault
    assert (fault.code, fault.operation) == ("untrue-hint", "tl.multiple_of")
    assert fault.program_id == (1, 0, 0)
    assert "no multiple of 4" in fault.message
    assert "tl.multiple_of(row * n, VECTOR)" in fault.source


def test_a_mask_that_is_not_constant():
    with pytest.raises(KernelFault) as caught:
        copied(torch.randn(1, 21), 4)
    assert caught.value.fault.operation == "tl.max_constancy"


def test_hints_on_two_axes_and_rows_that_wrap_around():
    """The first lane along an axis counts, and wrapping around is nobody's fault."""
    x = torch.randn(6, 20)
    output = torch.empty_like(x)
    with interpret():
        tiles_kernel[(2,)](x, output, 6, 20, ACROSS=4, BM=8, BN=16)
        assert torch.equal(output, x)
        with pytest.raises(KernelFault, match="multiple_of is not true"):
            tiles_kernel[(2,)](x, output, 6, 20, ACROSS=8, BM=8, BN=16)


@triton.jit
def aligned_kernel(x_ptr, output_ptr, BYTES: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(tl.multiple_of(x_ptr, BYTES) + lanes)
    tl.store(output_ptr + lanes, x)


@pytest.mark.parametrize("bytes_told", [4, 8, 16, 256])
def test_a_pointer_is_a_multiple_in_bytes(bytes_told):
    storage = torch.randn(40)
    output = torch.empty(32)
    with interpret():
        aligned_kernel[(1,)](storage, output, BYTES=bytes_told, BLOCK=32)
        inside = storage[1:]
        if bytes_told == 4:
            aligned_kernel[(1,)](inside, output, BYTES=bytes_told, BLOCK=32)
        else:
            with pytest.raises(KernelFault, match=f"no multiple of {bytes_told}"):
                aligned_kernel[(1,)](inside, output, BYTES=bytes_told, BLOCK=32)
