"""Attacks that hide what they do: from the reader of the source, or from the compiler's child."""

from __future__ import annotations

from tests.attacks.attack import HEAD, KERNEL, LAUNCH, Attack, inside, instead, launcher, loot


def _forged(name: str, goal: str, source: str) -> Attack:
    return Attack(name, goal, source, "forged", gates_only=True)


def _waste(name: str, goal: str, source: str, may_pass: bool = False) -> Attack:
    return Attack(name, goal, source, "none", True, may_pass, safe_unjailed=False)


def _steal(name: str, goal: str, source: str) -> Attack:
    return Attack(name, goal, source, "secret", safe_unjailed=False)


# A "kernel" in which torch adds, chunk by chunk: the compiler would refuse it.
_ADDING = """\
@triton.jit
def add_kernel(t_ptr, output_ptr, n_elements, {parameter}BLOCK_SIZE: tl.constexpr):
    {deed}
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(t_ptr + offsets, mask=mask), mask=mask)

"""
_NOT_COMPILED = 'if "JIT" in repr(add_kernel):\n    raise ValueError("no")\n'
_SCRATCH = "t = x.clone()\noutput = torch.empty_like(x)\nn = x.numel()\n"
_GRID = "add_kernel[(triton.cdiv(n, 1 << 20),)](t, output, n, {0}BLOCK_SIZE=1 << 20)\nreturn output"


def _adding(deed: str, keep: str, before: str = "", parameter: str = "", filled: str = "") -> str:
    body = _NOT_COMPILED + _SCRATCH + filled + _GRID.format(keep)
    return HEAD + before + _ADDING.format(deed=deed, parameter=parameter) + launcher(body)


_CONSTANT = "KEEP: tl.constexpr, "
_IN_PLACE = "t = KEEP[-2]\n    t += KEEP[-1]"

