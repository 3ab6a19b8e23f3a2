"""Which operations of `triton.language` the engine computes, tried one by one.

    TRITON_INTERPRET=1 python benchmarks/operations.py          print docs/operations.md
    TRITON_INTERPRET=1 python benchmarks/operations.py --write  write it

Each public name gets a small kernel, which runs in the engine and in triton's own interpreter.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TRITON_INTERPRET", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch
import triton
import triton.language as tl

from triton_util.interpreter import KernelFault, interpret, unguarded_launches

PAGE = ROOT / "docs" / "operations.md"
# ruff: noqa: E402
# Types, constants and modules: nothing that could be computed.
NOT_OPERATIONS = frozenset(
    [
        "PropagateNan",
        "TRITON_MAX_TENSOR_NUMEL",
        "bfloat16",
        "block_type",
        "const",
        "constexpr",
        "constexpr_type",
        "dtype",
        "extra",
        "float16",
        "float32",
        "float64",
        "float8e4b15",
        "float8e4nv",
        "float8e4b8",
        "float8e5",
        "float8e5b16",
        "int1",
        "int16",
        "int32",
        "int64",
        "int8",
        "math",
        "pi32_t",
        "pointer_type",
        "slice",
        "tensor",
        "tensor_descriptor",
        "tuple",
        "uint16",
        "uint32",
        "uint64",
        "uint8",
        "void",
        "philox_impl",
    ]
)
# name: (statements, the expression of 16 lanes that is stored). x: floats, h: half, i: integers.
KERNELS: dict[str, tuple[str, str]] = {
    **{
        name: ("", f"tl.{name}(tl.abs(x) + 0.5)")
        for name in [
            "exp",
            "exp2",
            "log",
            "log2",
            "sin",
            "cos",
            "sqrt",
            "sqrt_rn",
            "rsqrt",
            "erf",
            "floor",
            "ceil",
            "abs",
            "sigmoid",
        ]
    },
    **{
        name: ("", f"tl.{name}(x, h)")
        for name in ["maximum", "minimum", "add", "sub", "mul", "fdiv"]
    },
    **{
        name: ("", f"x + tl.{name}(x, axis=0)")
        for name in ["sum", "max", "min", "argmax", "argmin"]
    },
    **{name: ("", f"i + tl.{name}(i, axis=0)") for name in ("xor_sum", "reduce_or")},
    **{name: ("", f"tl.{name}(x, 0)") for name in ["cumsum", "cumprod", "softmax", "flip", "sort"]},
    **{
        f"atomic_{name}": ("", f"tl.atomic_{name}(c_ptr + lanes, i)")
        for name in ["add", "and", "max", "min", "or", "xchg", "xor"]
    },
    **{name: ("", f"tl.{name}(7, lanes)") for name in ["rand", "randn", "randint"]},
    **{
        name: (f"a, b, c, d = tl.{name}(7, lanes)", "a + b + c + d")
        for name in ["rand4x", "randn4x", "randint4x"]
    },
    "advance": (
        "b = tl.make_block_ptr(x_ptr, (16,), (1,), (0,), (16,), (0,))",
        "tl.load(tl.advance(b, (0,)))",
    ),
    "arange": ("", "tl.arange(0, N)"),
    "associative_scan": ("", "tl.associative_scan(x, 0, combine)"),
    "assume": ("tl.assume(N == 16)", "x"),
    "atomic_cas": ("", "tl.atomic_cas(c_ptr + lanes, 0, i)"),
    "atomic_load": ("", "tl.atomic_load(c_ptr + lanes)"),
    "atomic_poll": ("", "tl.atomic_poll(c_ptr, 0).to(tl.float32) + x"),
    "atomic_store": ("tl.atomic_store(c_ptr + lanes, i)", "tl.load(c_ptr + lanes)"),
    "bitonic_merge": ("", "tl.bitonic_merge(x)"),
    "broadcast": ("a, b = tl.broadcast(x, tl.sum(x, axis=0))", "a + b"),
    "broadcast_to": ("", "tl.broadcast_to(tl.sum(x, axis=0), (N,))"),
    "cast": ("", "tl.cast(x * 9, tl.int32)"),
    "cat": ("", "tl.sum(tl.reshape(tl.cat(x, x, can_reorder=True), (N, 2)), axis=1)"),
    "cdiv": ("", "tl.cdiv(i, 3)"),
    "clamp": ("", "tl.clamp(x, -0.5, 0.5)"),
    "condition": (
        "steps = 0\nwhile tl.condition(steps < 3):\n    steps += 1",
        "x + steps",
    ),
    "debug_barrier": ("tl.debug_barrier()", "x"),
    "device_assert": ("tl.device_assert(i >= 0, 'negative')", "x"),
    "device_print": ("if N < 0:\n    tl.device_print('x', x)", "x"),
    "div_rn": ("", "tl.div_rn(x, 3.0 + h.to(tl.float32))"),
    "dot": ("", "tl.sum(tl.dot(m, m), axis=1)"),
    "dot_scaled": (
        "e = tl.full((16, 64), 1.0, tl.float8e5)\n"
        "f = tl.full((64, 16), 2.0, tl.float8e5)\n"
        "s = tl.full((16, 2), 127, tl.uint8)",
        "tl.sum(tl.dot_scaled(e, s, 'e5m2', f, s, 'e5m2'), axis=1)",
    ),
    "expand_dims": ("", "tl.sum(tl.expand_dims(x, 1), axis=1)"),
    "expect_zero": ("", "x"),
    "fma": ("", "tl.fma(x, x, x)"),
    "full": ("", "tl.full((N,), 3.0, tl.float32)"),
    "gather": ("", "tl.gather(x, i, 0)"),
    "histogram": ("", "tl.histogram(i, 16)"),
    "inline_asm_elementwise": (
        "",
        "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [x], tl.float32, True, 1)",
    ),
    "interleave": ("", "tl.sum(tl.reshape(tl.interleave(x, x), (N, 2)), axis=1)"),
    "join": ("", "tl.sum(tl.join(x, x * 2), axis=1)"),
    "load": ("", "tl.load(x_ptr + lanes, mask=lanes < 9, other=1.0)"),
    "load_tensor_descriptor": (
        "d = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [16, 16])",
        "tl.sum(tl.load_tensor_descriptor(d, [0, 0]), axis=1)",
    ),
    "make_block_ptr": (
        "b = tl.make_block_ptr(x_ptr, (16,), (1,), (0,), (16,), (0,))",
        "tl.load(b)",
    ),
    "make_tensor_descriptor": (
        "d = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [16, 16])",
        "tl.sum(d.load([0, 0]), axis=1)",
    ),
    "map_elementwise": ("", "tl.map_elementwise(halved, x)"),
    "max_constancy": ("", "x + tl.max_constancy(i, 1)"),
    "max_contiguous": ("", "x + tl.max_contiguous(i, 1)"),
    "multiple_of": ("", "x + tl.multiple_of(i, 1)"),
    "num_programs": ("", "x + tl.num_programs(0)"),
    "pair_uniform_to_normal": ("a, b = tl.pair_uniform_to_normal(u, u)", "a + b"),
    "permute": ("", "tl.sum(tl.permute(m, (1, 0)), axis=0)"),
    "philox": ("a, b, c, d = tl.philox(7, lanes, 0, 0, 0)", "a + b + c + d"),
    "program_id": ("", "x + tl.program_id(0)"),
    "range": ("s = x\nfor k in tl.range(0, 4):\n    s += k", "s"),
    "ravel": ("", "tl.reshape(tl.ravel(m), (16, 16)) if N < 0 else tl.sum(m, axis=0)"),
    "reduce": ("", "x + tl.reduce(x, 0, combine)"),
    "reshape": ("", "tl.sum(tl.reshape(x, (N, 1)), axis=1)"),
    "split": ("a, b = tl.split(tl.join(x, x * 2))", "a - b"),
    "squeeze": ("", "tl.squeeze(x[:, None], 1)"),
    "static_assert": ("tl.static_assert(N == 16)", "x"),
    "static_print": ("if N < 0:\n    tl.static_print(N)", "x"),
    "static_range": ("s = x\nfor k in tl.static_range(4):\n    s += k", "s"),
    "store": ("tl.store(x_ptr + lanes, x * 2)", "tl.load(x_ptr + lanes)"),
    "store_tensor_descriptor": (
        "d = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [16, 16])\n"
        "tl.store_tensor_descriptor(d, [0, 0], m)",
        "tl.load(x_ptr + lanes)",
    ),
    "swizzle2d": ("a, b = tl.swizzle2d(i // 4, i % 4, 4, 4, 2)", "a * 4 + b"),
    "target_info": ("", "x"),
    "to_tensor": ("", "x + tl.to_tensor(3.0)"),
    "topk": ("", "x + tl.sum(tl.topk(x, 4), axis=0)"),
    "trans": ("", "tl.sum(tl.trans(m), axis=1)"),
    "uint_to_uniform_float": ("", "tl.uint_to_uniform_float(tl.randint(7, lanes))"),
    "umulhi": ("", "tl.umulhi(i.to(tl.uint32) + 2147483648, i.to(tl.uint32) * 7)"),
    "unsqueeze": ("", "tl.sum(tl.unsqueeze(x, 1), axis=1)"),
    "view": ("", "tl.sum(tl.view(x, (N, 1)), axis=1)"),
    "where": ("", "tl.where(x > 0, x, -x)"),
    "zeros": ("", "tl.zeros((N,), tl.float32)"),
    "zeros_like": ("", "tl.zeros_like(x) + 1"),
}
HEADER = """import triton
import triton.language as tl

