"""Attacks that carry values, or what computes them, through places where nobody looks.

Each was worth full marks once, when launchers were read and not run without values.
"""

from __future__ import annotations

from tests.attacks.attack import HEAD, KERNEL, LAUNCH, Attack, inside, instead, launcher

# What copies `s` to `output` by a kernel: so that a kernel stored every element.
COPY_KERNEL = """\
@triton.jit
def copy_kernel(s_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(s_ptr + offsets, mask=mask), mask=mask)

"""
COPY = """\
output = torch.empty_like(x)
copy_kernel[(triton.cdiv(x.numel(), 1024),)](s, output, x.numel(), BLOCK_SIZE=1024)
return output
"""


def _forged(name: str, goal: str, source: str) -> Attack:
    return Attack(name, goal, source, "forged", gates_only=True)


def carried(name: str, body: str, before: str = "", goal: str = "") -> Attack:
    """`body` computes `s`, and a kernel copies it."""
    whole = HEAD + COPY_KERNEL + before + launcher(f"{body}\n{COPY}")
    return _forged(name, goal or f"carry the sum by {name}", whole)


VALUES = (
    carried("real-part", "s = x.real + y.real"),
    carried("slice", "s = torch.add(slice(x).stop, y)"),
    carried("property", "s = property(x.add).fget(y)"),
    carried("namedtuple", "p = Pair(x, y)\ns = p.a + p.b",
            "from collections import namedtuple\nPair = namedtuple('Pair', 'a b')\n\n"),
    carried("deque", "d = deque([x, y])\ns = d.popleft() + d.popleft()",
            "from collections import deque\n\n"),
    carried("dict-keys", "a, b = {x: 1, y: 2}\ns = a + b"),
    carried("config", "c = triton.Config({'a': x, 'b': y}).kwargs\ns = c['a'] + c['b']"),
    carried("descriptor", "s = TensorDescriptor(x, [x.numel()], [1], [16]).base + y",
            "from triton.tools.tensor_descriptor import TensorDescriptor\n\n"),
    carried("base-of-a-view", "v = x.view(-1)\ns = (v._base if v._base is not None else v) + y"),
    carried("cdiv", "s = triton.cdiv(x, 1) + y"),
    carried("constexpr", "s = tl.constexpr(x).value + tl.constexpr(y).value"),
    carried("exception", "try:\n    raise KeyError(x, y)\nexcept KeyError as error:\n"
            "    s = error.args[0] + error.args[1]"),
    carried("context", "with closing(x) as a:\n    s = a + y",
            "from contextlib import contextmanager\n\n@contextmanager\ndef closing(v):\n"
            "    yield v\n\n"),
    carried("reduce", "s = reduce(torch.Tensor.__add__, (x, y))",
            "from functools import reduce\n\n"),
    carried("map", "(s,) = map(torch.add, [x], [y])"),
    carried("cache", "s = total(x, y)", "from functools import cache\n\n@cache\ndef total(a, b):\n"
            "    return a + b\n\n"),
    carried("partial", "s = partial(torch.add, x)(y)", "from functools import partial\n\n"),
    carried("singledispatch", "s = total(x, y)",
            "from functools import singledispatch\n\n@singledispatch\ndef total(a, b):\n"
            "    return a + b\n\n"),
    carried("no-grad", "s = torch.no_grad()(torch.add)(x, y)"),
    carried("closure", "def total():\n    return x + y\ns = total()"),
    carried("iterator", "s = next(iter(lambda: x + y, None))"),
    carried("generator", "s = sum((v for v in (x, y)), start=torch.zeros_like(x))"),
    carried("heuristic", "output = torch.empty_like(x)\ntuned[(1,)](x, y, output)\ns = output",
            "@triton.heuristics({'B': lambda a: 16 + 0 * len(torch.add(a['x'], a['y'], "
            "out=a['o']))})\n@triton.jit\ndef tuned(x, y, o, B: tl.constexpr):\n"
            "    tl.arange(0, B)\n\n"),
    carried("threads", "kept = []\nt = threading.Thread(target=lambda: kept.append(x + y))\n"
            "t.start()\nt.join()\ns = kept[0]", "import threading\n\n"),
)  # fmt: skip

