"""Launchers in any Python at all: what changes no value passes, what ends has an outcome."""

# ruff: noqa: E501
from __future__ import annotations

from tests.judge.launch_trace.honest_styles import KERNEL, LAUNCH
from tests.judge.launch_trace.refused import launcher

# name → a vector_add(x, y) after the usual imports, about which there is nothing to say.
FREE: dict[str, str] = {
    "through-map": launcher("z = list(map(lambda a: a, [x]))"),
    "through-reduce": launcher(
        "z = reduce(lambda a, b: a, [x, y])", before="from functools import reduce\n"
    ),
    "tensor-from-values": launcher("z = torch.tensor([i for i in range(9)])"),
    "arange": launcher("z = torch.arange(9)"),
    "through-a-choice-of-functions": launcher(
        "f = (lambda a, b: a) if len(x) else (lambda a, b: a + b)", "z = f(x, y)"
    ),
    "tensor-type-from-values": launcher("z = torch.Tensor([i for i in range(3)])"),
    "in-a-backward": "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, y):\n"
    "        return x\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, g\n"
    + launcher("z = A.apply(x, y)"),
    "generator": launcher("z = [a for a in pieces(x)]", before="def pieces(a):\n    yield a\n"),
    "other-stream": launcher("s = torch.cuda.Stream()"),
    "kernel-argument-annotation-calls": KERNEL.replace("n_elements,", "n_elements: print(1),")
    + f"\ndef vector_add(x, y):{LAUNCH}",
    "exec": launcher("exec('import os')"),
    "dunder-access": launcher("t = x.__class__.__mro__"),
    "import-os": launcher("os.system('ls')", before="import os\n"),
    "import-os-inside": launcher("import os", "os.system('ls')"),
    "importlib": launcher("importlib.import_module('os')", before="import importlib\n"),
    "dunder-import": launcher("__import__('os').system('ls')"),
    "patches-tl": launcher("tl.load = lambda *a, **k: 0"),
    "patches-torch": launcher("torch.allclose = lambda *a: True"),
    "setattr": launcher("setattr(torch, 'equal', None)"),
    "class-with-behaviour": "class Sneaky:\n    def __init__(self):\n        self.x = 1\n"
    + launcher("s = Sneaky()"),
    "class-with-hooks": "class Tile(dict):\n    SIZE = 1\n" + launcher("s = Tile.SIZE"),
    "class-reached-into": "class Tile:\n    SIZE = 1\n" + launcher("s = Tile.__subclasses__()"),
    "list-in-a-class": "class Tile:\n    KEEP = []\n" + launcher("z = Tile.KEEP"),
    "class-that-runs": "class Tile:\n    for n in range(3):\n        SIZE = n\n"
    + launcher("z = Tile.SIZE"),
    "global-statement": launcher("global cache", "cache = x"),
    "interpreter-check": launcher("z = triton.knobs.compilation.listener"),
    "eval": launcher("n = eval('x.numel()')"),
    "getattr": launcher("n = getattr(x, 'nu' + 'mel')()"),
    "opens-nothing": launcher("from pathlib import Path", "there = Path('/etc/passwd').exists()"),
    "catches-what-the-jail-says": launcher(
        "try:", "    open('/etc/passwd')", "except OSError:", "    pass"
    ),
    "replaces-what-is-printed-to": launcher(
        "import io, sys", "sys.stdout = io.StringIO()", "print(x)"
    ),
    "lets-numpy-count": launcher("n = int(np.prod(x.shape))", before="import numpy as np\n"),
    "hands-over-numpy-sizes": launcher("n = np.int64(x.numel())", before="import numpy as np\n"),
    "switches-the-gradient-off": launcher("torch.set_grad_enabled(False)"),
    "asks-for-the-gradient": launcher("assert not x.requires_grad and x.grad is None"),
    "hides-the-module": launcher("global torch", "import torch"),
    "changes-a-kernels-constant": launcher("tl.float32 = None"),
    "triton-testing": launcher("triton.testing.do_bench(lambda: 1)"),
}

# name → (status of the first case, words of what is told about it, a vector_add(x, y)).
ENDS: dict[str, tuple[str, str, str]] = {
    "a file that the jail hides": ("raised", "PermissionError", launcher("open('/etc/passwd').read()")),
    "a file that is not there": (
        "raised",
        "FileNotFoundError",
        "class A(torch.autograd.Function):\n    x = open('f')\n" + launcher("z = A.apply(x, y)"),
    ),
    "while the module is loaded": (
        "raised", "FileNotFoundError", "class Tile:\n    SIZE = len(open('f').read())\n" + launcher("s = Tile.SIZE"),
    ),
    "in a default factory": (
        "raised",
        "FileNotFoundError",
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    x: object = field(default_factory=lambda: open('f'))\n" + launcher("z = A().x"),
    ),
    "sys.exit": ("exited", "SystemExit", launcher("sys.exit(0)", before="import sys\n")),
    "os._exit": ("exited", "", launcher("os._exit(0)", before="import os\n")),
    "os._exit while the module is loaded": ("exited", "", launcher("LEFT", before="import os\nLEFT = os._exit(0)\n")),
    "null pointer": ("crashed", "", launcher("ctypes.string_at(0)", before="import ctypes\n")),
    "abort": ("crashed", "", launcher("os.abort()", before="import os\n")),
    "the address of a tensor": (
        "crashed",
        "",
        launcher("c_float.from_address(x.data_ptr()).value", before="from ctypes import c_float\n"),
    ),
    "huge string": ("out-of-memory", "MemoryError", launcher("z = 'a' * (1 << 36)")),
    "huge list": ("out-of-memory", "MemoryError", launcher("z = [0] * (1 << 34)")),
    "hoards": ("out-of-memory", "", launcher("keep = []", "while True:", "    keep.append(bytearray(b'1') * (1 << 26))")),
    "deep recursion": ("raised", "RecursionError", launcher("return vector_add(x, y)")),
    "KeyboardInterrupt": ("raised", "KeyboardInterrupt", launcher("raise KeyboardInterrupt")),
    "GeneratorExit": ("raised", "GeneratorExit", launcher("raise GeneratorExit")),
    "fork": ("raised", "Error", launcher("os.fork()", before="import os\n")),
    "thread": ("raised", "RuntimeError", launcher("threading.Thread(target=print).start()", before="import threading\n")),
    "subprocess": ("raised", "Error", launcher("subprocess.run(['/bin/true'])", before="import subprocess\n")),
    "kill the parent": ("raised", "PermissionError", launcher("os.kill(os.getppid(), 9)", before="import os\n")),
    "write a file": ("raised", "PermissionError", launcher("open('/tmp/here', 'w')")),
    "socket": ("raised", "PermissionError", launcher("socket.socket()", before="import socket\n")),
    "no more triton": ("raised", "AttributeError", launcher("globals()['triton'] = None")),
    "another function in the kernel": ("raised", "built", launcher("add_kernel.fn = print")),
    "what torch does not have": ("raised", "AttributeError", launcher("torch._C._add(x, y)")),
    "the language outside of a kernel": ("raised", "outside a kernel", launcher("z = tl.load(x)")),
    "returns nothing": (
        "wrong-return", "it returned None", f"{KERNEL}\ndef vector_add(x, y):{LAUNCH}".replace("    return output\n", ""),
    ),
}  # fmt: skip
