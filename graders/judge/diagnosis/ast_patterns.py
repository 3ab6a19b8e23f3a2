"""Find the nodes of a kernel or a launcher whose text shows a cause."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

LEAST_SIZE = 8  # a smaller number is hardly the size of an input


def loops_of(function: ast.AST) -> list[ast.For | ast.While]:
    """Return the loops of a function."""
    return [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]


def _joined(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr)


def unbracketed(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield `a < b & c < d`, which Python reads as `a < (b & c) < d`."""
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Compare):
            continue
        operands = [node.left, *node.comparators]
        chained = any(map(_joined, operands[1:-1]))
        inside = (part for part in operands if isinstance(part, ast.BinOp) and _joined(part))
        bound = operands[-1]  # in `rows < n_rows & inside`, where `inside` is a mask already
        masked = isinstance(node.ops[-1], ast.Lt | ast.LtE) and _joined(bound)
        constants = (part.value for part in ast.walk(bound) if isinstance(part, ast.Constant))
        among_masks = masked and all(value is None for value in constants)
        if (
            chained
            or among_masks
            or any(
                isinstance(side, ast.Compare) for part in inside for side in (part.left, part.right)
            )
        ):
            yield node


def cast_pointers(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and any(
            isinstance(part, ast.Attribute) and part.attr == "pointer_type"
            for argument in [*node.args, *(k.value for k in node.keywords)]
            for part in ast.walk(argument)
        ):
            yield node


def counted_in_bytes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield products of an element's size and a distance.

    Not products of other sizes: counting the bytes of a tile is correct. Not products before a `%`
    either: a descriptor requires a distance to be a multiple of 16 bytes.
    """
    asked = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        for part in ast.walk(node.left)
    }
    sizes = {"element_size", "itemsize", *_names_of_element_size(function)}
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            words = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            words |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            distance = any("stride" in word or word == "numel" for word in words)
            in_bytes = bool(words & sizes)
            if distance and in_bytes and id(node) not in asked:
                yield node


def _names_of_element_size(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the names that are set to the size of an element."""
    for name, values in _assigned(function).items():
        if all(re.fullmatch(r".*\.(element_size\(\)|itemsize)", ast.unparse(v)) for v in values):
            yield name


def fixed_sizes(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield comparisons of a value with a literal number as its upper bound."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            match node.comparators[0]:
                case ast.Constant(value=int(size)) if size >= LEAST_SIZE:
                    yield node


def _constants(kernel: ast.FunctionDef) -> set[str]:
    """The parameters that are tl.constexpr: block sizes, among others."""
    known = (*kernel.args.args, *kernel.args.kwonlyargs)
    marked = (arg for arg in known if arg.annotation is not None)
    return {arg.arg for arg in marked if ast.unparse(arg.annotation or arg).endswith("constexpr")}


def floored_loops(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield loops that leave out the last, partial block.

    Either a loop over `n // BLOCK` blocks, if no code handles the rest, or one that ends as soon as
    a whole block no longer fits, `while i + BLOCK <= n`.
    """
    constants = _constants(kernel)

    def by_block(node: ast.AST, *kinds: type[ast.operator]) -> bool:
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, kinds)
            and ast.unparse(node.right) in constants
        )

    nodes = list(ast.walk(kernel))
    floored = [n for n in nodes if by_block(n, ast.FloorDiv) and not _rounds_up(n)]
    named = {
        ast.unparse(node.targets[0]): node.value
        for node in nodes
        if isinstance(node, ast.Assign) and node.value in floored
    }
    loops = [node.iter for node in nodes if isinstance(node, ast.For)]
    ends = [end for loop in loops if isinstance(loop, ast.Call) for end in loop.args[:2]]
    bounds = [named.get(ast.unparse(end), end) for end in ends]
    if not any(by_block(node, ast.Mod) for node in nodes) and all(n in bounds for n in floored):
        yield from floored
    for node in nodes:
        match node:
            case ast.While(test=ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()])):
                if by_block(left, ast.Add):
                    yield node


def _rounds_up(quotient: ast.AST) -> bool:
    """Whether the quotient is `(n + BLOCK - 1) // BLOCK`."""
    match quotient:
        case ast.BinOp(left=left, right=ast.Name(id=block)):
            return any(isinstance(part, ast.Name) and part.id == block for part in ast.walk(left))
    return False


def largest_of_zero(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield `tl.max(x, 0)` if nothing else is reduced: here the 0 is an axis, not a bound."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    names = [ast.unparse(call.func).split(".")[-1] for call in calls]
    if {"exp", "exp2", "sum", "dot", "argmax"} & {*names} or loops_of(kernel):
        return
    for call, name in zip(calls, names, strict=True):
        match name, call.args:
            case "max" | "min", [_, ast.Constant(value=0)]:
                yield call


def _assigned(kernel: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """The values of each name of a kernel, from all assignments to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _calls(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Yield the calls in a node of functions with one of these last names."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] in names:
            yield call


def _mask_of(call: ast.Call) -> str:
    return next((ast.unparse(k.value) for k in call.keywords if k.arg == "mask"), "")


def _made_of(
    value: ast.expr, assigned: dict[str, list[ast.expr]], steps: int = 2
) -> list[ast.expr]:
    """An expression and the values of its names, up to `steps` assignments back."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} if steps else set()
    parts = [part for name in names for part in assigned.get(name, ())]
    return [value, *(one for part in parts for one in _made_of(part, assigned, steps - 1))]


def _is_turned(value: ast.expr) -> bool:
    """Whether the expression transposes a block."""
    attributes = (node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute))
    return "T" in attributes or any(_calls(value, "trans", "permute"))


def mask_not_turned(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield stores of a transposed block under the mask with which the block was loaded."""
    assigned = _assigned(kernel)
    for store in _calls(kernel, "store"):
        mask = _mask_of(store)
        if not mask or len(store.args) < 2 or len(assigned.get(mask, ())) > 1:
            continue
        parts = _made_of(store.args[1], assigned)
        loads = (load for part in parts for load in _calls(part, "load"))
        if any(map(_is_turned, parts)) and any(_mask_of(load) == mask for load in loads):
            yield store


def pointers_not_put_back(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield loads in a second, equal loop through pointers that the first loop has moved."""
    for block in ast.walk(kernel):
        body = getattr(block, "body", None)
        if not isinstance(body, list):
            continue
        loops = [(place, node) for place, node in enumerate(body) if isinstance(node, ast.For)]
        for (first, one), (second, other) in pairwise(loops):
            if ast.unparse(one.iter) != ast.unparse(other.iter):
                continue
            moved = _set_in(one, ast.AugAssign) - _set_in(one, ast.Assign)
            between = ast.Module(body[first + 1 : second], [])
            moved -= _set_in(between, ast.Assign, ast.AugAssign) | _set_in(other, ast.Assign)
            for load in _calls(other, "load"):
                if moved & {n.id for n in ast.walk(load) if isinstance(n, ast.Name)}:
                    yield load


def pointers_left_behind(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield loads in a loop through pointers that never move, if other pointers there do."""
    assigned = _assigned(kernel)
    for loop in loops_of(kernel):
        moved = _set_in(loop, ast.AugAssign)
        set_there = moved | _set_in(loop, ast.Assign)
        loads = [load for load in _calls(loop, "load") if load.args]
        names = [(load, load.args[0].id) for load in loads if isinstance(load.args[0], ast.Name)]
        if any(name in moved for _, name in names):
            for load, name in names:
                made = assigned.get(name, [])
                if name not in set_there and len(made) == 1 and isinstance(made[0], ast.BinOp):
                    yield load


def _set_in(node: ast.AST, *kinds: type[ast.Assign | ast.AugAssign]) -> set[str]:
    """The names that a node sets in statements of these kinds."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, kinds):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            parts = (part for target in targets for part in ast.walk(target))
            found |= {part.id for part in parts if isinstance(part, ast.Name)}
    return found


def masked_like_a_store(source: str, line: int | None) -> bool:
    """Whether the load in this line has the mask of a store of the same function."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            masks = {_mask_of(store) for store in _calls(function, "store")} - {""}
            for load in _calls(function, "load"):
                if line is not None and load.lineno <= line <= (load.end_lineno or load.lineno):
                    return _mask_of(load) in masks
    return False


def joined_by_or(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield `(rows < n_rows) | (cols < n_cols)`: two upper bounds, one of which suffices."""
    for node in ast.walk(kernel):
        match node:
            case ast.BinOp(left=ast.Compare() as one, op=ast.BitOr(), right=ast.Compare() as other):
                bounds = [*one.ops, *other.ops]
                if all(isinstance(bound, ast.Lt | ast.LtE) for bound in bounds):
                    yield node


def chosen_by_product(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield products with an equality comparison, such as `x * (cols == target)`."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = map(_without_cast, (node.left, node.right))
            if any(isinstance(s, ast.Compare) and isinstance(s.ops[0], ast.Eq) for s in sides):
                yield node


def _without_cast(node: ast.expr) -> ast.expr:
    """`value` of `value.to(dtype)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="to")):
            return value
    return node
