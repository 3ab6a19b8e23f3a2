"""Converts the functions of a submission to canonical texts.

A canonical text contains only what the function does. It leaves out everything that Python and
Triton's compiler could read differently: decorators, docstrings, unreachable statements, and `is`
between values, whose result depends on which objects Python happens to share.
"""

from __future__ import annotations

import ast
import copy
import symtable
from collections.abc import Iterable, Iterator

from graders.judge.plan.code import Code, places
from graders.judge.plan.tree_data import to_data

MOST_CHARACTERS = 100_000  # of one function
_LEAVES = (ast.Return, ast.Break, ast.Continue)


def canonical(statements: Iterable[ast.stmt]) -> list[Code]:
    """Return the functions among these statements and inside them.

    A function is left out if its text cannot be written, or would parse differently.
    """
    functions = (
        node
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.FunctionDef)
    )
    return [code for node in functions if (code := _code(node)) is not None]


def _code(node: ast.FunctionDef) -> Code | None:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    bare = _bare(node)
    try:
        text = ast.unparse(ast.fix_missing_locations(bare))
        if len(text) > MOST_CHARACTERS:
            return None
        read = ast.parse(text).body[0]
        used = frozenset(_names(text, bare))
    except (SyntaxError, ValueError, RecursionError):  # such as `nonlocal`
        return None
    if ast.dump(read) != ast.dump(bare):
        return None
    return Code(node.name, first, text + "\n", places(bare), used, to_data(bare))


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return the definition in canonical form, without what is evaluated outside its body."""
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
    body = _Canonical().body(copy.deepcopy(node.body))
    made = ast.FunctionDef(_ascii(node.name), arguments, body, [], None)
    if hasattr(node, "type_params"):  # Python 3.12
        made.type_params = []  # type: ignore[attr-defined]
    return ast.copy_location(made, node)


def _ascii(name: str) -> str:
    """Return the name of a kernel in characters that a GPU's assembler accepts."""
    return "".join(c if c.isascii() else f"_{ord(c):x}" for c in name)


class _Canonical(ast.NodeTransformer):
    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of one block that do something and can be reached."""
        kept: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            kept.append(self.visit(statement))
            if isinstance(statement, _LEAVES):
                break
        return kept or [ast.copy_location(ast.Pass(), statements[0])]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                setattr(node, field, self.body(block))
        for field, value in ast.iter_fields(node):
            if field in ("body", "orelse", "finalbody") and isinstance(value, list):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a is b` becomes `a == b`, unless one of them is None."""
        sides = [node.left, *node.comparators]
        for number, operator in enumerate(node.ops):
            if any(_is_none(side) for side in sides[number : number + 2]):
                continue
            if isinstance(operator, ast.Is):
                node.ops[number] = ast.Eq()
            elif isinstance(operator, ast.IsNot):
                node.ops[number] = ast.NotEq()
        return self.generic_visit(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _names(text: str, node: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that a function takes from outside, also those in annotations."""
    yield from _globals(symtable.symtable(text, "<kernel>", "exec").get_children()[0])
    for part in ast.walk(node):
        if isinstance(part, ast.AnnAssign):
            yield from (n.id for n in ast.walk(part.annotation) if isinstance(n, ast.Name))


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    yield from (s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced())
    for child in table.get_children():
        yield from _globals(child)
