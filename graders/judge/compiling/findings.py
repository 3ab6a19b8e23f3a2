"""Findings of the gate *compile*, in a tutor's words.

The interpreter's table translates most messages, in the child (`said`). The rows here are for
messages that only a compiler gives; they are tried first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graders.judge.bounds import line as plain_line
from graders.judge.bounds import text as plain_text
from graders.judge.diagnosis.generic import FAULTS, OUTCOMES
from triton_util.report import Finding

GATE = "compile"
TITLE = "The kernel does not compile for a GPU"
ARROW = "←"  # in messages about which argument arrived where
_CONSTANT = re.compile(r"'?constexpr\[(\d+)\]'?")  # a size, in the shapes that Triton prints
ARCHITECTURES = {80: "sm_80 (A100)", 90: "sm_90 (H100, H200)"}


@dataclass(frozen=True)
class Row:
    """A pattern in the compiler's text, what it means, and what to do."""

    pattern: str
    message: str
    next_step: str


ROWS = (
    Row(
        r"'scf\.condition' op operand",
        "A `while` decides for the whole program, so its condition must be one number, not a "
        "block.",
        "Decide element by element with tl.where(condition, a, b), or with a mask.",
    ),
    Row(
        r"'tt\.(?P<name>load|store)' op operand #\d+ must be 1-bit signless integer",
        "tl.{name} expects a mask here, true or false for each lane, but gets a number.",
        "Compare, mask = offsets < n_elements, and pass it by name: tl.load(x_ptr + offsets, "
        "mask=mask).",
    ),
    Row(
        r"Expected pointer argument to have shape [\[(](?P<first>1(?:, \d+){2,})[\])] but got "
        r"[\[(](?P<second>\d+(?:, \d+)+)[\])]",
        "The value or the mask of the store has shape ({first}), but its pointers have shape "
        "({second}): a value above this line has one axis too many.",
        "Look for [None, :] or [:, None] on a block that has two axes already. A row that is "
        "loaded with the mask of a whole tile also becomes a tile: load it with mask=cols < "
        "n_cols.",
    ),
    Row(
        r"Expected \w+ argument to have shape",
        "A block has a different shape from the pointers that it is used with.",
        "Pointers, mask and value need the same shape; [:, None] adds an axis.",
    ),
    Row(
        r"`_semantic` argument must be provided outside",
        "A pointer cannot be indexed with [ ], and a block cannot be indexed with numbers.",
        "Read with tl.load(x_ptr + offsets, mask=mask), write with tl.store(output_ptr + offsets, "
        "value, mask=mask). [:, None] on a block only adds an axis.",
    ),
    Row(
        r"numel \((?P<first>\d+)\) exceeds triton maximum tensor numel \((?P<second>\d+)\)",
        "This block has {first} elements; Triton allows {second}.",
        "Use a smaller block and a loop.",
    ),
    Row(
        r"too many indices for tensor of rank (?P<name>\d+)",
        "This value has {name} axes, fewer than its index needs: [:, None] is for blocks.",
        "A plain number fits every shape without an index.",
    ),
    Row(
        r"arange's end argument must be greater than the start",
        "This tl.arange is empty: its end is not larger than its start.",
        "Check the block size: triton.next_power_of_2(0) is 0. For an empty input return the "
        "empty result before the launch.",
    ),
    Row(
        r"num_warps must be a power of 2",
        "num_warps must be a power of two.",
        "Use 1, 2, 4, 8 or 16.",
    ),
    Row(
        r"Keyword argument (?P<name>\w+) was specified but unrecognised",
        "The launch passes {name}, but the kernel has no such parameter.",
        "Use the names of the kernel's parameters.",
    ),
    Row(
        r"'tt\.return' that was|type of return operand",
        "A kernel that is launched returns nothing, and this one returns a value.",
        "Store the result into a tensor with tl.store; only a helper function that a kernel calls "
        "can return a value.",
    ),
    Row(
        r"Unsupported function referenced: (?P<name>.+)",
        "The kernel calls a function that is not @triton.jit.",
        "Put @triton.jit above it if it is part of the kernel.",
    ),
)
# For errors without a more precise message.
LATE_ROWS = (
    Row(
        r"PassManager::run failed|failed to (translate|legalize)",
        "Triton understood the kernel, but could not turn it into GPU instructions.",
        "Simplify the line, or use smaller blocks.",
    ),
)


