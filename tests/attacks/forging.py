"""Attacks that want full marks without a kernel that adds."""

from __future__ import annotations

from tests.attacks.attack import HEAD, KERNEL, LAUNCH, Attack, inside, instead, launcher


def _computed(name: str, goal: str, source: str) -> Attack:
    """The right result, computed in a way that is no Triton kernel: the gates must see it."""
    return Attack(name, goal, source, "forged", gates_only=True)


def _lied(name: str, goal: str, source: str) -> Attack:
    """No right result at all, only the claim of one: comparing bytes must be enough."""
    return Attack(name, goal, source, "forged")


_DECOY = """
output = torch.empty_like(x)
add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, output, x.numel(), BLOCK_SIZE=1024)
"""

COMPUTED = (
    _computed("plain-torch", "let torch add", instead("return x + y")),
    _computed(
        "torch-out",
        "let torch add into the output",
        instead("output = torch.empty_like(x)\ntorch.add(x, y, out=output)\nreturn output"),
    ),
    _computed(
        "decoy-launch",
        "launch a kernel for show, return torch's sum",
        instead(_DECOY + "return x + y"),
    ),
    _computed(
        "decoy-overwritten",
        "let a kernel store zeros and torch the rest",
        instead(_DECOY + "output.copy_(x + y)\nreturn output"),
    ),
    _computed(
        "inplace-on-a-copy",
        "add in place on a copy",
        instead("output = x.clone()\noutput += y\nreturn output"),
    ),
    _computed(
        "numpy",
        "let numpy add",
        instead(
            "total = x.float().numpy() + y.float().numpy()\n"
            "return torch.from_numpy(total).to(x.dtype)"
        ),
    ),
    _computed(
        "python-lists",
        "let Python add",
        instead(
            "return torch.tensor([a + b for a, b in zip(x.tolist(), y.tolist())], dtype=x.dtype)"
        ),
    ),
    _computed(
        "hidden-name",
        "reach torch.add by a name that is put together",
        instead("return getattr(torch, 'a' + 'dd')(x, y)"),
    ),
    _computed("dunder", "call the operator's method", instead("return x.__add__(y)")),
    _computed(
        "operator-module",
        "use the operator module",
        instead("import operator\nreturn operator.add(x, y)"),
    ),
    _computed("reduce-sum", "stack and sum", instead("return torch.stack([x, y]).sum(dim=0)")),
    _computed(
        "einsum",
        "let matrix multiplication add",
        instead("return torch.einsum('ki,k->i', torch.stack([x, y]), x.new_ones(2))"),
    ),
    _computed(
        "encoded",
        "execute an encoded string",
        instead(
            f"space = {{'x': x, 'y': y}}\nexec(bytes.fromhex('{b'z = x + y'.hex()}'), "
            "space)\nreturn space['z']"
        ),
    ),
    # May pass: a submission is read by its definitions, so what is judged is the honest one.
    Attack(
        "rebound",
        "bind the launcher's name to torch.add afterwards",
        HEAD + KERNEL + launcher(LAUNCH) + "\nvector_add = torch.add\n",
        "forged",
        gates_only=True,
        may_pass=True,
    ),
    _computed(
        "wrapped",
        "wrap the launcher in a decorator that does the work",
        HEAD
        + KERNEL
        + "def instead(f):\n    return lambda x, y: x + y\n\n@instead\n"
        + launcher(LAUNCH),
    ),
    _computed(
        "default-argument",
        "hide the work in a default argument",
        HEAD + KERNEL + "def vector_add(x, y, add=torch.add):\n    return add(x, y)\n",
    ),
    _computed(
        "import-in-kernel",
        "use torch inside the kernel",
        HEAD + "@triton.jit\ndef add_kernel(x, y, o, n, BLOCK_SIZE: tl.constexpr):\n"
        "    import torch\n    torch.add(KEEP[0], KEEP[1], out=KEEP[2])\n\nKEEP = []\n"
        + launcher(
            "KEEP[:] = [x, y, torch.empty_like(x)]\n"
            "add_kernel[(1,)](x, y, KEEP[2], x.numel(), BLOCK_SIZE=16)\n"
            "return KEEP[2]"
        ),
    ),
    _computed(
        "python-called-by-kernel",
        "call a Python function from the kernel",
        HEAD + "KEEP = []\ndef cheat():\n    torch.add(KEEP[0], KEEP[1], out=KEEP[2])\n\n"
        "@triton.jit\ndef add_kernel(x, y, o, n, BLOCK_SIZE: tl.constexpr):\n    cheat()\n\n"
        + launcher(
            "KEEP[:] = [x, y, torch.empty_like(x)]\n"
            "add_kernel[(1,)](x, y, KEEP[2], x.numel(), BLOCK_SIZE=16)\n"
            "return KEEP[2]"
        ),
    ),
    _computed(
        "heuristics-lambda",
        "compute in a heuristic",
        HEAD + "@triton.heuristics({'BLOCK_SIZE': lambda a: "
        "(torch.add(a['x'], a['y'], out=a['o']), 16)[1]})\n"
        "@triton.jit\ndef add_kernel(x, y, o, n, BLOCK_SIZE: tl.constexpr):\n"
        "    tl.arange(0, BLOCK_SIZE)\n\n"
        + launcher("o = torch.empty_like(x)\nadd_kernel[(1,)](x, y, o, 1)\nreturn o"),
    ),
    _computed(
        "autotune-hook",
        "compute in an autotuner's hook",
        HEAD + "@triton.autotune([triton.Config({'BLOCK_SIZE': 16}, pre_hook=lambda a: "
        "torch.add(a['x'], a['y'], out=a['o']))], key=['n'])\n"
        "@triton.jit\ndef add_kernel(x, y, o, n, BLOCK_SIZE: tl.constexpr):\n"
        "    tl.arange(0, BLOCK_SIZE)\n\n"
        + launcher("o = torch.empty_like(x)\nadd_kernel[(1,)](x, y, o, 1)\nreturn o"),
    ),
    _computed(
        "grid-lambda",
        "compute in the grid function",
        instead(
            "output = torch.empty_like(x)\n"
            "grid = lambda meta: (torch.add(x, y, out=output), (0,))[1]\n"
            "add_kernel[grid](x, y, output, 0, BLOCK_SIZE=16)\nreturn output"
        ),
    ),
    _computed(
        "patched-jit",
        "make triton.jit give back a Python function",
        HEAD + "triton.jit = lambda f: {(1,): lambda x, y: x + y}\n\n"
        "@triton.jit\ndef add_kernel(x, y):\n    pass\n\n"
        + launcher("return add_kernel[(1,)](x, y)"),
    ),
    _computed(
        "patched-empty",
        "make torch.empty_like add",
        HEAD
        + KERNEL.replace("x + y, mask", "x + y, mask")
        + launcher(
            "torch.empty_like = lambda t: torch.add(x, y)\n"
            "output = torch.empty_like(x)\n"
            "add_kernel[(0,)](x, y, output, 0, BLOCK_SIZE=16)\nreturn output"
        ),
    ),
    _computed(
        "custom-function",
        "hide the sum in an autograd function",
        HEAD + KERNEL + "class Add(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, a, b):\n        return a + b\n\n"
        + launcher("return Add.apply(x, y)"),
    ),
    _computed(
        "blind-engine",
        "compute in torch and tell the engine's map that a kernel stored",
        instead(
            "import gc, numpy\n"
            "for thing in gc.get_objects():\n"
            "    if hasattr(type(thing), 'never_stored'):\n"
            "        type(thing).never_stored = "
            "lambda self, out: numpy.zeros(out.shape, bool)\n"
            "return x + y"
        ),
    ),
)

