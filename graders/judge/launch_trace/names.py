"""Find the values of a kernel's names when it is launched, and the arguments of a launch."""

from __future__ import annotations

import inspect
import json
import sys
import types
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import torch
import triton.language as tl
from triton.runtime.jit import ConstexprFunction, JITFunction

from graders.judge.launch_trace.recording import Recorder
from graders.judge.launch_trace.tensors import ValuelessTensor
from graders.judge.plan.steps import Kernel, Parameter, Value, to_json

LIBRARIES = ("triton", "triton_util")
MOST_KERNELS = 64


class SeenKernels:
    """The kernels of a submission with the values of their names, numbered in order of use.

    `used` are the names that the text of each function uses, by its first line and name.
    """

    def __init__(self, recorder: Recorder, used: Mapping[tuple[int, str], frozenset[str]]) -> None:
        self.recorder = recorder
        self._used = used
        self.found: list[Kernel] = []
        self._numbers: dict[str, int] = {}
        self._open: dict[int, int] = {}  # kernels whose names are being looked up

    def number(self, kernel: JITFunction[Any] | ConstexprFunction) -> int:
        """The number of a kernel with the values that its names have now."""
        if id(kernel) in self._open:  # it calls itself
            return self._open[id(kernel)]
        self._open[id(kernel)] = len(self.found)
        try:
            made = self._describe(kernel)
        finally:
            del self._open[id(kernel)]
        key = json.dumps(to_json(made), sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.found)
            self.found.append(made)
        return self._numbers[key]

    def _describe(self, kernel: JITFunction[Any] | ConstexprFunction) -> Kernel:
        function = kernel.fn
        place = function.__code__.co_firstlineno, function.__name__
        scope = kernel.get_capture_scope()
        attributes = _attributes(function.__code__)
        used = self._used.get(place, frozenset())
        names = {n: self.value(scope[n], attributes) for n in sorted(used) if n in scope}
        constant = isinstance(kernel, ConstexprFunction)
        given = _plain_parameters(function) if constant else kernel.params
        return Kernel(
            line=place[0],
            name=place[1],
            names=names,
            parameters=tuple(self._parameter(parameter) for parameter in given),
            specialize_not=_marked(kernel, "do_not_specialize"),
            align_not=_marked(kernel, "do_not_specialize_on_alignment"),
            noinline=bool(getattr(kernel, "noinline", False)),
            constant=constant,
        )

    def _parameter(self, parameter: Any) -> Parameter:
        annotation = "constexpr" if parameter.is_constexpr else str(parameter.annotation_type)
        default = self.value(parameter.default) if parameter.has_default else None
        return Parameter(parameter.name, annotation, default, bool(parameter.has_default))

    def value(self, value: Any, wanted: set[str] | None = None) -> Value:
        """A value in the form of a plan. A module of the submission gives its numbers `wanted`."""
        if isinstance(value, ValuelessTensor):
            return self.recorder.used(value).to_json()
        if isinstance(value, torch.Tensor):
            return self.recorder.used(lifted(value, self.recorder)).to_json()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float | str):
            return {int: int, float: float}.get(_plain_type(value), str)(value)
        if isinstance(value, tl.constexpr):
            return {"constexpr": self.value(value.value)}
        if isinstance(value, tl.dtype):
            return {"dtype": str(value)}
        fields = getattr(value, "_fields", None)
        if isinstance(value, tuple) and isinstance(fields, tuple):
            return {"fields": [list(map(str, fields)), [self.value(item) for item in value]]}
        if isinstance(value, tuple | list | tl.tuple):
            return {"tuple": [self.value(item) for item in value]}
        if isinstance(value, types.ModuleType):
            return _module(value, wanted or set())
        if isinstance(value, JITFunction | ConstexprFunction):
            return _library(value) or {"kernel": self.number(value)}
        return self._object(value)

    def _object(self, value: Any) -> Value:
        if type(value).__name__ == "TensorDescriptor":
            sizes = [
                list(map(int, part)) for part in (value.shape, value.strides, value.block_shape)
            ]
            return {"descriptor": [self.value(value.base), *sizes, str(value.padding)]}
        found = _library(value)
        if found is not None:
            return found
        item = getattr(value, "item", None)
        if type(value).__module__ == "numpy" and callable(item):
            return self.value(item())
        kind = value if isinstance(value, type) else type(value)
        return {"unknown": kind.__name__[:200]}


def lifted(values: torch.Tensor, recorder: Recorder) -> ValuelessTensor:
    """A tensor with numbers that Python itself made, from numpy for example."""
    meta = torch.empty_strided(values.shape, values.stride(), dtype=values.dtype, device="meta")
    recorder.constant(meta, values)
    return ValuelessTensor(meta, recorder, values)


def _plain_type(value: Any) -> type:
    return next(kind for kind in (int, float, str) if isinstance(value, kind))


def _attributes(code: types.CodeType) -> set[str]:
    """The names that a function looks up, its attributes after a dot among them."""
    found = {*code.co_names}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _attributes(constant)
    return found


def _plain_parameters(function: Any) -> list[SimpleNamespace]:
    """The parameters of a function of constants, described like those of a kernel."""
    none = inspect.Parameter.empty
    return [
        SimpleNamespace(
            name=name,
            is_constexpr=False,
            annotation_type="",
            has_default=parameter.default is not none,
            default=parameter.default,
        )
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def _marked(kernel: JITFunction[Any], attribute: str) -> tuple[str, ...]:
    """Names of parameters that an option of triton.jit lists by name or by number."""
    listed = getattr(kernel, attribute, None) or ()
    if not listed:
        return ()
    names = [parameter.name for parameter in kernel.params]
    chosen = (names[item] if isinstance(item, int) else item for item in listed)
    return tuple(name for name in chosen if name in names)


def _module(module: types.ModuleType, wanted: set[str]) -> Value:
    if module.__name__.split(".")[0] in LIBRARIES:
        return {"module": module.__name__}
    numbers = {name: getattr(module, name, None) for name in sorted(wanted)}
    return {"numbers": {k: v for k, v in numbers.items() if type(v) in (int, float)}}


def _library(value: Any) -> Value | None:
    """A library function or class, by module and name; None for anything else."""
    for module, name in _places(value):
        if module.split(".")[0] not in LIBRARIES or not name.isidentifier():
            continue
        if getattr(sys.modules.get(module), name, None) is value:
            return {"library": [module, name]}
    return None


def _places(value: Any) -> Iterator[tuple[str, str]]:
    name = getattr(value, "__name__", None)
    module = getattr(value, "__module__", None)
    if isinstance(name, str):
        for other in ("triton.language", "triton.language.math", "triton.language.extra.libdevice"):
            yield other, name
    if callable(value):  # an alias under another name, as in tl.extra.libdevice
        for other in ("triton.language", "triton.language.math"):
            for known, found in vars(sys.modules[other]).items():
                if found is value:
                    yield other, known
    if isinstance(name, str) and isinstance(module, str):
        yield module, name


def bound_arguments(
    kernel: JITFunction[Any], positional: Any, named: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The arguments by name, as a grid function gets them; None if they do not fit."""
    given = {name: value for name, value in named.items() if name in kernel.arg_names}
    try:
        bound = kernel.signature.bind(*positional, **given)
    except TypeError:
        return None
    bound.apply_defaults()
    return {
        name: value.value if isinstance(value, tl.constexpr) else value
        for name, value in bound.arguments.items()
        if value is not inspect.Parameter.empty
    }
