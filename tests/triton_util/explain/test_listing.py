"""PTX below its source lines, as text and as a page."""

from __future__ import annotations

from tests.triton_util.explain.test_ptx import PTX
from triton_util.explain.facts import Explained, Made
from triton_util.explain.listing import Listing
from triton_util.explain.ptx import describe, facts_by_line
from triton_util.hardware import ARCHITECTURES

SOURCE = tuple(
    f"line {number} <b>" if number != 12 else "x = tl.load(x_ptr)" for number in range(1, 20)
)


def listing(only: str = "", spills: int = 0) -> Listing:
    made = Made(
        "kernel",
        ARCHITECTURES[90],
        line=10,
        constants={"BLOCK": "64"},
        arguments={},
        num_warps=4,
        registers=20,
        spill_store_bytes=spills,
        lines=facts_by_line(PTX, "mine.py"),
    )
    return Listing(Explained("run", SOURCE, (), (made,)), only)


def test_loads_are_said_in_words_below_their_line() -> None:
    text = str(listing("tl.load"))
    assert text.startswith(
        "kernel (BLOCK=64, 4 warps) for sm_90: 20 registers per thread, no spills\n"
    )
    assert "  12 | x = tl.load(x_ptr)" in text
    assert "ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];   <- load of 128 bits" in text
    assert "<- load of 32 bits per thread" in text
    assert "line 14" not in text


def test_all_lines_and_spills() -> None:
    text = str(listing(spills=8))
    assert "SPILLS 8 bytes stored, 0 loaded" in text
    assert "<- wgmma m64n64k16 f16 on tensor cores" in text
    assert "   ret;" in text


def test_the_page_escapes_what_is_not_its_own() -> None:
    page = listing()._repr_html_()
    assert "line 14 &lt;b&gt;" in page
    assert "<b>&larr; load of 128 bits per thread</b>" in page
    assert "--tw-accent" in page


def test_an_instruction_alone() -> None:
    assert describe("$L__BB0_2:") is None
    found = describe("ld.global.b32 %r1, [%rd1];")
    assert found is not None
    assert found.instructions == 1
