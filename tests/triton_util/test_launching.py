"""cdiv and check_tensors_gpu_ready; what importing the package does and does not do."""

import math
import os
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import triton_util
from triton_util import environment
from triton_util.launching import cdiv, check_tensors_gpu_ready


@given(st.integers(0, 10**30), st.integers(1, 10**12))
def test_cdiv_is_the_least_number_of_blocks_that_covers(count, size):
    blocks = cdiv(count, size)
    assert blocks * size >= count
    assert (blocks - 1) * size < count


def test_cdiv_takes_numbers_from_a_shape():
    assert cdiv(torch.empty(10).shape[0], 4) == 3
    assert type(cdiv(torch.tensor(7), 2)) is int


@pytest.mark.parametrize(("a", "b"), [(1.5, 2), (3, math.pi), ("6", 2), (None, 1)])
def test_cdiv_refuses_what_is_not_whole(a, b):
    with pytest.raises(TypeError, match="whole numbers"):
        cdiv(a, b)


@pytest.mark.parametrize("size", [0, -4])
def test_cdiv_refuses_a_size_that_is_not_positive(size):
    with pytest.raises(ValueError, match="positive block size"):
        cdiv(8, size)


def test_ready_tensors_pass_under_the_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    check_tensors_gpu_ready()
    check_tensors_gpu_ready(torch.empty(3, 4), torch.empty(0))


def test_contiguity_is_really_asked(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(ValueError, match=r"tensor 2 \(shape \(4, 3\), strides \(1, 4\)\)"):
        check_tensors_gpu_ready(torch.empty(2), torch.empty(3, 4).T)


def test_cpu_tensor_without_the_interpreter(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match="tensor 1 is on cpu"):
        check_tensors_gpu_ready(torch.empty(2))


def test_tensors_on_two_devices(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(ValueError, match="tensor 2 is on meta, tensor 1 on cpu"):
        check_tensors_gpu_ready(torch.empty(2), torch.empty(2, device="meta"))


def test_what_is_no_tensor():
    with pytest.raises(TypeError, match="argument 1 is of type list"):
        check_tensors_gpu_ready([1, 2])


def test_public_names_are_pinned():
    assert set(triton_util.__all__) <= set(dir(triton_util))
    for name in triton_util.__all__:
        assert getattr(triton_util, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        _ = triton_util.chekc


def run_python(code: str, **environ: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **environ},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_import_is_light_and_sets_nothing_outside_a_notebook():
    code = (
        "import sys, os, triton_util\n"
        "print([m for m in ('torch', 'triton', 'IPython', 'graders') if m in sys.modules])\n"
        "print(os.environ.get('TRITON_INTERPRET'))"
    )
    assert run_python(code).split("\n")[:2] == ["[]", "None"]


def test_client_imports_nothing_of_the_judge():
    code = (
        "import sys\nfrom triton_util import check, hint, quiz, progress, cdiv, print_if\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('graders', 'torch', 'triton')])"
    )
    assert run_python(code).strip() == "[]"


@pytest.fixture
def notebook_without_gpu(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.setattr(environment, "in_notebook", lambda: True)
    monkeypatch.setattr(environment, "gpu_nodes", list)


def test_notebook_without_gpu_interprets_and_says_so_once(notebook_without_gpu, capsys):
    environment.prepare_notebook()
    environment.prepare_notebook()
    assert os.environ["TRITON_INTERPRET"] == "1"
    assert capsys.readouterr().out.count("TRITON_INTERPRET=1 is set") == 1


@pytest.mark.parametrize("chosen", ["0", "", "1"])
def test_the_learners_own_choice_stands(notebook_without_gpu, monkeypatch, capsys, chosen):
    monkeypatch.setenv("TRITON_INTERPRET", chosen)
    environment.prepare_notebook()
    assert os.environ["TRITON_INTERPRET"] == chosen
    assert capsys.readouterr().out == ""


def test_a_gpu_is_left_alone(notebook_without_gpu, monkeypatch):
    monkeypatch.setattr(environment, "gpu_nodes", lambda: ["/dev/nvidia0"])
    environment.prepare_notebook()
    assert "TRITON_INTERPRET" not in os.environ


def test_gpu_that_is_hidden_from_cuda_counts_as_none(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert environment.gpu_nodes() == []
