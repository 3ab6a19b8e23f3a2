"""Figures and explorers of the lessons: each reads in words, and says the same as its picture."""

from __future__ import annotations

import asyncio
import html
import inspect
import io
import re
from collections.abc import Iterator
from functools import cache

import pytest
import torch
from matplotlib import image

from tests.support.interpreting_process import InterpretingProcess
from triton_util import explore, figures
from triton_util.explore import controls
from triton_util.explore.attention import SCORES, VALUES
from triton_util.explore.strides import BASE_LENGTH, VIEWS
from triton_util.figures import walks
from triton_util.figures.drawing import LOOKS, PANEL, Drawing, spoken

SAMPLE = {"memory": (torch.arange(24).view(3, 8)[:, :4],), "blocks_1d": (7, 4)}
SAMPLE |= {"tiles_2d": (4, 7, 2, 2), "show": (figures.lake(30, 50),)}
SAMPLE |= {"launch_order": (explore.grouped(5, 4, 3),)}
SAMPLE |= {"touches": (5, [[0, 1], [2, 3], [4, 5]])}
SAMPLE |= {"chain": ([("double", 1, 1), ("add", 2, 1)],)}
NOT_FIGURES = {"Drawing", "lake"}
FUNCTIONS = sorted(set(figures.__all__) - NOT_FIGURES)


@cache
def drawn(name: str) -> Drawing:
    made = getattr(figures, name)(*SAMPLE.get(name, ()))
    assert isinstance(made, Drawing)
    return made


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_figure_has_alternative_text_in_sentences(name: str) -> None:
    alt = drawn(name).alt
    assert len(alt) >= 60, f"figures.{name}: describe what the picture shows"
    assert alt.endswith("."), f"figures.{name}: the alternative text is made of sentences"


