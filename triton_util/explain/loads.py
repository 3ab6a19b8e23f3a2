"""Which parameter each load of a kernel reads from: traces addresses in PTX back to pointers.

PTX names a register in the brackets of a load. To find its origin, this module follows each
pointer parameter through all that is computed from it: moves, conversions, sums, products.
Numbers that were loaded belong to no parameter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triton_util.explain.ptx import LOADS, access_of, placed_lines

_ENTRY = re.compile(r"\.entry\s+[\w$.]+\s*\(([^()]*+)\)")
_THREADS = re.compile(r"\.(?:reqntid|maxntid)\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?")
_COMPUTES = re.compile(r"^\s*+(?:\{\s*+)?(?:@!?%\w++\s++)?([a-z]\w*+)(\S*+)\s++(.+)$", re.DOTALL)
_REGISTER = re.compile(r"%(?!p\d+\b)\w+")  # excludes predicates, which are not part of an address
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_BRACKETS = re.compile(r"\[([^\[\]]*+)\]")
_NO_RESULT = frozenset(
    ("st", "red", "bra", "brx", "bar", "barrier", "ret", "cp", "call", "setp", "fence", "membar")
)
BULK = "bulk copy"


@dataclass(frozen=True)
class Load:
    """An instruction that loads from global memory.

    `bits`: moved for one thread; 0 if a whole tile is copied at once. `source`: the index of the
    pointer among the kernel's pointer parameters; None if the address could not be traced to one
    of them.
    """

    kind: str  # "load", "async copy", "bulk copy"
    bits: int
    line: int
    source: int | None


def loads_of(ptx: str, filename: str) -> tuple[Load, ...]:
    """The loads of the kernel, in the order of the text; line numbers are those of `filename`."""
    pieces = [
        (line, piece)
        for line, text in placed_lines(ptx, filename)
        for piece in text.split(";")
        if piece.strip()
    ]
    origins = _origins([piece for _, piece in pieces], pointers(ptx))
    return tuple(_loads(pieces, origins))


def pointers(ptx: str) -> tuple[str, ...]:
    """The names of the parameters that are pointers or descriptors, in their order."""
    entry = _ENTRY.search(ptx)
    if entry is None:
        return ()
    found = (_pointer(item) for item in entry[1].split(","))
    return tuple(name for name in found if name is not None)


def _pointer(parameter: str) -> str | None:
    """The name of a parameter that is a pointer or, as bytes, a descriptor; else None."""
    declared, bracket, _ = parameter.partition("[")
    words = declared.split()
    if ".param" not in words or not (".ptr" in words or bracket):
        return None
    return words[-1]


def threads_of(ptx: str) -> int:
    """The number of threads of a program; 0 if the text does not state it."""
    found = _THREADS.search(ptx)
    if found is None:
        return 0
    sizes = [int(size) for size in found.groups() if size]
    whole = 1
    for size in sizes:
        whole *= size
    return whole


def _loads(pieces: list[tuple[int, str]], origins: Mapping[str, set[int]]) -> Iterator[Load]:
    for line, piece in pieces:
        access = access_of(piece)
        if access is None or not (access.kind in LOADS or _copies_in(access.kind, piece)):
            continue
        known = set().union(*(origins.get(name, set()) for name in _address(access.kind, piece)))
        yield Load(access.kind, access.bits, line, known.pop() if len(known) == 1 else None)


def _copies_in(kind: str, piece: str) -> bool:
    """Whether a bulk copy goes from global to shared memory, not back."""
    return kind == BULK and "global.shared" not in piece and "[" in piece


def _address(kind: str, piece: str) -> list[str]:
    """The registers of the address in global memory; for a copy, those of the second address."""
    brackets = _BRACKETS.findall(piece)
    place = 0 if kind == "load" else 1
    return _REGISTER.findall(brackets[place]) if len(brackets) > place else []


def _origins(pieces: list[str], parameters: tuple[str, ...]) -> dict[str, set[int]]:
    """For each register, the pointers from which its value was computed."""
    follows: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        for source, result in _steps(piece, frozenset(parameters)):
            follows[source].add(result)
    origins: dict[str, set[int]] = defaultdict(set)
    for number, name in enumerate(parameters):
        waiting = [name]
        while waiting:
            for result in follows[waiting.pop()]:
                if number not in origins[result]:
                    origins[result].add(number)
                    waiting.append(result)
    return dict(origins)


def _steps(piece: str, parameters: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The data flow of an instruction: pairs of a source register and a result register."""
    match = _COMPUTES.match(piece)
    if match is None or match[1] in _NO_RESULT:
        return
    from_memory = match[1] == "ld" and ".param" not in match[2]
    if from_memory or match[1] in ("atom", "ldmatrix", "tex"):
        return
    results, sources = _split(match[3])
    named = [name for name in _NAME.findall(sources) if name in parameters]
    for result in _REGISTER.findall(results):
        yield from ((source, result) for source in [*_REGISTER.findall(sources), *named])


def _split(operands: str) -> tuple[str, str]:
    """The first operand, which may be several in braces, and the other operands."""
    if operands.lstrip().startswith("{"):
        results, _, sources = operands.partition("}")
    else:
        results, _, sources = operands.partition(",")
    return results, sources
