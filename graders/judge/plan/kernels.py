"""Make the kernels of a plan from their canonical text, the only executed text of a submission.

Each kernel has a file of its own, and a namespace that is made here: the builtins of the Triton
language, and the names that its text uses, with the values that the plan gives them. The
interpreter and Triton's compiler get the same tree. Imports triton, in this process's mode.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import linecache
import sys
import textwrap
import types
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from graders.judge.plan.arms import RAN, noting
from graders.judge.plan.code import NAMESPACE, Code
from graders.judge.plan.specialising import meaning, specialising
from graders.judge.plan.steps import Kernel, Launch, TensorRef, Value

MODULE = "submission"
LIBRARIES = ("triton.language", "triton_util", "triton")


class Kernels:
    """Makes each kernel of a plan once, when it is first needed.

    `source` is the learner's text, from which messages quote lines; nothing in it is executed.
    """

    def __init__(self, source: str, filename: str, kernels: Sequence[Kernel]) -> None:
        self._lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[filename] = (len(source), None, self._lines, filename)
        self._filename = filename
        self._kernels = kernels
        self._made: dict[int, Any] = {}
        self._compiled: dict[int, types.CodeType] = {}  # by the identity of a text
        self.arms: set[int] = set()  # that ran in functions of constants; see `plan.arms`

    def meaning(self, launch: Launch) -> str:
        """A digest of everything in a launch that Triton's front end distinguishes."""
        return meaning(specialising(launch), self._kernels)

    def get(self, number: int) -> Any:
        """The @triton.jit function of this number, or a function of constants."""
        if number not in self._made:
            kernel = self._kernels[number]
            scope: dict[str, Any] = {"__name__": MODULE, "__builtins__": dict(NAMESPACE)}
            function = self._function(kernel, number, scope)
            self._made[number] = self._jit(kernel, function, number)
            assert kernel.code is not None
            for name in (kernel.code.names & kernel.names.keys()) - scope.keys():
                value = kernel.names[name]
                if not (isinstance(value, Mapping) and "unknown" in value):
                    scope[name] = self.value(value)
        return self._made[number]

    def _ran(self, arm: int, value: Any = None) -> Any:
        self.arms.add(arm)
        return value

    def _function(self, kernel: Kernel, number: int, scope: dict[str, Any]) -> types.FunctionType:
        code = _code(kernel)
        node = code.known_tree
        if kernel.constant:  # neither the interpreter nor the compiler looks into it
            node = noting(code.tree(kernel=number))
            scope[RAN] = self._ran
        made = None if kernel.constant else self._compiled.get(id(code))
        if made is None:
            made = compile(ast.Module([node], []), self._filename, "exec", dont_inherit=True)
        if not kernel.constant:
            self._compiled[id(code)] = made
        local: dict[str, types.FunctionType] = {}  # own dict: a kernel may be called __builtins__
        exec(made, scope, local)
        function = local[node.name]
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

    def _jit(self, kernel: Kernel, function: types.FunctionType, number: int) -> Any:
        """The function as a Triton kernel, whose text is the canonical one."""
        code = _code(kernel)
        if kernel.constant:
            return triton.constexpr_function(function)
        written = _in_a_file_of_its_own(function, code)
        made = triton.jit(
            written,
            do_not_specialize=list(kernel.specialize_not),
            do_not_specialize_on_alignment=list(kernel.align_not),
            noinline=kernel.noinline,
        )
        made.fn, made.pre_run_hooks = function, ()
        if hasattr(made, "parse"):  # the compiler's kernel
            made.starting_line_number = made.def_file_line_number = code.def_line
            made.file_name = self._filename
            made.parse = lambda: ast.Module([code.tree(1, number)], [])
            made._unsafe_update_src(self._quoted(code))
        else:
            from triton_util.interpreter.control.sources import know

            know(function, lambda: ast.Module([code.tree(1, number)], []), code.def_line)
        return made

    def _quoted(self, code: Code) -> str:
        """The learner's lines, which Triton quotes in its messages and does not parse.

        Triton also builds its cache key from this text, so the canonical text is part of it.
        """
        lines = self._lines[code.def_line - 1 : code.last_line]
        digest = hashlib.sha256(code.text.encode()).hexdigest()
        return f"{textwrap.dedent(''.join(lines))}\n# {digest}"

    def value(self, value: Value, tensor: Any = None) -> Any:
        """The object that a value of the plan describes; `tensor` makes tensors of views."""
        if not isinstance(value, Mapping):
            return value
        ((kind, inner),) = value.items()
        if kind == "tensor":
            return tensor(_ref(inner))
        if kind == "constexpr":
            return tl.constexpr(self.value(inner, tensor))
        if kind == "tuple":
            return tuple(self.value(item, tensor) for item in inner)
        if kind == "fields":
            names, values = inner
            return namedtuple("Fields", names)(*(self.value(item, tensor) for item in values))
        if kind == "dtype":
            return tl.dtype(inner)
        if kind == "kernel":
            return self.get(inner)
        if kind == "descriptor":
            return _descriptor(inner, tensor)
        return _named(kind, inner)


def _code(kernel: Kernel) -> Code:
    if kernel.code is None:
        raise ValueError(f"the kernel {kernel.name} has no text")
    return kernel.code


def _in_a_file_of_its_own(function: types.FunctionType, code: Code) -> types.FunctionType:
    """The same function, whose source Triton finds to be the canonical text and nothing else."""
    filename = f"<{code.name} of line {code.line}>"
    lines = code.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(code.text), None, lines, filename)
    placed = function.__code__.replace(co_filename=filename, co_firstlineno=1)
    made = types.FunctionType(placed, function.__globals__, function.__name__)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    return made


def _ref(inner: Any) -> TensorRef:
    storage, dtype, shape, strides, offset = inner
    return TensorRef(storage, dtype, tuple(shape), tuple(strides), offset)


def _descriptor(inner: Any, tensor: Any) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    base, shape, strides, block_shape, padding = inner
    return TensorDescriptor(tensor(_ref(base["tensor"])), shape, strides, block_shape, padding)


def _named(kind: str, inner: Any) -> Any:
    """A library module, an object in one, or a module of which only numbers are used."""
    if kind == "module":
        return _library(inner)
    if kind == "library":
        module, name = inner
        return getattr(_library(module), name)
    if kind == "numbers":
        made = types.ModuleType("numbers_of_a_module")
        vars(made).update(inner)
        return made
    return type(str(inner)[:80], (), {})()  # no kernel accepts it


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