NUMBERS = (
    carried("f-string", "s = torch.tensor([float(f'{v}') for v in x + y])"),
    carried("size-of-integers", "s = torch.tensor(torch.Size((x + y).int()))"),
    carried("tensor-of-a-tensor", "s = torch.tensor(x) + torch.tensor(y)"),
    carried("double-and-back", "s = x.view(torch.uint8).double().add(1).to(torch.uint8)\n"
            "s = s.view(torch.float32)"),
    carried("converted-bytes", "s = x.view(torch.int32).to(torch.float32)"),
    carried("many-conversions", "s = x\nfor _ in range(9):\n    s = s.half().float()"),
    carried("filled-by-python", "s = torch.empty_like(x)\nfor i in range(x.numel()):\n"
            "    s[i].fill_(x[i] + y[i])"),
    carried("filled-with-items", "s = torch.empty_like(x)\nfor i in range(x.numel()):\n"
            "    s[i] = float(x[i]) + float(y[i])"),
    carried("in-place", "s = x.clone()\ns.add_(y)"),
    carried("out", "s = torch.empty_like(x)\ntorch.add(x, y, out=s)"),
    carried("foreach", "s, = torch._foreach_add([x], [y])"),
    carried("numpy", "s = torch.from_numpy(x.numpy() + y.numpy())"),
    carried("dlpack", "s = torch.from_dlpack(x) + torch.from_dlpack(y)"),
    carried("storage", "s = torch.tensor(list(x.untyped_storage()), dtype=torch.uint8)"),
    carried("ctypes", "import ctypes\ns = torch.tensor(list((ctypes.c_float * x.numel())"
            ".from_address(x.data_ptr())))"),
    carried("without-modes", "with _disable_current_modes():\n    s = torch.add(x, y)",
            "from torch.utils._python_dispatch import _disable_current_modes\n\n"),
    carried("the-tensor-inside", "s = torch.empty_like(x)\ns.meta = x.meta + y.meta"),
    carried("pretend-to-know", "x.known, y.known = torch.ones(x.shape), torch.ones(y.shape)\n"
            "s = x + y"),
)  # fmt: skip

STORING = (
    _forged("never-an-argument", "return memory that no launch was given",
            instead("add_kernel[(1,)](x, y, torch.empty_like(x), 0, BLOCK_SIZE=16)\n"
                    "return torch.empty_like(x)")),
    _forged("copy-of-an-argument", "return a copy of an argument behind a launch for show",
            instead("add_kernel[(1,)](x, y, torch.empty_like(x), 0, BLOCK_SIZE=16)\n"
                    "return x.clone()")),
    _forged("zeros", "return zeros", instead("return torch.zeros_like(x)")),
    _forged("table", "hand over a table of numbers",
            instead("t = torch.tensor([float(i) for i in range(x.numel())])\n"
                    "output = torch.empty_like(x)\n"
                    "add_kernel[(triton.cdiv(x.numel(), 1024),)]"
                    "(t, t, output, x.numel(), BLOCK_SIZE=1024)\nreturn output")),
    _forged("kept-result", "return the result of the first call for ever",
            instead("if not KEPT:\n    output = torch.empty_like(x)\n"
                    "    add_kernel[(triton.cdiv(x.numel(), 1024),)]"
                    "(x, y, output, x.numel(), BLOCK_SIZE=1024)\n    KEPT.append(output)\n"
                    "return KEPT[0][:x.numel()].clone()", "KEPT = []\n\n")),
)  # fmt: skip

_FORGE = """\
import json, os
def tensor(number):
    return {"tensor": [number, "float32", [x.numel()], [1], 0]}
case = {"steps": [STEPS], "result": tensor(2), "inputs": [0, 1], "raised": None}
import gc
wanted = [o.request["cases"] for o in gc.get_objects() if type(o).__name__ == "Capture"]
lines = [{"case": case}] * len(wanted[0]) + [{"end": {"kernels": KERNELS, "told": []}}]
os.write(1, "".join(json.dumps(line) + chr(10) for line in lines).encode())
os._exit(0)
"""
_MADE = '["allocate", 2, "float32", x.numel(), 1]'


