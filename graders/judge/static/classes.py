"""The read gate's rule for classes: they may hold values and must not do anything.

Block sizes in a class, a dataclass, a NamedTuple or an Enum are honest style. What such an
object holds is followed like the contents of a tuple. A method may hand that out, and no more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from graders.judge.report import Finding
from graders.judge.static import names as names
from graders.judge.static.findings import not_triton, shown
from graders.judge.static.scope import Scope

DECORATORS = ("dataclasses.dataclass",)
BASES = ("typing.NamedTuple", "enum.Enum", "enum.IntEnum")
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda)


def read_record(
    node: ast.ClassDef, scope: Scope, value: Callable[[ast.expr], object]
) -> list[Finding]:
    """Findings about a class; `value` reads an expression and reports what is wrong in it."""
    found = list(_head(node, scope))
    for part in node.body:
        if isinstance(part, ast.Pass) or _is_docstring(part):
            continue
        if isinstance(part, ast.Assign | ast.AnnAssign):
            found += _field(part)
            if part.value is not None:
                value(part.value)
        elif isinstance(part, ast.FunctionDef):
            if _hands_out(part):
                continue
            found.append(
                not_triton(
                    part,
                    f"The class {node.name} has a method {part.name} that does something; a class "
                    "may only hold values here.",
                    f"Make {part.name} a plain function beside the class.",
                )
            )
        else:
            found.append(_only_values(part, node))
    return found


def _hands_out(method: ast.FunctionDef) -> bool:
    """Whether a method only gives what the object holds, perhaps in a dict or a tuple."""
    *notes, last = method.body
    plain = method.name not in names.CONTAINER_METHODS and not method.name.startswith("_")
    decorated = [ast.unparse(decorator) for decorator in method.decorator_list]
    arguments = ast.unparse(method.args) == "self"
    value = last.value if isinstance(last, ast.Return) else None
    packed = (
        plain and arguments and decorated in ([], ["property"]) and all(map(_is_docstring, notes))
    )
    return packed and value is not None and _packs(value)


def _packs(node: ast.expr) -> bool:
    """Values of the object and constants, packed into containers: nothing is computed."""
    match node:
        case ast.Attribute(value=ast.Name(id="self")) | ast.Constant():
            return True
        case ast.Tuple() | ast.List():
            return all(map(_packs, node.elts))
        case ast.Dict():
            return all(key is not None and _packs(key) for key in node.keys) and all(
                map(_packs, node.values)
            )
        case ast.Call(func=ast.Name(id="dict"), args=[]):
            return all(keyword.arg and _packs(keyword.value) for keyword in node.keywords)
    return False


def _head(node: ast.ClassDef, scope: Scope) -> Iterator[Finding]:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        path = scope.dotted(call.func if call else decorator)
        plain = call is None or all(isinstance(k.value, ast.Constant) for k in call.keywords)
        if path not in DECORATORS or not plain or (call and call.args):
            yield not_triton(
                decorator, f"The decorator @{shown(decorator)} has no place here.", "Remove it."
            )
    for base in [*node.bases, *(keyword.value for keyword in node.keywords)]:
        if scope.dotted(base) not in BASES or node.keywords:
            yield not_triton(
                base,
                f"The class {node.name} is built on {shown(base)}.",
                "A class may hold values: a plain class, a dataclass, a NamedTuple or an Enum.",
            )


def _field(part: ast.Assign | ast.AnnAssign) -> Iterator[Finding]:
    targets = part.targets if isinstance(part, ast.Assign) else [part.target]
    for target in targets:
        if not isinstance(target, ast.Name) or target.id.startswith("__"):
            yield not_triton(part, f"`{shown(target)}` is no name for a value.", "Rename it.")
        elif target.id in names.CONTAINER_METHODS:
            yield not_triton(part, f"{target.id} is the name of a method, too.", "Rename it.")
    if isinstance(part, ast.AnnAssign) and any(
        isinstance(inner, ast.Call) for inner in ast.walk(part.annotation)
    ):
        yield not_triton(part, f"The annotation {shown(part.annotation)} calls a function.")
    if part.value is not None and any(isinstance(i, MUTABLE) for i in ast.walk(part.value)):
        yield not_triton(
            part,
            f"`{shown(part)}` could be changed later; a class may only hold values that stay.",
            "Write a tuple, in round brackets.",
        )


def _only_values(part: ast.stmt, node: ast.ClassDef) -> Finding:
    return not_triton(
        part,
        f"The class {node.name} does something: `{shown(part)}`.",
        "A class may only hold values, such as BLOCK_SIZE = 128.",
    )


def _is_docstring(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