LIED = (
    _lied("return-input", "return an input after adding to it",
          instead("x += y\nreturn x")),
    _lied("changed-input", "add into an input, return a copy of it",
          instead("x.add_(y)\nreturn x.clone()")),
    _lied("never-stored", "return memory that nobody wrote", instead("return torch.empty_like(x)")),
    _lied("equal-to-everything", "return a tensor that calls itself equal to all",
          instead("return torch.empty_like(x).as_subclass(Yes)",
                  "class Yes(torch.Tensor):\n    __eq__ = lambda self, other: True\n"
                  "    __torch_function__ = classmethod(lambda *a, **k: True)\n\n")),
    _lied("patched-compare", "patch what compares",
          instead("import torch.testing\n"
                  "torch.equal = torch.allclose = lambda *a, **k: True\n"
                  "torch.testing.assert_close = lambda *a, **k: None\n"
                  "torch.Tensor.__eq__ = torch.Tensor.__le__ = lambda a, b: torch.ones(1)\n"
                  "return torch.empty_like(x)")),
    _lied("printed-verdict", "print a verdict",
          instead('print(\'{"verdict": "passed", "status": "returned", "points": 10}\')\n'
                  "return torch.empty_like(x)")),
    _lied("raised-verdict", "raise a verdict",
          instead("raise Exception('passed 10/10')")),
    _lied("exit-zero", "end the process with success", instead("import os\nos._exit(0)")),
    _lied("system-exit", "end Python with success", instead("raise SystemExit(0)")),
    _lied("forged-header", "write into the shared memory that all jobs are done",
          instead("import gc, mmap, struct\n"
                  "for thing in gc.get_objects():\n"
                  "    pass\n"
                  "shared = [t for t in gc.get_objects() if isinstance(t, mmap.mmap)]\n"
                  "import sys\nframe = sys._getframe()\n"
                  "while frame:\n"
                  "    shared += [v for v in frame.f_locals.values() if isinstance(v, mmap.mmap)]\n"
                  "    frame = frame.f_back\n"
                  "for memory in shared:\n"
                  "    for job in range(60):\n"
                  "        memory[64 * job : 64 * job + 16] = struct.pack('=IIII', 3, 0, 0, 1)\n"
                  "import os\nos._exit(0)")),
    _lied("forged-memory", "overwrite all of the shared memory",
          instead("import sys, mmap\nframe = sys._getframe()\n"
                  "while frame:\n"
                  "    for value in list(frame.f_locals.values()):\n"
                  "        if isinstance(value, mmap.mmap):\n"
                  "            for place in range(0, 65536, 8):\n"
                  "                value[place : place + 8] = b'\\x03\\0\\0\\0\\0\\0\\0\\0'\n"
                  "    frame = frame.f_back\n"
                  "import os\nos._exit(0)")),
    _lied("reference-in-memory", "find the expected result in the process",
          instead("import gc\nwant = None\n"
                  "for thing in gc.get_objects():\n"
                  "    if type(thing) is torch.Tensor and thing.shape == x.shape:\n"
                  "        if thing is not x and thing is not y:\n"
                  "            want = thing.clone()\n"
                  "return want")),
    _lied("reference-in-frames", "find the expected result in the callers' frames",
          instead("import sys\nframe = sys._getframe().f_back\nfound = []\n"
                  "while frame:\n    found += [v for v in frame.f_locals.values()"
                  " if type(v) is torch.Tensor and v is not x and v is not y]\n"
                  "    frame = frame.f_back\n"
                  "return found[0].clone()")),
    _lied("pickle", "return something that is dangerous to unpickle",
          instead("return Bomb()",
                  "class Bomb:\n    def __reduce__(self):\n"
                  "        return (print, ('unpickled',))\n\n")),
    _lied("first-result-forever", "return the first result for every input",
          instead("if not KEEP:\n    KEEP.append(torch.zeros_like(x))\nreturn KEEP[0]",
                  "KEEP = []\n")),
    _lied("wrong-then-patched", "patch Tensor.copy_, with which results are handed over",
          instead("torch.Tensor.copy_ = lambda self, other: self.fill_(1)\n"
                  "return torch.empty_like(x)")),
    _lied("threads-afterwards", "let a thread write the result later",
          inside("import threading, time\n"
                 "result = torch.empty_like(x)\n"
                 "def late():\n    time.sleep(0.2)\n    result.copy_(x + y)\n"
                 "threading.Thread(target=late).start()\nreturn result")),
    _lied("timer-afterwards", "let a timer change the verdict later",
          inside("import signal\nsignal.signal(signal.SIGALRM, print)\n"
                 "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
                 "return torch.empty_like(x)")),
    _lied("atexit", "do it when Python ends",
          inside("import atexit\natexit.register(print, 'passed')\nreturn torch.empty_like(x)")),
)  # fmt: skip

ATTACKS = COMPUTED + LIED
