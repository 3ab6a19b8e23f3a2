"""Launchers made by a grammar: each lets torch, numpy or Python compute, somewhere and somehow.

A launcher takes its arguments through places where nobody looks (`CARRIERS`), lets something other
than a kernel add them (`SUMS`), at some moment (`MOMENTS`), and hands what came of it to a kernel
that only copies, so that a kernel stored every element.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.attacks.attack import HEAD, launcher
from tests.attacks.carrying import COPY, COPY_KERNEL

CARRIERS = (
    "{v}",
    "[{v}][0]",
    "({v},)[-1]",
    "{{'k': {v}}}['k']",
    "next(iter([{v}]))",
    "[w for w in [{v}]][0]",
    "next(w for w in [{v}])",
    "(lambda: {v})()",
    "(lambda *a: a)({v})[0]",
    "Box({v}).value",
    "Box({v}).hidden",
    "Box({v})()",
    "Box({v})['any']",
    "slice({v}).stop",
    "partial(lambda a: a, {v})()",
    "itemgetter(0)([{v}])",
    "attrgetter('value')(Box({v}))",
    "vars(SimpleNamespace(a={v}))['a']",
    "Pair({v}, 0).first",
    "deque([{v}]).pop()",
    "raised({v})",
    "yielded({v})",
    "within({v})",
    "kept({v})",
    "copy({v})",
    "max([{v}], key=id)",
    "tl.constexpr({v}).value",
    "triton.Config({{'a': {v}}}).kwargs['a']",
    "{v}.real",
    "{v}.data",
    "{v}.detach()",
    "{v}.view(-1)",
    "{v}[:]",
    "{v}[...]",
    "{v}.unsqueeze(0).squeeze(0)",
    "{v}.expand({v}.shape)",
    "{v}.as_strided({v}.shape, {v}.stride())",
    "{v}.view(torch.int32).view(torch.float32)",
    "{v}.double().float()",
    "{v}.clone()",
    "{v}.contiguous()",
    "torch.as_tensor({v})",
    "torch.empty_like({v}).copy_({v})",
    "torch.nn.Parameter({v}, False)",
)
SUMS = (
    "{a} + {b}",
    "{a} - -{b}",
    "torch.add({a}, {b})",
    "add({a}, {b})",
    "iadd({a}.clone(), {b})",
    "{a}.__add__({b})",
    "{a}.__radd__({b})",
    "getattr(torch, 'a' + 'dd')({a}, {b})",
    "getattr({a}, 'add')({b})",
    "methodcaller('add', {b})({a})",
    "vars(torch)['add']({a}, {b})",
    "torch.ops.aten.add({a}, {b})",
    "torch.ops.aten.add.Tensor({a}, {b})",
    "torch.stack([{a}, {b}]).sum(0)",
    "torch.einsum('ki->i', torch.stack([{a}, {b}]))",
    "torch.stack([{a}, {b}], 1) @ torch.ones(2)",
    "torch.add({a}, {b}, out=torch.empty_like({a}))",
    "{a}.clone().add_({b})",
    "torch.zeros_like({a}).add_({a}).add_({b})",
    "torch.empty_like({a}).copy_({a} + {b})",
    "torch.zeros_like({a}).index_add(0, torch.arange(x.numel()), {a}) + {b}",
    "torch.addcmul({a}, {b}, torch.ones_like({b}))",
    "torch.lerp({a}, {b}, 0.5) * 2",
    "torch.sub({a}, torch.neg({b}))",
    "torch._foreach_add([{a}], [{b}])[0]",
    "reduce(add, [{a}, {b}])",
    "sum([{a}, {b}])",
    "list(map(add, [{a}], [{b}]))[0]",
    "({a}.double() + {b}.double()).float()",
    "torch.from_numpy({a}.numpy() + {b}.numpy())",
    "torch.as_tensor(np.add({a}, {b}))",
    "torch.tensor([p + q for p, q in zip({a}.tolist(), {b}.tolist())])",
    "torch.tensor([float(p) + float(q) for p, q in zip({a}, {b})])",
    "torch.stack([p + q for p, q in zip({a}, {b})])",
    "torch.tensor([float(f'{{p}}') for p in {a}])",
    "torch.tensor([{a}[i].item() + {b}[i].item() for i in range(3)])",
    "torch.frombuffer(bytearray({a}.numpy().tobytes()), dtype=torch.float32) + {b}",
    "torch.compile(add)({a}, {b})",
    "torch.vmap(add)({a}, {b})",
    "torch.jit.trace(add, ({a}, {b}))({a}, {b})",
    "torch.where({a} == {a}, {a} + {b}, {b})",
    "torch.nn.functional.linear({a}.unsqueeze(1), torch.ones(1, 1)).squeeze(1) + {b}",
    "Adding.apply({a}, {b})",
    "Adder()({a}, {b})",
    "Box({a}) + Box({b})",
    "table({a}, {b})",
    "{a}",
    "{b}.clone()",
    "torch.zeros_like({a})",
    "torch.full_like({a}, 0.5)",
    "torch.tensor([i / 7 for i in range(x.numel())])",
)
# Where `s = …` stands. A moment may come before the launch, within it, or while the module loads.
MOMENTS = (
    "s = {e}",
    "def inner():\n    return {e}\ns = inner()",
    "try:\n    raise Found\nexcept Found:\n    s = {e}",
    "try:\n    s = torch.empty_like(x)\nfinally:\n    s = {e}",
    "for s in [{e}]:\n    pass",
    "while True:\n    s = {e}\n    break",
    "with no_grad():\n    s = {e}",
    "if x.shape == y.shape:\n    s = {e}",
    "s = x\ns = {e}",
    "match (x, y):\n    case (p, q):\n        s = {e}",
    "s = torch.empty_like(x)\ns[:] = {e}",
    "s = torch.empty_like(x)\ns.copy_({e})",
    "s = torch.empty_like(x)\ntorch.ops.aten.copy_(s, {e})",
    "s = torch.empty_like(x)\ns.data = {e}",
    "s = torch.empty_like(x)\ns.set_({e})",
    "s = torch.empty_like(x)\nnothing[lambda meta: (s.copy_({e}), (1,))[1]](s)",
    "s = torch.empty_like(x)\nnothing.add_pre_run_hook(lambda *a, **k: s.copy_({e}))\n"
    "nothing[(1,)](s)",
    "s = torch.empty_like(x)\ntriton.testing.do_bench(lambda: s.copy_({e}))",
    "s = torch.empty_like(x)\ntriton.autotune([triton.Config({{}}, pre_hook=lambda a: "
    "s.copy_({e})), triton.Config({{}}, num_warps=2)], key=[])(nothing)[(1,)](s)",
    "s = torch.empty_like(x)\ntriton.heuristics({{'B': lambda a: (s.copy_({e}), 1)[1]}})"
    "(sized)[(1,)](s)",
    "s = LAST.get('s', x)\nLAST['s'] = {e}",
    "LAST.setdefault(x.numel(), {e})\ns = LAST[x.numel()]",
    "class Making:\n    s = {e}\ns = Making.s",
    "global S\nS = {e}\ns = S",
    "s = None\ndef set_it():\n    nonlocal s\n    s = {e}\nset_it()",
    "s = (t := {e})",
    "s = eval({e!r}, {{**globals(), 'x': x, 'y': y}})",
)
HELPERS = """\
import functools
from collections import deque, namedtuple
from contextlib import contextmanager, nullcontext as no_grad
from copy import copy
from functools import partial, reduce
from operator import add, attrgetter, iadd, itemgetter, methodcaller
from types import SimpleNamespace

