"""Calls in the launcher: allocations, views, queries and launches pass; computing does not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import torch

from graders.judge.static import names as names
from graders.judge.static.findings import finding, no_such_method, not_triton, shown, torch_computes
from graders.judge.static.values import (
    Bag,
    Differentiable,
    Function,
    Kind,
    Member,
    Method,
    Partial,
    Record,
    Value,
    bag_of,
    element,
    has_tensor,
    is_literal,
    join,
    options,
)

if TYPE_CHECKING:
    from graders.judge.static.expressions import Expressions
    from graders.judge.static.launcher import Reader

Arguments = list[tuple[str | None, Value]]  # (keyword or None, value)
SPREAD = 16  # how many arguments a starred container of unknown length may stand for


class Calls:
    """Evaluates call expressions."""

    def __init__(self, reader: Reader, expressions: Expressions) -> None:
        self.reader = reader
        self.expressions = expressions

    def value(self, node: ast.Call) -> Value:
        """What the call returns."""
        function = self.expressions.value(node.func)
        arguments = self._arguments(node)
        self._refuse_forbidden(node, function)
        return join([self._called(node, option, arguments) for option in options(function)])

    def _called(self, node: ast.Call, function: Value, arguments: Arguments) -> Value:
        if function is Kind.LAUNCH:
            return self._launch(node, arguments)
        if function is Kind.KERNEL:
            return self._kernel_called(node)
        if isinstance(function, Function):
            return self.reader.call(function, arguments)
        if isinstance(function, Partial):
            whole = [*function.arguments, *arguments]
            return join(
                [self._called(node, option, whole) for option in options(function.function)]
            )
        if isinstance(function, Method):
            return self._method(node, function, arguments)
        if isinstance(function, Member):
            return self._member(node, function.path, arguments)
        for _, argument in arguments:
            self.reader.callback(argument)
        if function is Kind.TENSOR:  # a method of an object that holds tensors
            return bag_of(Kind.TENSOR)
        if isinstance(function, Record):
            return bag_of(join([value for _, value in arguments]))
        return Kind.UNKNOWN if function is Kind.UNKNOWN else Kind.PLAIN

    def _arguments(self, node: ast.Call) -> Arguments:
        found: Arguments = []
        for positional in node.args:
            if isinstance(positional, ast.Starred):
                inner = self.expressions.value(positional.value)
                exact = isinstance(inner, Bag) and not inner.uniform
                spread = inner.items if isinstance(inner, Bag) else ()
                spread = spread if exact else (element(inner),) * SPREAD
                found += [(None, value) for value in spread]
            else:
                found.append((None, self.expressions.value(positional)))
        for keyword in node.keywords:
            value = self.expressions.value(keyword.value)
            found.append((keyword.arg, value if keyword.arg else element(value)))
        return found

    def _refuse_forbidden(self, node: ast.Call, function: Value) -> None:
        """What would do the job of this exercise's kernel, however it was imported."""
        forbidden = self.reader.exercise.forbidden_calls
        called = {node.func.attr} if isinstance(node.func, ast.Attribute) else set()
        paths = [option.path for option in options(function) if isinstance(option, Member)]
        called |= {path.rsplit(".", 1)[-1] for path in paths}
        name = min(called & forbidden, default="")
        if "contiguous" in forbidden and called & names.CONVERSION_METHODS and _copies(node):
            name = min(called & names.CONVERSION_METHODS)
        if name in names.FROM_LITERALS and node.args and is_literal(node.args[0], named=False):
            return
        if name in names.FROM_LITERALS:
            self.reader.report(
                finding(
                    "torch-computes",
                    node,
                    f"`{shown(node)}` makes a tensor of what Python has computed.",
                    "Allocate the result with torch.empty, and let the kernel compute all of it.",
                )
            )
        elif name:
            self.reader.report(
                finding(
                    "torch-computes",
                    node,
                    f"`{shown(node)}` lets torch do the job of the kernel.",
                    f"Do without {name}(): the kernel is to read the tensor as it lies in memory.",
                )
            )

    # ------------------------------------------------------------ kernels

    def _launch(self, node: ast.Call, arguments: Arguments) -> Value:
        self.reader.launches.append(node)
        flat = [(keyword, v) for keyword, value in arguments for v in options(value)]
        for keyword, argument in flat:
            if keyword in names.COMPILER_FILES:
                self.reader.report(not_triton(node, f"{keyword} reaches into the compiler."))
            if isinstance(argument, Function) and keyword == "grid":
                self.reader.callback(argument)
            elif isinstance(argument, Function):
                self.reader.report(
                    finding(
                        "kernel-not-jit",
                        node,
                        "A plain Python function is passed to the kernel.",
                        "Give the function @triton.jit: the kernel calls it on the GPU.",
                    )
                )
            elif isinstance(argument, Member) and not argument.path.startswith("triton"):
                self.reader.report(
                    not_triton(node, f"{argument.path} is passed to the kernel.", "Pass data.")
                )
        return Kind.PLAIN

    def _kernel_called(self, node: ast.Call) -> Value:
        self.reader.report(
            finding(
                "kernel-without-grid",
                node,
                f"`{shown(node)}` calls a kernel like a function.",
                "Say how many programs to start: kernel[grid](…).",
            )
        )
        self.reader.launches.append(node)  # the intent is plain: no second finding about it
        return Kind.PLAIN

    # ------------------------------------------------------------ methods

    def _method(self, node: ast.Call, method: Method, arguments: Arguments) -> Value:
        if isinstance(method.owner, Differentiable):
            forward = method.owner.method("forward")
            if method.name != "apply" or forward is None:
                self.reader.report(not_triton(node, f"`{shown(node)}` has no place here."))
                return Kind.PLAIN
            return self.reader.call(Function(forward), [(None, Kind.UNKNOWN), *arguments])
        if isinstance(method.owner, Bag):
            return self._of_bag(node, method.owner, method.name, arguments)
        if method.owner is Kind.TENSOR:
            return self._of_tensor(node, method.name, arguments)
        if method.owner is Kind.UNKNOWN:
            if method.name in names.TENSOR_METHODS:
                return self._of_tensor(node, method.name, arguments)
            if method.name not in names.CONTAINER_METHODS:
                self._refuse_method(node, method.name)
            return Kind.UNKNOWN
        return self._of_plain(node, method.name, arguments)

    def _of_tensor(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        if name not in names.TENSOR_METHODS:
            self._refuse_method(node, name)
            return Kind.TENSOR
        if name in names.FILL_METHODS and any(has_tensor(value) for _, value in arguments):
            self._refuse_method(node, name)
        if name in names.METADATA_METHODS and not (name == "type" and arguments):
            return Kind.PLAIN
        if name in names.SPLIT_METHODS:
            return bag_of(Kind.TENSOR)
        return Kind.TENSOR

    def _refuse_method(self, node: ast.Call, name: str) -> None:
        if name.startswith("_"):
            self.reader.report(not_triton(node, f"`{shown(node)}` reaches into torch itself."))
        elif not hasattr(torch.Tensor, name):
            self.reader.report(no_such_method(node, name))
        else:
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))

    def _of_bag(self, node: ast.Call, owner: Bag, name: str, arguments: Arguments) -> Value:
        whole = element(owner)
        if name in ("append", "insert", "add", "setdefault", "extend", "update"):
            self._put_in(node, [value for _, value in arguments], name in ("extend", "update"))
        if name == "items":
            return bag_of(Bag((Kind.PLAIN, whole)))
        if name in ("values", "copy"):
            return owner
        if name in ("get", "pop", "setdefault"):
            return join([whole, *(value for _, value in arguments[1:])])
        return Kind.PLAIN

    def _put_in(self, node: ast.Call, values: list[Value], spread: bool) -> None:
        """A container has grown: whatever name it can be reached by now holds the values, too."""
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            new = join([element(value) if spread else value for value in values])
            old = self.reader.lookup(root.id)
            self.reader.bind(root, bag_of(join([element(old), new]) if old else new))

    def _of_plain(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        known = name in names.CONTAINER_METHODS or name in names.METADATA_METHODS
        if hasattr(torch.Tensor, name) and any(has_tensor(value) for _, value in arguments):
            self._refuse_method(node, name)  # type(x).add(x, y)
            return Kind.TENSOR
        if not known and name.startswith("_"):
            self.reader.report(not_triton(node, f"`{shown(node)}` is private to its library."))
        return join([Kind.PLAIN, *(v for _, v in arguments if has_tensor(v))])

    # ------------------------------------------------------------ modules' members

    def _member(self, node: ast.Call, path: str, arguments: Arguments) -> Value:
        root, _, rest = path.partition(".")
        if root == "torch":
            return self._torch(node, rest, arguments)
        if root == "builtins":
            return self._builtin(node, rest, arguments)
        if root == "triton":
            return self._triton(path, arguments)
        if path == "functools.partial" and arguments:
            return Partial(arguments[0][1], tuple(arguments[1:]))
        if any(has_tensor(value) for _, value in arguments) and root != "triton_util":
            if path != "typing.cast":
                self.reader.report(torch_computes(node, f"`{shown(node)}`"))
            return Kind.TENSOR
        for _, argument in arguments:
            self.reader.callback(argument)
        return Kind.PLAIN

    def _torch(self, node: ast.Call, rest: str, arguments: Arguments) -> Value:
        if rest in names.FROM_LITERALS or rest in ("Tensor", "FloatTensor"):
            self._check_literal(node, arguments)
        elif rest in names.TORCH_QUERIES or rest in names.TORCH_VALUES:
            return Kind.PLAIN
        if rest in names.TORCH_SPLITS:
            return bag_of(Kind.TENSOR)
        return Kind.TENSOR  # an allocation, a view, or already refused where it is named

    def _check_literal(self, node: ast.Call, arguments: Arguments) -> None:
        tensors = any(has_tensor(value) for _, value in arguments)
        if tensors or not node.args or not is_literal(node.args[0]):
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))

    def _triton(self, path: str, arguments: Arguments) -> Value:
        for _, argument in arguments:
            self.reader.callback(argument)
        if path == "triton.language.constexpr" and arguments:
            return arguments[0][1]  # a list stays a list
        kernel = any(Kind.KERNEL in options(value) for _, value in arguments)
        if path == "triton.jit" or kernel:
            return Kind.KERNEL
        if path in ("triton.autotune", "triton.heuristics"):
            return Member(path)  # its result, called on a kernel, is a kernel
        return Kind.PLAIN

    def _builtin(self, node: ast.Call, name: str, arguments: Arguments) -> Value:
        values = [value for _, value in arguments]
        tensors = any(has_tensor(value) for value in values)
        if tensors and (name in names.COUNTING_BUILTINS or (name in ("map", "filter"))):
            self.reader.report(torch_computes(node, f"`{shown(node)}`"))
            return Kind.TENSOR
        for value in values:
            self.reader.callback(value)
        if name == "zip":
            return bag_of(Bag(tuple(element(value) for value in values)))
        if name == "enumerate":
            return bag_of(Bag((Kind.PLAIN, *(element(value) for value in values[:1]))))
        if name == "dict":
            return bag_of(join([v for value in values for v in (element(value), value)]))
        if name in ("list", "tuple", "reversed", "iter", "set", "frozenset", "next"):
            inner = element(join(values)) if values else Kind.PLAIN
            return inner if name == "next" else bag_of(inner)
        return Kind.PLAIN


def _copies(node: ast.Call) -> bool:
    """Whether a conversion is asked for a dense copy, or for a copy at all."""
    asked = {keyword.arg for keyword in node.keywords} & {"memory_format", "copy"}
    return bool(asked) or len(node.args) > 2  # to(dtype, non_blocking, copy)
