"""Whose mistake is an error: what breaks in the engine is never the kernel's."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from graders.judge.sandbox import job_report
from triton_util.interpreter import EngineOptions, KernelFault, interpret
from triton_util.interpreter.operations.builder import GridBuilder

N = 16


@triton.jit
def helper_of_two(x, y):
    return x + y


@triton.jit
def subtracts(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) - 1.0)


@triton.jit
def takes_the_sine(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(x_ptr + offsets, tl.sin(tl.load(x_ptr + offsets)))


@triton.jit
def sums(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N)), axis=0))


@triton.jit
def assembles(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.float32, True, 1)
    tl.store(x_ptr + tl.arange(0, N), y)


@triton.jit
def adds_shapes_that_do_not_fit(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.arange(0, N) + tl.arange(0, 2 * N))


@triton.jit
def adds_none(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) + None)


@triton.jit
def sums_none(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, tl.sum(None, axis=0))


@triton.jit
def adds_a_text(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, 1 + "one")


@triton.jit
def misspells(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, lenght)  # noqa: F821


@triton.jit
def asks_tl_for_more(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, tl.einsum(x_ptr))


@triton.jit
def asks_a_block_for_more(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr + tl.arange(0, N)).mean())


@triton.jit
def counts_to_a_text(x_ptr, N: tl.constexpr):
    for i in range("three"):
        tl.store(x_ptr, i)


@triton.jit
def compares_a_text(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, min(1, "one"))


@triton.jit
def calls_with_too_little(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, helper_of_two(1.0))


@triton.jit
def asks_numpy(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), np.linalg.inv(tl.load(x_ptr + tl.arange(0, N))))


@triton.jit
def asks_for_another_axis(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N)), axis=3))


@triton.jit
def asserts(x_ptr, N: tl.constexpr):
    assert N == 3, "made for three"
    tl.store(x_ptr, 0.0)


@triton.jit
def asserts_statically(x_ptr, N: tl.constexpr):
    tl.static_assert(N == 3)
    tl.store(x_ptr, 0.0)


@triton.jit
def never_comes_back(x_ptr, N: tl.constexpr):
    tl.store(x_ptr, never_comes_back(x_ptr, N))


OF_THE_KERNEL = [
    adds_shapes_that_do_not_fit,
    adds_none,
    sums_none,
    adds_a_text,
    misspells,
    asks_tl_for_more,
    asks_a_block_for_more,
    counts_to_a_text,
    compares_a_text,
    calls_with_too_little,
    asks_numpy,
    asks_for_another_axis,
    asserts,
    asserts_statically,
    never_comes_back,
]


def fault_of(kernel, *arguments, schedule="grid"):
    with interpret(EngineOptions(schedule=schedule)), pytest.raises(KernelFault) as caught:
        kernel[(4,)](*(arguments or (torch.ones(N), N)))
    return caught.value.fault


BUGS = (
    "def bug(*_, **__):\n    return {}['no such key']\n",
    "def bug(*_, **__):\n    return [][3]\n",
    "def bug(*_, **__):\n    return (1).no_such_attribute\n",
    "def bug():\n    'Takes what another version of triton gave.'\n",
    "def bug(*_, **__):\n    assert False, 'the engine doubts itself'\n",
    "import numpy as np\ndef bug(*_, **__):\n    return np.ones(2) + np.ones(3)\n",
)


def of_the_engine(source):
    """A function with a bug, as if it stood in a module of the engine."""
    scope = {}
    exec(compile(source, GridBuilder.create_sub.__code__.co_filename, "exec"), scope)
    scope["bug"].__qualname__ = "GridBuilder.bug"
    return scope["bug"]


@pytest.mark.parametrize("schedule", ["grid", "serial"])
@pytest.mark.parametrize("kernel", OF_THE_KERNEL, ids=lambda kernel: kernel.fn.__name__)
def test_a_mistake_in_the_kernel_stays_the_kernels(kernel, schedule):
    fault = fault_of(kernel, schedule=schedule)
    assert fault.code == "kernel-error", fault.message
    assert fault.source


def test_a_launch_without_an_argument_stays_the_launchers():
    assert fault_of(subtracts, torch.ones(N)).kind == "constexpr-missing"


def test_inline_assembly_is_not_interpreted():
    fault = fault_of(assembles)
    assert fault.code == "not-interpreted"
    assert "assembl" in fault.message
    assert fault.source.startswith("y = tl.inline_asm_elementwise")


def test_an_operation_that_the_builder_lacks(monkeypatch):
    owner = next(kind for kind in GridBuilder.__mro__ if "create_sin" in vars(kind))
    monkeypatch.delattr(owner, "create_sin")
    fault = fault_of(takes_the_sine)
    assert fault.code == "not-interpreted"
    assert "create_sin" in fault.message
    assert triton.__version__ in fault.message
    assert fault.source.startswith("tl.store")


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        (subtracts, "triton_util.interpreter.operations.builder.GridBuilder.create_fsub"),
        (sums, "triton_util.interpreter.operations.reductions._sum"),
        (subtracts, "triton_util.interpreter.executor.Execution._batch_size"),
        (subtracts, "triton_util.interpreter.arguments.Converter.convert"),
        (subtracts, "triton_util.interpreter.watchers.shadow.Shadow.launch_ended"),
        (subtracts, "triton_util.interpreter.memory.Memory.load"),
    ],
)
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_ours_is_not_interpreted(monkeypatch, kernel, place, bug):
    monkeypatch.setattr(place, of_the_engine(bug))
    fault = fault_of(kernel)
    assert fault.code == "not-interpreted", fault.message
    assert "says nothing about the kernel" in fault.message


def test_the_judge_leaves_ungraded_what_broke_in_the_engine(monkeypatch):
    monkeypatch.setattr("triton_util.interpreter.session.Run.launch", of_the_engine(BUGS[0]))
    with interpret(), pytest.raises(KeyError) as caught:
        subtracts[(1,)](torch.ones(N), N)
    assert job_report._code(caught.value) == "not-interpreted"


def test_the_judge_charges_the_launchers_own_error():
    with interpret(), pytest.raises(RuntimeError) as caught:
        subtracts[(1,)](torch.ones(N) + torch.ones(N + 1), N)
    assert job_report._code(caught.value) != "not-interpreted"
