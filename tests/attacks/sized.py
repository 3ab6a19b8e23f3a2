"""Submissions whose size is the attack: each wants the judge process to compute or to keep much.

`HOSTILE` has them by name. All of them are for vector_add.
"""

from __future__ import annotations

from tests.attacks.attack import HEAD, KERNEL, LAUNCH, honest, inside, instead, launcher

# An error that a table of the judge translates, from within a launch.
_TRANSLATED = """\
child = sys.modules["graders.judge.launch_trace.trace_task"]
child.Capture._in_triton = lambda self, error: True
raise NameError("name '" + {text} + "' is not defined")
"""


def _kernels(count: int, lines: int) -> str:
    """Kernels with a text of `lines` lines each, all of them launched."""
    body = "    offsets = offsets + 0 * n_elements  # " + "x" * 55 + "\n"
    parts = [HEAD]
    for number in range(count):
        kernel = KERNEL.replace("add_kernel", f"add_kernel_{number}")
        parts.append(kernel.replace("    mask = ", body * lines + "    mask = "))
    launches = "".join(
        f"add_kernel_{number}[(triton.cdiv(x.numel(), 1024),)]"
        "(x, y, output, x.numel(), BLOCK_SIZE=1024)\n"
        for number in range(count)
    )
    return "".join(parts) + launcher(f"output = torch.empty_like(x)\n{launches}return output")


def _deep_tuple(depth: int) -> str:
    return "(" * depth + "1," + ")," * (depth - 1) + ")"


def _faulty(count: int) -> str:
    """A kernel with many lines, each of which reads past the end of its argument."""
    reads = "".join(
        f"    x += tl.load(x_ptr + offsets + {number} * n_elements)\n" for number in range(count)
    )
    kernel = KERNEL.replace("    y = tl.load", reads + "    y = tl.load")
    return HEAD + kernel + launcher(LAUNCH)


def _findings(count: int) -> str:
    """A launcher in which each of many lines computes with torch."""
    return inside("".join(f"z_{number} = x + y\n" for number in range(count)))


def _tuner(configs: int) -> str:
    tuned = (
        "@triton.autotune([triton.Config({'BLOCK_SIZE': 1024}, num_warps=1 << (i % 4)) "
        f"for i in range({configs})], key=['n_elements'])\n"
    )
    launch = LAUNCH.replace(", BLOCK_SIZE=1024", "")
    return HEAD + tuned + KERNEL + launcher(launch)


HOSTILE: dict[str, str] = {
    "blank-lines": HEAD
    + "import sys\n"
    + KERNEL
    + "\n" * 20_000
    + launcher(_TRANSLATED.format(text="'zz'") + LAUNCH),
    "blank-lines-in-kernel": HEAD
    + KERNEL.replace("    mask = ", "\n" * 20_000 + "    mask = ")
    + launcher(LAUNCH),
    "module-fills": HEAD
    + "def filled(buffer):\n    for _ in range(6_000):\n        buffer.fill_(0)\n"
    + "    return buffer\n\nKEEP = filled(torch.empty(4))\n"
    + KERNEL
    + launcher("add_kernel[(1,)](x, y, KEEP, 0, BLOCK_SIZE=16)\n" + LAUNCH),
    "kernels": _kernels(60, 0),
    "kernels-of-100-kB": _kernels(60, 1_100),
    "two-thousand-kernels": _kernels(2_000, 0),
    "steps": inside("keep = torch.empty(4)\nfor _ in range(29_000):\n    keep.fill_(0)"),
    "launches": inside(
        "keep = torch.empty_like(x)\nfor _ in range(2_000):\n"
        "    add_kernel[(1,)](x, y, keep, x.numel(), BLOCK_SIZE=1024)"
    ),
    "configurations": _tuner(900),
    "dense-source": inside("table = [" + "0," * 450_000 + "]"),
    "dense-kernel": HEAD
    + KERNEL.replace("    mask = ", "    table = (" + "0," * 450_000 + ")\n    mask = ")
    + launcher(LAUNCH),
    "long-error": inside("raise ValueError('x' * 50_000_000)"),
    "long-name": inside("import sys\n" + _TRANSLATED.format(text="'x' * 3_900")),
    "long-line": honest() + "# " + "x" * 900_000 + "\n",
    "long-lines-in-kernel": HEAD
    + KERNEL.replace("    mask = ", "    offsets = offsets" + " + 0" * 5_000 + "\n    mask = ")
    + launcher(LAUNCH),
    "deep-value": instead(
        "output = torch.empty_like(x)\n"
        f"add_kernel[(1,)](x, y, output, {_deep_tuple(60)}, BLOCK_SIZE=1024)\nreturn output"
    ),
    "wide-values": inside(
        "keep = torch.empty_like(x)\nwide = tuple(range(190))\nfor _ in range(500):\n"
        "    add_kernel[(1,)](x, y, keep, tuple(wide for _ in range(20)), BLOCK_SIZE=1024)"
    ),
    "constants": inside(
        "for _ in range(200):\n    torch.tensor(list(range(120)), dtype=torch.int32)"
    ),
    "faults": _faulty(1_500),
    "findings": _findings(1_500),
    "names": HEAD
    + "".join(f"NAME_{n}: tl.constexpr = {n}\n" for n in range(3_000))
    + KERNEL.replace(
        "    mask = ",
        "".join(f"    offsets = offsets + 0 * NAME_{n}\n" for n in range(3_000)) + "    mask = ",
    )
    + launcher(LAUNCH),
}
