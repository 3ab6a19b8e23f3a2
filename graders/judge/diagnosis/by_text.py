"""Causes that a kernel's text shows, and mistakes that two gates have both found.

The text alone never refuses a submission. It explains cases that have failed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from graders.judge.diagnosis.generic import FindingText
from graders.judge.report import Finding

NEVER_REPLACED = frozenset({"kernel-error", "raised", "wrong-return", "inputs-changed", "exited"})
ABOUT_SIZES = frozenset(
    {"missing-mask", "mask-too-narrow", "grid-too-small", "never-stored", "first-block-only"}
    | {"lanes-meet", "programs-idle"}
)
UNSPECIFIC = frozenset({"nothing-stored", "store-silenced", "wrong-values", "nan-result"})
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


def told_once(findings: Sequence[Finding], source: str) -> list[Finding]:
    """Drop repeated findings, and replace a symptom by its cause where the text shows the cause.

    What the compiler refuses, it refuses for each dtype, and the interpreter stops there too: only
    the compiler's first finding is kept.
    """
    refused = [found for found in findings if found.code == "compile-error"]
    kept = [f for f in findings if not refused or f.code not in ("compile-error", "kernel-error")]
    kept = refused[:1] + kept
    ran = [found for found in kept if found.gate == "interpret"]
    if not ran:
        return kept
    cause = _cause(ran[0], source)
    return kept if cause is None else [f for f in kept if f.gate != "interpret"] + [cause]


def _cause(symptom: Finding, source: str) -> Finding | None:
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    kernels = [function for function in functions if _is_kernel(function)]
    for suspect in SUSPECTS:
        known = suspect.explains
        if symptom.code in NEVER_REPLACED or (known is not None and symptom.code not in known):
            continue
        for function in functions if suspect.in_launcher else kernels:
            for node in suspect.find(function):
                return _told(suspect, symptom, getattr(node, "lineno", None))
    return _endless(symptom, functions, kernels) if symptom.code == "timeout" else None


def _endless(
    symptom: Finding, functions: Sequence[ast.FunctionDef], kernels: Sequence[ast.FunctionDef]
) -> Finding | None:
    """Where a program that comes to no end has its loop, or that it has none."""
    loops = [loop for kernel in kernels for loop in _loops(kernel)]
    if loops or not kernels:
        return replace(symptom, line=symptom.line or loops[0].lineno) if len(loops) == 1 else None
    outside = [loop for function in functions for loop in _loops(function)]
    endless = next((loop for loop in outside if isinstance(loop, ast.While)), None)
    text = NO_LOOP if endless is None else LOOP_OUTSIDE
    return replace(
        symptom,
        title=text.title,
        message=f"{text.message}\n\n{_seen(symptom)}",
        next_step=text.next_step,
        line=symptom.line if endless is None else endless.lineno,
    )


def _told(suspect: Suspect, symptom: Finding, line: int | None) -> Finding:
    text = suspect.text
    return replace(
        symptom,
        code=suspect.code,
        title=text.title,
        message=f"{text.message}\n\n{_seen(symptom)}",
        next_step=text.next_step,
        line=line,
    )


def _seen(symptom: Finding) -> str:
    """What a finding says of the case in which it was seen."""
    return symptom.message.rpartition("\n\n")[2]


def _is_kernel(node: ast.FunctionDef) -> bool:
    marks = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(mark).split(".")[-1] == "jit" for mark in marks)


def _loops(function: ast.AST) -> list[ast.For | ast.While]:
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
    if {"exp", "exp2", "sum", "dot", "argmax"} & {*names} or _loops(kernel):
        return
    for call, name in zip(calls, names, strict=True):
        match name, call.args:
            case "max" | "min", [_, ast.Constant(value=0)]:
                yield call


SUSPECTS = (
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
NO_LOOP = FindingText(
    "The kernel comes to no end in the time that it has",
    "There is no loop in the kernel. So there are very many programs: each of them has a cost of "
    "its own, and one that works on a few elements does hardly anything else.",
    "Let each program work on a block of 1024 elements or so, and launch as many programs as there "
    "are blocks.",
)
LOOP_OUTSIDE = FindingText(
    "The launcher comes to no end in the time that it has",
    "There is no loop in the kernel, but a `while` outside of it. The judge stopped the submission "
    "at the time limit.",
    "Does the condition of this `while` ever become false? A launch needs no loop: the grid says "
    "how many programs there are.",
)
