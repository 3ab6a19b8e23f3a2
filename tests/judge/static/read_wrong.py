"""Submissions that the gate *read* must refuse: name → (code that must be among the findings,
lines of a vector_add(x, y)). Imports as in `read_honest`."""

# ruff: noqa: E501
from __future__ import annotations

from tests.judge.static.read_honest import KERNEL, LAUNCH


def launcher(*lines: str, before: str = "") -> str:
    """A launcher that begins with these lines and then does the honest work."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{before}{KERNEL}\ndef vector_add(x, y):\n{body}{LAUNCH}"


def returns(expression: str) -> str:
    """The honest launcher, which returns something else than the kernel's output."""
    body = LAUNCH.replace("return output", f"return {expression}")
    return f"{KERNEL}\ndef vector_add(x, y):{body}"


def kernel_with(*lines: str, before: str = "", decorators: str = "") -> str:
    """The honest kernel with lines put in front of its store."""
    extra = "".join(f"    {line}\n" for line in lines)
    kernel = KERNEL.replace("    tl.store", f"{extra}    tl.store").replace(
        "@triton.jit", f"{decorators}@triton.jit"
    )
    return f"{before}{kernel}\ndef vector_add(x, y):{LAUNCH}"


WRONG: dict[str, tuple[str, str]] = {
    "launches-a-plain-function": (
        "kernel-not-jit",
        KERNEL.replace("@triton.jit\n", "") + f"\ndef vector_add(x, y):{LAUNCH}",
    ),
    "misspelt-method": ("no-such-method", launcher("n = x.nmel()")),
    # torch computes
    "adds-with-an-operator": ("torch-computes", returns("x + y")),
    "adds-in-place": ("torch-computes", launcher("x += y")),
    "torch-add": ("torch-computes", returns("torch.add(x, y)")),
    "method-add": ("torch-computes", returns("x.add(y)")),
    "in-place-method": ("torch-computes", launcher("x.add_(y)")),
    "torch-add-out": ("torch-computes", launcher("torch.add(x, y, out=x)")),
    "functional": (
        "torch-computes",
        launcher("y = F.relu(y)", before="import torch.nn.functional as F\n"),
    ),
    "functional-by-path": ("torch-computes", returns("torch.nn.functional.relu(output)")),
    "numpy": (
        "torch-computes",
        launcher("z = np.add(x.numpy(), y.numpy())", before="import numpy as np\n"),
    ),
    "copies-the-answer": ("torch-computes", returns("output.copy_(x)")),
    "slice-assignment": ("torch-computes", launcher("x[:] = y")),
    "matmul-operator": ("torch-computes", launcher("z = x @ y")),
    "negates": ("torch-computes", launcher("z = -x")),
    "compares-data": ("torch-computes", launcher("if (x > 0).all():", "    pass")),
    "gather": ("torch-computes", launcher("x = x[[0, 1]]")),
    "through-an-alias": ("torch-computes", launcher("plus = torch.add", "z = plus(x, y)")),
    "through-a-module-alias": ("torch-computes", launcher("z = T.add(x, y)", before="import torch as T\n")),
    "through-from-import": (
        "torch-computes",
        launcher("z = add(x, y)", before="from torch import add\n"),
    ),
    "through-a-helper": (
        "torch-computes",
        launcher("z = plus(x, y)", before="def plus(a, b):\n    return a + b\n"),
    ),
    "through-a-lambda": ("torch-computes", launcher("z = (lambda a, b: a + b)(x, y)")),
    "through-a-list": ("torch-computes", launcher("pair = [x, y]", "z = pair[0] + pair[1]")),
    "through-a-dict": ("torch-computes", launcher("d = {'a': x, 'b': y}", "z = d['a'] * d['b']")),
    "through-unpacking": ("torch-computes", launcher("a, b = x, y", "z = a - b")),
    "through-starred-arguments": (
        "torch-computes",
        launcher("z = plus(*(x, y))", before="def plus(*v):\n    return v[0] + v[1]\n"),
    ),
    "through-keyword-arguments": (
        "torch-computes",
        launcher("z = plus(**{'a': x, 'b': y})", before="def plus(a, b):\n    return a + b\n"),
    ),
    "through-a-view": ("torch-computes", launcher("a = x.view(-1)[2:].T", "z = a * 2")),
    "through-a-conversion": ("torch-computes", launcher("z = x.float() + 1")),
    "through-a-comprehension": ("torch-computes", launcher("z = [a + b for a, b in zip(x, y)]")),
    "through-a-loop": ("torch-computes", launcher("for a in (x, y):", "    z = a * 2")),
    "through-a-branch": ("torch-computes", launcher("z = None", "if x.numel():", "    z = x", "w = z + 1")),
    "through-map": ("torch-computes", launcher("z = list(map(lambda a: a, [x]))")),
    "through-reduce": (
        "torch-computes",
        launcher("z = reduce(lambda a, b: a, [x, y])", before="from functools import reduce\n"),
    ),
    "through-operator": (
        "torch-computes",
        launcher("z = operator.add(x, y)", before="import operator\n"),
    ),
    "through-math": ("torch-computes", launcher("z = math.fsum(x)", before="import math\n")),
    "builtin-sum": ("torch-computes", launcher("z = sum([x, y])")),
    "reads-values": ("torch-computes", launcher("z = x.tolist()")),
    "item": ("torch-computes", launcher("z = x[0].item()")),
    "tensor-from-values": ("torch-computes", launcher("z = torch.tensor([i for i in range(9)])")),
    "arange": ("torch-computes", launcher("z = torch.arange(9)")),
    "torch-compile": (
        "not-triton",
        "@torch.compile\ndef plus(a):\n    return a\n" + launcher("z = plus(x)"),
    ),
    "grid-lambda-computes": (
        "torch-computes",
        launcher("n = 1").replace("(triton.cdiv(n, 1024),)", "lambda m: (torch.add(x, y).numel(),)"),
    ),
    "grid-lambda-mutates": (
        "torch-computes",
        launcher("n = 1").replace(
            "(triton.cdiv(n, 1024),)", "lambda m: (m['x_ptr'].add_(m['y_ptr']).numel(),)"
        ),
    ),
    "heuristics-compute": (
        "torch-computes",
        kernel_with(decorators="@triton.heuristics({'Z': lambda a: a['x_ptr'].add_(a['y_ptr'])})\n"),
    ),
    "heuristics-torch-add": (
        "torch-computes",
        kernel_with(
            decorators="@triton.heuristics({'Z': lambda a: torch.add(a['x_ptr'], 1, out=a['y_ptr'])})\n"
        ),
    ),
    "pre-hook-computes": (
        "torch-computes",
        kernel_with(
            decorators="@triton.autotune([triton.Config({}, pre_hook=lambda a: "
            "a['output_ptr'].copy_(a['x_ptr']))], key=[])\n"
        ),
    ),
    "hook-function-computes": (
        "torch-computes",
        kernel_with(
            before="def hook(nargs):\n    nargs['output_ptr'] += nargs['x_ptr']\n",
            decorators="@triton.autotune([triton.Config({}, pre_hook=hook)], key=[])\n",
        ),
    ),
    "hooks-in-a-dict": (
        "torch-computes",
        kernel_with(
            before="P = {'early_config_prune': lambda c, n, **k: n['o'].mul_(2)}\n",
            decorators="@triton.autotune([triton.Config({})], key=[], prune_configs_by=P)\n",
        ),
    ),
    "default-argument-computes": (
        "torch-computes",
        f"{KERNEL}\ndef vector_add(x, y, z=torch.randn(3)):{LAUNCH}",
    ),
    "through-a-choice-of-functions": (
        "torch-computes",
        launcher("f = (lambda a, b: a) if len(x) else (lambda a, b: a + b)", "z = f(x, y)"),
    ),
    "through-a-branch-of-functions": (
        "torch-computes",
        launcher("f = lambda a, b: a", "if len(x):", "    f = lambda a, b: a + b", "z = f(x, y)"),
    ),
    "through-a-mixed-dict": (
        "torch-computes",
        launcher("d = {'x': x, 'f': lambda a, b: a + b}", "z = d['f'](x, y)"),
    ),
    "through-append": ("torch-computes", launcher("l = []", "l.append(x)", "z = l[0] + l[0]")),
    "through-item-assignment": ("torch-computes", launcher("d = {}", "d[0] = x", "z = d[0] + 1")),
    "through-a-method-that-packs": (
        "torch-computes",
        launcher(
            "z = Job(x, y).both()", "z = z[0] + z[1]",
            before="from dataclasses import dataclass\n\n@dataclass\nclass Job:\n"
            "    a: object\n    b: object\n\n    def both(self):\n        return (self.a, self.b)\n",
        ),
    ),
    "method-that-computes": (
        "not-triton",
        launcher(
            "z = Job(x, y).both()",
            before="from dataclasses import dataclass\n\n@dataclass\nclass Job:\n"
            "    a: object\n    b: object\n\n    def both(self):\n        return self.a + self.b\n",
        ),
    ),
    "through-the-type": ("torch-computes", launcher("z = type(x).add(x, y)")),
    "through-the-tensor-type": ("torch-computes", launcher("z = torch.Tensor.add(x, y)")),
    "tensor-type-from-values": ("torch-computes", launcher("z = torch.Tensor([i for i in range(3)])")),
    "through-defaults": (
        "torch-computes",
        launcher("z = plus(*[x, y])", before="def plus(a=1, b=2, c=3):\n    return a + b\n"),
    ),
    # not Triton
    "through-autograd": (
        "torch-computes",
        "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, y):\n"
        "        return x + y\n" + launcher("z = A.apply(x, y)"),
    ),
    "in-a-backward": (
        "torch-computes",
        "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, y):\n"
        "        return x\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, g\n"
        + launcher("z = A.apply(x, y)"),
    ),
    "autograd-with-more": (
        "not-triton",
        "class A(torch.autograd.Function):\n    x = open('f')\n" + launcher("z = A.apply(x, y)"),
    ),
    "star-import": ("not-triton", launcher("z = add(x, y)", before="from torch import *\n")),
    "generator": (
        "not-triton",
        launcher("z = [a for a in pieces(x)]", before="def pieces(a):\n    yield a\n"),
    ),
    "definition-chosen-while-loading": (
        "not-triton",
        launcher(
            "z = plus(x, y)",
            before="if torch.cuda.is_available():\n    def plus(a, b):\n        return a + b\n"
            "else:\n    def plus(a, b):\n        return a\n",
        ),
    ),
    "python-function-as-kernel-default": (
        "kernel-not-jit",
        "def act(v):\n    return v\n"
        + KERNEL.replace("BLOCK_SIZE: tl.constexpr", "BLOCK_SIZE: tl.constexpr, F: tl.constexpr = act")
        + f"\ndef vector_add(x, y):{LAUNCH}",
    ),
    "other-stream": ("torch-computes", launcher("s = torch.cuda.Stream()")),
    "import-in-kernel": ("not-triton", kernel_with("import torch")),
    "torch-in-kernel": ("not-triton", kernel_with("y = torch.sqrt(y)")),
    "numpy-in-kernel": ("not-triton", kernel_with("y = np.sqrt(y)", before="import numpy as np\n")),
    "list-in-kernel": ("not-triton", kernel_with("r = [1]", "r.append(2)")),
    "dict-in-kernel": ("not-triton", kernel_with("r = {'a': 1}")),
    "try-in-kernel": ("not-triton", kernel_with("try:", "    y = y + 1", "except Exception:", "    pass")),
    "lambda-in-kernel": ("not-triton", kernel_with("f = lambda v: v")),
    "with-in-kernel": ("not-triton", kernel_with("with open('f') as f:", "    pass")),
    "block-item-assignment": ("not-triton", kernel_with("y[0] = 1")),
    "eval-in-kernel": ("not-triton", kernel_with("y = eval('y')")),
    "getattr-in-kernel": ("not-triton", kernel_with("y = getattr(tl, 'load')(x_ptr)")),
    "handle-in-kernel": ("not-triton", kernel_with("y.handle.data[:] = 0")),
    "dunder-in-kernel": ("not-triton", kernel_with("y = y.__class__")),
    "inner-function-in-kernel": ("not-triton", kernel_with("def inner(v):", "    return v")),
    "tl-core-in-kernel": ("not-triton", kernel_with("y = tl.core.tensor(y, None)")),
    "kernel-argument-annotation-calls": (
        "not-triton",
        KERNEL.replace("n_elements,", "n_elements: print(1),") + f"\ndef vector_add(x, y):{LAUNCH}",
    ),
    "eval": ("not-triton", returns("eval('x + y')")),
    "exec": ("not-triton", launcher("exec('import os')")),
    "getattr-on-module": ("not-triton", returns("getattr(torch, 'ad' + 'd')(x, y)")),
    "dunder-access": ("not-triton", launcher("t = x.__class__.__mro__")),
    "dunder-add": ("not-triton", returns("x.__add__(y)")),
    "open-a-file": ("not-triton", launcher("open('/etc/passwd').read()")),
    "import-os": ("not-triton", launcher("os.system('ls')", before="import os\n")),
    "import-os-inside": ("not-triton", launcher("import os", "os.system('ls')")),
    "import-sys": ("not-triton", launcher("sys.exit(0)", before="import sys\n")),
    "import-ctypes": ("not-triton", launcher("ctypes.string_at(0)", before="import ctypes\n")),
    "importlib": ("not-triton", launcher("importlib.import_module('os')", before="import importlib\n")),
    "dunder-import": ("not-triton", launcher("__import__('os').system('ls')")),
    "globals": ("not-triton", launcher("globals()['triton'] = None")),
    "patches-tl": ("not-triton", launcher("tl.load = lambda *a, **k: 0")),
    "patches-torch": ("not-triton", launcher("torch.allclose = lambda *a: True")),
    "patches-the-kernel": ("not-triton", launcher("add_kernel.fn = print")),
    "setattr": ("not-triton", launcher("setattr(torch, 'equal', None)")),
    "torch-internals": ("not-triton", launcher("torch._C._add(x, y)")),
    "torch-ops": ("torch-computes", returns("torch.ops.aten.add(x, y)")),
    "torch-utils": ("torch-computes", launcher("torch.utils.cpp_extension.load_inline('a', 'b')")),
    "module-as-a-value": ("not-triton", launcher("m = [torch]", "z = m[0].add(x, y)")),
    "vars-of-module": ("not-triton", launcher("z = vars(torch)['add'](x, y)")),
    "methodcaller": (
        "not-triton",
        launcher("z = operator.methodcaller('add', y)(x)", before="import operator\n"),
    ),
    "tl-in-launcher": ("not-triton", launcher("z = tl.load(x)")),
    "class-with-behaviour": (
        "not-triton",
        "class Sneaky:\n    def __init__(self):\n        self.x = 1\n" + launcher("s = Sneaky()"),
    ),
    "class-that-computes": (
        "not-triton",
        "class Tile:\n    SIZE = len(open('f').read())\n" + launcher("s = Tile.SIZE"),
    ),
    "class-with-hooks": (
        "not-triton",
        "class Tile(dict):\n    SIZE = 1\n" + launcher("s = Tile.SIZE"),
    ),
    "class-reached-into": (
        "not-triton",
        "class Tile:\n    SIZE = 1\n" + launcher("s = Tile.__subclasses__()"),
    ),
    "method-in-a-class": (
        "not-triton",
        "class Tile:\n    SIZE = 1\n    def add(self, x, y):\n        return x + y\n"
        + launcher("z = Tile().add(x, y)"),
    ),
    "list-in-a-class": ("not-triton", "class Tile:\n    KEEP = []\n" + launcher("z = Tile.KEEP")),
    "class-that-runs": (
        "not-triton", "class Tile:\n    for n in range(3):\n        SIZE = n\n" + launcher("z = Tile.SIZE"),
    ),
    "default-factory": (
        "not-triton",
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    x: object = field(default_factory=lambda: open('f'))\n" + launcher("z = A().x"),
    ),
    "sum-of-a-records-fields": (
        "torch-computes",
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: object\n    b: object\n"
        + launcher("pair = Pair(x, y)", "z = pair.a + pair.b"),
    ),
    "sum-of-an-unpacked-record": (
        "torch-computes",
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    a: object\n    b: object = None\n"
        + launcher("z = Pair(b=y, a=x).a.add(y)"),
    ),
    "match-that-computes": (
        "torch-computes", launcher("match (x, y):", "    case (a, b):", "        z = a + b"),
    ),
    "assembly": (
        "not-triton",
        kernel_with("y = tl.inline_asm_elementwise('add', '=r,r', [y], tl.float32, True, 1)"),
    ),
    "other-code-for-the-kernel": (
        "not-triton",
        launcher().replace("BLOCK_SIZE=1024)", "BLOCK_SIZE=1024, ir_override='/tmp/x.ptx')"),
    ),
    "list-around-a-kernel": (
        "not-triton", kernel_with("t = KEEP[0]", "t += KEEP[1]", before="KEEP = []\n"),
    ),
    "queue-around-a-kernel": (
        "not-triton",
        kernel_with("t = KEEP[0]", before="import collections\nKEEP = collections.deque()\n"),
    ),
    "constant-list-around-a-kernel": (
        "not-triton", kernel_with("t = KEEP.value[0]", before="KEEP = tl.constexpr(list())\n"),
    ),
    "tensor-around-a-kernel": (
        "not-triton", kernel_with("t = KEEP", "t += 1", before="KEEP = torch.zeros(9)\n"),
    ),
    "kernel-that-sees-the-launchers-tensors": (
        "not-triton",
        launcher("t = x", "@triton.jit", "def inner(n: tl.constexpr):", "    z = t", "inner[(1,)](1)"),
    ),
    "two-modules-of-one-name": (
        "not-triton",
        "import torch as T\ndef f():\n    import triton.language as T\n"
        + kernel_with("y = T.abs(y)").replace("output = torch.empty_like(x)", "f(); output = torch.empty_like(x)"),
    ),
    "global-statement": ("not-triton", launcher("global cache", "cache = x")),
    "data-ptr-through-ctypes": (
        "not-triton",
        launcher("c_float.from_address(x.data_ptr())", before="from ctypes import c_float\n"),
    ),
    "interpreter-check": ("not-triton", launcher("z = triton.knobs.compilation.listener")),
    "triton-testing": ("not-triton", launcher("triton.testing.do_bench(lambda: 1)")),
    "method-handed-on": ("torch-computes", launcher("list(map(x.add_, [y]))")),
    # kernels
    "no-kernel": ("no-kernel", "def vector_add(x, y):\n    return torch.empty_like(x)\n"),
    "no-kernel-but-torch": ("no-kernel", "def vector_add(x, y):\n    return x + y\n"),
    "decoy-kernel-never-launched": (
        "no-kernel",
        KERNEL + "\ndef vector_add(x, y):\n    k = add_kernel\n    return torch.empty_like(x)\n",
    ),
    "launcher-is-the-kernel": (
        "no-kernel",
        "@triton.jit\ndef vector_add(x, y):\n    tl.store(x, tl.load(y))\n",
    ),
    "kernel-called-without-grid": (
        "kernel-without-grid",
        launcher().replace("add_kernel[(triton.cdiv(n, 1024),)]", "add_kernel"),
    ),
    "helper-not-jit": (
        "kernel-not-jit",
        kernel_with("y = plus(x, y)", before="def plus(a, b):\n    return a + b\n"),
    ),
    "python-function-as-constexpr": (
        "kernel-not-jit",
        launcher(before="def act(v):\n    return v\n").replace("BLOCK_SIZE=1024", "BLOCK_SIZE=act"),
    ),
    "returns-nothing": ("no-result", f"{KERNEL}\ndef vector_add(x, y):{LAUNCH}".replace(
        "    return output\n", "")),
    # stubs
    "launcher-stub": ("stub-unchanged", KERNEL + '\ndef vector_add(x, y):\n    """Add."""\n    pass\n'),
    "kernel-stub": (
        "stub-unchanged",
        "@triton.jit\ndef add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):\n"
        '    """Add."""\n    # 1. think\n    # YOUR CODE HERE\n    pass\n\ndef vector_add(x, y):' + LAUNCH,
    ),
    "kernel-stub-with-given-lines": (
        "stub-unchanged",
        "@triton.jit\ndef add_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):\n"
        "    pid = tl.program_id(0)\n    # YOUR CODE HERE\n    pass\n\ndef vector_add(x, y):" + LAUNCH,
    ),
    "launcher-stub-with-given-lines": (
        "stub-unchanged",
        KERNEL + "\ndef vector_add(x, y):\n    output = torch.empty_like(x)\n"
        "    # YOUR CODE HERE\n    pass\n    return output\n",
    ),
}  # fmt: skip