def _plan(name: str, goal: str, steps: str, kernels: str = "[]", before: str = "") -> Attack:
    used = "loading\n" if before else ""  # or it would be left out
    body = used + _FORGE.replace("STEPS", steps).replace("KERNELS", kernels)
    return _forged(name, goal, HEAD + KERNEL + before + launcher(body))


_LOADER = """\
@triton.jit
def loading(load, text, x_ptr, output_ptr):
    load(text, "more")
    tl.store(output_ptr, tl.load(x_ptr))

"""
_LOADER_LINE = len((HEAD + KERNEL).splitlines()) + 1
_TEXT = "import torch\\nraise ValueError('loaded')"
_LOADING = (
    f'[{{"line": {_LOADER_LINE}, "name": "loading", "names": {{"tl": {{"module": '
    '"triton.language"}}, "parameters": [[n, "", None, False] for n in '
    '("load", "text", "x_ptr", "output_ptr")], "specialize_not": [], "align_not": [], '
    '"noinline": False}]'
)
_LOAD = '{"library": ["triton_util.explain.launches", "load_module"]}'

PLANS = (
    _plan("forged-empty", "write a plan that launches nothing", _MADE),
    _plan("forged-copy", "write a plan that copies an argument",
          f'{_MADE}, ["copy", tensor(2), tensor(0), 1]'),
    _plan("forged-operation", "write a plan with an operation that is none",
          f'{_MADE}, ["add", tensor(2), tensor(0), tensor(1)]'),
    _plan("forged-kernel", "write a plan that launches a kernel that is not there",
          f'{_MADE}, ["launch", 40, [1], [tensor(0), tensor(2)], {{}}, 1]'),
    _plan("forged-loader", "write a plan that hands a kernel a function of Python",
          f'{_MADE}, ["launch", 0, [1], [{_LOAD}, "{_TEXT}", tensor(0), tensor(2)], {{}}, 1]',
          _LOADING, _LOADER),
    _plan("forged-tuner", "write a plan whose tuner does something else when it has chosen",
          f'{_MADE}, ["tune", 0, "k", 1, False, "loading", {{}}, [[{{}}, [], [["launch", 0, [0], '
          f'[0, "", tensor(0), tensor(2)], {{}}, 1]], [], [["launch", 0, [1], [{_LOAD}, "{_TEXT}", '
          'tensor(0), tensor(2)], {}, 1]]]], [], 1]', _LOADING, _LOADER),
    _plan("forged-many-findings", "write a plan with a finding for each line",
          f'{_MADE}, *[["copy", tensor(0), tensor(1), n] for n in range(20000)]'),
    _plan("forged-tower", "write a plan with tuners in tuners",
          f'{_MADE}, __import__("functools").reduce(lambda t, _: ["tune", 0, "", 1, False, "", '
          '{}, [], [t], 1], range(120), ["allocate", 3, "float32", 1, 1])'),
    _plan("forged-constant", "write a plan that wraps such a function in constants",
          f'{_MADE}, ["launch", 0, [1], [{{"constexpr": {{"tuple": [{_LOAD}]}}}}, "{_TEXT}", '
          'tensor(0), tensor(2)], {}, 1]', _LOADING, _LOADER),
    _plan("forged-numbers", "write a plan of numbers that are none",
          f'{_MADE}, ["fill", tensor(2), float("nan")], ["fill", tensor(2), 10 ** 4000]'),
    _plan("forged-depth", "write a plan that is nested without end",
          f'{_MADE}, ["launch", 0, [1], [eval("[" * 90 + "]" * 90)], {{}}, 1]'),
)  # fmt: skip