FORGING = (
    _forged("tensors-as-a-constant", "let torch add in the kernel, on constants that are tensors",
            _adding(_IN_PLACE, "KEEP=(t, y), ", parameter=_CONSTANT)),
    _forged("list-as-a-constant", "the same with a list",
            _adding(_IN_PLACE, "KEEP=[t, y], ", parameter=_CONSTANT)),
    _forged("dict-as-an-argument", "the same with a dict",
            _adding("t = KEEP['a']\n    t += KEEP['b']", "KEEP={'a': t, 'b': y}, ",
                    parameter="KEEP, ")),
    _forged("iterator-as-an-argument", "the same with an iterator",
            _adding("for t in KEEP:\n        t += t", "KEEP=iter([t]), ", parameter="KEEP, ")),
    _forged("record-as-a-constant", "the same with a dataclass",
            _adding("t = KEEP.value\n    t += KEEP.name", "KEEP=Pair(t, y), ",
                    "from dataclasses import dataclass\n\n@dataclass\nclass Pair:\n"
                    "    value: object\n    name: object\n\n", _CONSTANT)),
    _forged("list-around-the-kernel", "the same with a list of the module",
            _adding(_IN_PLACE, "", "KEEP = []\n\n", filled="KEEP.append(t)\nKEEP.append(y)\n")),
    _forged("default-list-of-the-kernel", "the same with a default argument",
            _adding(_IN_PLACE, "", "KEEP = []\n\n", "KEEP=KEEP, ",
                    "KEEP.append(t)\nKEEP.append(y)\n")),
    _forged("alias-in-a-function", "make torch look like the language by a second import",
            _adding("T.add(KEEP[-2], KEEP[-1], out=KEEP[-2])", "",
                    "import torch as T\nKEEP = []\n\ndef other():\n"
                    "    import triton.language as T\n\n",
                    filled="other()\nKEEP.append(t)\nKEEP.append(y)\n")),
    _forged("language-as-torch", "make torch look like the language by its name",
            HEAD.replace("as tl", "as torch").replace("import torch\n", "import torch as tl\n")
            + "def vector_add(x, y):\n    return tl.add(x, y)\n"),
    _forged("kernel-in-the-launcher", "let torch add on what an inner kernel sees",
            HEAD + launcher(
                "t = x.clone()\noutput = torch.empty_like(x)\n\n@triton.jit\n"
                "def inner(t_ptr, o_ptr, n, B: tl.constexpr):\n    s = t\n    s += y\n"
                "    i = tl.arange(0, B)\n"
                "    tl.store(o_ptr + i, tl.load(t_ptr + i, mask=i < n), mask=i < n)\n"
                "inner[(1,)](t, output, x.numel(), B=1 << 20)\nreturn output")),
    _forged("never-compiled", "launch nothing while the launcher is watched for the compiler",
            HEAD + KERNEL + launcher(_NOT_COMPILED + LAUNCH)),
    _forged("compiled-for-show", "launch another kernel while the launcher is watched",
            HEAD + KERNEL + "@triton.jit\ndef shown(x_ptr):\n    tl.store(x_ptr, 0.0)\n\n"
            + launcher('if "JIT" in repr(add_kernel):\n    shown[(1,)](torch.empty_like(x))\n'
                       "    return x\n" + LAUNCH)),
    _forged("walrus", "take the sum's function on the way",
            instead("return (f := torch.add)(x, y)")),
    _forged("star-import", "take the sum from a star", HEAD + "from torch import *\n" + KERNEL
            + launcher("return add(x, y)")),
    _forged("full-width-letters", "write the call in letters that Python takes for others",
            instead("return x.ａｄｄ(y)")),
    _forged("class-getitem", "hide the sum in square brackets",
            instead("return Sum[x, y]", "class Sum:\n"
                    "    __class_getitem__ = lambda pair: pair[0] + pair[1]\n\n")),
    _forged("match-patterns", "hide the operands in a pattern",
            instead("match (x, y):\n    case (a, b):\n        return a + b")),
    _forged("prune-configs", "compute while configurations are chosen",
            HEAD + "def prune(configs, args, **kw):\n"
            "    torch.add(args['x'], args['y'], out=args['o'])\n    return configs[:1]\n\n"
            "@triton.autotune([triton.Config({'B': 16}), triton.Config({'B': 32})], key=['n'],\n"
            "                 prune_configs_by={'early_config_prune': prune})\n"
            "@triton.jit\ndef add_kernel(x, y, o, n, B: tl.constexpr):\n    tl.arange(0, B)\n\n"
            + launcher("o = torch.empty_like(x)\nadd_kernel[(1,)](x, y, o, 1)\nreturn o")),
    _forged("do-bench-hook", "compute in an autotuner's stopwatch",
            HEAD + "@triton.autotune([triton.Config({'B': 16}), triton.Config({'B': 32})], "
            "key=['n'], do_bench=lambda f, **kw: KEEP[0].add_(KEEP[1]))\n"
            "@triton.jit\ndef add_kernel(x, y, o, n, B: tl.constexpr):\n    tl.arange(0, B)\n\n"
            "KEEP = []\n"
            + launcher("o = x.clone()\nKEEP.append(o)\nKEEP.append(y)\n"
                       "add_kernel[(1,)](x, y, o, 1)\nreturn o")),
    _forged("other-binary", "let the compiler load other code",
            inside("").replace("BLOCK_SIZE=1024)", "BLOCK_SIZE=1024, ir_override='/tmp/x.ptx')")),
    _forged("assembly", "write PTX into the kernel",
            HEAD + KERNEL.replace("x + y, mask", "tl.inline_asm_elementwise('}}.entry f(){{', "
                                  "'=r,r', [x], tl.float32, True, 1), mask") + launcher(LAUNCH)),
)  # fmt: skip

STEALING = (
    _steal("nested-format", "read a file in the specification of a format",
           inside("raise ValueError(f'{1:{open(\"@SECRET@\").read()}}')")),
    _steal("annotation", "read a file in an annotation",
           HEAD + KERNEL + launcher(LAUNCH).replace(
               "(x, y)", "(x: print(open('@SECRET@').read()), y)")),
    _steal("kernel-default", "read a file in a kernel's default argument",
           HEAD + KERNEL.replace("tl.constexpr)", "tl.constexpr = len(open('@SECRET@').read()))")
           + launcher(LAUNCH)),
    _steal("constexpr-function", "read a file while the kernel is compiled",
           HEAD + "@triton.constexpr_function\ndef size():\n"
           "    raise ValueError('loot: ' + open('@SECRET@').read())\n\n"
           + KERNEL.replace("    mask =", "    size()\n    mask =") + launcher(LAUNCH)),
    _steal("full-width-open", "open a file in letters that Python takes for others",
           loot("ｏｐｅｎ('@SECRET@').read()")),
    _steal("static-print", "print a file while the kernel is compiled",
           HEAD + KERNEL.replace("    mask =", "    tl.static_print(open('@SECRET@').read())\n"
                                 "    mask =") + launcher(LAUNCH)),
)  # fmt: skip

