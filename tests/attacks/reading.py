"""Attacks that show the checker another kernel than the one that runs.

Each hides a call of Python behind a place where two readers of one text might disagree.
"""

from __future__ import annotations

import textwrap

from tests.attacks.attack import HEAD, Attack, launcher

# Through the frames of the interpreter to the tensors, where torch adds.
_BREAK_OUT = r"""
def go():
    import sys, torch
    frame, done = sys._getframe(), False
    while frame is not None:
        known = frame.f_locals
        if 'x_ptr' in known and not done:
            x, y, out = (known[k].handle.region.tensor for k in ('x_ptr', 'y_ptr', 'output_ptr'))
            out.copy_((x.double() + y.double()).to(out.dtype))
            done = True
        me = type(known.get('self'))
        if me.__name__ == 'Replay':
            me.never_stored = lambda self, ref: torch.zeros(ref.shape, dtype=torch.bool)
        frame = frame.f_back
go()
"""
_SIGNATURE = "(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):\n"
_HARMLESS = (
    "    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)\n"
    "    mask = offsets < n_elements\n"
    "    tl.load(x_ptr + offsets, mask=mask)\n"
)
_LAUNCH = (
    "output = torch.empty_like(x)\n"
    "add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, output, x.numel(), BLOCK_SIZE=1024)\n"
    "return output\n"
)
_JIT = "@triton.jit\n"


def _evil(name: str, call: str = "exec", guard: str = "1000 is 1000") -> str:
    """A function that adds by torch where Python decides, and loads where Triton does."""
    return f"def {name}{_SIGNATURE}    if {guard}:\n        {call}({_BREAK_OUT!r})\n{_HARMLESS}"


def _plain(name: str) -> str:
    return f"def {name}{_SIGNATURE}{_HARMLESS}"


def _shown(name: str, goal: str, text: str, body: str = _LAUNCH) -> Attack:
    return Attack(name, goal, HEAD + text + launcher(body), "forged", gates_only=True)


# The interpreter comes to what stands here, and Triton leaves it out.
_ADDS = (
    "offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)\n"
    "mask = offsets < n_elements\n"
    "x = tl.load(x_ptr + offsets, mask=mask)\n"
    "tl.store(output_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)\n"
)


def _left_out(name: str, goal: str, condition: str, head: str = "if {}:") -> Attack:
    opening = textwrap.indent(head.format(condition) + "\n", "    ")
    return _shown(
        name,
        goal,
        f"{_JIT}def add_kernel{_SIGNATURE}{opening}"
        + textwrap.indent(_ADDS, "    " if "return" in head else "        "),
    )


