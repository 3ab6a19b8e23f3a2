"""Submissions on which a GPU and the interpreter differ, each for a reason that has a name."""

from __future__ import annotations

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"

ADD = (
    HEAD
    + """@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


def solve(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK_SIZE=64)
    return out
"""
)

DECOY = ADD.replace("    return out\n", "    return x + y\n")

SUM_OF_PRODUCTS = (
    HEAD
    + """@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, m, n, k, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T)
    j = tl.program_id(1) * T + tl.arange(0, T)
    total = tl.zeros((T, T), dtype=tl.float32)
    for start in range(0, k, T):
        p = start + tl.arange(0, T)
        inside_a = (i[:, None] < m) & (p[None, :] < k)
        inside_b = (p[:, None] < k) & (j[None, :] < n)
        a = tl.load(a_ptr + i[:, None] * k + p[None, :], mask=inside_a, other=0.0)
        b = tl.load(b_ptr + p[:, None] * n + j[None, :], mask=inside_b, other=0.0)
        total += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, mask=inside)


def solve(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    product_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, T=16)
    return c
"""
)

RACE = (
    HEAD
    + """@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr, tl.load(out_ptr) + tl.sum(x, axis=0))


def solve(x):
    out = torch.zeros(1, dtype=x.dtype, device=x.device)
    total_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK_SIZE=64)
    return out
"""
)

ATOMIC = RACE.replace(
    "tl.store(out_ptr, tl.load(out_ptr) + tl.sum(x, axis=0))",
    "tl.atomic_add(out_ptr, tl.sum(x, axis=0))",
)

FUSED = ADD.replace(
    "total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)",
    "x = tl.load(x_ptr + offsets, mask=mask)\n"
    "    total = x * x - tl.load(y_ptr + offsets, mask=mask)",
)

MAXIMUM = (
    HEAD
    + """@triton.jit
def maximum_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr, tl.max(x, axis=0))


def solve(x):
    out = torch.empty(1, dtype=x.dtype, device=x.device)
    maximum_kernel[(1,)](x, out, x.numel(), BLOCK_SIZE=1024)
    return out
"""
)
UNMASKED_LINE = MAXIMUM.splitlines().index("    x = tl.load(x_ptr + offsets, mask=offsets < n)") + 1

TUNED = (
    HEAD
    + """@triton.autotune(
    configs=[triton.Config({"BLOCK_SIZE": size}) for size in (32, 64, 128)], key=["n"]
)
@triton.jit
def block_kernel(out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offsets, BLOCK_SIZE + tl.zeros((BLOCK_SIZE,), tl.float32), mask=offsets < n)


def solve(x):
    out = torch.empty_like(x)
    block_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)](out, x.numel())
    return out
"""
)

# Of any strides, so that all of the exercise's cases are right in the interpreter.
MATMUL_BY_SUM = (
    SUM_OF_PRODUCTS.replace("c_ptr, m, n, k, T:", "c_ptr, m, n, k, am, ak, bk, bn, T:")
    .replace("a_ptr + i[:, None] * k + p[None, :]", "a_ptr + i[:, None] * am + p[None, :] * ak")
    .replace("b_ptr + p[:, None] * n + j[None, :]", "b_ptr + p[:, None] * bk + j[None, :] * bn")
    .replace("a[:, :, None] * b[None, :, :]", "a.to(tl.float32)[:, :, None] * b[None, :, :]")
    .replace("j[None, :], total,", "j[None, :], total.to(c_ptr.dtype.element_ty),")
    .replace(
        "(a, b, c, m, n, k, T=16)",
        "(\n        a, b, c, m, n, k, *a.stride(), *b.stride(), T=16\n    )",
    )
    .replace("def solve(", "def matmul(")
)
