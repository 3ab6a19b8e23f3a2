"""The single edits that `benchmarks/mutants.py` makes in correct kernels and launchers.

An edit replaces the value of one field of one node of the syntax tree. The list is generic: it
knows Triton's functions, and no exercise. Decorators, annotations and imports stay as they are.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.mutant_names import called, first_lines, is_kernel, kinds_of, names_in

Blocks = ast.FunctionDef | ast.Module
DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
COMPARISONS: dict[type, tuple[tuple[type, ...], int]] = {  # other operators; a change of the bound
    ast.Lt: ((ast.LtE, ast.Gt), -1),
    ast.LtE: ((ast.Lt, ast.GtE), +1),
    ast.Gt: ((ast.GtE, ast.Lt), +1),
    ast.GtE: ((ast.Gt, ast.LtE), -1),
    ast.Eq: ((ast.NotEq, ast.GtE), +1),
    ast.NotEq: ((ast.Eq,), +1),
}
ARITHMETIC: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
FUNCTIONS = {
    "maximum": "minimum",
    "minimum": "maximum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "sum": "max",
    "cumsum": "cumprod",
    "exp": "exp2",
    "exp2": "exp",
    "log": "log2",
    "log2": "log",
    "sqrt": "rsqrt",
    "rsqrt": "sqrt",
    "zeros_like": "empty_like",
    "zeros": "empty",
    "atomic_add": "atomic_max",
    "atomic_max": "atomic_add",
}
DTYPES = {
    "float64": "float32",
    "float32": "float16",
    "float16": "float32",
    "bfloat16": "float16",
    "int64": "int32",
    "int32": "int64",
    "uint8": "int8",
    "int8": "uint8",
    "float8e4nv": "float8e5",
    "float8_e4m3fn": "float8_e5m2",
}
METHODS = {"to", "contiguous", "t", "trans", "reshape", "view", "flatten", "float"}
WRAPPERS = {"trans", "abs", "exp", "exp2", "log", "sqrt", "rsqrt", "sigmoid", "clamp"}
CHOICES = {"maximum", "minimum", "where", "fma", "max", "min"}
TUNING = {"num_warps", "num_stages", "num_ctas", "maxnreg"}  # these change no result
MASK_PLACE = {"load": 1, "store": 2, "atomic_add": 2, "atomic_max": 2}


@dataclass(frozen=True)
class Edit:
    """`new` is the value of the field; `before` and `after` are the texts of what changes."""

    kind: str
    line: int
    function: str  # "" outside of functions
    in_kernel: bool
    owner: ast.AST
    field: str
    new: Any
    before: str
    after: str


@contextmanager
def applied(owner: ast.AST, name: str, new: Any) -> Iterator[None]:
    """Inside the block, the field has the new value."""
    old = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Yield every edit of the list, in the order of the text."""
    grids = {*_grid_names(tree)}
    helpers = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for block in (tree, *functions):
        yield from _Function(block, grids, helpers).edits()


