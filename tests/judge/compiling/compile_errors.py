# ruff: noqa: E501
"""Kernels that no GPU compiler accepts: name → (words of the message, the faulty line, kernel body).

Each body stands in `def kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr)`, after `PREAMBLE`;
`# here` marks the faulty line. `BEFORE` holds top-level lines that some of them need.
"""

from __future__ import annotations

PREAMBLE = """pid = tl.program_id(0)
offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
mask = offsets < n
x = tl.load(x_ptr + offsets, mask=mask)"""

STORE = "tl.store(out_ptr + offsets, x, mask=mask)"

BEFORE = {
    "plain-global": "FACTOR = 3\n",
    "python-helper": "",
    "helper-with-the-fault": (
        "@triton.jit\ndef helper(v):\n    w = v + 1\n    return w + undefined_thing(v)  # here\n"
    ),
}

ERRORS: dict[str, tuple[str, str]] = {
    "if-on-a-block": ("this condition is a whole block", "if x > 0:  # here\n    x = x + 1"),
    "while-on-a-block": ("condition must be one number", "while x > 0:  # here\n    x = x - 1"),
    "length-no-power-of-two": ("power of two", "y = tl.arange(0, 3)  # here"),
    "length-not-constexpr": ("known when the kernel is compiled", "y = tl.arange(0, n)  # here"),
    "plain-global": ("reads FACTOR, an ordinary global", "x = x * FACTOR  # here"),
    "break": ("Python (Break)", "for i in range(4):\n    break  # here"),
    "returns-a-value": ("returns nothing, and this one returns", f"{STORE}\nreturn x + 1  # here"),
    "type-changes-in-loop": (
        "total is int32 before the loop and becomes fp32",
        "total = 0\nfor i in range(n):  # here\n    total = total + 0.5",
    ),
    "one-branch-only": (
        "not every path of the kernel has set",
        "if pid == 0:\n    z = 1\nx = x + z  # here",
    ),
    "print-of-a-block": ("On a GPU `print` takes a plain text", "print(pid)  # here"),
    "print-of-an-f-string": ("and no f-string", 'print(f"pid {pid}")  # here'),
    "undefined-name": ("name that does not exist: nothing_here", "x = x + nothing_here  # here"),
    "unknown-tl-function": ("tl has no lode", "x = tl.lode(x_ptr)  # here"),
    "sizes-do-not-match": (
        "Two blocks do not fit together",
        "x = x + tl.arange(0, BLOCK_SIZE // 2)  # here",
    ),
    "block-through-one-pointer": ("only one pointer", "tl.store(out_ptr, x)  # here"),
    "load-from-a-number": ("tl.load needs pointers", "x = tl.load(n)  # here"),
    "pointer-indexed": ("cannot be indexed with [ ]", "x = x_ptr[pid]  # here"),
    "pointers-added": ("Two pointers cannot be added", "p = x_ptr + out_ptr  # here"),
    "small-dot": (
        "too small for tl.dot",
        "a = tl.zeros((4, 4), tl.float16)\nx = tl.dot(a, a)  # here",
    ),
    "dot-of-two-dtypes": (
        "two operands of the same dtype",
        "a = tl.zeros((16, 16), tl.float16)\nx = tl.dot(a, a.to(tl.float32))  # here",
    ),
    "accumulator-of-another-shape": (
        "does not have the shape of the product",
        "a = tl.zeros((16, 32), tl.float16)\nb = tl.zeros((32, 16), tl.float16)\n"
        "x = tl.dot(b, a, tl.zeros((16, 16), tl.float32))  # here",
    ),
    "half-accumulator": (
        "is a block of fp16 of shape (16, 16) before the loop",
        "c = tl.zeros((16, 16), tl.float16)\nfor i in range(n):  # here\n    c = c + 0.5 * c.to(tl.float32)",
    ),
    "huge-block": ("Triton allows", "x = tl.zeros((2048, 2048), tl.float32)  # here"),
    "mask-of-another-shape": (
        "Two blocks do not fit together",
        "m = tl.arange(0, BLOCK_SIZE // 2) < n\nx = tl.load(x_ptr + offsets, mask=m)  # here",
    ),
    "too-few-arguments": ("lacks an argument", "x = tl.load()  # here"),
    "helper-with-the-fault": ("name that does not exist: undefined_thing", "x = helper(x)"),
    "one-dimension-too-many": (
        "shape",
        "tl.store(out_ptr + offsets[:, None], x[None, :, None])  # here",
    ),
}