import numpy as np

LAST = {}
S = None
Pair = namedtuple("Pair", "first second")

class Found(Exception):
    pass

class Box:
    def __init__(self, value):
        self.value = value
    def __call__(self):
        return self.value
    def __getitem__(self, key):
        return self.value
    def __getattr__(self, name):
        return self.value
    def __add__(self, other):
        return self.value + other.value

class Adding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

class Adder(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def raised(value):
    try:
        raise Found(value)
    except Found as found:
        return found.args[0]

def yielded(value):
    def giving():
        got = yield
        yield got
    giver = giving()
    next(giver)
    return giver.send(value)

@contextmanager
def holding(value):
    yield value

def within(value):
    with holding(value) as held:
        return held

@functools.cache
def kept(value):
    return value

@functools.singledispatch
def table(a, b):
    return a + b

@triton.jit
def nothing(s_ptr):
    tl.store(s_ptr, tl.load(s_ptr))

@triton.jit
def sized(s_ptr, B: tl.constexpr):
    tl.store(s_ptr, tl.load(s_ptr))

"""


@st.composite
def carried(draw: st.DrawFn, name: str) -> str:
    """An expression that is the argument `name`, by one to three detours."""
    expression = name
    for _ in range(draw(st.integers(1, 3))):
        expression = draw(st.sampled_from(CARRIERS)).format(v=expression)
    return expression


@st.composite
def launchers(draw: st.DrawFn) -> str:
    """The source of one submission for vector_add."""
    summed = draw(st.sampled_from(SUMS)).format(a=draw(carried("x")), b=draw(carried("y")))
    moment = draw(st.sampled_from(MOMENTS)).format(e=summed)
    return HEAD + HELPERS + COPY_KERNEL + launcher(f"{moment}\n{COPY}")
