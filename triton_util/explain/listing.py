"""The PTX of a kernel below the source lines it came from, with notes on memory and products."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from triton_util.client.card import frame
from triton_util.explain import phrases
from triton_util.explain.facts import Explained, Made
from triton_util.explain.ptx import describe

_STYLE = """<style>
.tw-listing pre { overflow: auto; max-height: 34em; white-space: pre; }
.tw-listing b { color: var(--tw-accent); background: var(--tw-accent-soft); }
.tw-listing i { color: var(--tw-muted); font-style: normal; }
</style>"""


@dataclass(frozen=True)
class Piece:
    """A source line and its instructions, each with a note on it ("" for none)."""

    number: int
    source: str
    instructions: tuple[tuple[str, str], ...]


class Listing:
    """PTX by source line. Shown as a card in a notebook, as text elsewhere."""

    def __init__(self, explanation: Explained, only: str = "") -> None:
        self.name = explanation.name
        self.kernels = [
            (made, tuple(_pieces(explanation, made, only))) for made in explanation.made
        ]

    def __str__(self) -> str:
        return "\n".join(self._lines()).rstrip() + "\n"

    def __repr__(self) -> str:
        return str(self)

    def _lines(self) -> Iterator[str]:
        for made, pieces in self.kernels:
            yield _head(made)
            for piece in pieces:
                yield f"{piece.number:>4} | {piece.source}"
                for text, said in piece.instructions:
                    yield f"         {text}" + (f"   <- {said}" if said else "")
            yield ""

    def _repr_html_(self) -> str:
        body = "".join(
            f"<p>{html.escape(_head(made))}</p>"
            f'<pre tabindex="0" aria-label="PTX by source line">{"".join(_rows(pieces))}</pre>'
            for made, pieces in self.kernels
        )
        verdict = f"PTX of <code>{html.escape(self.name)}</code>, by source line"
        card = frame("plain", "⚙", verdict, "", body, f"PTX of {self.name}, by source line")
        return f'<div class="tw-listing">{_STYLE}{card}</div>'


def _head(made: Made) -> str:
    if made.error:
        return f"{made.kernel} does not compile for {made.target.name}: {made.error}"
    spills = made.spill_store_bytes + made.spill_load_bytes
    return (
        f"{made.label} for {made.target.name}: {made.registers} registers per thread, "
        f"{'SPILLS ' + phrases.describe_spills(made) if spills else 'no spills'}"
    )


def _pieces(explanation: Explained, made: Made, only: str) -> Iterator[Piece]:
    """The lines that contain the text `only`, or all lines."""
    for number, facts in sorted((made.lines or {}).items()):
        source = explanation.line(number) if number else "(of no line)"
        if only in source:
            yield Piece(
                number, source, tuple((text.replace("\t", " "), _said(text)) for text in facts.ptx)
            )


def _said(text: str) -> str:
    """A note on what an instruction moves or multiplies; "" for plain arithmetic."""
    found = describe(text)
    return phrases.describe_line(found).removeprefix("1 ").removeprefix("× ") if found else ""


def _rows(pieces: tuple[Piece, ...]) -> Iterator[str]:
    for piece in pieces:
        yield f"<i>{piece.number:>4} |</i> {html.escape(piece.source)}\n"
        for text, said in piece.instructions:
            words = f"   <b>&larr; {html.escape(said)}</b>" if said else ""
            yield f"         {html.escape(text)}{words}\n"
