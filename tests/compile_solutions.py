"""Compile every launch of every model solution for a GPU that need not be there.

`python tests/compile_solutions.py --target 75 --form plain` prints one JSON line per kernel:
its registers-independent facts (shared memory, warps) and the error, if it does not compile.
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
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.run_solution_cases import launcher_of, uses_bf16
from tests.solution_cases import SolvedCase, all_cases

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


class Launches:
    """Stands in for `JITFunction.run` and compiles what would have been launched."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)
        self.seen: set[str] = set()
        self.facts: list[dict[str, Any]] = []

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
        if parameter.is_constexpr or value is None or (type(value) is int and value == 1):
            signature[parameter.name] = "constexpr"
            constants[(position,)] = value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = POINTERS[value.dtype]
            # On a GPU every allocation is aligned; a view may start anywhere.
            if value.storage_offset() * value.element_size() % 16 == 0:
                attributes[(position,)] = [["tt.divisibility", 16]]
        elif isinstance(value, float):
            signature[parameter.name] = "fp32"
        else:
            signature[parameter.name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            if value % 16 == 0:
                attributes[(position,)] = [["tt.divisibility", 16]]
    return signature, constants, attributes


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

    JITFunction.run = run
    Autotuner.run = run_all


def cases_of(form: str, capability: int) -> Iterator[SolvedCase]:
    """The cases that apply; a T4 has no bfloat16."""
    for case in all_cases():
        args = case.args(torch.Generator().manual_seed(0))
        if launcher_of(case, form) is not None and not (capability < 80 and uses_bf16(args)):
            yield case


def main() -> None:
    """Compile one form of all solutions for one target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=int, default=90)
    parser.add_argument("--form", choices=("plain", "fast"), default="plain")
    parser.add_argument("--only", default="", help="exercises whose names contain this")
    options = parser.parse_args()
    launches = Launches(options.target)
    record_launches(launches)
    for case in cases_of(options.form, options.target):
        if options.only in case.exercise:
            launcher_of(case, options.form)(*case.args(torch.Generator().manual_seed(0)))
            for fact in launches.facts:
                print(json.dumps({"exercise": case.exercise, "case": case.name, **fact}))
            launches.facts.clear()


if __name__ == "__main__":
    main()
