"""Atomic sums are kept in the dtype of the memory: each step rounds to it, and integers wrap."""

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, interpret

COUNT = 200
LARGE = {torch.int32: 2**31 - 9, torch.int64: 2**62}
DTYPES = [*LARGE, torch.float16, torch.bfloat16, torch.float32, torch.float64]


@triton.jit
def adds_to_places_kernel(x_ptr, output_ptr, n, places, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(output_ptr + offsets % places, x, mask=offsets < n)


def one_after_the_other(x: torch.Tensor, places: int, dtype: torch.dtype) -> torch.Tensor:
    """The sums, rounded (or wrapped) to dtype after each step."""
    sums = torch.zeros(places, dtype=dtype)
    for number, value in enumerate(x.to(dtype)):
        sums[number % places] += value
    return sums


def engine_sums(x: torch.Tensor, places: int, dtype: torch.dtype) -> torch.Tensor:
    output = torch.zeros(places, dtype=dtype)
    with interpret(EngineOptions()) as run:
        adds_to_places_kernel[(triton.cdiv(COUNT, 64),)](x, output, COUNT, places, BLOCK_SIZE=64)
    assert run.faults == []
    return output


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("places", [1, 3, 150])
def test_each_step_is_in_the_dtype_of_the_memory(dtype, places):
    generator = torch.Generator().manual_seed(places)
    x = torch.randn(COUNT, generator=generator, dtype=torch.float64) * 1000
    if not dtype.is_floating_point:
        x = torch.full((COUNT,), LARGE[dtype])
    x = x.to(dtype)
    assert torch.equal(engine_sums(x, places, dtype), one_after_the_other(x, places, dtype))


@pytest.mark.parametrize("wide", [torch.float64, torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_what_is_added_may_be_of_another_dtype(wide, dtype):
    generator = torch.Generator().manual_seed(0)
    x = (torch.randn(COUNT, generator=generator, dtype=torch.float64) * 100).to(wide)
    assert torch.equal(engine_sums(x, 2, dtype), one_after_the_other(x, 2, dtype))
