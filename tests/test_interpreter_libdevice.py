"""libdevice in the interpreter: every name that we give a meaning computes what torch computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from interpreting_process import InterpretingProcess

PRELUDE = """
import torch
import triton_util.interpreter  # before the kernels take a name from libdevice
from helper_kernels_libdevice import binary_kernel, several_kernel
from triton_util.interpreter import interpret

x = torch.linspace(-3, 3, 50)
y = torch.linspace(0.5, 2, 50)
output = torch.empty(50)
"""


@pytest.fixture(scope="module")
def process() -> Iterator[InterpretingProcess]:
    with InterpretingProcess(PRELUDE) as running:
        yield running


def test_functions_of_one_argument(process: InterpretingProcess) -> None:
    code = """
with interpret():
    several_kernel[(4,)](x, output, 50, BLOCK_SIZE=16)
expected = torch.tanh(x) + torch.erf(x) + torch.special.expm1(x) + torch.isnan(x).int()
print(torch.allclose(output, expected, rtol=1e-6, atol=1e-6))
"""
    assert process.run(code) == "True\n"


def test_functions_of_two_arguments(process: InterpretingProcess) -> None:
    code = """
with interpret():
    binary_kernel[(4,)](x, y, output, 50, BLOCK_SIZE=16)
expected = torch.atan2(x, y) + torch.pow(y, 2.0)
print(torch.allclose(output, expected, rtol=1e-6, atol=1e-6))
"""
    assert process.run(code) == "True\n"


def test_every_name_is_one_of_tritons(process: InterpretingProcess) -> None:
    code = """
import triton.language.extra.cuda.libdevice as cuda
from triton_util.interpreter import libdevice
names = [*libdevice.UNARY, *libdevice.BINARY, *libdevice.QUESTIONS]
print([name for name in names if not hasattr(cuda, name)])
"""
    assert process.run(code) == "[]\n"