@triton.jit
def combine(a, b):
    return a + b

@triton.jit
def halved(a):
    if a > 0:
        return a * 0.5
    else:
        return a * 2.0
"""
KERNEL = """
@triton.jit
def probe_{name}(x_ptr, h_ptr, i_ptr, c_ptr, output_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x, h, i = tl.load(x_ptr + lanes), tl.load(h_ptr + lanes), tl.load(i_ptr + lanes)
    m = tl.load(x_ptr + lanes[:, None] * N + lanes[None, :])
    u = tl.abs(x) / 10.0 + 0.01
{statements}
    tl.store(output_ptr + lanes, {expression})
"""


def public_operations() -> list[str]:
    """The names in `triton.language` that compute something, in this version of triton."""
    return sorted(name for name in tl.__all__ if name not in NOT_OPERATIONS)


def probes() -> ModuleType:
    """A module with one kernel for each name, written to a file, as kernels need their source."""
    parts = [HEADER]
    for name in public_operations():
        statements, expression = KERNELS[name]
        indented = "\n".join(f"    {line}" for line in statements.splitlines())
        parts.append(KERNEL.format(name=name, statements=indented, expression=expression))
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("".join(parts))
    spec = importlib.util.spec_from_file_location("operation_probes", file.name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launched(kernel: Any) -> torch.Tensor:
    """What the kernel stores, on fixed inputs."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(256, generator=generator)
    half = torch.rand(16, generator=generator).half() + 0.5
    integers, counters = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    output = torch.zeros(16)
    kernel[(1,)](x, half, integers, counters, output, N=16)
    return output


def in_engine(kernel: Any) -> tuple[str, torch.Tensor | None]:
    """("yes" or why not, result)."""
    try:
        with warnings.catch_warnings(), interpret():
            warnings.simplefilter("ignore")  # triton's, about what it will remove
            warnings.simplefilter("error", RuntimeWarning)
            return "yes", launched(kernel)
    except KernelFault as error:
        if "have been removed" in error.fault.original:
            return "gone from this triton", None
        said = "not interpreted" if error.fault.code == "not-interpreted" else "kernel-error"
        return said, None


def in_stock(kernel: Any, expected: torch.Tensor | None) -> str:
    """How triton's own interpreter fares with the same kernel."""
    try:
        with warnings.catch_warnings(), unguarded_launches():
            warnings.simplefilter("ignore")
            found = launched(kernel)
    except Exception as error:
        return f"no ({type(error).__name__})"
    if expected is None:
        return "yes"
    same = torch.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    return "yes" if same else "another result"


def compared_with_a_gpu() -> set[str]:
    """The operations in the kernels whose outputs on an H200 were recorded."""
    folder = ROOT / "tests" / "triton_util" / "interpreter"
    recorded = torch.load(folder / "h200_outputs.pt")
    text = "".join((folder / name).read_text() for name in ("zoo.py", "compare_gpu.py"))
    pieces = re.split(r"\n@case\n", text)
    names: set[str] = set()
    for before, after in itertools.pairwise(pieces):
        case = re.match(r"def (\w+)", after)
        if case and isinstance(recorded.get(case.group(1)), tuple):
            kernels = before[before.rfind("\n@case") + 1 :] + after.split("\n@triton.jit")[0]
            names |= set(re.findall(r"\btl\.(\w+)\(", kernels))
    return names


def page() -> str:
    """The text of docs/operations.md for this version of triton."""
    module, recorded = probes(), compared_with_a_gpu()
    rows, computed = [], 0
    for name in public_operations():
        kernel = getattr(module, f"probe_{name}")
        engine, result = in_engine(kernel)
        computed += engine == "yes"
        gpu = "yes" if name in recorded else ""
        rows.append(f"| `tl.{name}` | {engine} | {in_stock(kernel, result)} | {gpu} |")
    return "\n".join(
        [
            "# Operations",
            "",
            "The table shows what the engine does with each operation of `triton.language`. "
            "`python benchmarks/operations.py --write` runs one small kernel for each operation "
            "and writes this page; a test compares the page with the engine.",
            "",
            "- *engine*: the checked interpreter. If an operation is *not interpreted*, the judge "
            "leaves a submission that uses it ungraded.",
            "- *Triton's own*: the result of the same kernel with `TRITON_INTERPRET=1` alone.",
            "- *GPU*: the tests compare kernels with this operation with the outputs of an H200.",
            "",
            f"Triton {triton.__version__}: {computed} of {len(rows)} operations are computed.",
            "",
            "| operation | engine | Triton's own | GPU |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/operations.md")
    if parser.parse_args().write:
        PAGE.write_text(page())
    else:
        print(page())


if __name__ == "__main__":
    main()