def test_drawings_turn_dark_with_the_page_and_photographs_stay() -> None:
    page = figures.blocks_1d(7, 4)._repr_mimebundle_()["text/html"]
    assert '<img class="tw-drawing"' in page
    assert 'body[data-jp-theme-light="false"] .tw-drawing' in page
    assert 'body[data-jp-theme-light="true"] .tw-drawing' in page
    photograph = figures.show(figures.lake())._repr_mimebundle_()["text/html"]
    assert '<img class="tw-photograph"' in photograph


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_figure_is_shown_with_its_words(name: str) -> None:
    bundle = drawn(name)._repr_mimebundle_()
    assert f'alt="{html.escape(drawn(name).alt)}"' in bundle["text/html"]
    assert bundle["text/plain"] == drawn(name).alt


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_cut_off_at_the_edge_of_a_figure(name: str) -> None:
    """A label that leaves the panel leaves ink in its outermost pixels."""
    pixels = image.imread(io.BytesIO(drawn(name).png(50)))
    edge = torch.cat([torch.from_numpy(pixels[:, side, :3].copy()) for side in (0, 1, -2, -1)])
    panel = torch.tensor([int(PANEL[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    strangers = ((edge - panel).abs() > 0.02).any(dim=1).sum()
    assert strangers == 0, f"figures.{name}: something touches the left or right edge"


def test_no_two_looks_differ_by_colour_alone() -> None:
    seen = {}
    for look, (face, hatch) in LOOKS.items():
        red, green, blue = (int(face[i : i + 2], 16) for i in (1, 3, 5))
        lightness = round((0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255, 2)
        for other, (other_hatch, other_lightness) in seen.items():
            assert hatch != other_hatch or abs(lightness - other_lightness) > 0.15, (look, other)
        seen[look] = (hatch, lightness)


def test_blocks_picture_says_how_many_lanes_are_masked() -> None:
    assert "switches off 1 of its 4 lanes" in figures.blocks_1d(7, 4).alt
    assert "switches off" not in figures.blocks_1d(8, 4).alt


def test_memory_picture_has_the_addresses_of_the_view() -> None:
    x = torch.arange(24).view(3, 8)
    view = x[:, ::2]
    rows = " / ".join(" ".join(str(value) for value in row) for row in view.tolist())
    assert rows in figures.memory(view).alt


def test_memory_picture_refuses_what_would_be_unreadable() -> None:
    with pytest.raises(ValueError, match="at most 32"):
        figures.memory(torch.zeros(8, 8))


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 16])
def test_sectors_picture_counts_as_torch_does(stride: int) -> None:
    counted = torch.unique(torch.arange(32) * stride * 4 // 32).numel()
    assert f"{counted} sectors" in figures.sectors((stride,)).alt


def test_spoken_lists() -> None:
    assert [spoken(range(n)) for n in range(4)] == ["", "0", "0 and 1", "0, 1 and 2"]


@pytest.mark.parametrize("name", [n for n in explore.__all__ if n.endswith("_text")])
def test_every_explorer_has_controls_and_the_same_text_without_them(name: str) -> None:
    """The widget's page is the text function at the values of its controls."""
    widget = getattr(explore, name.removesuffix("_text"))()
    *inputs, page = widget.children
    inputs = [one for one in inputs if hasattr(one, "value")]  # the buttons are a box
    assert inputs, f"explore.{name}: nothing to move"
    for control in inputs:
        assert control.description, f"explore.{name}: a control without a name"
    assert "aria-live" in page.value
    before = page.value
    for control in inputs:
        if isinstance(control.value, int) and hasattr(control, "max"):
            control.value = control.min if control.value != control.min else control.min + 1
    assert page.value != before, f"explore.{name}: the text does not follow its controls"


DRAWN = ("tiles_2d", "matmul_walk", "orders", "online_softmax", "attention_walk", "causal_tiles")


@pytest.mark.parametrize("name", DRAWN)
def test_an_explorer_redraws_its_picture_and_keeps_the_text_for_screen_readers(name: str) -> None:
    widget = getattr(explore, name)()
    *inputs, buttons, page = widget.children
    text = getattr(explore, f"{name}_text")(**widget_values(name, inputs))
    assert '<svg class="tw-drawing" role="img" aria-label="' in page.value
    assert f"{html.escape(text)}</pre>" in page.value
    play, back, forth = buttons.children
    assert (play.description, back.description, forth.description) == (
        "▶ Play",
        "◀ Back",
        "Step ▶",
    )
    before = page.value
    (forth if buttons.pictured(buttons.moved.value + 1) else back).click()
    assert page.value != before
    assert widget._repr_mimebundle_()["text/html"].count("<svg") == 1


def test_play_shows_every_step_and_stops_at_the_last(monkeypatch) -> None:
    monkeypatch.setattr(controls.Player, "SECONDS", 0.01)
    asyncio.run(played())


async def played() -> None:
    player = explore.matmul_walk(step=2).children[-2]
    shown = []
    player.moved.observe(lambda change: shown.append(change["new"]), names="value")
    player.play.value = True  # at the last of three steps: from the start again
    while player.play.value:
        await asyncio.sleep(0.01)
    assert shown == [0, 1, 2]
    player.play.value, player.moved.value = True, 0
    player.play.value = False
    await asyncio.sleep(0.05)
    assert player.moved.value == 0, "a paused pass goes on"


def widget_values(name: str, inputs: list) -> dict:
    """The values of the controls, by the names of the explorer's arguments."""
    names = inspect.signature(getattr(explore, name)).parameters
    by_label = {
        "orders": ("n_rows", "n_cols", "group", "first"),
        "attention_walk": ("blocks", "BLOCK_N", "causal", "query"),
    }.get(name, tuple(names))
    return dict(zip(by_label, (one.value for one in inputs), strict=True))


def test_where_there_is_no_picture_the_text_is_seen() -> None:
    widget = explore.matmul_walk(step=4)  # the loop has ended
    page = widget.children[-1]
    assert "<svg" not in page.value
    assert "clip-path" not in page.value
    assert "There is no step 4" in page.value
    widget.children[2].value = 2
    assert "<svg" in page.value


@pytest.mark.parametrize("BLOCK_SIZE", [1, 2, 4, 8])
def test_the_walks_end_with_the_sum_of_the_row_in_one_piece(BLOCK_SIZE: int) -> None:
    alt = walks.online_numbers((2.0, 1.0, 5.0, 3.0, 4.0, 0.0, 6.0, 2.0), 8, BLOCK_SIZE).alt
    assert alt.rstrip(".").rsplit(", ", 1)[1] == "1.5988"
    whole = walks.attention_numbers(SCORES, VALUES, 6, min(BLOCK_SIZE, 4), len(SCORES)).alt
    results = re.findall(r"(?:/ sum|at once): ([\d.]+\d)", whole)
    assert len(set(results)) == 1


def test_follow_escapes_what_it_shows() -> None:
    box = controls.follow(lambda n: f"a < b & {n}", {"n": controls.slider("n", 1, 0, 2)})
    assert "a &lt; b &amp; 1" in box.children[-1].value


@pytest.mark.parametrize("name", list(VIEWS))
def test_the_views_of_the_strides_explorer_are_what_torch_makes(name: str) -> None:
    x = torch.arange(BASE_LENGTH).view(3, 8)
    view = eval(name, {"x": x, "v": x.flatten()})
    stated = VIEWS[name]
    assert (stated.shape, stated.strides) == (tuple(view.shape), view.stride())
    assert stated.address(1, 2) == view[1, 2].item()


def test_blocks_text_refuses_what_triton_refuses() -> None:
    with pytest.raises(ValueError, match="power of two"):
        explore.blocks_1d_text(7, 3)


def test_matmul_walk_marks_the_lanes_outside() -> None:
    text, _, legend = explore.matmul_walk_text(1, 2, 2).rpartition("\n")
    assert text.count("#") == 3 * 1 + 1 * 2  # 3 x 1 of a, 1 x 2 of b
    assert text.count("x x") > 0
    inside = explore.matmul_walk_text(0, 0, 0).rpartition("\n")[0]
    assert "x" not in inside.replace(" x ", " by ")
    for mark in "#x.":
        assert f"{mark} " in legend


def test_tiles_say_what_brackets_mean() -> None:
    assert "[ ]: masked off" in explore.tiles_2d_text(0, 3)


def test_an_explorer_leaves_its_text_in_the_notebook() -> None:
    made = explore.blocks_1d(7, 4, 1)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in made
    assert made["text/plain"] == explore.blocks_1d_text(7, 4, 1)
    assert ">cdiv(7, 4) = 2 programs" in made["text/html"]


def test_sectors_say_how_many_are_drawn() -> None:
    texts = [text.get_text() for text in figures.sectors((1, 8)).figure.axes[0].texts]
    assert any("32 sectors (8 drawn)" in text for text in texts)
    assert not any("4 sectors (" in text for text in texts)


def test_the_closed_forms_of_the_launch_orders() -> None:
    """9 x 9 blocks: the first nine programs need 90 in row-major order, 54 grouped by three."""
    assert explore.blocks_needed(explore.row_major(9, 9)[:9], 9) == 90
    assert explore.blocks_needed(explore.grouped(9, 9, 3)[:9], 9) == 54
    alt = figures.launch_orders(9, 9, 3, 9).alt
    assert "90" in alt
    assert "54" in alt


@pytest.mark.parametrize("shape", [(5, 4, 3), (1, 1, 8), (7, 3, 2), (4, 6, 4), (10, 3, 4)])
def test_grouped_order_takes_every_tile_once(shape: tuple[int, int, int]) -> None:
    order = explore.grouped(*shape)
    assert sorted(order) == explore.row_major(*shape[:2])


def test_a_cache_that_holds_everything_misses_each_block_once() -> None:
    order = explore.row_major(6, 6)
    rate = explore.hit_rate(order, n_inner=6, concurrent=4, capacity=1000)
    assert rate == pytest.approx(1 - 72 / (2 * 36 * 6))


def test_a_tile_that_nobody_takes_is_counted() -> None:
    assert (
        "1 tiles are taken by nobody" in figures.launch_order([(0, 0), (0, 0), (1, 1), (1, 0)]).alt
    )


def test_the_budget_of_a_tile_says_what_does_not_fit() -> None:
    large = explore.budget(256, 256, 64, num_warps=4, num_stages=4)
    assert large.accumulator == 512
    assert large.spills()
    assert not large.fits("H200")
    assert large.blocks_per_sm("H200") == 0
    small = explore.budget(64, 64, 32, num_warps=4, num_stages=3)
    assert (small.shared_bytes("H200"), small.accumulator) == (24_576, 32)
    assert small.fits("T4")
    assert small.blocks_per_sm("T4") >= 2


def test_the_conditions_explorer_marks_the_chosen_programs() -> None:
    text = explore.conditions_text(">=1,=0", 4, 3)
    assert all(f"({pid},0)" in text for pid in (1, 2, 3))
    assert "(0,0)" not in text
    assert "3 of 12 programs print" in text
    assert "not understood" in explore.conditions_text("=>1")


MEASURED = """
import torch, triton, triton.language as tl
from triton_util import explore

@triton.jit
def rows_kernel(x_ptr, output_ptr, n, stride, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets * stride, mask=offsets < n)
    tl.store(output_ptr + offsets, x, mask=offsets < n)

def every(x, stride, n):
    rows_kernel[(triton.cdiv(n, 128),)](x, torch.empty(n), n, stride, BLOCK_SIZE=128)
"""


@pytest.fixture(scope="module")
def measuring() -> Iterator[InterpretingProcess]:
    with InterpretingProcess(MEASURED) as process:
        yield process


def test_measure_counts_bytes_and_sectors(measuring: InterpretingProcess) -> None:
    """1,000 fp32 elements 8 apart: 4,000 bytes each way, a sector of 32 bytes for each load."""
    printed = measuring.run(
        "moved = explore.measure(every, torch.ones(8000), 8, 1000)\n"
        "print(moved.loaded['x_ptr'], moved.stored['output_ptr'], moved.total)\n"
        "print(moved.percent_used('x_ptr'), moved.percent_used('output_ptr'))\n"
        "print(moved.loaded['no such name'], moved.percent_used('no such name'))\n"
        "print(moved)"
    )
    lines = printed.splitlines()
    assert lines[:3] == ["4000 4000 8000", "12.5 100.0", "0 0.0"]
    assert "4,000" in lines[-1]


def test_measure_says_so_when_nothing_was_launched(measuring: InterpretingProcess) -> None:
    printed = measuring.run("print(explore.measure(lambda: None).total)")
    assert "still a stub" in printed
    assert printed.rstrip().endswith("0")


def test_measure_sums_over_launches(measuring: InterpretingProcess) -> None:
    printed = measuring.run(
        "def twice(x):\n    every(x, 1, 100)\n    every(x, 1, 100)\n"
        "moved = explore.measure(twice, torch.ones(100))\n"
        "print(moved.total, len(moved.launches))"
    )
    assert printed.strip() == "1600 2"


@pytest.mark.parametrize("block_size", [1, 2, 4, 8])
def test_the_online_softmax_ends_where_the_plain_one_does(block_size: int) -> None:
    text = explore.online_softmax_text(8, block_size)
    last, exact = text.splitlines()[-3], text.splitlines()[-1]
    assert last.split("sum is ")[1] == exact.split("sum ")[1]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("query", [0, 2, 5])
@pytest.mark.parametrize("block", [1, 2, 4])
def test_the_walk_of_attention_ends_where_the_plain_formula_does(
    block: int, query: int, causal: bool
) -> None:
    scores, values = torch.tensor(SCORES), torch.tensor(VALUES)
    if causal:
        scores = scores.masked_fill(torch.arange(len(SCORES)) > query, -torch.inf)
    expected = f"{torch.softmax(scores, 0) @ values:.4f}"
    text = explore.attention_walk_text(6, block, query, causal)
    so_far, at_once = (line.split(": ")[1].strip() for line in text.splitlines()[-2:])
    assert so_far == at_once == expected


@pytest.mark.parametrize("sizes", [(256, 64, 32), (129, 32, 32), (129, 64, 16), (1, 16, 16)])
def test_the_tiles_of_a_causal_mask_are_those_of_the_mask(sizes: tuple[int, int, int]) -> None:
    n, block_m, block_n = sizes
    seen = torch.ones(n, n, dtype=torch.bool).tril()
    for i, row in enumerate(explore.tile_kinds(n, n, block_m, block_n, causal=True)):
        for j, kind in enumerate(row):
            rows, cols = (
                slice(i * block_m, (i + 1) * block_m),
                slice(j * block_n, (j + 1) * block_n),
            )
            tile = seen[rows, cols]
            assert kind == ("full" if tile.all() else "diagonal" if tile.any() else "skipped")


def test_without_causal_every_tile_is_full() -> None:
    kinds = explore.tile_kinds(40, 70, 16, 32, causal=False)
    assert [len(row) for row in kinds] == [3, 3, 3]
    assert {kind for row in kinds for kind in row} == {"full"}


def test_the_pictures_of_attention_refuse_what_they_cannot_show() -> None:
    with pytest.raises(ValueError, match="at most 6 blocks"):
        figures.attention_walk(blocks=7)
    with pytest.raises(ValueError, match="at most 12 rows"):
        figures.causal_tiles(1000)
