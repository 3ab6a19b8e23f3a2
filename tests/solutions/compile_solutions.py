"""Compile every launch of every model solution for a GPU that need not be there.

`python tests/solutions/compile_solutions.py --target 75` prints one JSON line per kernel of the
plain solutions: how much shared memory it takes, and the error if it does not compile. With
`--few` it takes one fp16 case per exercise (with `--half bf16` a bf16 case instead), without it
every case there is. `--form gluon` compiles the kernels written in Gluon, for Hopper only.
The launchers run on CPU tensors; instead of starting a kernel, each launch is compiled with
exactly the argument types, constants and divisibilities that it would have had.
TRITON_INTERPRET must not be set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from solutions.fast import attention, hopper_few_rows, hopper_fp8, hopper_matmul
from tests.solutions.run_solution_cases import launcher_of
from tests.solutions.solution_cases import SolvedCase, all_cases

POINTERS = {
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float64: "*fp64",
    torch.bool: "*i1",
    torch.uint8: "*u8",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
# The shared memory that one program may have, in bytes, by compute capability.
SHARED_MEMORY = {75: 64 * 1024, 80: 163 * 1024, 86: 99 * 1024, 89: 99 * 1024, 90: 227 * 1024}
HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Launches:
    """Stands in for `JITFunction.run` and compiles what would have been launched."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)
        self.seen: set[str] = set()
        self.facts: list[dict[str, Any]] = []

    def last_error(self) -> str:
        """What was wrong with the last launch, or nothing."""
        return self.facts[-1]["error"] if self.facts else ""

    def compile(self, kernel: Any, arguments: dict[str, Any], options: dict[str, Any]) -> None:
        """Compile one launch, unless the very same one was compiled before."""
        signature, constants, attributes = describe(kernel, arguments)
        key = repr((kernel.fn.__qualname__, signature, constants, attributes, options))
        if key in self.seen:
            return
        self.seen.add(key)
        fact = {"kernel": kernel.fn.__qualname__, "signature": list(signature.values())}
        try:
            source = ASTSource(kernel, signature, constants, attributes)
            compiled = triton.compile(source, target=self.target, options=options)
            shared = compiled.metadata.shared
            limit = SHARED_MEMORY[self.target.arch]
            error = f"{shared} bytes of shared memory" if shared > limit else ""
            self.facts.append({**fact, "shared": shared, "error": error})
        except Exception as error:  # whatever the compiler says is the result
            self.facts.append({**fact, "error": f"{type(error).__name__}: {error}"[:500]})


def describe(kernel: Any, arguments: dict[str, Any]) -> tuple[dict, dict, dict]:
    """Signature, constants and attributes, by the rules that a real launch follows."""
    signature, constants, attributes = {}, {}, {}
    for position, parameter in enumerate(kernel.params):
        value = arguments[parameter.name]
        if parameter.is_constexpr:
            signature[parameter.name] = "constexpr"
            constants[(position,)] = value
        else:
            kind = kind_of(value, (position,), constants, attributes)
            signature[parameter.name] = kind
    return signature, constants, attributes


def kind_of(value: Any, path: tuple[int, ...], constants: dict, attributes: dict) -> Any:
    """The type of one argument, of each item of a tuple; notes constants and divisibilities."""
    if isinstance(value, tuple):
        items = enumerate(value)
        return tuple(kind_of(item, (*path, i), constants, attributes) for i, item in items)
    if value is None or (type(value) is int and value == 1):
        constants[path] = value
        return "constexpr"
    if isinstance(value, float):
        return "fp32"
    if isinstance(value, torch.Tensor):
        # On a GPU every allocation is aligned; a view may start anywhere.
        aligned, kind = value.storage_offset() * value.element_size(), POINTERS[value.dtype]
    else:
        aligned, kind = value, "i32" if -(2**31) <= value < 2**31 else "i64"
    if aligned % 16 == 0:
        attributes[path] = [["tt.divisibility", 16]]
    return kind


def record_launches(launches: Launches) -> None:
    """From here on a launch compiles and does nothing else, in every autotuner's config."""

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        names = [parameter.name for parameter in self.params]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        options = {name: value for name, value in kwargs.items() if name not in names}
        defaults = {p.name: p.default for p in self.params if p.name not in given}
        meta = {**defaults, **given}
        size = grid(meta) if callable(grid) else grid
        if all(extent > 0 for extent in size):
            launches.compile(self, meta, options)

    def run_all(self: Any, *args: Any, **kwargs: Any) -> None:
        for config in self.configs:
            self.fn.run(*args, **kwargs, **config.all_kwargs())
            # On a GPU the autotuner leaves out what does not fit, but the first always must.
            if config is not self.configs[0] and "shared memory" in launches.last_error():
                launches.facts.pop()

    JITFunction.run = run
    Autotuner.run = run_all


def cases_of(form: str, few: bool, half: torch.dtype) -> Iterator[SolvedCase]:
    """The cases that apply. A T4 has no bf16 arithmetic, but Triton computes it by fp32 there."""
    seen = set()
    for case in all_cases():
        args = case.args(torch.Generator().manual_seed(0))
        if launcher_of(case, form) is None:
            continue
        if few and (case.exercise in seen or not is_typical(case, args, half)):
            continue
        seen.add(case.exercise)
        yield case


def is_typical(case: SolvedCase, args: tuple[Any, ...], half: torch.dtype) -> bool:
    """Whether a case stands for its exercise: half precision where it has that, not empty."""
    x = args[0]
    if not isinstance(x, torch.Tensor):
        return x > 1
    return x.numel() > 1 and (x.dtype == half or case.exercise == "copy")