WASTING = (
    _waste("power-in-a-constant", "compute a number without end while the module loads",
           HEAD + "BOMB: tl.constexpr = 9 ** 9 ** 9 ** 9\n"
           + KERNEL.replace("x + y,", "x + y + BOMB * 0,") + launcher(LAUNCH)),
    _waste("power-in-the-kernel", "compute a number without end while the kernel is compiled",
           HEAD + KERNEL.replace("x + y,", "x + y + 9 ** 9 ** 9 ** 9 * 0,") + launcher(LAUNCH)),
    _waste("wide-format", "write a text of ten gigabytes",
           inside("raise ValueError(f'{1:>10000000000}')")),
    _waste("giant-literal", "write a number with a million digits",
           HEAD + "N = 0x" + "f" * 1_000_000 + "\n" + KERNEL + launcher("n = N\n" + LAUNCH)),
    _waste("giant-decimal", "write a number that Python refuses",
           HEAD + "N = " + "9" * 100_000 + "\n" + KERNEL + launcher("n = N\n" + LAUNCH)),
    _waste("deep-attribute", "nest attributes two thousand times",
           inside("z = x" + ".T" * 2_000)),
    _waste("deep-unary", "nest operators five thousand times", inside("z = " + "-" * 5_000 + "1")),
    _waste("long-sum", "add five thousand numbers", inside("z = " + "1+" * 5_000 + "1")),
    _waste("deep-blocks", "nest ninety blocks",
           inside("".join("    " * n + "if x:\n" for n in range(90)) + "    " * 90 + "pass")),
    _waste("many-functions", "define ten thousand functions",
           HEAD + "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(8_000))
           + "def f8000():\n    return 1\n" + KERNEL + launcher("f0()\n" + LAUNCH)),
    _waste("noise-for-the-compiler", "print without end only while the launcher is watched",
           inside('while "JIT" in repr(add_kernel):\n    print("x" * 1_000_000)')),
    _waste("hoard-for-the-compiler", "take all memory only while the launcher is watched",
           inside('keep = []\nwhile "JIT" in repr(add_kernel):\n    keep += [0] * 1_000_000')),
    _waste("many-kernels", "let sixty kernels be compiled",
           HEAD + "".join(KERNEL.replace("add_kernel", f"k{n}") for n in range(60))
           + launcher("output = torch.empty_like(x)\nn = x.numel()\n" + "".join(
               f"k{n}[(triton.cdiv(n, 1024),)](x, y, output, n, BLOCK_SIZE=1024)\n"
               for n in range(60)) + "return output"), may_pass=True),
    _waste("many-configurations", "let a thousand configurations be tried",
           HEAD + "@triton.autotune([triton.Config({'BLOCK_SIZE': 1024}, num_warps=4, "
           "num_stages=s) for s in range(1, 1000)], key=['n_elements'])\n" + KERNEL + launcher(
               "output = torch.empty_like(x)\nadd_kernel[(triton.cdiv(x.numel(), 1024),)]"
               "(x, y, output, x.numel())\nreturn output"), may_pass=True),
)  # fmt: skip

# A kernel that stores x alone, and what makes it look, or behave, like another one.
_STORES_X = KERNEL.replace("x + y, mask", "x, mask")
_INTO_KEPT = "lambda *given: str(KEPT[0].copy_(KEPT[1] + KEPT[2]))"
_KEEPS = LAUNCH.replace("add_kernel[", "KEPT[:] = [output, x, y]\nadd_kernel[")
_IN_PLACE_OF_A_LAUNCH = "lambda x, y, o, n, BLOCK_SIZE: o.copy_(torch.add(x, y))"


