"""What the engine computes, against what an H200 computed (triton 3.6.0): h200_outputs.pt.

`compare_gpu.py gpu FILE` writes such a file on any GPU.
"""

from pathlib import Path

import pytest
import torch

from tests.triton_util.interpreter import compare_gpu
from triton_util.interpreter import EngineOptions, interpret

RECORDED = torch.load(Path(__file__).parent / "h200_outputs.pt")
NAMES = [name for name in compare_gpu.CASES if isinstance(RECORDED.get(name), tuple)]


def test_the_record_covers_the_cases():
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_agrees_with_an_h200(name):
    with interpret(EngineOptions()) as run:
        found = compare_gpu.CASES[name]()
    allowed = compare_gpu.LOOSE.get(name, compare_gpu.TOLERANCE)
    for there, here in zip(RECORDED[name], found, strict=True):
        assert compare_gpu.difference(there, here) <= allowed
    assert run.faults == []