_USED = "if PAD is None:\n    evil()\n" + _LAUNCH
_IMPORTED = "__import__('builtins').exec"
ATTACKS = (
    _shown(
        "form-feed-in-a-text",
        "form feeds, at which some readers count a line and others do not",
        f"PAD = '\f\f\f\f'\n{_evil('evil', _IMPORTED)}{_plain('k')}add_kernel = triton.jit(k)\n",
        _USED,
    ),
    _shown(
        "def-split-by-a-backslash",
        "a search for the line of `def` that goes back to the one before",
        f"PAD = 0\n{_evil('evil', _IMPORTED)}def\\\n k{_SIGNATURE}{_HARMLESS}"
        "add_kernel = triton.jit(k)\n",
        _USED,
    ),
    _shown(
        "local-after-return",
        "a name that only unreachable statements make a local one",
        _JIT + _evil("add_kernel") + "    return\n    exec = 0\n",
    ),
    _shown(
        "local-after-break",
        "the same behind the end of a loop's body",
        _JIT + _evil("add_kernel") + "    for _ in range(1):\n        break\n        exec = 0\n",
    ),
    _shown(
        "builtins-of-a-module",
        "a module in the place of the builtins",
        "import triton_util.explain.launches\n__builtins__ = triton_util.explain.launches\n"
        + _JIT
        + _evil("add_kernel", "load_module")
        + "    if 1000 is 999:\n        __builtins__.cdiv(1, 2)\n",
    ),
    _shown(
        "builtins-among-the-names",
        "a dictionary of own builtins beside the kernel",
        f"import builtins\n__builtins__ = dict(vars(builtins))\n{_JIT}{_evil('add_kernel')}",
    ),
    _shown(
        "code-of-another",
        "the code of a function that is not shown, with the place of the one that is",
        f"{_evil('evil', _IMPORTED)}{_plain('k')}add_kernel = triton.jit(k)\n"
        "place = dict(co_firstlineno=k.__code__.co_firstlineno, co_name='k')\n"
        "add_kernel.fn.__code__ = evil.__code__.replace(**place)\n",
    ),
    _shown(
        "source-told-to-triton",
        "a text for Triton that is not the function's",
        f"{_plain('k')}add_kernel = triton.jit(k)\n"
        "add_kernel._unsafe_update_src('def k(*given): exec(1)')\n",
    ),
    _shown(
        "lines-told-to-inspect",
        "lines in the cache of sources that are not the file's",
        f"import linecache\n{_plain('k')}add_kernel = triton.jit(k)\n"
        "for entry in linecache.cache.values():\n    entry[2][:] = ['exec(1)\\n'] * 99\n",
    ),
    _shown(
        "identity-of-constants",
        "a branch that Python takes and Triton's compiler does not see",
        _JIT + _evil("add_kernel", "print", "(1000 is 1000) and not (1000 is 999)"),
    ),
    _shown(
        "field-that-is-a-handle",
        "a named tuple whose field has the name of the engine's own attribute",
        "from collections import namedtuple\nPair = namedtuple('Pair', 'handle region tensor')\n"
        f"{_JIT}def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, PAIR, "
        "BLOCK_SIZE: tl.constexpr):\n"
        "    output_ptr.handle.region.tensor.fill_(1)\n" + _HARMLESS,
        _LAUNCH.replace("x.numel(), BLOCK", "x.numel(), Pair(1, 2, 3), BLOCK"),
    ),
    _shown(
        "names-of-the-engine",
        "the object that rewritten kernels ask at their branches, with the names of fields",
        "from collections import namedtuple\n"
        "F = namedtuple('F', 'loop turns gi_frame f_builtins')\n"
        f"{_JIT}def add_kernel{_SIGNATURE.replace('BLOCK', 'F, BLOCK')}"
        "    for frame in [_tw.loop(None, 1, _static=True).turns().gi_frame]:\n"
        f"        frame.f_builtins['exec']({_BREAK_OUT!r})\n{_HARMLESS}",
        _LAUNCH.replace("x.numel(), BLOCK", "x.numel(), F(1, 2, 3, 4), BLOCK"),
    ),
    _shown(
        "attribute-as-the-target-of-a-loop",
        "attributes that are set where nothing is assigned",
        f"{_JIT}def add_kernel{_SIGNATURE}{_HARMLESS}"
        "    for tl.out in [output_ptr]:\n        pass\n"
        "    for tl.sum in [tl.out.handle.region.tensor.copy_]:\n        tl.sum(x_ptr)\n",
    ),
    _shown(
        "attribute-as-the-target-of-a-comprehension",
        "the same without a loop",
        f"{_JIT}def add_kernel{_SIGNATURE}{_HARMLESS}    len([0 for tl.load in [print]])\n",
    ),
    _shown(
        "inside-of-a-library-function",
        "what Triton's own objects hold, behind a path that begins like a function",
        f"{_JIT}def add_kernel{_SIGNATURE}{_HARMLESS}"
        f"    tl.sum.get_capture_scope()['__builtins__']['exec']({_BREAK_OUT!r})\n",
    ),
    _shown(
        "function-of-constants-that-is-python",
        "the same in a function that runs while a kernel is compiled",
        "@triton.constexpr_function\ndef size(n):\n"
        "    tl.sum.get_capture_scope()['__builtins__']['exec']('1')\n    return n\n"
        f"{_JIT}def add_kernel{_SIGNATURE}    n: tl.constexpr = size(BLOCK_SIZE)\n{_HARMLESS}",
    ),
    _left_out(
        "branch-by-what-a-call-returns",
        "a branch that the interpreter takes because a call returns nothing there",
        "print('') is None",
    ),
    _left_out(
        "branch-by-what-an-assertion-returns",
        "a branch that the interpreter takes because an assertion returns something there",
        "tl.device_assert(True, '') is not None",
    ),
    _left_out(
        "code-after-a-return",
        "a return that the interpreter does not come to, and what follows it",
        "print('') is not None",
        "if {}:\n    return",
    ),
    _left_out(
        "code-after-a-return-in-a-branch",
        "the same in a branch that programs decide",
        "print('') is not None",
        "if n_elements > 0:\n    if {}:\n        return\nif n_elements <= 0:\n    return",
    ),
    _left_out(
        "loop-over-what-a-call-returns",
        "a loop that only the interpreter runs through",
        "",
        "for _ in tl.static_range(1 if print('') is None else 0):",
    ),
    _shown(
        "value-by-what-a-call-returns",
        "an expression that is evaluated by the interpreter alone",
        f"{_JIT}def add_kernel{_SIGNATURE}"
        + textwrap.indent(
            _ADDS.replace("x + tl", "x if print('') is not None else x + tl"), "    "
        ),
    ),
    _shown(
        "helper-that-is-never-compiled",
        "a function that the interpreter calls, and Triton does not",
        f"{_JIT}def adds{_SIGNATURE}"
        + textwrap.indent(_ADDS, "    ")
        + f"\n{_JIT}def add_kernel{_SIGNATURE}"
        "    print('') is None and adds(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE)\n",
    ),
    _shown(
        "kernel-called-builtins",
        "a kernel whose name is that of the namespace's builtins",
        f"def make():\n    @triton.jit\n    def __builtins__{_SIGNATURE}"
        f"        exec({_BREAK_OUT!r})\n    return __builtins__\nadd_kernel = make()\n",
    ),
)
