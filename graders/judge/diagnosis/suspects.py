"""Causes that a kernel's text shows: what to look for, and what to say of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from graders.judge.diagnosis.generic import FindingText

ABOUT_SIZES = frozenset(
    {"missing-mask", "mask-too-narrow", "grid-too-small", "never-stored", "first-block-only"}
    | {"lanes-meet", "programs-idle"}
)
UNSPECIFIC = frozenset({"nothing-stored", "store-silenced", "wrong-values", "nan-result"})
VAGUE_SHAPES = frozenset({"all-zeros", "second-block-wrong", "later-rounds-wrong", "nearly-right"})
LEAST_SIZE = 8  # a number below it is hardly the size of an input


@dataclass(frozen=True)
class Suspect:
    """A cause that the text shows. `find` gives its node in a kernel, or in any function.

    `explains` are the codes in whose place it is told, None for all but errors.
    """

    code: str
    text: FindingText
    find: Callable[[ast.FunctionDef], Iterator[ast.AST]]
    explains: frozenset[str] | None = None
    in_launcher: bool = False


def loops_of(function: ast.AST) -> list[ast.For | ast.While]:
    """Return the loops of a function."""
    return [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]


def _joined(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr)


def _unbracketed(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """`a < b & c < d`, which Python reads as `a < (b & c) < d`."""
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Compare):
            continue
        operands = [node.left, *node.comparators]
        chained = any(map(_joined, operands[1:-1]))
        inside = (part for part in operands if isinstance(part, ast.BinOp) and _joined(part))
        bound = operands[-1]  # of `rows < n_rows & inside`, where `inside` is a mask already
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


def _cast_pointers(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and any(
            isinstance(part, ast.Attribute) and part.attr == "pointer_type"
            for argument in [*node.args, *(k.value for k in node.keywords)]
            for part in ast.walk(argument)
        ):
            yield node


def _bytes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The size of an element times a distance: what a tile takes of a GPU is counted rightly so.

    Whether a distance is a multiple of 16 bytes is rightly asked, too: a descriptor wants it so.
    """
    asked = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
        for part in ast.walk(node.left)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            words = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            words |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            distance = any("stride" in word or word == "numel" for word in words)
            in_bytes = bool(words & {"element_size", "itemsize"})
            if distance and in_bytes and id(node) not in asked:
                yield node


def _fixed_sizes(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """A comparison of something that is computed with a number that is written out."""
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


def _floored_loops(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """A loop over `n // BLOCK` blocks, where nothing else is done with what that leaves out; or
    one that ends as soon as a whole block no longer fits, `while i + BLOCK <= n`.
    """
    constants = _constants(kernel)

    def by_block(node: ast.AST, *kinds: type[ast.operator]) -> bool:
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, kinds)
            and ast.unparse(node.right) in constants
        )

    nodes = list(ast.walk(kernel))
    floored = [node for node in nodes if by_block(node, ast.FloorDiv)]
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


