"""The kernels of a plan, made of their text: nothing else of the submission is executed.

A kernel is the function definition at its line of the source, without its decorators, defaults
and annotations. Its names stand for what the plan says: modules and functions of the Triton
language, other kernels, plain constants. Imports triton, in whichever mode this process has it.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from graders.judge.plan.steps import Kernel, TensorRef, Value

MODULE = "submission"
LIBRARIES = ("triton.language", "triton_util", "triton")


class Kernels:
    """Makes each kernel of a plan once, when it is first needed."""

    def __init__(self, source: str, filename: str, kernels: Sequence[Kernel]) -> None:
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        self._filename = filename
        self._kernels = kernels
        self._made: dict[int, Any] = {}
        self._definitions = definitions(source)

    def get(self, number: int) -> Any:
        """The @triton.jit function of this number."""
        if number not in self._made:
            kernel = self._kernels[number]
            scope: dict[str, Any] = {"__name__": MODULE}
            function = self._function(kernel, scope)
            self._made[number] = triton.jit(
                function,
                do_not_specialize=list(kernel.specialize_not),
                do_not_specialize_on_alignment=list(kernel.align_not),
                noinline=kernel.noinline,
            )
            for name, value in kernel.names.items():
                if not (isinstance(value, Mapping) and "unknown" in value):
                    scope[name] = self.value(value)
        return self._made[number]

    def _function(self, kernel: Kernel, scope: dict[str, Any]) -> types.FunctionType:
        node = self._definitions[kernel.line, kernel.name]
        module = ast.Module([_bare(node)], [])
        exec(compile(ast.fix_missing_locations(module), self._filename, "exec"), scope)
        function: types.FunctionType = scope.pop(kernel.name)
        defaults = {p.name: self.value(p.default) for p in kernel.parameters if p.has_default}
        keywords = {argument.arg for argument in node.args.kwonlyargs}
        plain = [value for name, value in defaults.items() if name not in keywords]
        function.__defaults__ = tuple(plain) or None
        function.__kwdefaults__ = {k: v for k, v in defaults.items() if k in keywords} or None
        function.__annotations__ = {
            p.name: tl.constexpr if p.annotation == "constexpr" else p.annotation
            for p in kernel.parameters
            if p.annotation
        }
        return function

    def value(self, value: Value, tensor: Any = None) -> Any:
        """What a value of the plan stands for; `tensor` makes tensors of views."""
        if not isinstance(value, Mapping):
            return value
        ((kind, inner),) = value.items()
        if kind == "tensor":
            return tensor(_ref(inner))
        if kind == "constexpr":
            return tl.constexpr(self.value(inner, tensor))
        if kind == "tuple":
            return tuple(self.value(item, tensor) for item in inner)
        if kind == "dtype":
            return tl.dtype(inner)
        if kind == "kernel":
            return self.get(inner)
        if kind == "descriptor":
            return _descriptor(inner, tensor)
        return _named(kind, inner)


def definitions(source: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """The function definitions of a text by their first line, decorators included, and name."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[first, node.name] = node
    return found


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """The definition without anything that is evaluated outside its body."""
    given = node.args
    arguments = ast.arguments(
        posonlyargs=[ast.arg(a.arg) for a in given.posonlyargs],
        args=[ast.arg(a.arg) for a in given.args],
        vararg=None if given.vararg is None else ast.arg(given.vararg.arg),
        kwonlyargs=[ast.arg(a.arg) for a in given.kwonlyargs],
        kw_defaults=[None if d is None else ast.Constant(None) for d in given.kw_defaults],
        kwarg=None if given.kwarg is None else ast.arg(given.kwarg.arg),
        defaults=[ast.Constant(None) for _ in given.defaults],
    )
    made = ast.FunctionDef(node.name, arguments, node.body, [], None)
    return ast.copy_location(made, node)


def _ref(inner: Any) -> TensorRef:
    storage, dtype, shape, strides, offset = inner
    return TensorRef(storage, dtype, tuple(shape), tuple(strides), offset)


def _descriptor(inner: Any, tensor: Any) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    base, shape, strides, block_shape, padding = inner
    return TensorDescriptor(tensor(_ref(base["tensor"])), shape, strides, block_shape, padding)


def _named(kind: str, inner: Any) -> Any:
    """A module of the libraries, something in one, or a module of which only numbers are used."""
    if kind == "module":
        return _library(inner)
    if kind == "library":
        module, name = inner
        return getattr(_library(module), name)
    if kind == "numbers":
        made = types.ModuleType("numbers_of_a_module")
        vars(made).update(inner)
        return made
    return type(str(inner)[:80], (), {})()  # nothing that a kernel can be given, and named so


def _library(name: str) -> types.ModuleType:
    if not any(name == library or name.startswith(f"{library}.") for library in LIBRARIES):
        raise ImportError(f"a plan names the module {name}")
    return sys.modules.get(name) or importlib.import_module(name)


def dtype_named(name: str) -> torch.dtype:
    """torch.float32 for `float32`."""
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise TypeError(f"there is no dtype {name}")
    return found
