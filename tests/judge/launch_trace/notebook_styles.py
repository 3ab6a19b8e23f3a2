"""More honest styles of vector_add(x, y), as they come out of notebooks: none may be refused."""

# ruff: noqa: E501
from __future__ import annotations

from tests.judge.launch_trace.honest_styles import HEAD, KERNEL, LAUNCH


def launcher(body: str, before: str = "", kernel: str = KERNEL, imports: str = "") -> str:
    """A whole submission in this style; `body` is the launcher's, dedented."""
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.strip().split("\n"))
    return f"{imports or HEAD}{before}{kernel}\n\ndef vector_add(x, y):\n{lines}"


ALLOCATE = "output = torch.empty_like(x)\nn = x.numel()\n"
START = "add_kernel[(triton.cdiv(n, 256),)](x, y, output, n, BLOCK_SIZE=256)\nreturn output"
CONFIGURED = "add_kernel[(triton.cdiv(n, {0}),)](x, y, output, n, BLOCK_SIZE={0})\nreturn output"

MORE: dict[str, str] = {
    "partial-of-a-launching-helper": launcher(
        ALLOCATE + "launch((triton.cdiv(n, 64),), x, y, output, n)\nreturn output",
        "",
        KERNEL + "\nimport functools\n\ndef _launch(kernel, grid, *args, **options):\n"
        "    kernel[grid](*args, **options)\n\n"
        "launch = functools.partial(_launch, add_kernel, BLOCK_SIZE=64)\n",
    ),
    "dataclass-with-a-method-that-packs": launcher(
        ALLOCATE + "add_kernel[(triton.cdiv(n, CFG.block),)](x, y, output, n, **CFG.options())\n"
        "return output",
        "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Config:\n"
        "    block: int = 512\n    warps: int = 4\n\n    def options(self) -> dict:\n"
        '        """What a launch takes."""\n'
        "        return dict(BLOCK_SIZE=self.block, num_warps=self.warps)\n\nCFG = Config()\n",
    ),
    "axes-added-by-a-computed-tuple": launcher(
        ALLOCATE + "wide = x[(None,) * (3 - x.dim())]\nn = wide.numel()\n" + START,
    ),
    "strides-as-a-tensor": launcher(
        ALLOCATE + "shape = torch.tensor(x.shape, device=x.device)\n"
        "strides = torch.tensor(list(x.stride()), dtype=torch.int64)\n"
        "sizes = torch.tensor([x.size(i) for i in range(x.dim())])\n" + START,
    ),
    "dataclass": launcher(
        ALLOCATE + "config = Config()\n" + CONFIGURED.format("config.block_size"),
        "from dataclasses import dataclass\n\n@dataclass\nclass Config:\n"
        '    """Block sizes."""\n    block_size: int = 256\n    num_warps: int = 4\n',
    ),
    "frozen-dataclass-with-arguments": launcher(
        ALLOCATE + CONFIGURED.format("SMALL.block"),
        "import dataclasses\n\n@dataclasses.dataclass(frozen=True)\nclass Tile:\n    block: int\n"
        "    warps: int = 4\n\nSMALL = Tile(256)\nLARGE = Tile(block=1024, warps=8)\n",
    ),
    "dataclass-of-the-tensors": launcher(
        "job = Job(x, y, x.numel())\noutput = torch.empty_like(job.x)\n"
        "add_kernel[(triton.cdiv(job.n, 256),)](job.x, job.y, output, job.n, BLOCK_SIZE=256)\n"
        "return output",
        "from dataclasses import dataclass\n\n@dataclass\nclass Job:\n    x: torch.Tensor\n"
        "    y: torch.Tensor\n    n: int\n",
    ),
    "named-tuple": launcher(
        ALLOCATE + "block, warps = TILE\n"
        "add_kernel[(triton.cdiv(n, TILE.block),)](x, y, output, n, BLOCK_SIZE=block, num_warps=warps)\nreturn output",
        "from typing import NamedTuple\n\nclass Tile(NamedTuple):\n    block: int = 256\n"
        "    warps: int = 4\n\nTILE = Tile()\n",
    ),
    "enum": launcher(
        ALLOCATE + CONFIGURED.format("Block.SMALL.value"),
        "from enum import Enum\n\nclass Block(Enum):\n    SMALL = 256\n    LARGE = 1024\n",
    ),
    "class-of-constants": launcher(
        ALLOCATE + CONFIGURED.format("Config.BLOCK_SIZE"),
        "class Config:\n    BLOCK_SIZE = 1 << 8\n    SIZES = (128, BLOCK_SIZE)\n    DTYPE: str = 'fp32'\n",
    ),
    "no-grad": launcher(ALLOCATE + "with torch.no_grad():\n    " + START.replace("\n", "\n    ")),
    "device-guard": launcher(
        ALLOCATE + "if x.is_cuda:\n    with torch.cuda.device(x.device):\n"
        "        add_kernel[(triton.cdiv(n, 256),)](x, y, output, n, BLOCK_SIZE=256)\nelse:\n"
        "    add_kernel[(triton.cdiv(n, 256),)](x, y, output, n, BLOCK_SIZE=256)\nreturn output"
    ),
    "no-grad-decorator": launcher(ALLOCATE + START).replace(
        "def vector_add", "@torch.no_grad()\ndef vector_add"
    ),
    "inference-mode-decorator": launcher(ALLOCATE + START).replace(
        "def vector_add", "@torch.inference_mode()\ndef vector_add"
    ),
    "new-empty": launcher("output = x.new_empty(x.shape)\nn = output.numel()\n" + START),
    "empty-with-everything": launcher(
        "output = torch.empty(x.shape, dtype=x.dtype, device=x.device)\nn = output.numel()\n"
        + START
    ),
    "zeros-in-another-dtype-and-back": launcher(
        "output = torch.zeros(x.size(), dtype=torch.float32, device=x.device)\nn = x.numel()\n"
        + START.replace("return output", "return output.to(x.dtype)")
    ),
    "flat-views-and-back": launcher(
        "shape = x.shape\nx, y = x.contiguous().view(-1), y.contiguous().view(-1)\n"
        + ALLOCATE
        + START.replace("return output", "return output.reshape(shape)")
    ),
    "early-return": launcher(ALLOCATE + "if n == 0:\n    return output\n" + START),
    "early-return-of-new": launcher(
        "if x.numel() == 0:\n    return torch.empty_like(x)\n" + ALLOCATE + START
    ),
    "walrus": launcher(
        "output = torch.empty_like(x)\nif (n := x.numel()) > 0:\n    "
        + START.replace("\nreturn", "\n    pass\nreturn")
    ),
    "match-on-the-size": launcher(
        ALLOCATE
        + "match n:\n    case 0:\n        return output\n    case 1 | 2:\n        block = 2\n"
        "    case _ if n < 1024:\n        block = 128\n    case _:\n        block = 1024\n"
        + CONFIGURED.format("block")
    ),
    "match-on-the-dtype": launcher(
        ALLOCATE + "match x.dtype:\n    case torch.float16 | torch.bfloat16:\n        block = 512\n"
        "    case other:\n        block = 256\n" + CONFIGURED.format("block")
    ),
    "starred-arguments": launcher(
        ALLOCATE
        + "arguments = (x, y, output, n)\nadd_kernel[(triton.cdiv(n, 256),)](*arguments, BLOCK_SIZE=256)\nreturn output"
    ),
    "keyword-arguments": launcher(
        ALLOCATE
        + "add_kernel[(triton.cdiv(n, 256),)](x_ptr=x, y_ptr=y, output_ptr=output, n_elements=n, BLOCK_SIZE=256, num_warps=4, num_stages=2)\nreturn output"
    ),
    "options-in-a-dict": launcher(
        ALLOCATE
        + "options = dict(BLOCK_SIZE=256, num_warps=4)\nadd_kernel[(triton.cdiv(n, options['BLOCK_SIZE']),)](x, y, output, n, **options)\nreturn output"
    ),
    "grid-as-partial": launcher(
        ALLOCATE + "add_kernel[partial(grid, n)](x, y, output, n, BLOCK_SIZE=256)\nreturn output",
        "from functools import partial\n\ndef grid(n, meta):\n    return (triton.cdiv(n, meta['BLOCK_SIZE']),)\n",
    ),
    "own-ceiling": launcher(
        ALLOCATE
        + "add_kernel[((n + 256 - 1) // 256,)](x, y, output, n, BLOCK_SIZE=256)\nreturn output"
    ),
    "ceiling-by-math": launcher(
        ALLOCATE
        + "add_kernel[(math.ceil(n / 256),)](x, y, output, n, BLOCK_SIZE=256)\nreturn output",
        "import math\n",
    ),
    "negative-floor-division": launcher(
        ALLOCATE + "blocks = -(-n // 256)\nadd_kernel[blocks,](x, y, output, n, 256)\nreturn output"
    ),
    "grid-of-three": launcher(
        ALLOCATE + "add_kernel[(triton.cdiv(n, 256), 1, 1)](x, y, output, n, 256)\nreturn output"
    ),
    "triton-as-t": launcher(
        ALLOCATE + START.replace("triton.", "t."),
        kernel=KERNEL.replace("triton.jit", "t.jit"),
        imports="import torch\nimport triton as t\nfrom triton import language as tl\n",
    ),
    "names-from-the-language": launcher(
        ALLOCATE + "add_kernel[(cdiv(n, 256),)](x, y, output, n, BLOCK_SIZE=256)\nreturn output",
        kernel=KERNEL.replace("tl.", "").replace("@triton.jit", "@jit"),
        imports="import torch\nfrom triton import cdiv, jit\nfrom triton.language import arange, constexpr, load, program_id, store\n",
    ),
    "jit-with-options": launcher(
        ALLOCATE + START,
        kernel=KERNEL.replace("@triton.jit", "@triton.jit(do_not_specialize=['n_elements'])"),
    ),
    "jit-with-empty-brackets": launcher(
        ALLOCATE + START, kernel=KERNEL.replace("@triton.jit", "@triton.jit()")
    ),
    "annotated-everything": launcher(
        ALLOCATE + START, "from typing import Optional\nTensor = torch.Tensor\n"
    ).replace(
        "def vector_add(x, y):",
        "def vector_add(x: Tensor, y: Tensor, out: Optional[Tensor] = None) -> Tensor:",
    ),
    "text-annotations": launcher(ALLOCATE + START).replace(
        "(x, y):\n", "(x: 'torch.Tensor', y: \"torch.Tensor\") -> 'torch.Tensor':\n"
    ),
    "checks-in-a-helper": launcher(
        "_check(x, y)\n" + ALLOCATE + START,
        "def _check(*tensors):\n    first = tensors[0]\n    for i, t in enumerate(tensors):\n"
        "        if t.shape != first.shape:\n"
        "            raise ValueError(f'tensor {i}: {tuple(t.shape)!s:>10} is not {first.shape}')\n"
        "        assert t.is_contiguous(), f'{i=} has strides {t.stride()}'\n",
    ),
    "warns": launcher(
        "if not x.is_contiguous():\n    warnings.warn('a copy is made', stacklevel=2)\n    x = x.contiguous()\n"
        + ALLOCATE
        + START,
        "import warnings\n",
    ),
    "debugging-prints": launcher(
        "print('x', x[:4], 'y', y[:4], sep='\\n', end='\\n\\n')\nprint(f'{x.shape=} {y.dtype!r:>20}')\n"
        + ALLOCATE
        + START
    ),
    "switch-of-the-module": launcher(
        "if DEBUG:\n    print(x.shape)\n" + ALLOCATE + START, "DEBUG = False\n"
    ),
    "constant-as-constexpr": launcher(
        ALLOCATE + "add_kernel[(triton.cdiv(n, BLOCK),)](x, y, output, n, BLOCK)\nreturn output",
        "BLOCK = 256\nSCALE: tl.constexpr = 1\nZERO = tl.constexpr(0.0)\n",
        KERNEL.replace("mask=mask)\n    y", "mask=mask, other=ZERO)\n    y").replace(
            "x + y", "x * SCALE + y"
        ),
    ),
    "computed-constants": launcher(
        ALLOCATE + "add_kernel[(triton.cdiv(n, BLOCK),)](x, y, output, n, BLOCK)\nreturn output",
        "import math\nBLOCK = triton.next_power_of_2(200)\nLOG2E: tl.constexpr = tl.constexpr(1 / math.log(2))\n"
        "SMALL: tl.constexpr = float('-inf')\n",
        KERNEL.replace("x + y", "tl.maximum(x + y, SMALL * LOG2E)"),
    ),
    "tuple-of-constants": launcher(
        ALLOCATE
        + "add_kernel[(triton.cdiv(n, SIZES[0]),)](x, y, output, n, SIZES[0])\nreturn output",
        "SIZES = (256, 512)\n",
    ),
    "old-experiments": launcher(
        "# output = x + y\n"
        + ALLOCATE
        + "# add_kernel[(1,)](x, y, output, n, BLOCK_SIZE=n)\n"
        + START,
        "def old(x, y):\n    return torch.add(x, y)  # to compare with\n\n",
    )
    + "\nexpected = old(torch.ones(3), torch.ones(3))\nprint(vector_add(torch.ones(3), torch.ones(3)) - expected)\n",
    "leftover-cells": launcher(ALLOCATE + START)
    + "\ncheck(vector_add)\nfrom matplotlib import pyplot as plt\nplt.plot(range(3))\nimport os\nos.environ['X'] = '1'\n"
    "for n in (1, 10):\n    torch.testing.assert_close(vector_add(torch.ones(n), torch.ones(n)), torch.full((n,), 2.0))\n",
    "magics": launcher(ALLOCATE + START)
    + "\n%timeit vector_add(a, b)\n!nvidia-smi\nfiles = !ls\nvector_add?\n",
    "main-guard": launcher(ALLOCATE + START)
    + '\nif __name__ == "__main__":\n    import sys\n    torch.manual_seed(0)\n    print(torch.rand(3) + 1, sys.argv)\n',
    "helper-for-the-launch": launcher(
        "return _launch(add_kernel, x, y)",
        "def _launch(kernel, x, y, *, block=256):\n    output = torch.empty_like(x)\n    n = output.numel()\n"
        "    kernel[(triton.cdiv(n, block),)](x, y, output, n, BLOCK_SIZE=block)\n    return output\n\n",
    ),
    "nested-helper": launcher(
        "def blocks(meta):\n    return (triton.cdiv(n, meta['BLOCK_SIZE']),)\n"
        + ALLOCATE
        + "add_kernel[blocks](x, y, output, n, BLOCK_SIZE=256)\nreturn output"
    ),
    "choice-of-block": launcher(
        ALLOCATE + "block = 256 if n < 10_000 else 1024\nwarps = {256: 4, 1024: 8}[block]\n"
        "add_kernel[(triton.cdiv(n, block),)](x, y, output, n, BLOCK_SIZE=block, num_warps=warps)\nreturn output"
    ),
    "power-of-two-by-hand": launcher(
        ALLOCATE
        + "block = 1\nwhile block < min(n, 1024):\n    block *= 2\n"
        + CONFIGURED.format("block")
    ),
    "strides-passed-on": launcher(
        ALLOCATE
        + "assert x.stride(0) == 1 and y.stride()[0] == 1 or n <= 1\nassert x.ndim == x.dim() == len(x.shape)\n"
        + START
    ),
    "synchronises": launcher(
        ALLOCATE + START.replace("return", "if x.is_cuda:\n    torch.cuda.synchronize()\nreturn")
    ),
    "unused-imports": launcher(
        ALLOCATE + START,
        "import os, sys, time\nimport numpy as np\nimport matplotlib.pyplot as plt\nfrom IPython.display import display\n",
    ),
    "static-assert-and-prints": launcher(
        ALLOCATE + START,
        kernel=KERNEL.replace(
            "    mask =",
            "    tl.static_assert(BLOCK_SIZE >= 16)\n    tl.static_print('block', BLOCK_SIZE)\n    tl.device_assert(n_elements >= 0)\n    mask =",
        ),
    ),
    "kernel-types-and-docs": launcher(
        ALLOCATE + START,
        kernel=KERNEL.replace("x_ptr, y_ptr", "x_ptr: tl.tensor, y_ptr: tl.tensor").replace(
            "    pid =", '    """Adds.\n\n    One block a program.\n    """\n    pid: tl.tensor ='
        ),
    ),
    "semicolons-and-one-liners": HEAD
    + KERNEL
    + "\ndef vector_add(x, y):\n    o = torch.empty_like(x); n = x.numel(); add_kernel[(n + 255) // 256,](x, y, o, n, 256); return o\n",
    "two-spaces": (HEAD + KERNEL + "\ndef vector_add(x, y):" + LAUNCH).replace("    ", "  "),
    "tabs": (HEAD + KERNEL + "\ndef vector_add(x, y):" + LAUNCH).replace("    ", "\t"),
    "umlauts-and-greek": launcher(
        "größe = x.numel()  # grüße\nα = 256\noutput = torch.empty_like(x)\nadd_kernel[(triton.cdiv(größe, α),)](x, y, output, größe, BLOCK_SIZE=α)\nreturn output"
    ),
}