def explained(text: str, rows: Sequence[Row] = ROWS) -> tuple[str, str] | None:
    """Return message and next step for a compiler's text; None if no row matches."""
    text = _CONSTANT.sub(r"\1", text)
    for row in rows:
        match = re.search(row.pattern, text)
        if match:
            parts = {k: v or "it" for k, v in match.groupdict().items()}
            return row.message.format_map(parts), row.next_step.format_map(parts)
    return None


def compile_finding(error: Mapping[str, Any], stderr: str) -> Finding:
    """Return the finding for one error that the child reports; every field is validated."""
    text = plain_text(error.get("text"), 2000)
    whole = plain_text(error.get("whole"), 2000)
    stderr = plain_text(stderr, 8_000)
    line = _diagnosed_line(stderr) or error.get("line")
    kernel = plain_text(error.get("kernel"), 100)
    found = (
        next(filter(None, map(explained, (text, whole, stderr))), None)
        or _said(error.get("said"))
        or explained(f"{text}\n{whole}", LATE_ROWS)
    )
    if found is None:
        first = next((part for part in text.splitlines() if part.strip()), "no reason given")
        found = f"The compiler says: {first.strip()}", "Fix this line, then check again."
    where = f"In {kernel}: " if kernel else ""
    astray = plain_text(error.get("astray"), 600)
    original = _each_once(f"{whole or text}\n{_each_once(stderr)[:1000]}")
    message, step = f"{where}{found[0]} {astray}".strip(), found[1]
    if ARROW in astray:  # swapped numbers and tensors explain the error at the line
        message = f"{where}{astray} At this line that means: {found[0]}"
        step = f"Pass the arguments of the launch in the kernel's order. Are they already? {step}"
    return Finding(GATE, "compile-error", TITLE, message, plain_line(line), None, step,
                   original=original)  # fmt: skip


def _each_once(text: str) -> str:
    """Return the text without repeated lines, because each attempt repeats a diagnostic."""
    return "\n".join(line for line in dict.fromkeys(text.split("\n")) if line.strip())


def _said(value: object) -> tuple[str, str] | None:
    """Return the child's translation of the error: a message and what to do."""
    if not (isinstance(value, list) and len(value) == 2):
        return None
    message, advice = (plain_text(part, 600) for part in value)
    return (message, advice) if message else None


def _diagnosed_line(stderr: str) -> int | None:
    """Return the line in a diagnostic of the compiler's later stages."""
    match = re.search(r"<submission>:(\d+):\d+: error:", stderr)
    return int(match[1]) if match else None


def shared_memory_finding(
    kernel: str, line: int | None, target: int, needed: int, limit: int
) -> Finding:
    """Return the finding for a program that needs more shared memory than an SM has."""
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
    """Return the finding for a kernel whose PTX ptxas refuses."""
    return Finding(
        GATE,
        "compile-error",
        TITLE,
        f"{kernel} cannot be assembled for {ARCHITECTURES[target]}.",
        line,
        None,
        "Use smaller blocks. Another cause is a pair of options that the hardware does not have, "
        "such as cache_modifier with eviction_policy.",
        original=plain_text(log, 2000),
    )


def crash_finding(signal: int, stderr: str, what: str = "", line: int | None = None) -> Finding:
    """Return the finding for a crash of the compiler, at `what`."""
    how = f" (signal {signal})" if signal else ""
    return Finding(
        GATE,
        "compiler-crash",
        "The compiler crashes on this kernel",
        f"Triton's compiler stopped suddenly{how} while it compiled {what or 'the kernel'}.",
        line,
        None,
        "Simplify the kernel step by step until it compiles; odd block shapes are the usual cause.",
        original=plain_text(stderr, 2000),
    )


def asleep_finding(line: int | None = None) -> Finding:
    """Return the finding for a compiling process that slept, which compiling never does."""
    words = OUTCOMES["asleep"]
    return Finding(GATE, "asleep", words.title, words.message, line, None, words.next_step)


def timeout_finding(what: str = "", line: int | None = None) -> Finding:
    """Return the finding for compiling that did not end; `what` was being compiled."""
    code = "compile-timeout"
    words = FAULTS[code]
    message = f"{words.message} It was at {what}." if what else words.message
    return Finding(GATE, code, words.title, message, line, None, words.next_step)
