"""A kernel as plain data, from which the compiling process rebuilds it without the program.

A kernel needs the functions, constants and modules that its text names. The program itself is not
run a second time.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from typing import Any

import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as stock

PLAIN = (bool, int, float, str, type(None))


class Opaque(Exception):  # noqa: N818
    """A kernel names something that cannot be rebuilt elsewhere; the message says what."""


class Description:
    """The functions that a kernel consists of, by number."""

    def __init__(self, kernel: Any) -> None:
        self.functions: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}
        self.kernel = self._function(kernel)

    def _function(self, interpreted: Any) -> int:
        function = interpreted.fn
        if id(function) in self._numbers:
            return self._numbers[id(function)]
        number = self._numbers[id(function)] = len(self.functions)
        try:
            lines, line = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines)))
        except (OSError, TypeError, SyntaxError) as error:
            raise Opaque(f"the source of {function.__name__}") from error
        entry = {
            "name": function.__name__,
            "module": function.__module__,
            "file": function.__code__.co_filename,
            "line": line,
            "source": "".join(lines),
            "options": _options(interpreted),
            "names": {},
        }
        self.functions.append(entry)
        known = {**function.__globals__, **_closure(function)}
        for name in sorted(_names(tree)):
            if name in known:
                entry["names"][name] = self.value(known[name], name)
        return number

    def value(self, value: Any, name: str = "") -> Any:
        """Describe a value that a kernel names, or gets as a constant."""
        if isinstance(value, stock.InterpretedFunction):
            return {"function": self._function(value)}
        if isinstance(value, tl.constexpr):
            return {"constexpr": self.value(value.value, name)}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        if isinstance(value, PLAIN):
            return {"plain": value}
        if isinstance(value, (tl.dtype, torch.dtype)):
            return {"dtype": str(value), "torch": isinstance(value, torch.dtype)}
        if isinstance(value, (tuple, list)):
            return {"tuple": [self.value(part, name) for part in value]}
        if isinstance(value, (torch.Tensor, dict, set)):
            return {"plain": None}  # the compiler rejects the name, whatever its value
        if inspect.ismodule(value):
            return {"module": value.__name__}
        module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if module and path and "<" not in path and module.split(".")[0] in ("triton", "builtins"):
            return {"member": [module, path]}
        raise Opaque(f"{name}, a {type(value).__name__}")


def _closure(function: Any) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    return found


def _names(tree: ast.Module) -> set[str]:
    """The global names that a function uses, without those of its decorators."""
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names - own | _quoted_annotations(tree)


def _quoted_annotations(tree: ast.Module) -> set[str]:
    texts = {
        node.annotation.value
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        and isinstance(node.annotation, ast.Constant)
        and isinstance(node.annotation.value, str)
    }
    return {text.split(".")[0] for text in texts}


def _options(interpreted: Any) -> dict[str, Any]:
    """The options that `triton.jit` got for the kernel."""
    known = ("do_not_specialize", "do_not_specialize_on_alignment", "noinline")
    given = {name: interpreted.kwargs.get(name) for name in known}
    return {name: value for name, value in given.items() if value}


def argument(value: Any, description: Description) -> dict[str, Any]:
    """An argument of a launch, reduced to what the compiler uses."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    from triton_util.interpreter.arguments import Constant, Typed

    if isinstance(value, Constant):
        return description.value(value.value)  # type: ignore[no-any-return]
    if isinstance(value, Typed):
        return {"plain": value.value}
    if isinstance(value, TensorDescriptor):
        return {
            "descriptor": argument(value.base, description),
            "shape": [int(size) for size in value.shape],
            "strides": [int(stride) for stride in value.strides],
            "block_shape": [int(size) for size in value.block_shape],
            "padding": value.padding,
        }
    if hasattr(value, "data_ptr") or hasattr(value, "dtype"):
        dtype = str(value.dtype).removeprefix("torch.")
        address = value.data_ptr() if hasattr(value, "data_ptr") else 0
        return {"pointer": dtype, "aligned": address % 16 == 0}
    if isinstance(value, tuple):
        return {"tuple": [argument(part, description) for part in value]}
    return description.value(value)  # type: ignore[no-any-return]


def launch(
    interpreted: Any, bound: dict[str, Any], options: dict[str, Any], target: int
) -> dict[str, Any]:
    """Everything needed to compile this launch for a target; raises Opaque."""
    description = Description(interpreted)
    arguments = {name: argument(value, description) for name, value in bound.items()}
    return {
        "triton": triton.__version__,
        "target": target,
        "functions": description.functions,
        "kernel": description.kernel,
        "arguments": arguments,
        "options": {name: description.value(value) for name, value in options.items()},
    }
