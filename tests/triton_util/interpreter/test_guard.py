"""Launches outside of `check`: guarded, a missing mask is an error in its cell and no crash."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.interpreting_process import InterpretingProcess

PRELUDE = """
import torch
from tests.triton_util.interpreter.guarded_kernels import unmasked_copy_kernel
from triton_util.interpreter import KernelFault, guard_launches, interpret, unguarded_launches

x, output = torch.arange(8.0), torch.zeros(8)
"""


@pytest.fixture(scope="module")
def process() -> Iterator[InterpretingProcess]:
    with InterpretingProcess(PRELUDE) as running:
        yield running


def test_a_guarded_launch_stops_before_it_writes(process: InterpretingProcess) -> None:
    code = """
guard_launches()
guard_launches()
try:
    unmasked_copy_kernel[(2,)](x[:5], output[:5], BLOCK_SIZE=4)
except KernelFault as fault:
    print(fault.fault.code, fault._render_traceback_()[0], output.tolist()[5:])
"""
    printed = process.run(code)
    assert printed.split()[0] in ("out-of-bounds-load", "out-of-bounds-store")
    assert printed.endswith("[0.0, 0.0, 0.0]\n")


def test_a_right_launch_works_guarded(process: InterpretingProcess) -> None:
    code = """
guard_launches()
unmasked_copy_kernel[(2,)](x, output, BLOCK_SIZE=4)
with interpret() as run:
    unmasked_copy_kernel[(2,)](x, output, BLOCK_SIZE=4)
print(torch.equal(x, output), len(run.launches))
"""
    assert process.run(code) == "True 1\n"


def test_the_stock_interpreter_can_be_shown(process: InterpretingProcess) -> None:
    code = """
guard_launches()
with unguarded_launches():
    unmasked_copy_kernel[(2,)](x[:5], output[:5], BLOCK_SIZE=4)  # the neighbour is ours
print(output.tolist()[5:])
"""
    assert process.run(code) == "[5.0, 6.0, 7.0]\n"
