"""Submissions that the gate *read* must refuse: name → (code that must be among the findings,
lines of a vector_add(x, y)). Imports as in `honest_styles`."""

# ruff: noqa: E501
from __future__ import annotations

from tests.judge.launch_trace.honest_styles import KERNEL, LAUNCH


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
        "reads-values",
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
    "through-operator": (
        "torch-computes",
        launcher("z = operator.add(x, y)", before="import operator\n"),
    ),
    "through-math": ("reads-values", launcher("z = math.fsum(x)", before="import math\n")),
    "builtin-sum": ("torch-computes", launcher("z = sum([x, y])")),
    "reads-values": ("reads-values", launcher("z = x.tolist()")),
    "item": ("reads-values", launcher("z = x[0].item()")),
    "torch-compile": (
        "torch-computes",
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
            before="P = {'early_config_prune': lambda c, n, **k: n['output_ptr'].mul_(2) is None or c}\n"
            "C = [triton.Config({}), triton.Config({}, num_warps=8)]\n",
            decorators="@triton.autotune(C, key=[], prune_configs_by=P)\n",
        ),
    ),
    "default-argument-computes": (
        "torch-computes",
        f"{KERNEL}\ndef vector_add(x, y, z=torch.randn(3)):{LAUNCH}",
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
        "torch-computes",
        launcher(
            "z = Job(x, y).both()",
            before="from dataclasses import dataclass\n\n@dataclass\nclass Job:\n"
            "    a: object\n    b: object\n\n    def both(self):\n        return self.a + self.b\n",
        ),
    ),
    "through-the-type": ("torch-computes", launcher("z = type(x).add(x, y)")),
    "through-the-tensor-type": ("torch-computes", launcher("z = torch.Tensor.add(x, y)")),
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
    "star-import": ("torch-computes", launcher("z = add(x, y)", before="from torch import *\n")),
    "definition-chosen-while-loading": (
        "torch-computes",
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
    "eval": ("torch-computes", returns("eval('x + y')")),
    "getattr-on-module": ("torch-computes", returns("getattr(torch, 'ad' + 'd')(x, y)")),
    "dunder-add": ("torch-computes", returns("x.__add__(y)")),
    "torch-ops": ("torch-computes", returns("torch.ops.aten.add(x, y)")),
    "module-as-a-value": ("torch-computes", launcher("m = [torch]", "z = m[0].add(x, y)")),
    "vars-of-module": ("torch-computes", launcher("z = vars(torch)['add'](x, y)")),
    "methodcaller": (
        "torch-computes",
        launcher("z = operator.methodcaller('add', y)(x)", before="import operator\n"),
    ),
    "method-in-a-class": (
        "torch-computes",
        "class Tile:\n    SIZE = 1\n    def add(self, x, y):\n        return x + y\n"
        + launcher("z = Tile().add(x, y)"),
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
        "foreign-code",
        launcher().replace("BLOCK_SIZE=1024)", "BLOCK_SIZE=1024, ir_override='/tmp/x.ptx')"),
    ),
    "queue-around-a-kernel": (
        "not-triton",
        kernel_with("t = KEEP[0]", before="import collections\nKEEP = collections.deque()\n"),
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
    "method-handed-on": ("torch-computes", launcher("list(map(x.add_, [y]))")),
    "other-code-in-a-configuration": (
        "foreign-code",
        kernel_with(
            decorators="@triton.autotune([triton.Config({}), triton.Config({}, ir_override='a.ptx')], key=[])\n"
        ),
    ),
    "kernel-of-a-text": (
        "foreign-kernel",
        launcher(
            "made = {}",
            "exec(compile(TEXT, '<submission>', 'exec'), {'triton': triton, 'tl': tl}, made)",
            "made['k'][(1,)](x, y)",
            before="import linecache\nTEXT = '@triton.jit\\ndef k(a_ptr, b_ptr):\\n    tl.store(a_ptr, 1.0)\\n'\n"
            "linecache.cache['<submission>'] = (len(TEXT), None, TEXT.splitlines(True), '<submission>')\n",
        ),
    ),
    "random-numbers": ("torch-computes", launcher("z = torch.rand(3)")),
    "sorts": ("torch-computes", launcher("z = torch.sort(x)")),
    "sum-of-known-and-unknown": ("torch-computes", launcher("z = torch.ones(1) + x")),
    "many-numbers-of-pythons-own": (
        "torch-computes",
        launcher("w = torch.tensor([float(i) for i in range(100)])", "add_kernel[(1,)](w, w, w, 100, 64)"),
    ),
    "thousands-of-numbers": ("torch-computes", launcher("w = torch.arange(5000)")),
    "kernel-computes-with-an-index": ("reads-values", launcher("n = int(x[0])")),
    "decides-by-a-value": ("reads-values", launcher("if x.numel() and x[0] == 0:", "    return y")),
    "formats-a-value": ("reads-values", launcher("print(f'{x[0].item():.2f}')")),
    "iterates-over-values": ("reads-values", launcher("z = [float(v) for v in x]")),
    "too-many-launches": (
        "too-many-steps",
        launcher("for i in range(40_000):", "    add_kernel[(1,)](x, y, x, 0, BLOCK_SIZE=64)"),
    ),
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