def _largest_of_zero(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """`tl.max(x, 0)` where nothing else is reduced: the 0 is an axis, and no bound."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    names = [ast.unparse(call.func).split(".")[-1] for call in calls]
    if {"exp", "exp2", "sum", "dot", "argmax"} & {*names} or loops_of(kernel):
        return
    for call, name in zip(calls, names, strict=True):
        match name, call.args:
            case "max" | "min", [_, ast.Constant(value=0)]:
                yield call


def _assigned(kernel: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What each name of a kernel is set to, in every assignment to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _calls(node: ast.AST, *names: str) -> Iterator[ast.Call]:
    """The calls in a node of functions with one of these last names."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] in names:
            yield call


def _mask_of(call: ast.Call) -> str:
    return next((ast.unparse(k.value) for k in call.keywords if k.arg == "mask"), "")


def _made_of(
    value: ast.expr, assigned: dict[str, list[ast.expr]], steps: int = 2
) -> list[ast.expr]:
    """An expression, and what the names in it were set to, so many steps back."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} if steps else set()
    parts = [part for name in names for part in assigned.get(name, ())]
    return [value, *(one for part in parts for one in _made_of(part, assigned, steps - 1))]


def _is_turned(value: ast.expr) -> bool:
    """Whether a block is transposed there."""
    attributes = (node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute))
    return "T" in attributes or any(_calls(value, "trans", "permute"))


def _mask_not_turned(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """A store of a transposed block under the mask with which the block was loaded."""
    assigned = _assigned(kernel)
    for store in _calls(kernel, "store"):
        mask = _mask_of(store)
        if not mask or len(store.args) < 2 or len(assigned.get(mask, ())) > 1:
            continue
        parts = _made_of(store.args[1], assigned)
        loads = (load for part in parts for load in _calls(part, "load"))
        if any(map(_is_turned, parts)) and any(_mask_of(load) == mask for load in loads):
            yield store


def _pointers_not_put_back(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """A second loop over the same range that loads where pointers of the first one have got to."""
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


def _pointers_left_behind(kernel: ast.FunctionDef) -> Iterator[ast.AST]:
    """A load in a loop through pointers that stay, beside one through pointers that move on."""
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
    """The names that a node sets by such statements."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, kinds):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            parts = (part for target in targets for part in ast.walk(target))
            found |= {part.id for part in parts if isinstance(part, ast.Name)}
    return found


SUSPECTS = (
    Suspect(
        "pointers-not-put-back",
        FindingText(
            "The second loop begins where the first one ended",
            "A first loop moves pointers along the row, and a second loop over the same row goes "
            "on from there: it reads behind the end of the row, in the next one or outside of the "
            "tensor.",
            "Before the second loop set the pointers to the start of the row again. Or leave them "
            "where they are, and compute the offsets of each step from the loop's own number.",
        ),
        _pointers_not_put_back,
        ABOUT_SIZES | UNSPECIFIC | VAGUE_SHAPES | {"contiguous-assumed", "out-of-bounds-load"},
    ),
    Suspect(
        "pointers-left-behind",
        FindingText(
            "In a loop some pointers move on, and others stay",
            "Each step of the loop loads a new block through one tensor of pointers, and the same "
            "block again through another: these pointers are not moved on. The first step is "
            "right.",
            "Move on every pointer that the loop loads or stores through, or compute the offsets "
            "of each step from the number of the step.",
        ),
        _pointers_left_behind,
        VAGUE_SHAPES | {"wrong-values", "load-ignores-pid"},
    ),
    Suspect(
        "mask-not-turned",
        FindingText(
            "The block is transposed, and its mask is not",
            "The block is loaded with a mask, transposed, and stored with the same mask. But its "
            "rows are columns now: the mask of the store must be transposed too. Else it lets "
            "lanes through that lie outside of the output, and holds back others that lie inside. "
            "Where tiles are full it does not show.",
            "`tl.store(pointers, tl.trans(block), mask=tl.trans(mask))`, or build the mask anew "
            "from the rows and columns of the output.",
        ),
        _mask_not_turned,
        ABOUT_SIZES | {"masked-lanes-used", "other-missing", "out-of-bounds-store"},
    ),
    Suspect(
        "block-reduced",
        FindingText(
            "A block is reduced where its elements should be compared",
            "`tl.max(x, 0)` gives the largest element along axis 0: its 0 is an axis. "
            "`tl.maximum(x, 0.0)` compares each element with 0.",
            "Write tl.maximum(x, 0.0), or tl.where(x > 0, x, 0.0).",
        ),
        _largest_of_zero,
        frozenset({"wrong-values", "relu-before-bias", "bias-by-row"}),
    ),
    Suspect(
        "brackets-missing",
        FindingText(
            "Brackets are missing around the comparisons",
            "In Python `&` binds more tightly than `<`: `rows < n_rows & cols < n_cols` means "
            "`rows < (n_rows & cols) < n_cols`. So the mask is another one than you meant.",
            "Put each comparison in brackets: "
            "`mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)`.",
        ),
        _unbracketed,
    ),
    Suspect(
        "pointer-cast",
        FindingText(
            "The pointers are turned into pointers to one dtype",
            "A pointer knows the dtype of its tensor. With `.to(tl.pointer_type(...))` the "
            "kernel reads every tensor as that dtype, four bytes at a time for float32, whatever "
            "lies there.",
            "Drop the conversion of the pointer. Convert what is loaded, `.to(tl.float32)`, and "
            "what is stored, `.to(output_ptr.dtype.element_ty)`.",
        ),
        _cast_pointers,
    ),
    Suspect(
        "counted-in-bytes",
        FindingText(
            "Offsets are counted in bytes",
            "The launcher multiplies by the size of an element in bytes. Triton knows the dtype of "
            "each pointer and counts in elements, as `x.stride()` does, too.",
            "Pass the strides as they are: x.stride(0), x.stride(1).",
        ),
        _bytes,
        ABOUT_SIZES | {"contiguous-assumed", "address-stretched", "out-of-bounds-load"},
        in_launcher=True,
    ),
    Suspect(
        "loop-rounds-down",
        FindingText(
            "A loop leaves out the block that is not full",
            "`//` rounds down: a loop over `n // BLOCK` blocks runs over the full ones only, and "
            "what is left at the end is never looked at. A row shorter than a block has no full "
            "one at all.",
            "Round up, `range(tl.cdiv(n, BLOCK))`, or step by blocks, `range(0, n, BLOCK)`, and "
            "mask the last block.",
        ),
        _floored_loops,
        ABOUT_SIZES | UNSPECIFIC | {"all-zeros", "part-of-block-wrong"},
    ),
    Suspect(
        "size-written-out",
        FindingText(
            "A size is written out as a number",
            "The kernel compares with a fixed number. It fits inputs of that one size, and no "
            "others.",
            "Pass the size as an argument, `n_elements`, and compare with that.",
        ),
        _fixed_sizes,
        ABOUT_SIZES,
    ),
)
