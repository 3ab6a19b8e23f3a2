"""The compiler's messages in a tutor's words: one table, and the findings made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graders.judge.model import Finding
from graders.judge.workers.claims import text as plain_text

GATE = "compile"
TITLE = "The kernel does not compile for a GPU"
ARCHITECTURES = {80: "sm_80 (A100)", 90: "sm_90 (H100, H200)"}


@dataclass(frozen=True)
class Row:
    """A pattern in the compiler's text, what it means, and what to do."""

    pattern: str
    message: str
    next_step: str


ROWS = (
    Row(
        r"arange's (range|arguments) must be (a )?power of 2|range must be a power of 2",
        "tl.arange needs a length that is a power of two: 2, 4, 8, …",
        "Take the next power of two (triton.next_power_of_2) and mask off what is too much.",
    ),
    Row(
        r"[Ss]hape element .* must be a power of 2|must be a power of (two|2)",
        "The sides of a block must be powers of two.",
        "Use powers of two and mask off what is too much.",
    ),
    Row(
        r"arange's arguments must be of type tl\.constexpr|arange.*constexpr",
        "The bounds of tl.arange must be known when the kernel is compiled.",
        "Declare the size as `BLOCK_SIZE: tl.constexpr` in the kernel's parameters.",
    ),
    Row(
        r"Cannot access global variable (?P<name>\w+)",
        "The kernel uses the global {name}, whose value could change after compiling.",
        "Pass {name} as a parameter (tl.constexpr), or define it as {name} = tl.constexpr(…).",
    ),
    Row(
        r"unsupported AST node type: (?P<name>\w+)",
        "`{name}` is Python that the Triton compiler does not know.",
        "Write it with masks, tl.where, plain if on scalars, for and while.",
    ),
    Row(
        r"[Bb]oolean value of Tensor with more than one value is ambiguous|"
        r"Cannot convert .* to bool|'scf\.condition' op operand",
        "An `if` or `while` decides for the whole program, so its condition must be one number. "
        "This one is a block.",
        "Decide element by element with tl.where(condition, a, b), or with a mask.",
    ),
    Row(
        r"Loop-carried variable (?P<name>\w+) has initial type (?P<first>.+?) but is re-assigned "
        r"to (?P<second>.+?) in loop",
        "{name} starts the loop as {first} and becomes {second} in it. Its type must stay.",
        "Start with the type that the loop produces, or convert inside the loop with .to(…).",
    ),
    Row(
        r"(?P<name>\w+) is not defined in (then|else) block|[Mm]ismatched type for (?P<name2>\w+) "
        r"between then block|undefined in (the )?(then|else)",
        "A variable is set in one branch of an if and not, or with another type, in the other.",
        "Give it a value of the same type before the if.",
    ),
    Row(
        r"(?:\bname )?['\"]?\b(?P<name>\w+)['\"]? is not defined",
        "{name} is not defined where the kernel uses it.",
        "Define it before this line (setting it in only one branch of an if does not count), "
        "or pass it as a parameter.",
    ),
    Row(
        r"module 'triton\.language[\w.]*' has no attribute '(?P<name>\w+)'",
        "There is no tl.{name}.",
        "Check the name in Triton's reference.",
    ),
    Row(
        r"Input shapes should have|[Ff]irst input shape .* must|dot.*(M >= |K >= |at least)|"
        r"minimum.*(dot|shape)",
        "tl.dot needs blocks of at least 16 on the sides that it multiplies.",
        "Enlarge the block, for example to 16, and mask off what is too much.",
    ),
    Row(
        r"[Bb]oth operands must be same dtype|First input .* and second input .* must have the same"
        r"|must have same dtype|should have the same dtype|lhs and rhs bitwidth",
        "The two blocks of tl.dot have different dtypes.",
        "Convert one of them with .to(…).",
    ),
    Row(
        r"Cannot make_shape_compatible: incompatible dimensions at index (?P<name>\d+): "
        r"(?P<first>\d+) and (?P<second>\d+)",
        "Two blocks of different sizes meet: {first} and {second} along dimension {name}.",
        "Look at [:, None] and [None, :] and at the block sizes on this line.",
    ),
    Row(
        r"(Value|Mask|`?mask`?|`?other`?).* cannot be broadcast|Mask argument cannot be block type|"
        r"cannot broadcast|Cannot broadcast|Expected \w+ argument to have shape",
        "A block does not have the shape of the pointers that it belongs to.",
        "Pointer block, mask and value need the same shape; [:, None] adds a dimension.",
    ),
    Row(
        r"Unsupported ptr type .* in `?tl\.(load|store)|"
        r"pointer type.*(load|store)|(load|store).*must be.*pointer",
        "tl.load and tl.store take pointers; this is a number or a block of numbers.",
        "Add the offsets to the pointer that the kernel was given: x_ptr + offsets.",
    ),
    Row(
        r"Value argument cannot be block type if pointer argument is not a block",
        "A whole block is stored through a single pointer.",
        "Store through a block of pointers: out_ptr + offsets.",
    ),
    Row(
        r"'(tensor|pointer_type)' object is not (iterable|subscriptable)|unsupported tensor index|"
        r"cannot .*subscript|`_semantic` argument must be provided outside",
        "A pointer or block cannot be indexed like a Python list.",
        "Read with tl.load(x_ptr + offsets); [:, None] only adds a dimension.",
    ),
    Row(
        r"cannot add pointers together",
        "Two pointers are added.",
        "A pointer plus an offset is a pointer; the sum of two pointers is nothing.",
    ),
    Row(
        r"invalid operands of type (?P<first>.+?) and (?P<second>.+?)(?:$|\n)",
        "This operation does not exist for {first} and {second}.",
        "Pointers can be added to integers only; convert other values with .to(…).",
    ),
    Row(
        r"numel \((?P<first>\d+)\) exceeds triton maximum tensor numel \((?P<second>\d+)\)",
        "This block has {first} elements; Triton allows {second}.",
        "Use a smaller block and a loop.",
    ),
    Row(
        r"too many indices for tensor of rank (?P<name>\d+)",
        "This value has {name} dimensions, fewer than the index on it: [:, None] is for blocks.",
        "A plain number fits every shape without an index.",
    ),
    Row(
        r"arange's end argument must be greater than the start",
        "This tl.arange is empty: its end is not beyond its start.",
        "Look at the block size: triton.next_power_of_2(0) is 0.",
    ),
    Row(
        r"num_warps must be a power of 2",
        "num_warps must be a power of two.",
        "Use 1, 2, 4, 8 or 16.",
    ),
    Row(
        r"Keyword argument (?P<name>\w+) was specified but unrecognised",
        "The launch passes {name}, and the kernel has no such parameter.",
        "Use the names of the kernel's parameters.",
    ),
    Row(
        r"'(constexpr|int)' object has no attribute '(?P<name>\w+)'",
        "This value is a plain number here: Triton makes a constant of an argument that is 1, "
        "and a constant has no .{name}.",
        "Convert the block or program id that it is multiplied with instead.",
    ),
    Row(
        r"Unsupported function referenced: (?P<name>.+)",
        "The kernel calls a function that is not @triton.jit.",
        "Put @triton.jit above it if it is part of the kernel.",
    ),
    Row(
        r"missing \d+ required (positional|keyword-only) argument",
        "A function is called with too few arguments.",
        "Compare the call with the function's parameters.",
    ),
    Row(
        r"PassManager::run failed|failed to (translate|legalize)",
        "Triton understood the kernel, but could not turn it into GPU instructions.",
        "Simplify the line, or use smaller blocks; the compiler's own words are below.",
    ),
)


