"""The read gate's rules for kernels: nothing but the Triton language."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from graders.judge.report import Finding
from graders.judge.static.findings import finding, not_triton, shown
from graders.judge.static.names import (
    ASSEMBLY,
    BLOCK_ATTRIBUTES,
    KERNEL_BUILTINS,
    TL_DENIED,
    TL_PREFIXES,
    TRITON_IN_KERNEL,
    TRITON_UTIL,
)
from graders.judge.static.scope import Scope

# Node type → what it is called and what to do instead.
FOREIGN: dict[type[ast.AST], tuple[str, str]] = {
    ast.Import: ("an import", "Import at the top of the file."),
    ast.ImportFrom: ("an import", "Import at the top of the file."),
    ast.Try: ("try/except", "Use a mask where an access could fail."),
    ast.With: ("a with block", "Remove it."),
    ast.Lambda: ("a lambda", "Write a helper function with @triton.jit."),
    ast.ClassDef: ("a class", "Use plain values."),
    ast.Global: ("a global statement", "Pass values as arguments."),
    ast.Nonlocal: ("a nonlocal statement", "Pass values as arguments."),
    ast.Yield: ("yield", "Store the result with tl.store."),
    ast.YieldFrom: ("yield", "Store the result with tl.store."),
    ast.Await: ("await", "Remove it."),
    ast.AsyncFunctionDef: ("an async function", "Use a plain function."),
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


def read_kernel(function: ast.FunctionDef, scope: Scope) -> list[Finding]:
    """Findings about the body, the defaults and the annotations of one kernel."""
    return list(_Reader(function, scope).findings())


class _Reader:
    def __init__(self, function: ast.FunctionDef, scope: Scope) -> None:
        self.function = function
        self.scope = scope
        self.local = local_names(function)

    def findings(self) -> Iterator[Finding]:
        args = self.function.args
        for default in [*args.defaults, *(d for d in args.kw_defaults if d is not None)]:
            yield from self._in_signature(default)
            yield from self._visit(default)
        for parameter in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            if parameter.annotation is not None:
                yield from self._in_signature(parameter.annotation)
        if self.function.returns is not None:
            yield from self._in_signature(self.function.returns)
        for statement in self.function.body:
            yield from self._visit(statement)

    def _in_signature(self, node: ast.expr) -> Iterator[Finding]:
        for part in ast.walk(node):
            plain = isinstance(
                part,
                ast.Name | ast.Attribute | ast.Constant | ast.Tuple | ast.UnaryOp | ast.unaryop
                | ast.expr_context | ast.BinOp | ast.operator | ast.Subscript | ast.List,
            )  # fmt: skip
            if not plain:
                yield self._foreign(part, shown(part), "Write a plain constant here.")
        yield from self._dunders(node)

    def _dunders(self, node: ast.expr) -> Iterator[Finding]:
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and part.attr.startswith("_"):
                yield self._foreign(part, f".{part.attr}", "")

    def _visit(self, node: ast.AST) -> Iterator[Finding]:
        if isinstance(node, ast.FunctionDef):
            yield self._foreign(node, "a function inside the kernel", "Move it to the top level "
                                "and give it @triton.jit.")  # fmt: skip
            return
        if type(node) in FOREIGN:
            what, instead = FOREIGN[type(node)]
            yield self._foreign(node, what, instead)
            return
        if isinstance(node, ast.Attribute):
            yield from self._attribute(node)
            return
        if isinstance(node, ast.Name):
            yield from self._name(node)
            return
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            yield from self._targets(node)
        skipped = (node.annotation,) if isinstance(node, ast.AnnAssign) else ()
        for child in ast.iter_child_nodes(node):
            if child not in skipped:
                yield from self._visit(child)

    def _targets(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[Finding]:
        if isinstance(node, ast.AnnAssign):
            yield from self._in_signature(node.annotation)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in ast.walk(target):
                if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                    yield self._foreign(
                        part,
                        f"an assignment to {shown(part)}",
                        "The elements of a block cannot be set one by one: use tl.where, or "
                        "tl.store to a pointer.",
                    )
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    yield self._foreign(part, f"an assignment to {shown(part)}", "Remove it.")

    def _attribute(self, node: ast.Attribute) -> Iterator[Finding]:
        path = None if self._root(node) in self.local else self.scope.dotted(node)
        if path is None:
            if node.attr not in BLOCK_ATTRIBUTES:
                yield self._foreign(
                    node, f".{node.attr}", "Only attributes and methods of blocks work here."
                )
            yield from self._visit(node.value)
        elif path == ASSEMBLY:
            yield not_triton(
                node,
                f"The kernel {self.function.name} holds assembly. Its cases run on an interpreter "
                "first, which knows only the Triton language.",
                "Write it with the functions of triton.language (tl.…).",
            )
        elif not _in_language(path):
            root = path.split(".")[0]
            yield not_triton(
                node,
                f"The kernel {self.function.name} uses {shown(node)}. {root} is a Python library; "
                "a kernel runs on the GPU, where there is none.",
                "Use the functions of triton.language (tl.…).",
            )

    def _name(self, node: ast.Name) -> Iterator[Finding]:
        name = node.id
        if name in self.local or isinstance(node.ctx, ast.Store):
            return
        path = self.scope.aliases.get(name)
        if path is not None:
            if path == ASSEMBLY or not _in_language(path):
                yield self._foreign(node, name, "Use the functions of triton.language (tl.…).")
        elif name in self.scope.kernels:
            return
        elif name in self.scope.functions:
            yield finding(
                "kernel-not-jit",
                node,
                f"The kernel {self.function.name} uses {name}, a plain Python function.",
                f"Put @triton.jit above {name} if it is part of the kernel.",
            )
        elif name not in KERNEL_BUILTINS and hasattr(builtins, name):
            yield self._foreign(node, f"{name}()", "Use the functions of triton.language (tl.…).")

    @staticmethod
    def _root(node: ast.AST) -> str | None:
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else None

    def _foreign(self, node: ast.AST, what: str, instead: str) -> Finding:
        return not_triton(
            node,
            f"The kernel {self.function.name} holds {what}, which is Python and not part of the "
            "Triton language.",
            instead,
        )


def _in_language(path: str) -> bool:
    """Whether a dotted path names a function or value that kernels may use."""
    if path in TRITON_IN_KERNEL:
        return True
    if path.startswith("triton_util."):
        return path.rsplit(".", 1)[-1] in TRITON_UTIL
    parts = path.split(".")
    if any(part.startswith("_") for part in parts):
        return False
    if path.startswith(TL_PREFIXES):
        return True
    if path in ("triton.language.libdevice", "triton.language"):
        return False
    return path.startswith("triton.language.") and parts[2] not in TL_DENIED


def local_names(function: ast.FunctionDef) -> frozenset[str]:
    """The parameters of a function and the names that it assigns to."""
    args = function.args
    names = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    if args.vararg is not None:
        names.add(args.vararg.arg)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)
