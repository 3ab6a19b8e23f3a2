"""Checks that a kernel contains only the Triton language.

The kernels of a plan run on an interpreter that is written in Python. So a kernel is checked
before it runs: every statement and every name must belong to the language. Triton's own compiler
checks the same text afterwards.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from typing import Any

from graders.judge.plan.code import KERNEL_BUILTINS
from graders.judge.static.findings import finding, not_triton, shown
from graders.judge.static.names import (
    ASSEMBLY,
    BLOCK_ATTRIBUTES,
    TL_CORE,
    TL_DENIED,
    TL_IMPORTED,
    TL_PREFIXES,
    TRITON_IN_KERNEL,
    TRITON_UTIL,
)
from triton_util.interpreter.messages import calls
from triton_util.other_names import OTHER_NAMES, instead_in_kernel
from triton_util.report import Finding

LAYOUT = frozenset(("stride", "strides", "size", "length", "ndim", "device", "nelement"))

_NO_IMPORT = (
    "Remove this line. A kernel can use tl, which the file imports at its top, and its own "
    "parameters; torch and other libraries are for the launcher."
)
# Node type → its name and what to do instead.
FOREIGN: dict[type[ast.AST], tuple[str, str]] = {
    ast.Import: ("an import", _NO_IMPORT),
    ast.ImportFrom: ("an import", _NO_IMPORT),
    ast.Try: ("try/except", "Use a mask where an access could fail."),
    ast.TryStar: ("try/except", "Use a mask where an access could fail."),
    ast.With: ("a with block", "Remove it."),
    ast.AsyncWith: ("a with block", "Remove it."),
    ast.AsyncFor: ("async for", "Use a plain for."),
    ast.Lambda: ("a lambda", "Write a helper function with @triton.jit."),
    ast.ClassDef: ("a class", "Use plain values."),
    ast.Global: ("a global statement", "Pass values as arguments."),
    ast.Nonlocal: ("a nonlocal statement", "Pass values as arguments."),
    ast.Yield: ("yield", "Store the result with tl.store."),
    ast.YieldFrom: ("yield", "Store the result with tl.store."),
    ast.Await: ("await", "Remove it."),
    ast.AsyncFunctionDef: ("an async function", "Use a plain function."),
    ast.FunctionDef: (
        "a function inside the kernel",
        "Move it to the top level and give it @triton.jit.",
    ),
    ast.Delete: ("del", "Remove it."),
    ast.Raise: ("raise", "Use tl.device_assert, or check in the launcher."),
    ast.Dict: ("a dict", "Use arguments of the kernel."),
    ast.Set: ("a set", "Use arguments of the kernel."),
    ast.DictComp: ("a dict", "Use arguments of the kernel."),
    ast.SetComp: ("a set", "Use arguments of the kernel."),
    ast.GeneratorExp: ("a generator", "Use a for loop over tl.static_range."),
    ast.NamedExpr: (":=", "Assign on a line of its own."),
    ast.Match: ("match", "Use if and tl.where."),
}


def read_kernel(
    function: ast.FunctionDef,
    names: Mapping[str, Any],
    fields: Mapping[str, frozenset[str]] | None = None,
) -> list[Finding]:
    """Return findings about the body of one kernel.

    `names` are its names as a plan encodes them, `fields` are the fields of its named tuple
    arguments, by parameter.
    """
    return list(_KernelReader(function, names, fields or {}).findings())


class _KernelReader:
    def __init__(
        self,
        function: ast.FunctionDef,
        names: Mapping[str, Any],
        fields: Mapping[str, frozenset[str]],
    ) -> None:
        self.function = function
        self.names = names
        stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and _is_set(n)}
        self.fields = {name: known for name, known in fields.items() if name not in stored}
        self.local = _local_names(function)
        self.inner = {n.id for node in ast.walk(function) for n in _of_comprehension(node)}

    def findings(self) -> Iterator[Finding]:
        for statement in self.function.body:
            yield from self._visit(statement)

    def _visit(self, node: ast.AST) -> Iterator[Finding]:
        if type(node) in FOREIGN:
            what, instead = FOREIGN[type(node)]
            yield self._foreign(node, what, instead)
            return
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield self._set(node)
            return
        if isinstance(node, ast.Attribute):
            yield from self._attribute(node)
            return
        if isinstance(node, ast.Name):
            yield from self._name(node)
            return
        if isinstance(node, ast.AnnAssign):
            yield from self._annotation(node.annotation)
        skipped = (node.annotation,) if isinstance(node, ast.AnnAssign) else ()
        for child in ast.iter_child_nodes(node):
            if child not in skipped:
                yield from self._visit(child)

    def _set(self, node: ast.Attribute | ast.Subscript) -> Finding:
        """Return the finding for an item or attribute that is set in any way."""
        instead = "Remove it."
        if isinstance(node, ast.Subscript):
            instead = self._instead_of_setting(node)
        return self._foreign(node, f"an assignment to {shown(node)}", instead)

    def _instead_of_setting(self, part: ast.Subscript) -> str:
        """Return what to write for `output_ptr[offsets] = value`, or for `block[0] = value`."""
        parameters = {argument.arg for argument in self.function.args.args}
        if isinstance(part.value, ast.Name) and part.value.id in parameters:
            name, at = part.value.id, shown(part.slice)
            if isinstance(part.slice, ast.Tuple):
                at = " + ".join(f"{shown(one)} * stride" for one in part.slice.elts)
            return (
                f"A pointer is not an array. Write tl.store({name} + {at}, value, mask=mask), and "
                f"read with tl.load(x_ptr + {at}, mask=mask)."
            )
        return (
            "The elements of a block cannot be set one by one: select with tl.where, or store to "
            "a pointer, tl.store(output_ptr + offsets, value, mask=mask)."
        )

    def _annotation(self, node: ast.expr) -> Iterator[Finding]:
        """Check a variable's annotation, which must be a name and not a computation."""
        for part in ast.walk(node):
            if not isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.expr_context):
                yield self._foreign(part, shown(part), "Write a plain name here.")
            elif isinstance(part, ast.Attribute) and part.attr.startswith("_"):
                yield self._foreign(part, f".{part.attr}", "")

    def _attribute(self, node: ast.Attribute) -> Iterator[Finding]:
        path, root = self._path(node), _root(node)
        if path is None:
            if node.attr not in BLOCK_ATTRIBUTES and not self._is_field(node):
                yield self._foreign(
                    node,
                    f".{node.attr}",
                    self._instead_of_attribute(node),
                )
            yield from self._visit(node.value)
        elif path == ASSEMBLY:
            yield self._assembly(node)
        elif not _in_language(path):
            yield self._outside(node, path, root)

    def _is_field(self, node: ast.Attribute) -> bool:
        """Whether it is like `strides.row`, with a parameter that is always a named tuple."""
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        return not node.attr.startswith("_") and node.attr in self.fields.get(owner, ())

    def _outside(self, node: ast.Attribute, path: str, root: str) -> Finding:
        if path.startswith("triton.language."):
            return not_triton(
                node,
                f"The kernel {self.function.name} uses {shown(node)}, which is internal to "
                "Triton's language.",
                "Use the functions that tl itself has: tl.full, tl.load, tl.where and so on.",
            )
        advice = " (Compute a constant in the launcher, and pass it as an argument.)"
        constant = advice if root == "math" else ""
        meant = calls.meant_function(node.attr) or "Use the functions of triton.language (tl.…)."
        return not_triton(
            node,
            f"The kernel {self.function.name} uses {shown(node)}. {root} is a Python library, and "
            "a kernel cannot use it: it runs on the GPU.",
            meant + constant,
        )

    def _instead_of_attribute(self, node: ast.Attribute) -> str:
        """Return what to write instead of an attribute that blocks do not have."""
        parameters = {argument.arg for argument in self.function.args.args}
        if node.attr in LAYOUT and isinstance(node.value, ast.Name) and node.value.id in parameters:
            return (
                f"{node.value.id} is the address of the first element, not a tensor. The launcher "
                "passes what the kernel needs as numbers: x.numel(), x.shape[0], x.stride(0)."
            )
        if node.attr in OTHER_NAMES:
            return calls.meant_function(node.attr)
        return "Only attributes and methods of blocks work here."

    def _path(self, node: ast.Attribute) -> str | None:
        """Return "triton.language.math.exp" for `tl.math.exp`; None if the root is a value.

        Of a module outside Triton only numbers may be used, for example `math.pi`.
        """
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id in self.local:
            return None
        value = self.names.get(inner.id)
        if not isinstance(value, Mapping):
            return None
        if "module" in value:
            return ".".join([value["module"], *reversed(parts)])
        if "numbers" in value:
            known = len(parts) == 1 and parts[0] in value["numbers"]
            return "triton.cdiv" if known else f"python.{parts[-1]}"
        return None

    def _name(self, node: ast.Name) -> Iterator[Finding]:
        name = node.id
        if name == "__builtins__":  # a kernel's namespace has it
            yield self._foreign(node, name, "Use the functions of triton.language (tl.…).")
            return
        if name in self.local or isinstance(node.ctx, ast.Store):
            return
        if name in self.inner and name not in self.names and not hasattr(builtins, name):
            return
        if name in self.names:
            yield from self._outer(node, self.names[name])
        elif name not in KERNEL_BUILTINS and hasattr(builtins, name):
            instead = instead_in_kernel(name) or "Use the functions of triton.language (tl.…)."
            yield self._foreign(node, f"{name}()", instead)

    def _outer(self, node: ast.Name, value: Any) -> Iterator[Finding]:
        """Check a name from outside: it must be a constant, a kernel, or part of the language."""
        kind = next(iter(value), "") if isinstance(value, Mapping) else ""
        if kind == "library":
            path = ".".join(value["library"])
            if path == ASSEMBLY:
                yield self._assembly(node)
            elif not _in_language(path):
                yield self._foreign(node, node.id, "Use the functions of triton.language (tl.…).")
        elif kind in ("module", "numbers"):
            yield self._foreign(node, node.id, "Use the functions of triton.language (tl.…).")
        elif kind in ("constexpr", "tuple", "fields") and is_foreign(value, tensors=False):
            yield self._foreign(node, node.id, "Use numbers, dtypes and kernels as constants.")
        elif kind == "unknown" and value["unknown"] == "function":
            yield finding(
                "kernel-not-jit",
                node,
                f"The kernel {self.function.name} uses {node.id}, a plain Python function.",
                f"Put @triton.jit above {node.id} if it is part of the kernel.",
            )
        elif kind in ("unknown", "tensor"):
            yield not_triton(
                node,
                f"The kernel {self.function.name} uses {node.id} from outside, and it is not a "
                "constant.",
                f"Pass {node.id} as an argument, or make it a number: {node.id} = tl.constexpr(…).",
            )

    def _assembly(self, node: ast.AST) -> Finding:
        return not_triton(
            node,
            f"The kernel {self.function.name} contains assembly. The judge first runs the cases "
            "on an interpreter, which knows only the Triton language.",
            "Write it with the functions of triton.language (tl.…).",
        )

    def _foreign(self, node: ast.AST, what: str, instead: str) -> Finding:
        return not_triton(
            node,
            f"The kernel {self.function.name} contains {what}, which is Python and not part of "
            "the Triton language.",
            instead,
        )