def explained(text: str) -> tuple[str, str] | None:
    """Message and next step for a compiler's text; None where no row fits."""
    for row in ROWS:
        match = re.search(row.pattern, text)
        if match:
            parts = {k: v or "it" for k, v in match.groupdict().items()}
            return row.message.format_map(parts), row.next_step.format_map(parts)
    return None


def compile_finding(error: Mapping[str, Any], stderr: str) -> Finding:
    """The finding for one error that the child reports; every field is checked."""
    text = plain_text(error.get("text"), 2000)
    whole = plain_text(error.get("whole"), 2000)
    kind = plain_text(error.get("type"), 60)
    line = _diagnosed_line(stderr) or error.get("line")
    kernel = plain_text(error.get("kernel"), 100)
    found = next(filter(None, map(explained, (text, whole, f"{kind}: {text}", stderr))), None)
    if found is None:
        first = next((part for part in text.splitlines() if part.strip()), "no reason given")
        found = f"The compiler says: {first.strip()}", "Mend the line and check again."
        if error.get("stage") == "module":
            found = f"Loading it stopped with {kind}: {first.strip()}", found[1]
    where = f"In {kernel}: " if kernel else ""
    original = "\n".join(part for part in (whole or text, plain_text(stderr, 1000)) if part)
    title = TITLE if error.get("stage") != "module" else "The submission cannot be loaded"
    line = line if type(line) is int and line > 0 else None
    return Finding(GATE, "compile-error", title, where + found[0], line, None, found[1],
                   original=original)  # fmt: skip


def _diagnosed_line(stderr: str) -> int | None:
    """The line that a diagnostic of the compiler's later stages names."""
    match = re.search(r"<submission>:(\d+):\d+: error:", stderr)
    return int(match[1]) if match else None


def shared_memory_finding(
    kernel: str, line: int | None, target: int, needed: int, limit: int
) -> Finding:
    """A program that needs more shared memory than a processor has."""
    return Finding(
        GATE,
        "shared-memory-too-large",
        "The kernel needs more shared memory than there is",
        f"{kernel} needs {needed:,} bytes of shared memory; on {ARCHITECTURES[target]} a program "
        f"can have {limit:,}. It would compile and then fail to start.",
        line,
        None,
        "Use smaller blocks or fewer stages (num_stages).",
    )


def assembler_finding(kernel: str, line: int | None, target: int, log: str) -> Finding:
    """ptxas refused what Triton produced."""
    return Finding(
        GATE,
        "compile-error",
        TITLE,
        f"{kernel} cannot be assembled for {ARCHITECTURES[target]}.",
        line,
        None,
        "Use smaller blocks; the assembler's own words are below.",
        original=plain_text(log, 2000),
    )


def crash_finding(signal: int, stderr: str) -> Finding:
    """The compiler itself came to a sudden end."""
    how = f" (signal {signal})" if signal else ""
    return Finding(
        GATE,
        "compiler-crash",
        "The compiler crashes on this kernel",
        f"Triton's compiler ended suddenly{how} while it compiled the kernel.",
        None,
        None,
        "Simplify the kernel step by step until it compiles; odd block shapes are the usual cause.",
        original=plain_text(stderr, 2000),
    )


def timeout_finding() -> Finding:
    """Compiling did not come to an end."""
    return Finding(
        GATE,
        "compile-timeout",
        "The kernel takes too long to compile",
        "Compiling was stopped at the time limit.",
        None,
        None,
        "Loops over tl.static_range are unrolled, and huge blocks make huge programs: use range, "
        "or smaller blocks.",
    )