@dataclass
class _Function:
    """One function, without those inside it; or what is outside of all functions."""

    block: Blocks
    grids: set[str]
    helpers: set[str]
    kinds: dict[str, str] = field(default_factory=dict)  # of names
    defined: dict[str, int] = field(default_factory=dict)  # the first line, by name

    def __post_init__(self) -> None:
        self.name = "" if isinstance(self.block, ast.Module) else self.block.name
        self.in_kernel = isinstance(self.block, ast.FunctionDef) and is_kernel(self.block)
        if isinstance(self.block, ast.FunctionDef):
            self.kinds = dict(kinds_of(self.block, self.in_kernel))
            self.defined = first_lines(self.block)

    def edits(self) -> Iterator[Edit]:
        yield from self._in_body(self.block, "body", inner=False)

    def _in_body(self, owner: Any, name: str, inner: bool) -> Iterator[Edit]:
        body: list[ast.stmt] = getattr(owner, name)
        for place, statement in enumerate(body):
            if isinstance(statement, DEFINITIONS) or _is_text(statement):
                continue
            if not isinstance(self.block, ast.Module):
                yield from self._statements(owner, name, place)
                yield from self._accumulations(owner, name, place, inner)
            yield from self._expressions(statement)
            for part in ("body", "orelse"):
                if isinstance(getattr(statement, part, None), list):
                    yield from self._in_body(statement, part, inner=True)
            if isinstance(statement, ast.For | ast.While):
                yield from self._out_of_the_loop(owner, name, place)

    def _made(
        self, kind: str, line: int, change: tuple[Any, str, Any], texts: tuple[str, str]
    ) -> Edit:
        return Edit(kind, line, self.name, self.in_kernel, *change, *texts)

    # ------------------------------------------------------------ statements

    def _statements(self, owner: Any, name: str, place: int) -> Iterator[Edit]:
        """Delete the statement, or move it after the next one."""
        body, statement = getattr(owner, name), getattr(owner, name)[place]
        if isinstance(statement, ast.Return | ast.Pass):
            return
        rest = [*body[:place], *body[place + 1 :]] or [ast.Pass()]
        before = header(statement)
        yield self._made("delete", statement.lineno, (owner, name, rest), (before, "(deleted)"))
        following = body[place + 1] if place + 1 < len(body) else None
        if following is None or isinstance(following, (*DEFINITIONS, ast.Return)):
            return
        if independent(statement, following):
            return
        moved = [*body[:place], following, statement, *body[place + 2 :]]
        after = f"(moved after) {header(following)}"
        yield self._made("move", statement.lineno, (owner, name, moved), (before, after))

    def _accumulations(self, owner: Any, name: str, place: int, inner: bool) -> Iterator[Edit]:
        """Assign instead of adding; inside a loop or branch, add instead of assigning."""
        body, statement = getattr(owner, name), getattr(owner, name)[place]
        new: ast.stmt
        if isinstance(statement, ast.AugAssign):
            new = ast.Assign([statement.target], statement.value)
        elif (
            inner
            and isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
        ):
            new = ast.AugAssign(statement.targets[0], ast.Add(), statement.value)
        else:
            return
        ast.copy_location(new, statement)
        changed = [*body[:place], new, *body[place + 1 :]]
        texts = header(statement), header(new)
        yield self._made("accumulation", statement.lineno, (owner, name, changed), texts)

    def _out_of_the_loop(self, owner: Any, name: str, place: int) -> Iterator[Edit]:
        """Move the first statement before the loop, or the last one after it."""
        body, loop = getattr(owner, name), getattr(owner, name)[place]
        if len(loop.body) < 2:
            return
        for index, where in ((0, "before"), (-1, "after")):
            statement = loop.body[index]
            shorter = copy.copy(loop)
            shorter.body = [other for other in loop.body if other is not statement]
            both = [statement, shorter] if where == "before" else [shorter, statement]
            changed = [*body[:place], *both, *body[place + 1 :]]
            texts = header(statement), f"(moved {where}) {header(loop)}"
            yield self._made("move", statement.lineno, (owner, name, changed), texts)

    # ------------------------------------------------------------ expressions

    def _expressions(self, statement: ast.stmt) -> Iterator[Edit]:
        before = header(statement)
        for kind, owner, name, new in self._changes(statement):
            line = getattr(owner, "lineno", statement.lineno)
            with applied(owner, name, new):
                after = header(statement)
            if after != before:
                yield self._made(kind, line, (owner, name, new), (before, after))

    def _changes(self, statement: ast.stmt) -> Iterator[tuple[str, ast.AST, str, Any]]:
        """Yield kind, owner, field and new value for each edit of its own expressions."""
        if isinstance(statement, ast.AugAssign):
            for other in ARITHMETIC.get(type(statement.op), ()):
                yield "arithmetic", statement, "op", other()
        if isinstance(statement, ast.If | ast.While):
            for value in (True, False):
                yield "condition", statement, "test", ast.Constant(value)
        for owner, name, index, node in _slots(statement):
            value = getattr(owner, name)
            for kind, new in self._instead(node, owner):
                whole = new if index is None else [*value[:index], new, *value[index + 1 :]]
                yield kind, owner, name, whole
            yield from self._inside(node)
        if isinstance(statement, ast.Assign) and names_in(statement.targets) & self.grids:
            yield from _grid(statement.value)
        if self.name in self.grids and isinstance(statement, ast.Return) and statement.value:
            yield from _grid(statement.value)

    def _instead(self, node: ast.expr, owner: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """Yield what may replace a whole expression."""
        if isinstance(node, ast.Constant):
            for value in _other_constants(node.value):
                yield "constant", ast.Constant(value)
        elif isinstance(node, ast.BinOp):
            yield "operand dropped", node.left
            yield "operand dropped", node.right
        elif isinstance(node, ast.BoolOp):
            for operand in node.values:
                yield "operand dropped", operand
        elif isinstance(node, ast.UnaryOp):
            yield "sign", node.operand
        elif isinstance(node, ast.IfExp):
            yield "condition", node.body
            yield "condition", node.orelse
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            for name in self._alike(node):
                yield "name", ast.Name(name, ast.Load())
        elif isinstance(node, ast.Attribute) and node.attr in DTYPES:
            yield "dtype", ast.Attribute(node.value, DTYPES[node.attr], ast.Load())
        elif isinstance(node, ast.Call):
            yield from _instead_of_call(node)

    def _inside(self, node: ast.expr) -> Iterator[tuple[str, ast.AST, str, Any]]:
        """Yield the changes of an expression's own parts."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            others, step = COMPARISONS.get(type(node.ops[0]), ((), 0))
            for other in others:
                yield "comparison", node, "ops", [other()]
            if step:
                yield "bound", node, "comparators", [_plus(node.comparators[0], step)]
        elif isinstance(node, ast.BinOp):
            for other in ARITHMETIC.get(type(node.op), ()):
                yield "arithmetic", node, "op", other()
        elif isinstance(node, ast.BoolOp):
            yield "condition", node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
        elif isinstance(node, ast.Subscript) and _expands(node.slice):
            yield "axis", node, "slice", ast.Tuple([*reversed(node.slice.elts)], ast.Load())
        elif isinstance(node, ast.Call):
            yield from self._in_call(node)

    def _in_call(self, call: ast.Call) -> Iterator[tuple[str, ast.AST, str, Any]]:
        name, args = called(call), call.args
        if name in FUNCTIONS and isinstance(call.func, ast.Attribute):
            yield "function", call.func, "attr", FUNCTIONS[name]
        for place, keyword in enumerate(call.keywords):
            if keyword.arg is not None and keyword.arg not in TUNING:
                rest = [*call.keywords[:place], *call.keywords[place + 1 :]]
                kind = keyword.arg if keyword.arg in ("mask", "other") else "keyword"
                yield f"{kind} dropped", call, "keywords", rest
        mask = MASK_PLACE.get(name, len(args))
        if isinstance(call.func, ast.Attribute) and len(args) > mask:
            yield "mask dropped", call, "args", [*args[:mask], *args[mask + 1 :]]
        launches = isinstance(call.func, ast.Subscript)
        if launches or name in self.helpers or name in ("dot", "where"):
            for place in range(len(args) - 1):
                swapped = [*args[:place], args[place + 1], args[place], *args[place + 2 :]]
                yield "arguments exchanged", call, "args", swapped
        if launches:
            named = [keyword for keyword in call.keywords if keyword.arg not in TUNING]
            for one, two in itertools.pairwise(named):
                exchanged = ast.keyword(one.arg, two.value), ast.keyword(two.arg, one.value)
                others = [k for k in call.keywords if k not in (one, two)]
                yield "arguments exchanged", call, "keywords", [*others, *exchanged]
            yield from _grid(call.func.slice)  # type: ignore[attr-defined]
        if name in ("range", "static_range"):
            for place, bound in enumerate(args):
                if not isinstance(bound, ast.Constant):
                    for step in (1, -1):
                        changed = [*args[:place], _plus(bound, step), *args[place + 1 :]]
                        yield "bound", call, "args", changed

    def _alike(self, node: ast.Name) -> Iterator[str]:
        """Yield the names of the same kind that are defined just before and after this one."""
        kind = self.kinds.get(node.id)
        known = [
            name
            for name, other in self.kinds.items()
            if other == kind and (name == node.id or self.defined.get(name, 0) < node.lineno)
        ]
        if kind is not None and len(known) > 1:
            place = known.index(node.id)
            yield from dict.fromkeys((known[place - 1], known[(place + 1) % len(known)]))


# ---------------------------------------------------------------- parts of expressions


def header(statement: ast.stmt) -> str:
    """The text of a statement without the statements inside it."""
    alone = copy.copy(statement)
    for name in ("body", "orelse"):
        if isinstance(getattr(statement, name, None), list):
            setattr(alone, name, [])
    return ast.unparse(alone)


def _instead_of_call(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name, args = called(call), call.args
    if name == "cdiv" and len(args) == 2:
        yield "rounded down", ast.BinOp(args[0], ast.FloorDiv(), args[1])
    if isinstance(call.func, ast.Attribute):
        owner = call.func.value
        if name in METHODS and not (isinstance(owner, ast.Name) and owner.id in ("tl", "torch")):
            yield "cast dropped" if name == "to" else "call dropped", owner
        elif name in WRAPPERS and args:
            yield "call dropped", args[0]
    if name == "dot" and len(args) == 3:
        yield "accumulation", ast.Call(call.func, args[:2], call.keywords)
    if name in CHOICES and len(args) > 1:
        for argument in args[1:] if name == "where" else args:
            yield "operand dropped", argument


def _grid(node: ast.expr) -> Iterator[tuple[str, ast.AST, str, Any]]:
    """Yield one program more or less along each axis, and exchanged axes."""
    if isinstance(node, ast.Lambda):
        yield from _grid(node.body)
    if not isinstance(node, ast.Tuple):
        return
    for place, size in enumerate(node.elts):
        for step in (1, -1):
            yield (
                "grid",
                node,
                "elts",
                [*node.elts[:place], _plus(size, step), *node.elts[place + 1 :]],
            )
    for place in range(len(node.elts) - 1):
        one, two = node.elts[place : place + 2]
        yield "grid", node, "elts", [*node.elts[:place], two, one, *node.elts[place + 2 :]]


def _plus(node: ast.expr, step: int) -> ast.expr:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ast.Constant(node.value + step)
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _other_constants(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value > 0:
            yield value - 1
        if value >= 8:
            yield from (2 * value, value // 2)
    elif isinstance(value, float):
        yield value + 1.0
        if value:
            yield 0.0


def _expands(node: ast.expr) -> bool:
    """Whether a subscript adds an axis, as `[:, None]`."""
    return isinstance(node, ast.Tuple) and {type(part) for part in node.elts} == {
        ast.Slice,
        ast.Constant,
    }


def _slots(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Yield the statement's expressions, each with its owner, field and place in a list there."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        owner = waiting.pop(0)
        if isinstance(owner, ast.keyword) and owner.arg in TUNING:
            continue
        for name, value in ast.iter_fields(owner):
            if name in ("annotation", "targets", "target", "args") and isinstance(
                owner, ast.stmt | ast.Lambda
            ):
                continue
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.expr):
                    yield owner, name, index if isinstance(value, list) else None, child
                if isinstance(child, ast.expr | ast.keyword | ast.comprehension | ast.slice):
                    waiting.append(child)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _grid_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that launches have between their brackets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            yield from (n.id for n in [node.func.slice] if isinstance(n, ast.Name))


def independent(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two assignments give the same values in either order.

    Neither uses or sets a name that the other sets, and neither changes memory.
    """
    if not all(isinstance(statement, ast.Assign) for statement in (one, other)):
        return False
    called = {name for statement in (one, other) for name in _called(statement)}
    if any("store" in name or "atomic" in name or name.endswith("_") for name in called):
        return False
    (sets, uses), (others_sets, others_uses) = map(_names, (one, other))
    return not (sets & (others_sets | others_uses) or others_sets & uses)


def _called(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of what is called; "unknown_" for a function without a module."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else "unknown_"


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement sets, and those that it uses."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    # `x[0] = y` changes x, although it only loads the name.
    targets = [n for target in getattr(statement, "targets", ()) for n in ast.walk(target)]
    sets = {node.id for node in targets if isinstance(node, ast.Name)}
    return sets, {node.id for node in names if isinstance(node.ctx, ast.Load)}