def _in_language(path: str) -> bool:
    """Whether a dotted path names a function or value that kernels may use."""
    if path in TRITON_IN_KERNEL or path.startswith("triton_util."):
        return path in TRITON_IN_KERNEL | TRITON_UTIL
    parts = path.split(".")
    if any(part.startswith("_") for part in parts):
        return False
    rest = next((path.removeprefix(p) for p in TL_PREFIXES if path.startswith(p)), None)
    if rest is not None:  # a function of that module, but not one of its imports
        return "." not in rest and rest not in TL_IMPORTED
    if path in ("triton.language.libdevice", "triton.language"):
        return False
    if path.startswith("triton.language.core."):
        return len(parts) == 4 and parts[3] in TL_CORE
    if not path.startswith("triton.language.") or parts[2] in TL_DENIED:
        return False
    return all(part in BLOCK_ATTRIBUTES for part in parts[3:])  # for example of tl.float32


def is_foreign(value: Any, tensors: bool = True) -> bool:
    """Whether a value of the plan contains something that is not part of the language.

    That is a module or a function of another library, even if wrapped, or a tensor inside a
    constant. Without `tensors`, it is any tensor.
    """
    if not isinstance(value, Mapping):
        return False
    ((kind, inner),) = value.items()
    if kind == "library":
        path = ".".join(inner)
        return path == ASSEMBLY or not _in_language(path)
    if kind == "constexpr":
        return is_foreign(inner, tensors=False)
    if kind == "fields":
        return any(is_foreign(item, tensors) for item in inner[1])
    if kind == "tuple":
        return any(is_foreign(item, tensors) for item in inner)
    if kind in ("tensor", "descriptor"):
        return not tensors
    return kind in ("module", "numbers")


def _is_set(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _local_names(function: ast.FunctionDef) -> frozenset[str]:
    """Return the parameters of a function and the names that it assigns to."""
    args = function.args
    names = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    names |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
    inner = {name for node in ast.walk(function) for name in _of_comprehension(node)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in inner:
            names.add(node.id)
    return frozenset(names)


def _of_comprehension(node: ast.AST) -> Iterator[ast.Name]:
    """Yield a comprehension's variables, whose names have another meaning outside it."""
    if isinstance(node, ast.comprehension):
        yield from (part for part in ast.walk(node.target) if isinstance(part, ast.Name))
