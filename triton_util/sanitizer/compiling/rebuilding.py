"""The kernels of a description, rebuilt from their text in a process that compiles."""

from __future__ import annotations

import builtins
import importlib
import inspect
import textwrap
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.jit import JITFunction, create_function_from_signature

from triton_util.explain.launches import SeenLaunch


class Address:
    """Replaces a tensor: Triton specialises a kernel only on its dtype and alignment."""

    def __init__(self, dtype: str, aligned: bool) -> None:
        self.dtype = getattr(torch, dtype)
        self._address = 0 if aligned else 8

    def data_ptr(self) -> int:
        """A number with the tensor's alignment."""
        return self._address


class Kernels:
    """The functions of one description."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description
        self.made: dict[int, JITFunction[Any]] = {}

    def function(self, number: int) -> JITFunction[Any]:
        """The kernel or helper with this number."""
        if number not in self.made:
            self._make(number)
        return self.made[number]

    def _make(self, number: int) -> None:
        entry = self.description["functions"][number]
        text = textwrap.dedent(entry["source"])
        lines = text.split("\n")
        skipped = next(at for at, line in enumerate(lines) if line.startswith(("def ", "async ")))
        line = entry["line"] + skipped
        scope: dict[str, Any] = {"__builtins__": builtins, "__name__": entry["module"]}
        later = {}
        for name, value in entry["names"].items():
            if "function" in value:
                later[name] = value["function"]
            else:
                scope[name] = self.value(value)
        code = "\n" * (line - 1) + "\n".join(lines[skipped:])
        exec(compile(code, entry["file"], "exec", dont_inherit=True), scope)
        function = scope[entry["name"]]
        self.made[number] = _jit(function, lines[skipped:], line, entry["options"])
        for name, other in later.items():
            scope[name] = self.function(other)
        scope[entry["name"]] = self.made[number]

    def value(self, value: dict[str, Any]) -> Any:
        """The value of a name or a constant of the description."""
        [kind] = [name for name in value if name != "torch"]
        given = value[kind]
        if kind == "function":
            return self.function(given)
        if kind == "constexpr":
            return tl.constexpr(self.value(given))
        if kind == "dtype":
            return getattr(torch, given.removeprefix("torch.")) if value["torch"] else _dtype(given)
        if kind == "tuple":
            return tuple(self.value(part) for part in given)
        if kind == "float":
            return float(given)
        if kind == "module":
            return importlib.import_module(given)
        if kind == "member":
            found: Any = importlib.import_module(given[0])
            for part in given[1].split("."):
                found = getattr(found, part)
            return found
        return given

    def argument(self, value: dict[str, Any]) -> Any:
        """An argument of the launch, reduced to what the compiler uses."""
        if "pointer" in value:
            return Address(value["pointer"], value["aligned"])
        if "descriptor" in value:
            from triton.tools.tensor_descriptor import TensorDescriptor

            base = self.argument(value["descriptor"])
            made = TensorDescriptor.__new__(TensorDescriptor)
            made.base, made.padding = base, value["padding"]
            made.shape, made.strides = value["shape"], value["strides"]
            made.block_shape = value["block_shape"]
            made.round_f32_to_tf32 = False
            return made
        if "tuple" in value:
            return tuple(self.argument(part) for part in value["tuple"])
        return self.value(value)

    def launch(self) -> SeenLaunch:
        """The launch as Triton specialises it."""
        kernel = self.function(self.description["kernel"])
        named = {k: self.argument(v) for k, v in self.description["arguments"].items()}
        named |= {k: self.value(v) for k, v in self.description["options"].items()}
        target = GPUTarget("cuda", self.description["target"], 32)
        binder = create_function_from_signature(
            kernel.signature, kernel.params, make_backend(target)
        )
        bound, specialization, _ = binder(**named)
        return SeenLaunch(kernel, specialization, bound, named, False, None)


def _jit(function: Any, lines: list[str], line: int, options: dict[str, Any]) -> JITFunction[Any]:
    """`triton.jit` for a function with known text; its file may have changed or not exist."""
    block = inspect.getblock([f"{text}\n" for text in lines])
    original = inspect.getsourcelines
    inspect.getsourcelines = lambda _: (block, line)  # type: ignore[assignment]
    try:
        return triton.jit(function, **options)
    finally:
        inspect.getsourcelines = original


def _dtype(name: str) -> Any:
    return tl.str_to_ty(_SHORT.get(name, name), None)


_SHORT = {f"int{bits}": f"i{bits}" for bits in (1, 8, 16, 32, 64)}
_SHORT |= {f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)}
