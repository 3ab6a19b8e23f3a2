"""Attacks that want to cost the class its evening: time, memory, noise."""

from __future__ import annotations

from tests.attacks.attack import HEAD, KERNEL, LAUNCH, Attack, inside, instead, launcher


def _waste(name: str, goal: str, source: str, may_pass: bool = False) -> Attack:
    return Attack(name, goal, source, "none", may_pass=may_pass, safe_unjailed=False)


ATTACKS = (
    _waste("loop", "never end", inside("while True:\n    pass")),
    _waste("loop-in-kernel", "never end in the kernel",
           HEAD + KERNEL.replace("    mask = ", "    while n_elements >= 0:\n"
                                 "        n_elements += 0\n    mask = ") + launcher(LAUNCH)),
    _waste("loop-at-import", "never end while the module loads",
           HEAD + KERNEL + "def loop():\n    while True:\n        pass\n\nX = loop()\n"
           + launcher("x_was = X\n" + LAUNCH)),
    _waste("sleep", "sleep", inside("import time\ntime.sleep(1e6)")),
    _waste("long-instruction", "never end in one instruction", inside("(7 ** 7 ** 7 ** 7) % 5")),
    _waste("stubborn", "catch the end",
           inside("while True:\n    try:\n        while True:\n            pass\n"
                  "    except BaseException:\n        pass")),
    _waste("ignore-signals", "ignore the signal to end",
           inside("import signal\nfor n in range(1, 65):\n    try:\n"
                  "        signal.signal(n, signal.SIG_IGN)\n    except Exception:\n        pass\n"
                  "while True:\n    pass")),
    _waste("hoard", "take all memory",
           inside("keep = []\nwhile True:\n    keep.append(torch.ones(1 << 22))")),
    _waste("huge-tensor", "ask for all memory at once", inside("torch.zeros(1 << 40)")),
    _waste("huge-ones", "touch sixteen gigabytes", inside("big = torch.ones(1 << 32)")),
    _waste("huge-result", "return something enormous",
           instead("return torch.empty(1).expand(1 << 40)")),
    _waste("recursion", "call without end", instead("return vector_add(x, y)")),
    _waste("noise", "print without end",
           inside("while True:\n    print('x' * 100000)")),
    _waste("fifty-megabytes", "print 50 MB on one line",
           inside("print('x' * 50_000_000)"), may_pass=True),
    _waste("long-error", "raise 50 MB", inside("raise ValueError('x' * 50_000_000)")),
    _waste("colours", "raise escape codes and a script",
           inside("raise ValueError('\\x1b[2J\\x07\\u202e<script>alert(1)</script>')")),
    _waste("descriptors", "open files without end",
           inside("keep = []\nwhile True:\n    keep.append(open('/dev/null'))")),
    _waste("many-launches", "launch without end",
           inside("keep = torch.empty_like(x)\nwhile True:\n"
                  "    add_kernel[(1,)](x, y, keep, 0, BLOCK_SIZE=16)")),
    _waste("giant-grid", "ask for a thousand million programs",
           instead("output = torch.empty_like(x)\n"
                   "add_kernel[(1 << 30,)](x, y, output, x.numel(), BLOCK_SIZE=1024)\n"
                   "return output"), may_pass=True),
    _waste("giant-grid-of-three-axes", "ask for more programs than there are numbers",
           instead("output = torch.empty_like(x)\n"
                   "grid = 2**31 - 1, 65535, 65535\n"
                   "add_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=1024)\n"
                   "return output")),
    _waste("copy-of-too-many-elements", "copy more elements than there are numbers",
           inside("one = torch.empty(1)\nmany = one.expand(1 << 40, 1 << 40)\n"
                  "torch.empty_strided((1 << 40, 1 << 40), (0, 0)).copy_(many)")),
    _waste("table-of-zeros", "a table whose tree takes the judge's memory",
           HEAD + KERNEL + f"TABLE = [{'0, ' * 100_000}]\n" + launcher("TABLE\n" + LAUNCH)),
    _waste("giant-block", "ask for a giant block",
           instead("output = torch.empty_like(x)\n"
                   "add_kernel[(1,)](x, y, output, x.numel(), BLOCK_SIZE=1 << 30)\n"
                   "return output")),
    _waste("unrolled", "unroll a loop of a million steps",
           HEAD + KERNEL.replace("    mask = ", "    for step in tl.static_range(1000000):\n"
                                 "        offsets += step - step\n    mask = ")
           + launcher(LAUNCH)),
    _waste("deep-expression", "nest an expression ten thousand times",
           inside("z = " + "(" * 9_000 + "1" + ")" * 9_000)),
    _waste("long-source", "hand in two megabytes of comments",
           HEAD + "# " + "x" * 2_000_000 + "\n" + KERNEL + launcher(LAUNCH), may_pass=True),
)  # fmt: skip
