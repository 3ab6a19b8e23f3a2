"""The model solution beside a correct kernel: true sentences, and only for whom it is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.judge import discovery, model_beside
from graders.judge.pipeline import Judge
from graders.judge.serve import Server
from graders.judge.submission.loading import from_text
from triton_util.model_solutions import model_solutions

COURSE = Path(__file__).parents[1] / "course"

OWN = """
import torch, triton
import triton.language as tl
from triton.language import load

@triton.jit
def kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    for block in range(2):
        offsets = (2 * tl.program_id(0) + block) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        x = load(x_ptr + offsets, offsets < n)
        y = tl.load(y_ptr + offsets, mask=offsets < n)
        tl.store(output_ptr + offsets, tl.fma(x, 1.0, y), mask=offsets < n)

def vector_add(x, y):
    output = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 512),)](x, y, output, n, BLOCK_SIZE=256)
    return output
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def told(judge: Judge, name: str, source: str) -> list[str]:
    exercise = discovery.exercise(name)
    found = model_beside.beside(judge, from_text(source, exercise), exercise)
    assert found is not None
    return list(found["differs"])


def test_the_sentences_say_what_both_texts_and_launches_show(judge: Judge) -> None:
    assert told(judge, "vector_add", OWN) == [
        "You use `fma`, and the model does not.",
        "Your kernel code has 1 loop, and the model's has none.",
        "In the case `n=100003` you launch 196 programs with `BLOCK_SIZE=256`, and the model 98 "
        "with `BLOCK_SIZE=1024`.",
    ]


def test_the_model_differs_in_nothing_from_itself(judge: Judge) -> None:
    for name in ("vector_add", "softmax"):
        assert told(judge, name, model_solutions()[name]) == [model_beside.SAME]


def test_a_load_without_a_mask_and_a_tuner_are_named(judge: Judge) -> None:
    unmasked = OWN.replace("load(x_ptr + offsets, offsets < n)", "load(x_ptr + offsets, None)")
    unmasked = unmasked.replace("tl.fma(x, 1.0, y)", "x + y")
    found = told(judge, "vector_add", unmasked)
    assert "You give a mask to 1 of your 2 loads, and the model to 2 of 2." in found
    tuned = (COURSE / "vector_add/vector_add/correct/autotuned.py").read_text()
    assert any("configurations to choose from" in line for line in told(judge, "vector_add", tuned))


@pytest.mark.parametrize("name", sorted(model_solutions()))
def test_the_model_kernel_is_plain_code_without_the_stubs_marks(name: str) -> None:
    shown = model_beside.kernels_of(model_solutions()[name])
    assert "SOLUTION" not in shown
    assert any(isinstance(node, ast.FunctionDef) for node in ast.parse(shown).body)
    assert "# 1. " not in shown


def test_only_a_text_that_passed_gets_the_model(judge: Judge) -> None:
    server = Server(judge)
    wrong = OWN.replace("triton.cdiv(n, 512)", "n // 512")
    for source in (wrong, OWN):
        asked = {"exercise": "vector_add", "source": source}
        before = server.answer({"op": "passed", **asked})
        report = server.answer({"op": "check", **asked})["report"]
        after = server.answer({"op": "passed", **asked})
        assert before["model"] is None
        assert (after["model"] is not None) == (report["verdict"] == "passed")
        assert "def add_kernel" not in str(report)
    assert "def add_kernel" in after["model"]["source"]


def test_without_the_file_there_is_no_model(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_beside, "model_solutions", dict)
    exercise = discovery.exercise("vector_add")
    assert model_beside.beside(judge, from_text(OWN, exercise), exercise) is None


def test_a_plain_function_gets_the_model_alone(judge: Judge) -> None:
    source = model_solutions()["throughput"]
    assert told(judge, "throughput", source) == []
