"""libdevice in the interpreter: every name that we give a meaning computes what torch computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.interpreting_process import InterpretingProcess

# libdevice's function of one argument: the same in torch, for arguments y between 0.5 and 0.9
UNARY = {
    "acos": "torch.acos(y)",
    "cbrt": "y ** (1 / 3)",
    "cyl_bessel_i0": "torch.special.i0(y)",
    "erfcinv": "torch.special.erfinv(1 - y)",
    "erfcx": "torch.special.erfcx(y)",
    "exp10": "10**y",
    "j0": "torch.special.bessel_j0(y)",
    "lgamma": "torch.lgamma(y)",
    "log1p": "torch.log1p(y)",
    "normcdfinv": "torch.special.ndtri(y)",
    "rsqrt": "torch.rsqrt(y)",
    "sinpi": "torch.sin(torch.pi * y)",
}
PRELUDE = """
import torch
import triton_util.interpreter  # before the kernels take a name from libdevice
from tests.triton_util.interpreter.libdevice_kernels import (
    binary_kernel,
    bits_kernel,
    fused_kernel,
    several_kernel,
    unary_kernel,
)
from triton_util.interpreter import interpret

x = torch.linspace(-3, 3, 50)
y = torch.linspace(0.5, 2, 50)
output = torch.empty(50)
"""


@pytest.fixture(scope="module")
def process() -> Iterator[InterpretingProcess]:
    with InterpretingProcess(PRELUDE) as running:
        yield running


@pytest.mark.parametrize("name", sorted(UNARY))
def test_a_function_of_one_argument(process: InterpretingProcess, name: str) -> None:
    code = f"""
from triton.language.extra import libdevice
y = torch.linspace(0.5, 0.9, 50)
with interpret():
    unary_kernel[(4,)](y, output, 50, libdevice.{name}, BLOCK_SIZE=16)
print(torch.allclose(output, {UNARY[name]}, rtol=1e-5))
"""
    assert process.run(code) == "True\n"


def test_several_functions_of_one_argument(process: InterpretingProcess) -> None:
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
from triton_util.interpreter.operations import libdevice
names = [*libdevice.UNARY, *libdevice.BINARY, *libdevice.QUESTIONS]
print([name for name in names if not hasattr(cuda, name)])
"""
    assert process.run(code) == "[]\n"


def test_a_function_of_three_arguments_and_a_positive_difference(
    process: InterpretingProcess,
) -> None:
    code = """
with interpret():
    fused_kernel[(4,)](x, y, output, 50, BLOCK_SIZE=16)
expected = (x - y).clamp(min=0) + torch.addcmul(y, x, y)
print(torch.allclose(output, expected, rtol=1e-6, atol=1e-6))
"""
    assert process.run(code) == "True\n"


def test_what_is_not_computed_here_says_so_and_blames_nobody(
    process: InterpretingProcess,
) -> None:
    code = """
from triton_util.interpreter import KernelFault
try:
    with interpret():
        bits_kernel[(4,)](x, output, 50, BLOCK_SIZE=16)
except KernelFault as error:
    print(error.fault.code, error.fault.line > 0, 'float_as_int' in error.fault.message)
"""
    assert process.run(code) == "not-interpreted True True\n"