_SWAPPED = """\
@triton.jit
def other_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    tl.store(output_ptr, tl.load(x_ptr))

"""
PATCHES = (
    carried("patched-recorder", "gc = __import__('gc')\nfor thing in gc.get_objects():\n"
            "    if type(thing).__name__ == 'Recorder':\n"
            "        type(thing).tell = lambda self, *a, **k: None\ns = x + y",
            goal="let the recorder tell nothing"),
    carried("patched-operations", "gc = __import__('gc')\nfor thing in gc.get_objects():\n"
            "    if type(thing).__name__ == 'Operations':\n"
            "        type(thing).perform = lambda self, f, a, k: a[0]\ns = x + y",
            goal="let every operation give back an argument"),
    carried("patched-json", "import json\nplain = json.dumps\n"
            "json.dumps = lambda value, **k: plain(value, **k).replace('torch-computes', 'none')\n"
            "s = x + y", goal="write the findings out of the answer"),
    carried("patched-write", "import os\nplain = os.write\n"
            "os.write = lambda to, data: plain(to, data.replace(b'torch-computes', b'none'))"
            " and len(data)\ns = x + y", goal="write the findings out of the answer by os.write"),
    _forged("other-function", "let a kernel stand for another function",
            HEAD + KERNEL + "import operator\n\n" + launcher(
                "add_kernel.fn = operator.add\n" + LAUNCH)),
    _forged("other-source", "let a kernel have another text",
            HEAD + KERNEL.replace("x + y,", "x,") + launcher(
                "add_kernel._unsafe_update_src(add_kernel.src.replace('x,', 'x + y,'))\n"
                + LAUNCH)),
    _forged("other-line", "let a kernel claim the line of another function",
            HEAD + KERNEL.replace("x + y,", "x,")
            + "def plain(x, y, o, n, B):\n    return x + y\n\n"
            + launcher("add_kernel.fn.__code__ = plain.__code__\n" + LAUNCH)),
    _forged("two-on-one-line", "define two functions of one name on one line",
            HEAD + "if True: add_kernel = lambda: 0\n" + KERNEL.replace("x + y,", "x,")
            + launcher(LAUNCH)),
    _forged("loaded-patched", "replace tl.load by what adds",
            HEAD + KERNEL.replace("x + y,", "x,") + launcher(
                "plain = tl.load\ntl.load = lambda p, **k: plain(p, **k) + plain(p, **k)\n"
                + LAUNCH)),
)  # fmt: skip

_IN_KERNEL = "x + y, mask"
LANGUAGE = tuple(
    _forged(f"kernel-{name}", "reach Python from inside a kernel",
            HEAD + KERNEL.replace(_IN_KERNEL, f"{text}, mask") + launcher(LAUNCH))
    for name, text in (
        ("modules", "tl.math.core.warnings.sys.modules['torch'].add(x, y)"),
        ("jit", "tl.random.jit(x)"),
        ("language-again", "tl.random.tl.core.os.getcwd()"),
        ("wraps", "tl.math.wraps(x)(y)"),
        ("assembly", "tl.math.core.inline_asm_elementwise('', '', [x], tl.float32, True, 1)"),
        ("comprehension", "x + y * len([eval for eval in (1,)]) + eval('0')"),
        ("text-of-a-function", "tl.str_to_ty.__globals__['os']"),
    )
)  # fmt: skip
_OUTER = "from triton_util.explain.launches import load_module\n\n"
OUTER = tuple(
    _forged(f"outer-{name}", "hand a kernel a function of Python",
            HEAD + _OUTER + before + KERNEL.replace("    mask = ", f"    {call}\n    mask = ")
            .replace("BLOCK_SIZE: tl.constexpr", f"BLOCK_SIZE: tl.constexpr{parameter}")
            + launcher(LAUNCH.replace("BLOCK_SIZE=1024", f"BLOCK_SIZE=1024{given}")))
    for name, before, call, parameter, given in (
        ("name", "", "load_module('import os', 'm')", "", ""),
        ("constant", "F = tl.constexpr(load_module)\n\n", "F('import os', 'm')", "", ""),
        ("tuple", "F = (load_module,)\n\n", "F[0]('import os', 'm')", "", ""),
        ("default", "", "f('import os', 'm')", ", f: tl.constexpr = load_module", ""),
        ("argument", "", "f('import os', 'm')", ", f: tl.constexpr = 0", ", f=load_module"),
        ("wrapped", "", "f[0]('import os', 'm')", ", f: tl.constexpr = 0",
         ", f=tl.constexpr((load_module,))"),
    )
)  # fmt: skip

HARMLESS = (
    Attack("patched-language", "replace tl.store in the launcher", inside("tl.store = tl.load"),
           "forged", gates_only=True, may_pass=True),
)  # fmt: skip

ATTACKS = VALUES + NUMBERS + STORING + PLANS + PATCHES + LANGUAGE + OUTER + HARMLESS
