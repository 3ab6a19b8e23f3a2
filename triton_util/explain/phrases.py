"""What the compiler's figures mean, in sentences that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Iterator

from triton_util.explain.facts import Explained, Made
from triton_util.explain.ptx import LOADS, Access, LineFacts
from triton_util.hardware import MOST_REGISTERS

WIDEST = 128  # bits that one instruction can move for one thread


def describe_line(facts: LineFacts) -> str:
    """`2 loads of 128 bits per thread, 16 × mma m16n8k16 f16`; "" for plain arithmetic."""
    parts = [_describe_access(access, count) for access, count in sorted_accesses(facts)]
    parts += [f"{count} × {name} on tensor cores" for name, count in facts.tensor_cores.items()]
    parts += [_counted(facts.shared, "access", "to shared memory")] if facts.shared else []
    parts += [_counted(facts.barriers, "barrier")] if facts.barriers else []
    return ", ".join(parts)


def sorted_accesses(facts: LineFacts) -> list[tuple[Access, int]]:
    """The accesses by kind, widest first."""
    return sorted(facts.accesses.items(), key=lambda item: (item[0].kind, -item[0].bits))


def _describe_access(access: Access, count: int) -> str:
    kind = {"async copy": "asynchronous copy", "bulk copy": "bulk copy"}.get(
        access.kind, access.kind
    )
    return _counted(count, kind, f"of {access.bits} bits per thread" if access.bits else "")


def _counted(count: int, noun: str, rest: str = "") -> str:
    endings = {"s": "es", "y": "ies"}
    plural = noun[:-1] + "ies" if noun[-1] == "y" else noun + endings.get(noun[-1], "s")
    return f"{count} {noun if count == 1 else plural} {rest}".strip()


def widest_load(made: Made) -> int:
    """Bits of the widest load; 0 without loads."""
    loads = [a.bits for a in made.total.accesses if a.kind in LOADS]
    return max(loads, default=0)


def tensor_core_instructions(made: Made) -> str:
    """The matrix instructions, or "none"."""
    names = dict.fromkeys(name.split()[0] for name in made.total.tensor_cores)
    return ", ".join(names) or "none"


def describe_occupancy(made: Made) -> str:
    """How many programs one processor holds, and what limits the number."""
    found = made.occupancy
    if not found.programs:
        return "none fits"
    return (
        f"{found.programs} {'program' if found.programs == 1 else 'programs'}, {found.warps} of "
        f"{made.target.warps} warps ({found.share:.0%}), limited by {found.limited_by}"
    )


def describe_shared_memory(made: Made) -> str:
    """Shared memory against the limit of the target."""
    limit = made.target.shared_per_program
    share = "" if not made.shared_bytes else f" ({made.shared_bytes / limit:.0%})"
    return f"{made.shared_bytes:,} of {limit:,} bytes{share}"


def describe_spills(made: Made) -> str:
    """Spilled bytes per thread, as ptxas counts them."""
    if not (made.spill_store_bytes or made.spill_load_bytes):
        return "none"
    return f"{made.spill_store_bytes:,} bytes stored, {made.spill_load_bytes:,} loaded"


def remarks(explanation: Explained, made: Made) -> list[str]:
    """Remarks on one kernel for one target."""
    return list(_remarks(explanation, made))


def _remarks(explanation: Explained, made: Made) -> Iterator[str]:
    if made.error:
        yield f"It does not compile for {made.target.name}: {made.error}"
        return
    if not made.fits:
        yield (
            f"It needs {made.shared_bytes:,} bytes of shared memory; {made.target.name} has "
            f"{made.target.shared_per_program:,} for a program, so it would not start there. "
            "Use smaller blocks or fewer stages."
        )
    if made.spill_store_bytes:
        yield (
            f"It spills: a thread has at most {MOST_REGISTERS} registers, and what does not fit "
            "goes to slow memory and back. Use smaller blocks, or more warps for the same block."
        )
    yield from _narrow(explanation, made)
    yield from _slow_dot(explanation, made)


def _narrow(explanation: Explained, made: Made) -> Iterator[str]:
    by_width: dict[int, list[int]] = {}
    for number, facts in sorted((made.lines or {}).items()):
        narrow = [a for a in facts.accesses if a.kind in ("load", "store") and a.bits < WIDEST]
        if narrow and number:
            by_width.setdefault(min(access.bits for access in narrow), []).append(number)
    for bits, numbers in by_width.items():
        yield (
            f"{places(explanation, numbers)}: each thread moves {bits} bits at a time; "
            f"{WIDEST} are possible. {_why_narrow(made)}"
        )


def _why_narrow(made: Made) -> str:
    """Why accesses are narrow: the compiler widens them only if it knows their alignment."""
    kinds = made.arguments.items()
    unknown = [name for name, kind in kinds if kind in ("i32", "i64") or kind.startswith("*")]
    unknown = [name for name in unknown if "multiple" not in made.arguments[name]]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        return f"Here {', '.join(unknown)} {verb} not known to be divisible by 16."
    return (
        "Every argument is divisible by 16 here, so either the elements of a thread do not lie "
        "side by side, or the block has few of them for each thread."
    )


def _slow_dot(explanation: Explained, made: Made) -> Iterator[str]:
    if made.total.tensor_cores:
        return
    for number, text in enumerate(explanation.source, start=1):
        if "tl.dot" in text and number in (made.lines or {}):
            yield (
                f"{place(explanation, number)}: tl.dot runs without tensor cores. They take "
                "fp16, bf16 and 8-bit factors, and fp32 as TF32; not with "
                'input_precision="ieee".'
            )
            return


def places(explanation: Explained, numbers: list[int]) -> str:
    """Several lines: `vector_add.py, line 25; line 26`."""
    first, *others = (place(explanation, number) for number in numbers)
    label = first.rsplit("line ", 1)[0]
    return "; ".join([first, *(other.removeprefix(label) for other in others)])


def place(explanation: Explained, number: int) -> str:
    """Where the learner wrote a line: `cell [3], line 12`, or its line number in the source."""
    known = explanation.places[number - 1] if number <= len(explanation.places) else ""
    return known or f"line {number}"
