"""Read PTX: the instructions of each source line, and what they move."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_INSTRUCTION = re.compile(
    r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z][a-z0-9_]*(?:[.:]+[A-Za-z0-9_]+)*)\b"
)
_TYPE = re.compile(r"\.(?:b|s|u|f|bf)(8|16|32|64|128)(?:x2)?(?:\b|$)")
LOADS = ("load", "async copy")
_COPIED = re.compile(r"\],\s*(0x[0-9a-fA-F]+|\d+)")
_Place = tuple[int, int, int]  # file, line, column


@dataclass(frozen=True)
class Access:
    """Accesses of one kind to global memory; `bits` is what one instruction moves for a thread."""

    kind: str  # "load", "store", "atomic", "async copy", "bulk copy"
    bits: int  # 0: the instruction does not state it


@dataclass
class LineFacts:
    """The instructions of one source line, counted in the PTX text."""

    instructions: int = 0
    accesses: Counter[Access] = field(default_factory=Counter)
    tensor_cores: Counter[str] = field(default_factory=Counter)
    shared: int = 0  # accesses to shared memory
    barriers: int = 0
    ptx: list[str] = field(default_factory=list)


def facts_by_line(ptx: str, filename: str) -> dict[int, LineFacts]:
    """The instructions of each line of `filename`; those without a known line are under line 0.

    Code from Triton's own library (tl.sum and the like) counts for the line that calls it.
    """
    facts: dict[int, LineFacts] = {}
    for line, text in placed_lines(ptx, filename):
        match = _INSTRUCTION.match(text)
        if match:
            _count(facts.setdefault(line, LineFacts()), match[1], text.strip())
    return facts


def describe(text: str) -> LineFacts | None:
    """The facts of a single instruction; None if the text is not an instruction."""
    match = _INSTRUCTION.match(text)
    if match is None:
        return None
    facts = LineFacts()
    _count(facts, match[1], text.strip())
    return facts


def widest_load(ptx: str) -> int:
    """Bits of the widest load from global memory by one thread; 0 without loads."""
    widest = 0
    for text in ptx.split("\n"):
        access = access_of(text)
        if access is not None and access.kind in LOADS:
            widest = max(widest, access.bits)
    return widest


def access_of(text: str) -> Access | None:
    """The access to global memory in a line of PTX; None for any other line."""
    if "global" not in text:  # a fast path for most lines, since every check runs this
        return None
    match = _INSTRUCTION.match(text)
    parts = match[1].replace("::", ".").split(".") if match else []
    return _access(parts, match[1], text.strip()) if match else None


def placed_lines(ptx: str, filename: str) -> Iterator[tuple[int, str]]:
    """Each line of the kernel's body, with the source line that it belongs to."""
    own = {number for number, name in _files(ptx).items() if name.endswith(filename)}
    callers: dict[_Place, _Place] = {}
    line, in_asm, fixed = 0, False, False
    for text in _body(ptx):
        if "begin inline asm" in text:
            in_asm, fixed = True, False
        elif "end inline asm" in text:
            in_asm = False
        elif match := _LOC.match(text):
            # Later .loc lines inside one piece of assembly count only its own lines.
            if not (in_asm and fixed):
                line = _own_line(match, own, callers)
                fixed = in_asm
        else:
            yield line, text


def _files(ptx: str) -> dict[int, str]:
    found = (_FILE.match(text) for text in ptx.split("\n"))
    return {int(m[1]): "/".join(filter(None, (m[2], m[3]))) for m in found if m}


def _body(ptx: str) -> Iterator[str]:
    """The text between the braces of the entry function, without comments."""
    depth = 0  # inline assembly and calls have braces of their own
    for text in ptx.split("\n"):
        if not depth:
            depth = int(text.startswith("{"))
            continue
        code = text.split("//")[0].rstrip()
        depth += code.count("{") - code.count("}")
        if depth < 1:
            return
        yield text if "inline asm" in text else code


def _own_line(match: re.Match[str], own: set[int], callers: dict[_Place, _Place]) -> int:
    place = (int(match[1]), int(match[2]), int(match[3]))
    if match[4]:
        callers[place] = (int(match[4]), int(match[5]), int(match[6]))
    seen = set()
    while place[0] not in own and place in callers and place not in seen:
        seen.add(place)
        place = callers[place]
    return place[1] if place[0] in own else 0


def _count(facts: LineFacts, operation: str, text: str) -> None:
    facts.instructions += 1
    facts.ptx.append(text)
    parts = operation.replace("::", ".").split(".")
    access = _access(parts, operation, text)
    if access is not None:
        facts.accesses[access] += 1
    elif _is_matrix_product(parts):
        facts.tensor_cores[_matrix_name(parts)] += 1
    elif "shared" in parts or parts[0] in ("ldmatrix", "stmatrix"):
        facts.shared += 1
    elif parts[0] in ("bar", "barrier"):
        facts.barriers += 1


def _is_matrix_product(parts: list[str]) -> bool:
    if parts[0] in ("wgmma", "tcgen05"):
        return parts[1].startswith("mma")  # excludes fence, commit and wait
    return parts[0] in ("mma", "wmma") and "mma" in parts


def _access(parts: list[str], operation: str, text: str) -> Access | None:
    head = parts[0]
    if head == "cp" and "async" in parts and "global" in parts:
        if "bulk" in parts:
            return Access("bulk copy", 0)
        copied = _COPIED.search(text)
        return Access("async copy", int(copied[1], 0) * 8 if copied else 0)
    if "global" not in parts or head not in ("ld", "st", "atom", "red"):
        return None
    kind = {"ld": "load", "st": "store"}.get(head, "atomic")
    return Access(kind, _bits(operation))


def _bits(operation: str) -> int:
    """The width of one thread's access: vector length times element width."""
    sizes = _TYPE.findall(operation)
    if not sizes:
        return 0
    vector = re.search(r"\.v([248])\b", operation)
    packed = 2 if "x2" in operation else 1
    return int(sizes[-1]) * (int(vector[1]) if vector else 1) * packed


def _matrix_name(parts: list[str]) -> str:
    """`mma m16n8k16 f16` or `wgmma m64n64k16 f16`: the shape and the type of the factors."""
    shape = next((part for part in parts if re.fullmatch(r"m\d+n\d+k\d+", part)), "")
    return " ".join(filter(None, (parts[0], shape, parts[-1 if parts[0] != "mma" else -2])))


def total(facts: Mapping[int, LineFacts]) -> LineFacts:
    """All lines together, without their text."""
    whole = LineFacts()
    for item in facts.values():
        whole.instructions += item.instructions
        whole.accesses += item.accesses
        whole.tensor_cores += item.tensor_cores
        whole.shared += item.shared
        whole.barriers += item.barriers
    return whole
