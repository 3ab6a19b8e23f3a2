"""The card in a browser of its own: nothing is cut on small screens, and axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.judge.model_beside import kernels_of
from tests.site.browsing import CHROMIUM, DRIVER, Visitor, served
from triton_util.client.attempts import Attempts, Listed, progress_html
from triton_util.client.card import report_html
from triton_util.client.cards.model import HEAD, ModelKernel
from triton_util.client.cards.stores import read_store_map
from triton_util.client.passed import Passing, passing_html
from triton_util.client.report import Checked, Quoted, ShownFinding
from triton_util.model_solutions import model_solutions
from triton_util.report import Picture, Side, Table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium: `make browser` asks for it"),
]
OFFSETS = "0 to 127, 1000 to 1127, 2000 to 2127, 3000 to 3127, …"
PROGRAMS = Table(
    "What each program stored: rows=4 columns=1000",
    ("program", "offsets", "mask", "stored", "should be"),
    (
        ("(0, 0)", OFFSETS, "512 of 4096 lanes", OFFSETS, OFFSETS),
        ("…", "", "", "", ""),
        ("(0, 7)", OFFSETS, "none of 4096 lanes", "nothing", OFFSETS),
    ),
    (False, False, True),
    ("No program stored 416 of the 4000 elements: 896 to 999, 1896 to 1999, …",),
)
PLACES = Picture((".x" * 32, "o" * 64), "Right, wrong and never stored, 64 columns.")
NUMBERS = (Side("got", (("0", "1.5e-05"),) * 4), Side("expected", (("-2.125", "12.5"),) * 4))
SHADES = (Side("got", pixels=("00ff80",) * 3), Side("expected", pixels=("ff0080",) * 3))
QUOTED = (Quoted(9, "    mask = offsets < n_elements"), Quoted(10, "    x = tl.load(x_ptr)", True))
SLIP = ShownFinding(
    "interpret",
    "slip",
    "A slip",
    "It slips. It does so far from here.",
    next_step="Fix it.",
    where="cell [3], line 10",
    picture=PLACES,
    table=PROGRAMS,
    facts=(("shape", "x: (4, 1000) fp32; y: (4, 1000) fp32"), ("grid", "1 × 8, 8 programs")),
    quoted=QUOTED,
    cell="0a1b2c3d",
)
TENTHS = Picture((".5x", "1.9"), "A third.", (33, 48), (11, 16), (16, 16), sides=SHADES)
WRONG = ShownFinding(
    "interpret", "all", "All wrong", "All.", picture=Picture((), "All.", sides=NUMBERS)
)
PARTS = ShownFinding("interpret", "part", "Part wrong", "Part.", picture=TENTHS)
STORES = read_store_map(
    {
        "case": "rows=100 columns=1000",
        "shape": [1000],
        "programs": 8,
        "rows": [
            {"program": "0", "lanes": 128, "on": 128, "aimed": [[0, 127]], "stored": [[0, 127]]},
            {"program": "7", "lanes": 128, "on": 104, "aimed": [[896, 1023]],
             "stored": [[896, 999]]},
        ],
    }
)  # fmt: skip
FAILED = Checked(
    "relu2d", "failed", {"read": "passed"}, (SLIP, WRONG, PARTS), 2, 9, 0, 10, "A", 1.0
)
PASSED = Checked("double", "passed", {"read": "passed"}, (), 9, 9, 10, 10, "A", 1.0)
MODEL = ModelKernel(
    kernels_of(model_solutions()["row_sum"]),
    ("Yours has `tl.sum` after the loop.", "The model loads with `other=0.0`.", "It has 6 lines."),
)
WAY_ON = Passing(
    ("It moves `800` bytes.",),
    "Take it off?",
    "lesson 01: Add.",
    "01.ipynb",
    STORES,
    "Solved!",
    MODEL,
)
LISTED = [Listed("double", "tour", "Double", "00"), Listed("add", "vector_add", "Add", "01")]
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cards</title>
<meta name="viewport" content="width=device-width"><style>
@media (prefers-color-scheme: dark) {{ body {{ background: #111; color: #eee }} }}
</style></head><body><main><h1>Cards</h1><h2>Two</h2>{}</main></body></html>"""


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    folder: Path = tmp_path_factory.mktemp("cards")
    done = {"double": Attempts(1, "2026-11-02T10:00:00+00:00", 9, 9)}
    cards = report_html(FAILED) + report_html(PASSED, passing_html(WAY_ON))
    cards += progress_html(LISTED, done, {"tour": (1, 3)}, ["02_debugging"])
    (folder / "index.html").write_text(PAGE.format(cards), encoding="utf-8")
    with served(folder) as address:
        visitor = Visitor(address, tmp_path_factory.mktemp("profile"))
        yield visitor
        visitor.browser.quit()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 900, 480, 360])
def test_nothing_is_cut_and_axe_finds_nothing(visitor: Visitor, width: int, dark: bool) -> None:
    visitor.open("index.html", width, dark)
    visitor.run("document.querySelectorAll('details').forEach(one => { one.open = true; });")
    assert visitor.run("return document.querySelectorAll('svg[role=img]').length") == 3
    assert visitor.sideways() <= 0
    cut = visitor.run(
        "return [...document.querySelectorAll('.tw-body, .tw-programs, .tw-programs table')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    )
    assert cut == []
    assert visitor.violations() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_click_opens_the_model_kernel(
    visitor: Visitor, shots: Path, width: int, dark: bool
) -> None:
    visitor.open("index.html", width, dark)
    summary, code = visitor.find(".tw-model > summary"), visitor.find(".tw-model > pre")
    assert summary.text == HEAD
    assert not code.is_displayed()
    summary.click()
    assert code.is_displayed()
    assert "total += tl.sum(" in code.text
    assert len([item for item in visitor.all(".tw-model li") if item.is_displayed()]) == 3
    assert visitor.sideways() <= 0
    assert visitor.violations() == []
    visitor.run("arguments[0].scrollIntoView();", summary)
    name = f"model_kernel_{width}_{'dark' if dark else 'light'}.png"
    assert visitor.browser.save_screenshot(str(shots / name))
    summary.click()
    assert not code.is_displayed()


def test_a_small_screen_names_the_column_of_each_cell(visitor: Visitor) -> None:
    named = "return getComputedStyle(document.querySelector('.tw-programs td'), '::before').content"
    visitor.open("index.html", 480)
    assert visitor.run(named) == '"offsets"'
    visitor.open("index.html", 900)
    assert visitor.run(named) == "none"