def compile_plain(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every kernel that the launchers of the plain solutions would start."""
    launches = Launches(options.target)
    record_launches(launches)
    for case in cases_of("plain", options.few, HALVES[options.half]):
        if options.only in case.exercise:
            launcher_of(case, "plain")(*case.args(torch.Generator().manual_seed(0)))
            for fact in launches.facts:
                yield {"exercise": case.exercise, "case": case.name, **fact}
            launches.facts.clear()


def descriptor(*shape: int, dtype: gl.dtype = gl.float16) -> str:
    """The signature of a tensor descriptor of this block shape."""
    layout = gl.NVMMASharedLayout.get_default_for(list(shape), dtype)
    return f"tensordesc<{dtype}{list(shape)},{layout!r}>"


def gluon_launches() -> Iterator[tuple[Any, dict[str, str], dict[str, Any]]]:
    """Kernel, signature and constants of each way in which a Gluon kernel is launched."""
    sizes = dict.fromkeys(("M", "N", "K", "n_heads", "n_tiles"), "i32")
    for transposed in (False, True):
        signature = {
            "a_desc": descriptor(64, 64),
            "b_desc": descriptor(256, 64) if transposed else descriptor(64, 256),
            "c_desc": descriptor(64, 256),
            "bias_ptr": "*fp16",
        }
        tile = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 16, "STAGES": 3}
        kind = {"B_TRANSPOSED": transposed, "BIAS_RELU": transposed}
        yield hopper_matmul.hopper_matmul_kernel, {**sizes, **signature}, {**tile, **kind}
    bytes_of_fp8 = {
        "a_desc": descriptor(64, 128, dtype=gl.float8e4nv),
        "b_desc": descriptor(128, 128, dtype=gl.float8e4nv),
        "c_desc": descriptor(64, 128, dtype=gl.bfloat16),
        **dict.fromkeys(("scale_a_ptr", "scale_b_ptr"), "*fp32"),
    }
    tile = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "GROUP": 8, "STAGES": 4}
    yield hopper_fp8.hopper_fp8_kernel, {**sizes, **bytes_of_fp8}, tile
    yield from launches_of_few_rows()
    four = (1, 1)
    for d, causal, lead in ((64, True, four), (128, False, four), (128, True, ()), (256, True, ())):
        groups, block_n, stages, query_stages, _ = attention.sizes_of(d, 4096, causal)
        blocks = {f"{name}_desc": descriptor(*lead, 64, d) for name in "qo"}
        blocks |= {f"{name}_desc": descriptor(*lead, block_n, d) for name in "kv"}
        meta = {"GROUPS": groups, "D": d, "BLOCK_N": block_n, "STAGES": stages}
        meta |= {"QUERY_STAGES": query_stages, "EACH": 1 + causal, "CAUSAL": causal}
        yield attention.hopper_attention_kernel, {**sizes, "scale": "fp32", **blocks}, meta


def launches_of_few_rows() -> Iterator[tuple[Any, dict[str, str], dict[str, Any]]]:
    """4-bit weights for up to 8 rows, and for up to 16."""
    n, warps = hopper_few_rows.BLOCK_N, hopper_few_rows.WARPS
    types = dict.fromkeys(("a_ptr", "scales_ptr", "c_ptr"), "*fp16")
    types |= {"packed_ptr": "*i32", "zeros_ptr": "*u8", "M": "i32", "N": "i32"}
    for rows in (8, 16):
        meta = {"K": 4096, "GROUP": 128, "ROWS": rows, "BLOCK_N": n, "WARPS": warps}
        meta |= {
            "words_layout": hopper_few_rows.layout_of_words(n, warps),
            "a_layout": hopper_few_rows.layout_of_a(rows, warps),
            "sums_layout": hopper_few_rows.layout_of_sums(n, rows, warps),
        }
        yield hopper_few_rows.hopper_few_rows_kernel, types, meta


def compile_gluon() -> Iterator[dict[str, Any]]:
    """The fast kernels for Hopper."""
    for kernel, types, constants in gluon_launches():
        names = [parameter.name for parameter in kernel.params]
        signature = {name: "constexpr" if name in constants else types[name] for name in names}
        values = {(names.index(name),): value for name, value in constants.items()}
        whole = [["tt.divisibility", 16]]  # as for tensors that begin and end at whole vectors
        divisible = {(i,): whole for i, name in enumerate(names) if name.endswith("_ptr")}
        if "N" in names:
            divisible[(names.index("N"),)] = whole
        source = GluonASTSource(kernel, signature, values, divisible)
        registers = attention.MAX_REGISTERS[constants.get("GROUPS", 2)]
        options: dict[str, Any] = {"num_warps": 4, "maxnreg": registers}
        if "WARPS" in constants:
            options = {"num_warps": constants["WARPS"]}
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
        ptx = compiled.asm["ptx"]
        yield {
            "exercise": kernel.fn.__name__,
            "case": str(constants),
            "shared": compiled.metadata.shared,
            "wgmma": "wgmma.mma_async" in ptx,
            "mma": "mma.sync" in ptx,
            "wide_loads": "ld.global.v4" in ptx,
            "tma": "cp.async.bulk.tensor" in ptx,
            "registers_moved": "setmaxnreg" in ptx,
            "error": "spills" if "st.local" in ptx else "",
        }


def main() -> None:
    """Compile one form of all solutions for one target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=int, default=90)
    parser.add_argument("--form", choices=("plain", "gluon"), default="plain")
    parser.add_argument("--only", default="", help="exercises whose names contain this")
    parser.add_argument("--few", action="store_true", help="one typical case per exercise")
    parser.add_argument("--half", choices=sorted(HALVES), default="fp16", help="of those few")
    options = parser.parse_args()
    for fact in compile_gluon() if options.form == "gluon" else compile_plain(options):
        print(json.dumps(fact), flush=True)


if __name__ == "__main__":
    main()
