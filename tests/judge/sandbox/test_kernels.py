"""Kernels are made of their text: of a submission nothing else is ever executed."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
import torch
import triton.language as tl
from triton.runtime.jit import JITFunction

from graders.judge.plan.kernels import Kernels
from graders.judge.plan.steps import Kernel, Parameter, TensorRef
from tests.support.submissions import with_codes

SOURCE = textwrap.dedent(
    '''
    import nothing_of_that_name
    ran = []
    def trace(*args):
        raise AssertionError("executed")

    @trace("decorator")
    @triton.jit(trace("option"))
    def kernel(
        x_ptr: trace("annotation"),
        n=trace("default"),
        *,
        BLOCK: tl.constexpr = trace("keyword default"),
    ) -> trace("result"):
        """Adds."""
        value: trace("variable") = SCALE
        value = exp(value) * math.pi + pair[0] if kind is gone else tl.zeros([1], kind)
        helper(x_ptr, value)
        return
        exec = 0

    @trace
    def helper(x_ptr, value=trace()):
        tl.store(x_ptr, value)

    while True:
        trace("module")
    '''
)
PARAMETERS = (
    Parameter("x_ptr"),
    Parameter("n", "", 3, True),
    Parameter("BLOCK", "constexpr", {"constexpr": 64}, True),
)
KERNEL = Kernel(
    7,
    "kernel",
    {
        "SCALE": {"constexpr": 2.0},
        "helper": {"kernel": 1},
        "tl": {"module": "triton.language"},
        "gone": {"unknown": "list"},
        "unused": 5,
        "__builtins__": {"module": "triton"},
        "math": {"numbers": {"pi": 3.25}},
        "exp": {"library": ["triton.language.math", "exp"]},
        "kind": {"dtype": "fp16"},
        "pair": {"tuple": [1, {"constexpr": 2}]},
    },
    PARAMETERS,
    specialize_not=("n",),
    noinline=True,
)
HELPER = Kernel(
    22, "helper", {"tl": {"module": "triton.language"}},
    (Parameter("x_ptr"), Parameter("value", "", 1, True)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A jit function is one for the compiler: other tests of this process interpret."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)


def made() -> Kernels:
    return Kernels(SOURCE, "<kernels>", with_codes((KERNEL, HELPER), SOURCE))


def test_only_the_body_is_compiled_and_it_stands_at_its_line() -> None:
    kernel = made().get(0)
    assert isinstance(kernel, JITFunction)
    assert kernel.fn.__code__.co_name == "kernel"
    lines = [line for _, _, line in kernel.fn.__code__.co_lines() if line is not None]
    assert SOURCE.split("\n")[max(lines) - 1].strip() == "return"
    assert kernel.fn.__defaults__ == (3,)
    assert kernel.fn.__kwdefaults__["BLOCK"].value == 64
    assert [parameter.is_constexpr for parameter in kernel.params] == [False, False, True]
    assert kernel.params[1].do_not_specialize
    assert kernel.noinline


def test_names_stand_for_what_the_plan_says_and_for_nothing_else() -> None:
    kernels = made()
    scope: dict[str, Any] = kernels.get(0).fn.__globals__
    assert scope["helper"] is kernels.get(1)
    assert scope["SCALE"].value == 2.0
    assert scope["tl"] is tl
    assert scope["exp"] is tl.math.exp
    assert scope["math"].pi == 3.25
    assert scope["kind"] == tl.float16
    assert scope["pair"][0] == 1
    assert not {"gone", "unused", "trace", "ran", "kernel"} & set(scope)


def test_builtins_are_those_of_the_language_whatever_the_plan_says() -> None:
    function = made().get(0).fn
    assert "exec" not in function.__code__.co_varnames
    assert function.__builtins__["range"] is range
    assert not {"exec", "eval", "open", "__import__", "getattr"} & set(function.__builtins__)


def test_interpreter_and_compiler_read_the_same_tree() -> None:
    (code, _) = (kernel.code for kernel in with_codes((KERNEL, HELPER), SOURCE))
    assert code is not None
    compiled = made().get(0).parse().body[0]
    assert ast.dump(compiled) == ast.dump(code.tree())
    assert "exec" not in code.text
    assert "kind == gone" in code.text


def test_a_kernel_is_made_once() -> None:
    kernels = made()
    assert kernels.get(0) is kernels.get(0)


def test_arguments_are_what_the_plan_says() -> None:
    kernels, view = made(), TensorRef(0, "float32", (2,), (1,), 0)
    tensor = torch.ones(2)
    assert kernels.value(view.to_json(), lambda ref: tensor if ref == view else None) is tensor
    assert kernels.value({"tuple": [view.to_json()]}, lambda ref: tensor) == (tensor,)
    odd = kernels.value({"unknown": "list"})
    assert type(odd).__name__ == "list"
    assert not isinstance(odd, list)


@pytest.mark.parametrize("module", ["os", "tritonic", "torch", "graders.judge", "triton_utilities"])
def test_a_plan_opens_no_other_library(module: str) -> None:
    for value in ({"module": module}, {"library": [module, "system"]}):
        with pytest.raises(ImportError):
            made().value(value)
