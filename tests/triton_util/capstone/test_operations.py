"""Whose kernels the capstone runs on: those that agree with torch, the learner's own first."""

import ast

import pytest
import torch

from tests.support.interpreting_process import InterpretingProcess
from triton_util.capstone import operations as capstone
from triton_util.client import remembered

PRELUDE = "from triton_util.capstone.operations import *\nimport torch\n"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))


@pytest.fixture
def interpreting(home):
    """A process that begins with nothing passed."""
    with InterpretingProcess(PRELUDE) as process:
        yield process


def test_the_model_solutions_agree_with_torch(interpreting):
    found = ast.literal_eval(interpreting.run("print(operations()[1])"))
    assert found == dict.fromkeys(capstone.BY_TORCH, capstone.MODEL)


@pytest.mark.parametrize("name", sorted(capstone.BY_TORCH))
def test_torch_agrees_with_itself_and_what_is_a_little_off_does_not(name):
    right = capstone.BY_TORCH[name]

    def off(*args):
        result = right(*args)
        return tuple(1.01 * one for one in result) if isinstance(result, tuple) else 1.01 * result

    def raising(*args):
        raise RuntimeError

    def misshapen(*args):
        return torch.zeros(1)

    assert capstone.agrees(name, right, "cpu")
    for wrong in (off, raising, misshapen):
        assert not capstone.agrees(name, wrong, "cpu")


def test_what_is_given_comes_first_and_must_be_right(monkeypatch):
    monkeypatch.setattr(capstone, "model_solutions", dict)

    def softmax(x):
        return torch.softmax(x, dim=1)

    def matmul(a, b):
        return a @ b + 1

    launchers, whose = capstone.operations(softmax, matmul)
    assert whose["softmax"] == capstone.YOURS
    assert launchers["softmax"] is softmax
    assert whose["matmul"].startswith(capstone.TORCH)
    assert whose["matmul"].endswith("(that of this notebook is not right yet)")
    assert launchers["matmul"] is not matmul
    assert whose["cross_entropy"] == capstone.TORCH


def test_code_that_passed_is_found_and_code_that_cannot_run_is_not(monkeypatch):
    monkeypatch.setattr(capstone, "model_solutions", dict)
    source = "import torch\n\n\ndef softmax(x):\n    return torch.softmax(x, dim=1)\n"
    remembered.keep(remembered.PASSED_CODE, "softmax", source)
    remembered.keep(remembered.PASSED_CODE, "matmul", "import nowhere_to_be_found\n")
    _, whose = capstone.operations()
    assert whose["softmax"] == capstone.PASSED
    assert whose["matmul"] == capstone.TORCH
    assert f"softmax                    lesson 07   {capstone.PASSED}" in capstone.table(whose)


def test_a_function_that_the_model_does_not_need_is_refused():
    def histogram(x):
        return x

    with pytest.raises(ValueError, match="and not histogram"):
        capstone.operations(histogram)