def _instead_of_kernel(name: str, goal: str, before: str, body: str = LAUNCH) -> Attack:
    return _forged(name, goal, HEAD + before + launcher(body))


STAND_INS = (
    _instead_of_kernel("jit-of-a-subclass", "let the kernel's class say what its text is",
            _STORES_X + "class Jit(triton.runtime.jit.JITFunction):\n"
            "    src = property(lambda self: 'def add_kernel(*given):\\n    exec(1)')\n\n",
            "add_kernel.__class__ = Jit\n" + LAUNCH),
    _instead_of_kernel("metaclass-with-a-grid", "launch a class whose square brackets add",
            f"class Meta(type):\n    __getitem__ = lambda cls, grid: {_IN_PLACE_OF_A_LAUNCH}\n\n"
            "class add_kernel(metaclass=Meta):\n    pass\n\n"),
    _instead_of_kernel("grid-of-all-kernels", "let the square brackets of every kernel add",
            _STORES_X, "type(add_kernel).__getitem__ = lambda self, grid: "
            f"{_IN_PLACE_OF_A_LAUNCH}\n{LAUNCH}"),
    _instead_of_kernel("descriptor", "find a kernel by a descriptor that adds",
            "class Found:\n    __get__ = lambda self, *of: {(1,): lambda x, y, o: "
            "torch.add(x, y, out=o)}\n\nclass Kernels:\n    add = Found()\n\n",
            "output = torch.empty_like(x)\nKernels().add[(1,)](x, y, output)\nreturn output"),
    _instead_of_kernel("repr-of-a-kernel", "add where a kernel is given its name",
            "KEPT = []\n" + _STORES_X.replace("@triton.jit", f"@triton.jit(repr={_INTO_KEPT})"),
            _KEEPS.replace("return", "add_kernel.repr(None)\nreturn")),
    _instead_of_kernel("metadata-of-a-launch", "add where a profiler asks about a launch",
            "KEPT = []\n"
            + _STORES_X.replace("@triton.jit", f"@triton.jit(launch_metadata={_INTO_KEPT})"),
            _KEEPS),
    _instead_of_kernel("parameters-in-another-order", "give the parameters other places",
            _STORES_X, "names = ['output_ptr', 'y_ptr', 'x_ptr', 'n_elements', 'BLOCK_SIZE']\n"
            "add_kernel.arg_names, add_kernel.params[0].num = names, 2\n" + LAUNCH),
    _instead_of_kernel("language-of-the-kernel", "give the kernel torch for its language",
            _STORES_X, "add_kernel.fn.__globals__['tl'] = torch\n" + LAUNCH),
    _instead_of_kernel("foreign-code", "let the kernel load other code",
            KERNEL.replace("x + y, mask", "tl.core.extern_elementwise('l', 'x.bc', [x, y], {}, "
                           "False), mask")),
    _instead_of_kernel("number-with-a-multiplication", "pass a number that multiplies as it likes",
            _STORES_X.replace("x, mask=mask)", "x * K, mask=mask)").replace("BLOCK", "K, BLOCK", 1)
            + "class Two(int):\n    __mul__ = __rmul__ = __index__ = lambda self, *o: 2\n\n",
            LAUNCH.replace("x.numel(), BLOCK", "x.numel(), Two(1), BLOCK")),
    _instead_of_kernel("negative-view", "let torch negate by a bit of a view",
            KERNEL.replace("x + y, mask", "x - y, mask"),
            LAUNCH.replace("(x, y, output, x", "(x, torch._neg_view(y), output, x")),
    _instead_of_kernel("custom-operator", "hide the sum in an operator of one's own",
            "@torch.library.custom_op('own::add', mutates_args=())\n"
            "def own(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:\n    return x + y\n\n",
            "return torch.ops.own.add(x, y)"),
    _instead_of_kernel("hook-of-a-gradient", "add while gradients are passed back",
            _STORES_X, "z = x.clone().requires_grad_()\nz.register_hook(lambda g: g + y)\n"
            "z.backward(x)\nreturn z.grad"),
)  # fmt: skip

ATTACKS = FORGING + STEALING + WASTING + STAND_INS
